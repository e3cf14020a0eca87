/* summary_values.h - the tables of parameters and quantities on the final
 * screen (summary_text.c). */
#ifndef TM_REPORT_SUMMARY_VALUES_H
#define TM_REPORT_SUMMARY_VALUES_H

#include "report/table.h"

/* How the screen is to look. */
typedef struct tm_screen {
  bool colour;
  bool all; /* every row; else long lists are folded */
} tm_screen;

void tm_screen_heading(tm_text *out, const char *title,
                       const tm_screen *screen);
void tm_screen_wider(tm_text *out, const tempera_summary *s,
                     const tm_screen *screen);
void tm_screen_powers(tm_text *out, const tempera_summary *s,
                      const tm_screen *screen);
void tm_screen_values(tm_text *out, const tempera_summary *s,
                      const tm_screen *screen);

#endif
