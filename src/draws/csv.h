/* csv.h - draws as Stan CSV, which ArviZ, cmdstanpy, rstan and posterior
 * read. Needs only draws and names. */
#ifndef TM_DRAWS_CSV_H
#define TM_DRAWS_CSV_H

#include "base/text.h"
#include "draws/draws.h"

/* What the comment header says. */
typedef struct tm_csv_about {
  const char *model, *method, *kernel, *data_path; /* data_path may be NULL */
  size_t iterations, warmup, thin;
  size_t id; /* chain, from 1 */
  uint64_t seed;
  bool save_warmup;
  const char *const *quantity_names; /* after the values; may be none */
  size_t quantity_count;
  bool reference; /* draws of the reference leg */
  bool chosen_tau; /* draws of a power posterior that was asked for */
} tm_csv_about;

/* Comments and the row of names. Counts are TM_CSV_FIELD wide, so that a run
 * cut short can correct them in place: their offsets are given back. */
enum { TM_CSV_FIELD = 20 };
void tm_csv_header(tm_text *text, const tm_csv_about *about,
                   const tempera_draws *draws, tempera_role role,
                   size_t *samples_at, size_t *warmup_at);
/* The block that readers expect between warmup and the first kept draw. */
void tm_csv_adaptation(tm_text *text, size_t dimension);
/* A row of a chain, followed by the quantities computed from it. */
void tm_csv_row(tm_text *text, const tempera_draws *draws, tempera_role role,
                size_t chain, size_t row, const double *quantities,
                size_t quantity_count);
void tm_csv_end(tm_text *text, double warmup_seconds, double sampling_seconds);

#endif
