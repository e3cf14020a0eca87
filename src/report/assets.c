/* assets.c - see assets.h. The assembler includes the files as they are: as a
 * C array, 700 kB would take the compiler seconds. */
#include "report/assets.h"

#define INCLUDE(name, file)                                                    \
  __asm__(".section .rodata\n"                                                 \
          ".balign 16\n"                                                       \
          ".local " #name "_begin, " #name "_end\n" #name "_begin:\n"          \
          ".incbin \"" file "\"\n" #name "_end:\n"                             \
          ".previous\n");                                                      \
  extern const char name##_begin[] __attribute__((visibility("hidden")));      \
  extern const char name##_end[] __attribute__((visibility("hidden")))

INCLUDE(tm_page_script, PAGE_SCRIPT);
INCLUDE(tm_page_style, PAGE_STYLE);

tm_asset tm_asset_script(void) {
  return (tm_asset){tm_page_script_begin,
                    (size_t)(tm_page_script_end - tm_page_script_begin)};
}

tm_asset tm_asset_style(void) {
  return (tm_asset){tm_page_style_begin,
                    (size_t)(tm_page_style_end - tm_page_style_begin)};
}
