/* options.c - options by their command-line names: one table of words, one
 * table of options, so that adding an option is adding a line. */
#include "base/locale.h"
#include "base/sized.h"
#include "run/methods/method.h"
#include "run/run.h"

#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct word {
  const char *name;
  int value;
} word;

static const word methods[] = {{"pt-stwnc", TEMPERA_PT_STWNC},
                               {"stwnc", TEMPERA_STWNC},
                               {"pt", TEMPERA_PT},
                               {"st", TEMPERA_ST},
                               {"pawl", TEMPERA_PAWL},
                               {"ee", TEMPERA_EE},
                               {"mh", TEMPERA_MH},
                               {NULL, 0}};
static const word tau_priors[] = {{"profile", TEMPERA_PRIOR_PROFILE},
                                  {"learned", TEMPERA_PRIOR_LEARNED},
                                  {"laplace", TEMPERA_PRIOR_LAPLACE},
                                  {NULL, 0}};
static const word ridges[] = {{"convex", TEMPERA_RIDGE_CONVEX},
                              {"spline", TEMPERA_RIDGE_SPLINE},
                              {"exact", TEMPERA_RIDGE_EXACT},
                              {NULL, 0}};
static const word tau_moves[] = {
    {"gibbs", TEMPERA_TAU_GIBBS},
    {"uniform", TEMPERA_TAU_UNIFORM},
    {"truncated-normal", TEMPERA_TAU_TRUNCATED_NORMAL},
    {"lifted", TEMPERA_TAU_LIFTED},
    {"neighbour", TEMPERA_TAU_NEIGHBOUR},
    {"default", TEMPERA_TAU_DEFAULT},
    {NULL, 0}};
static const word kernels[] = {{"auto", TEMPERA_KERNEL_AUTO},
                               {"random-walk", TEMPERA_KERNEL_RANDOM_WALK},
                               {"slice", TEMPERA_KERNEL_SLICE},
                               {"model", TEMPERA_KERNEL_MODEL},
                               {"hmc", TEMPERA_KERNEL_HMC},
                               {NULL, 0}};

static const word weights[] = {
    {"geyer-thompson", TEMPERA_WEIGHTS_GEYER_THOMPSON},
    {"wang-landau", TEMPERA_WEIGHTS_WANG_LANDAU},
    {NULL, 0}};

static const word swaps[] = {{"even-odd", TEMPERA_SWAPS_EVEN_ODD},
                             {"reversible", TEMPERA_SWAPS_REVERSIBLE},
                             {"random-pair", TEMPERA_SWAPS_RANDOM_PAIR},
                             {"default", TEMPERA_SWAPS_DEFAULT},
                             {NULL, 0}};
static const word schedules[] = {{"adapted", TEMPERA_SCHEDULE_ADAPTED},
                                 {"power", TEMPERA_SCHEDULE_POWER},
                                 {"default", TEMPERA_SCHEDULE_DEFAULT},
                                 {NULL, 0}};

static const word *const choices[] = {
    [TM_CHOICE_METHOD] = methods,     [TM_CHOICE_TAU_PRIOR] = tau_priors,
    [TM_CHOICE_RIDGE] = ridges,       [TM_CHOICE_TAU_MOVE] = tau_moves,
    [TM_CHOICE_KERNEL] = kernels,     [TM_CHOICE_SWAPS] = swaps,
    [TM_CHOICE_SCHEDULE] = schedules, [TM_CHOICE_WEIGHTS] = weights};

const char *tm_choice_word(tm_choice choice, int value) {
  for (const word *w = choices[choice]; w->name; w++)
    if (w->value == value)
      return w->name;
  return "?";
}

void tempera_options_default_sized(tempera_options *options, size_t size) {
  const tempera_options ours = {
      .method = TEMPERA_PT_STWNC,
      .tau_prior = TEMPERA_PRIOR_LEARNED,
      .ridge = TEMPERA_RIDGE_CONVEX,
      .tau_move = TEMPERA_TAU_DEFAULT,
      .kernel = TEMPERA_KERNEL_AUTO,
      .exchange = -1,
      .jumps = true,
      .bridge = true,
      .reference = true,
  };
  tm_sized_give(options, size, &ours, sizeof ours);
}

/* ---- values ------------------------------------------------------------- */

typedef struct setting {
  const char *name, *value;
  tempera_error *error;
} setting;

static tempera_status bad_value(const setting *s, const char *wanted) {
  return tm_fail(s->error, TEMPERA_ERROR_ARGUMENT, "%s %s: wanted %s", s->name,
                 s->value, wanted);
}

static void list_words(const word *words, tm_text *list) {
  for (const word *w = words; w->name; w++)
    tm_text_printf(list, "%s%s", list->length ? ", " : "", w->name);
}

static tempera_status set_word(const setting *s, tm_choice choice, int *value) {
  const word *w = choices[choice];
  while (w->name && strcmp(w->name, s->value) != 0)
    w++;
  if (w->name) {
    *value = w->value;
    return TEMPERA_OK;
  }
  tm_text list = {0};
  list_words(choices[choice], &list);
  tempera_status status = tm_fail(
      s->error, TEMPERA_ERROR_ARGUMENT, "%s %s is not known; choose one of %s",
      s->name, s->value, list.data ? list.data : "others");
  tm_text_clear(&list);
  return status;
}

static tempera_status set_integer(const setting *s, uint64_t least,
                                  uint64_t most, uint64_t *value) {
  char *end = NULL;
  errno = 0;
  unsigned long long number = strtoull(s->value, &end, 10);
  bool fine = isdigit((unsigned char)s->value[0]) && *end == '\0' && !errno &&
              number >= least && number <= most;
  if (!fine)
    return tm_fail(s->error, TEMPERA_ERROR_ARGUMENT,
                   "%s %s: wanted a whole number from %llu to %llu", s->name,
                   s->value, (unsigned long long)least,
                   (unsigned long long)most);
  *value = number;
  return TEMPERA_OK;
}

static tempera_status set_size(const setting *s, uint64_t least, uint64_t most,
                               size_t *value) {
  uint64_t number = 0;
  TM_TRY(set_integer(s, least, most, &number));
  *value = (size_t)number;
  return TEMPERA_OK;
}

static tempera_status set_real(const setting *s, double *value) {
  char *end = NULL;
  double number = tm_strtod(s->value, &end);
  if (end == s->value || *end != '\0' || !isfinite(number))
    return bad_value(s, "a number");
  *value = number;
  return TEMPERA_OK;
}

static tempera_status set_positive(const setting *s, double *value) {
  double number = 0;
  TM_TRY(set_real(s, &number));
  if (!(number > 0))
    return bad_value(s, "a number above 0");
  *value = number;
  return TEMPERA_OK;
}

static tempera_status set_share(const setting *s, bool one_too, double *value) {
  double number = 0;
  TM_TRY(set_real(s, &number));
  if (number < 0 || number > 1 || (number == 1 && !one_too))
    return bad_value(s, one_too ? "a probability from 0 to 1"
                                : "a number from 0 to below 1");
  *value = number;
  return TEMPERA_OK;
}

static tempera_status set_flag(const setting *s, bool *value) {
  if (strcmp(s->value, "true") != 0 && strcmp(s->value, "false") != 0)
    return bad_value(s, "true or false");
  *value = s->value[0] == 't';
  return TEMPERA_OK;
}

/* ---- options ------------------------------------------------------------ */

/* A function for each field keeps the enums typed: tempera_X is the type of the
 * field X. */
#define SET_WORD(field, choice)                                                \
  static tempera_status set_##field(const setting *s, tempera_options *o) {    \
    int value = 0;                                                             \
    TM_TRY(set_word(s, choice, &value));                                       \
    o->field = (tempera_##field)value;                                         \
    return TEMPERA_OK;                                                         \
  }

SET_WORD(method, TM_CHOICE_METHOD)
SET_WORD(tau_prior, TM_CHOICE_TAU_PRIOR)
SET_WORD(ridge, TM_CHOICE_RIDGE)
SET_WORD(tau_move, TM_CHOICE_TAU_MOVE)
SET_WORD(kernel, TM_CHOICE_KERNEL)
SET_WORD(weights, TM_CHOICE_WEIGHTS)
SET_WORD(swaps, TM_CHOICE_SWAPS)
SET_WORD(schedule, TM_CHOICE_SCHEDULE)

static tempera_status set_tau_scale(const setting *s, tempera_options *o) {
  return set_positive(s, &o->tau_scale);
}

static tempera_status set_tau_min(const setting *s, tempera_options *o) {
  return set_share(s, false, &o->tau_min);
}

static tempera_status set_chains(const setting *s, tempera_options *o) {
  return set_size(s, 1, 100000, &o->chains);
}

static tempera_status set_iterations(const setting *s, tempera_options *o) {
  return set_size(s, 1, UINT64_C(1) << 40, &o->iterations);
}

static tempera_status set_warmup(const setting *s, tempera_options *o) {
  TM_TRY(set_size(s, 0, UINT64_C(1) << 40, &o->warmup));
  o->warmup_given = true;
  return TEMPERA_OK;
}

static tempera_status set_observations(const setting *s, tempera_options *o) {
  return set_size(s, 1, UINT64_C(1) << 40, &o->observations);
}

/* Ascending, each once, so that the order of asking changes nothing. */
static bool add_tau(tempera_options *o, double tau) {
  size_t k = o->at_tau_count;
  for (size_t i = 0; i < k; i++)
    if (o->at_tau[i] == tau)
      return true;
  if (k == TEMPERA_MOST_TAUS)
    return false;
  for (; k > 0 && o->at_tau[k - 1] > tau; k--)
    o->at_tau[k] = o->at_tau[k - 1];
  o->at_tau[k] = tau;
  o->at_tau_count++;
  return true;
}

static tempera_status set_at_tau(const setting *s, tempera_options *o) {
  const char *at = s->value;
  o->at_tau_count = 0;
  for (char *end = NULL;; at = end + 1) {
    double tau = tm_strtod(at, &end);
    if (end == at || !(tau >= 0 && tau <= 1) || (*end && *end != ','))
      return bad_value(s, "numbers from 0 to 1 with commas between them");
    if (!add_tau(o, tau))
      return tm_fail(s->error, TEMPERA_ERROR_ARGUMENT,
                     "%s %s: %d of them at most", s->name, s->value,
                     TEMPERA_MOST_TAUS);
    if (!*end)
      return TEMPERA_OK;
  }
}

static tempera_status set_thin(const setting *s, tempera_options *o) {
  return set_size(s, 1, UINT64_C(1) << 40, &o->thin);
}

static tempera_status set_exchange(const setting *s, tempera_options *o) {
  return set_share(s, true, &o->exchange);
}

/* JSON integers, where a seed is recorded, are signed. */
static tempera_status set_seed(const setting *s, tempera_options *o) {
  return set_integer(s, 0, INT64_MAX, &o->seed);
}

static tempera_status set_threads(const setting *s, tempera_options *o) {
  uint64_t number = 0;
  TM_TRY(set_integer(s, 0, 4096, &number));
  o->threads = (int)number;
  return TEMPERA_OK;
}

static tempera_status set_time_limit(const setting *s, tempera_options *o) {
  return set_positive(s, &o->time_limit);
}

static tempera_status set_until_se(const setting *s, tempera_options *o) {
  return set_positive(s, &o->until_se);
}

static tempera_status set_paper(const setting *s, tempera_options *o) {
  return set_flag(s, &o->paper);
}

static tempera_status set_jumps(const setting *s, tempera_options *o) {
  return set_flag(s, &o->jumps);
}

static tempera_status set_bridge(const setting *s, tempera_options *o) {
  return set_flag(s, &o->bridge);
}

static tempera_status set_tempered_quantities(const setting *s,
                                              tempera_options *o) {
  return set_flag(s, &o->tempered_quantities);
}

static tempera_status set_reference(const setting *s, tempera_options *o) {
  return set_flag(s, &o->reference);
}

static tempera_status set_save_warmup(const setting *s, tempera_options *o) {
  return set_flag(s, &o->save_warmup);
}

static tempera_status set_levels(const setting *s, tempera_options *o) {
  return set_size(s, 2, TM_MOST_LEVELS, &o->levels);
}

static tempera_status set_walkers(const setting *s, tempera_options *o) {
  return set_size(s, 1, 1000, &o->walkers);
}

typedef struct option {
  const char *name;
  tempera_status (*set)(const setting *, tempera_options *);
} option;

static const option options_by_name[] = {
    {"method", set_method},
    {"tau-prior", set_tau_prior},
    {"ridge", set_ridge},
    {"tau-move", set_tau_move},
    {"tau-scale", set_tau_scale},
    {"tau-min", set_tau_min},
    {"kernel", set_kernel},
    {"chains", set_chains},
    {"iterations", set_iterations},
    {"warmup", set_warmup},
    {"thin", set_thin},
    {"observations", set_observations},
    {"at-tau", set_at_tau},
    {"levels", set_levels},
    {"weights", set_weights},
    {"swaps", set_swaps},
    {"schedule", set_schedule},
    {"walkers", set_walkers},
    {"exchange", set_exchange},
    {"seed", set_seed},
    {"threads", set_threads},
    {"time-limit", set_time_limit},
    {"until-se", set_until_se},
    {"paper", set_paper},
    {"save-warmup", set_save_warmup},
    {"tempered-quantities", set_tempered_quantities},
    {"jumps", set_jumps},
    {"bridge", set_bridge},
    {"reference", set_reference},
};

tempera_status tempera_options_set_sized(tempera_options *options, size_t size,
                                         const char *name, const char *value,
                                         tempera_error *error) {
  tempera_options known = tempera_options_default();
  TM_TRY(tm_sized_take(&known, sizeof known, options, size, error));
  setting s = {name, value ? value : "true", error};
  size_t count = sizeof options_by_name / sizeof *options_by_name;
  for (size_t i = 0; i < count; i++)
    if (strcmp(options_by_name[i].name, name) == 0) {
      TM_TRY(options_by_name[i].set(&s, &known));
      tm_sized_give(options, size, &known, sizeof known);
      return TEMPERA_OK;
    }
  return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                 "option %s is not known; see tempera sample --help", name);
}
