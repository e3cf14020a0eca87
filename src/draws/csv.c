/* csv.c - see csv.h.
 *
 * The columns that Stan's readers require come first. Two of them describe
 * trajectories, of which a row here knows nothing: cmdstanpy counts divergent__
 * and treedepth__ and fails without them, so they are there, as zeros. What no
 * reader asks for (stepsize__, n_leapfrog__, energy__) is not made up. */
#include "draws/csv.h"

#include <inttypes.h>
#include <string.h>

static const char *const first_columns =
    "lp__,accept_stat__,treedepth__,divergent__,tau__";

/* p[2] is p.2 and x[1,3] is x.1.3 in Stan CSV. */
static void add_name(tm_text *text, const char *name) {
  for (const char *c = name; *c; c++)
    if (*c != ']')
      tm_text_add_bytes(text, *c == '[' || *c == ',' ? "." : c, 1);
}

static void add_names(tm_text *text, const char *const *names, size_t count) {
  for (size_t i = 0; i < count; i++) {
    tm_text_add(text, ",");
    add_name(text, names[i]);
  }
}

static const char *const num_samples = "#     num_samples = ";
static const char *const num_warmup = "#     num_warmup = ";

/* What comes from outside is not to end the comment. */
static void add_comment(tm_text *text, const char *before, const char *words) {
  tm_text_add(text, before);
  size_t start = text->length;
  tm_text_add(text, words);
  if (!text->failed && text->length > start)
    tm_text_plain(text->data + start);
  tm_text_add(text, "\n");
}

static void add_version(tm_text *text, const tm_csv_about *about,
                        tempera_role role) {
  tm_text_printf(text,
                 "# stan_version_major = 2\n# stan_version_minor = 36\n"
                 "# stan_version_patch = 0\n"
                 "# Tempera " TEMPERA_VERSION ", %s, %s kernel; %s draws\n",
                 about->method, about->kernel,
                 about->reference         ? "reference leg"
                 : about->chosen_tau      ? "power posterior (at tau__)"
                 : role == TEMPERA_TARGET ? "target (tau__ is 1)"
                                          : "tempered");
  add_comment(text, "# model = ", about->model);
  tm_text_add(text, "# method = sample\n#   sample\n");
}

/* Readers ask no more of algorithm and engine than that they are there
 * (sampler_t is what rstan prints); depth and metric must be such as they
 * know. */
static const char *const asked_for =
    "# Readers of Stan CSV ask for a depth, a step size and a metric: these "
    "stand for nothing\n"
    "#             max_depth = 10\n#         metric = diag_e\n";

/* Switches are 1 or 0: "true" is CmdStan's newer word, which rstan and ArviZ up
 * to 0.17 do not know. */
static void add_settings(tm_text *text, const tm_csv_about *about) {
  tm_text_printf(text,
                 "#     save_warmup = %d\n#     thin = %zu\n"
                 "#     algorithm = tempera\n#       tempera\n"
                 "#         engine = %s\n#         sampler_t = %s\n%s"
                 "# id = %zu\n# data\n",
                 about->save_warmup ? 1 : 0, about->thin, about->method,
                 about->method, asked_for, about->id);
  add_comment(text, "#   file = ", about->data_path ? about->data_path : "");
  tm_text_printf(text, "# random\n#   seed = %" PRIu64 "\n", about->seed);
}

void tm_csv_adaptation(tm_text *text, size_t dimension) {
  tm_text_add(text, "# Adaptation terminated\n# Step size = 1\n"
                    "# Diagonal elements of inverse mass matrix:\n# ");
  for (size_t i = 0; i < dimension; i++)
    tm_text_add(text, i ? ", 1" : "1");
  tm_text_add(text, "\n");
}

void tm_csv_header(tm_text *text, const tm_csv_about *about,
                   const tempera_draws *draws, tempera_role role,
                   size_t *samples_at, size_t *warmup_at) {
  add_version(text, about, role);
  *samples_at = text->length + strlen(num_samples);
  tm_text_printf(text, "%s%-*zu\n", num_samples, TM_CSV_FIELD,
                 about->iterations);
  *warmup_at = text->length + strlen(num_warmup);
  tm_text_printf(text, "%s%-*zu\n", num_warmup, TM_CSV_FIELD, about->warmup);
  add_settings(text, about);
  tm_text_add(text, first_columns);
  tm_text_add(text, about->reference ? ",log_ratio__,log_reference__"
                                     : ",log_likelihood__,log_prior__");
  add_names(text, draws->names, draws->size);
  add_names(text, about->quantity_names, about->quantity_count);
  tm_text_add(text, "\n");
}

static void add_number(tm_text *text, double value) {
  tm_text_add(text, ",");
  tm_text_number(text, value);
}

void tm_csv_row(tm_text *text, const tempera_draws *draws, tempera_role role,
                size_t chain, size_t row, const double *quantities,
                size_t quantity_count) {
  size_t size = draws->size, width = size + TM_COLUMNS;
  double *const *values =
      draws->columns + ((size_t)role * draws->chains + chain) * width;
  double *const *extra = values + size;
  tm_text_number(text, tm_draws_log_density(draws, role, chain, row));
  add_number(text, extra[TM_ACCEPT][row]);
  tm_text_add(text, ",0,0");
  static const tm_column shown[] = {TM_TAU, TM_LOG_LIKELIHOOD, TM_LOG_PRIOR};
  for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
    add_number(text, extra[shown[i]][row]);
  for (size_t i = 0; i < size; i++)
    add_number(text, values[i][row]);
  for (size_t i = 0; i < quantity_count; i++)
    add_number(text, quantities[i]);
  tm_text_add(text, "\n");
}

void tm_csv_end(tm_text *text, double warmup_seconds, double sampling_seconds) {
  tm_text_printf(text,
                 "# \n#  Elapsed Time: %.3f seconds (Warm-up)\n"
                 "#                %.3f seconds (Sampling)\n"
                 "#                %.3f seconds (Total)\n# \n",
                 warmup_seconds, sampling_seconds,
                 warmup_seconds + sampling_seconds);
}
