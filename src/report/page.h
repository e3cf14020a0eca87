/* page.h - self-contained pages: one HTML file with its style, script and
 * figures, which asks nothing of the network.
 *
 * A page is a JSON document
 *
 *   {title, subtitle, footer, sections: [{heading, blocks: [...]}],
 *    path: {tau, u}}
 *
 * (path: the share u of the barrier at some taus, for axes with `path`) whose
 * blocks have a type:
 *
 *   answer   tag, number, text; tone as for text
 *   text     text; tone: "good", "warn" or absent
 *   list     items: [text]
 *   table    columns: [{name, title (on hovering), left: true for words}],
 *            rows: [[cell]] or [{cells, tone}]; a cell is text, or {text,
 *            value} where the column sorts by numbers; note. A click on a
 *            column's name sorts; long tables show 20 rows and find others
 *            by name; fold: the words under which it is hidden
 *   figures  figures: [figure] (figure.h), in a grid
 *   gallery  label, choices: [{name, figures}], shown: how many at first,
 *            first: the words for that choice
 *
 * All text is text: names with HTML in them are shown as they are. */
#ifndef TM_REPORT_PAGE_H
#define TM_REPORT_PAGE_H

#include "report/figure.h"

/* A new document. */
json_t *tm_page(const char *title, const char *subtitle);
/* Further parts, borrowed: a section, and blocks of it. */
json_t *tm_page_section(json_t *page, const char *heading);
json_t *tm_section_text(json_t *section, const char *tone, const char *text);
/* The number that the page is about, under a tag ("Reliable"), with words. */
void tm_section_answer(json_t *section, const char *tone, const char *tag,
                       const char *number, const char *text);
json_t *tm_section_list(json_t *section); /* append to its `items` */
json_t *tm_section_table(json_t *section, const char *note);
/* Hidden under these words until it is opened. */
void tm_table_fold(json_t *table, const char *words);
json_t *tm_section_figures(json_t *section);
json_t *tm_section_gallery(json_t *section, const char *label,
                           const char *first, size_t shown);
json_t *tm_gallery_choice(json_t *gallery, const char *name);
/* To the figures of a block or of a choice; takes the figure over. */
void tm_figures_add(json_t *figures, json_t *figure);

void tm_page_column(json_t *table, const char *name, const char *title,
                    bool left);
/* A new row (borrowed); tone as for text, or NULL. */
json_t *tm_page_row(json_t *table, const char *tone);
void tm_row_text(json_t *row, const char *text);
/* A number to `decimals` places ("-" when it is not finite). */
void tm_row_number(json_t *row, double value, int decimals);
/* Four significant digits. */
void tm_row_short(json_t *row, double value);
void tm_row_probability(json_t *row, double value);

/* Write the page; takes nothing over. */
TEMPERA_CHECKED tempera_status tm_page_write(const json_t *page,
                                             const char *path,
                                             tempera_error *error);

#endif
