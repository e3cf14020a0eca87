/* assets.h - the charts (page.js, made from page/ by `make page`) and the style
 * of pages (page/page.css), carried by the library. */
#ifndef TM_REPORT_ASSETS_H
#define TM_REPORT_ASSETS_H

#include <stddef.h>

typedef struct tm_asset {
  const char *text; /* not NUL-terminated */
  size_t length;
} tm_asset;

tm_asset tm_asset_script(void); /* page.js */
tm_asset tm_asset_style(void);  /* page.css */

#endif
