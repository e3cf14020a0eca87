/* power_files.c - see power_files.h. They are made from the run's draws when
 * it is summarised, and replaced whole. */
#include "folder/power_files.h"

#include "base/file.h"
#include "estimate/answers/at_tau.h"
#include "folder/csv_sink.h"

#include <stdio.h>

static tempera_status put(const char *folder, double tau, size_t chain,
                          tm_text *text, tempera_error *error) {
  tm_text name = {0};
  tm_text_add(&name, "at-tau-");
  tm_text_number(&name, tau);
  tm_text_printf(&name, "-%zu.csv", chain + 1);
  char *path = name.failed ? NULL : tm_path_join(folder, name.data);
  tempera_status status =
      !path || text->failed
          ? tm_fail_memory(error)
          : tm_file_replace(path, text->data, text->length, error);
  tm_heap_free(path);
  tm_text_clear(&name);
  return status;
}

static void add_rows(tm_text *text, const tempera_draws *draws, size_t chain,
                     tm_quantities *quantities, size_t count) {
  tm_draw_place place = {
      .draws = draws, .role = TEMPERA_TARGET, .chain = chain};
  for (; place.row < draws->count; place.row++)
    tm_csv_row(text, draws, TEMPERA_TARGET, chain, place.row,
               count ? tm_quantities_row(quantities, &place) : NULL, count);
}

static tempera_status write_chain(const char *folder, tm_csv_about *about,
                                  const tempera_sampler *s, double tau,
                                  const tempera_draws *draws, size_t chain,
                                  tempera_error *error) {
  size_t ignored;
  tm_text text = {0};
  tm_quantities quantities;
  TM_TRY(tm_quantities_create(s->model, tm_seed_of(&s->options), &quantities,
                              error));
  about->id = chain + 1;
  tm_csv_header(&text, about, draws, TEMPERA_TARGET, &ignored, &ignored);
  tm_csv_adaptation(&text, s->model->dimension);
  add_rows(&text, draws, chain, &quantities, about->quantity_count);
  tm_csv_end(&text, 0, 0);
  tempera_status status = put(folder, tau, chain, &text, error);
  tm_quantities_free(&quantities);
  tm_text_clear(&text);
  return status;
}

tempera_status tm_power_files_write(const char *folder, const char *data_path,
                                    const tempera_sampler *sampler,
                                    tempera_error *error) {
  const tempera_options *o = &sampler->options;
  tm_csv_about about = tm_csv_about_run(data_path, sampler);
  about.save_warmup = false;
  about.thin = 1;
  about.chosen_tau = true;
  for (size_t i = 0; i < o->at_tau_count; i++) {
    char why[160];
    tempera_draws *draws = NULL;
    TM_TRY(tm_at_tau_draws(sampler->draws, o->at_tau[i], tm_seed_of(o), &draws,
                           why, error));
    about.iterations = draws ? draws->count : 0;
    tempera_status status = TEMPERA_OK;
    for (size_t c = 0; status == TEMPERA_OK && draws && c < draws->chains; c++)
      status = write_chain(folder, &about, sampler, o->at_tau[i], draws, c,
                           error);
    tm_draws_free(draws);
    TM_TRY(status);
  }
  return TEMPERA_OK;
}
