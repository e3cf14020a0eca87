/* calibration.c - simulation-based calibration: what the runs of `tempera
 * calibrate` say together.
 *
 * Parameters drawn from the prior, data drawn given them, and a posterior from
 * these data: then the rank of each parameter among L posterior draws is
 * uniform on 0..L (Talts et al. 2018). The empirical cdf of the ranks is
 * compared with the uniform one at every rank at once, by the smallest binomial
 * tail probability over them, whose own law is simulated (Sailynoja, Buerkner &
 * Vehtari 2022); beside it, for power against small errors that go one way,
 * their mean and their spread about the middle, by their normal limits. Ranks
 * of log prior, log likelihood and log density at the true parameters see
 * errors that those of single parameters average out (Modrak et al. 2023).
 * Posterior probabilities of several models are calibrated when, on average,
 * they are right as often as they say (Schad et al. 2023).
 *
 * A run's file has lines `rank,NAME,R`, `model,NAME,LOG_Z,SE,RELIABLE`,
 * `truth,NAME` and `failed,WHY`. */
#include "report/calibration.h"

#include "base/file.h"
#include "base/json.h"
#include "base/random.h"
#include "report/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIMULATIONS = 4000 };

/* ---- reading ----------------------------------------------------------------
 */

static tm_rank_series *series_of(tm_calibration *c, const char *name) {
  for (size_t i = 0; i < c->count; i++)
    if (!strcmp(c->list[i].name, name))
      return &c->list[i];
  if (c->count == c->capacity) {
    size_t room = c->capacity ? 2 * c->capacity : 16;
    tm_rank_series *list = TM_NEW(c->arena, tm_rank_series, room);
    if (!list)
      return NULL;
    if (c->count)
      memcpy(list, c->list, c->count * sizeof *list);
    c->list = list;
    c->capacity = room;
  }
  tm_rank_series *s = &c->list[c->count];
  *s = (tm_rank_series){.ranks = TM_NEW(c->arena, int, c->runs)};
  if (!s->ranks)
    return NULL;
  snprintf(s->name, sizeof s->name, "%s", name);
  c->count++;
  return s;
}

static int model_of(tm_calibration *c, const char *name) {
  for (size_t i = 0; i < c->model_count; i++)
    if (!strcmp(c->models[i], name))
      return (int)i;
  if (c->model_count == TM_MOST_CALIBRATED)
    return -1;
  snprintf(c->models[c->model_count], sizeof c->models[0], "%s", name);
  return (int)c->model_count++;
}

/* One line; NAME may hold commas (p[1,2]), so numbers are looked for from the
 * end. */
static bool take_line(tm_calibration *c, size_t run, char *line) {
  char *comma = strchr(line, ',');
  if (!comma)
    return true;
  *comma++ = '\0';
  if (!strcmp(line, "failed")) {
    if (!c->failed++)
      snprintf(c->why, sizeof c->why, "%s", comma);
  } else if (!strcmp(line, "truth")) {
    c->truth[run] = model_of(c, comma);
  } else if (!strcmp(line, "rank")) {
    char *last = strrchr(comma, ',');
    if (!last)
      return true;
    *last = '\0';
    tm_rank_series *s = series_of(c, comma);
    long rank = strtol(last + 1, NULL, 10);
    if (!s)
      return false;
    if (rank >= 0 && rank <= TM_RANKS && s->count < c->runs)
      s->ranks[s->count++] = (int)rank;
  } else if (!strcmp(line, "model")) {
    char *fields[3], *end = NULL;
    for (int k = 2; k >= 0; k--) {
      fields[k] = strrchr(comma, ',');
      if (!fields[k])
        return true;
      *fields[k]++ = '\0';
    }
    int m = model_of(c, comma);
    if (m >= 0)
      c->probability[run * TM_MOST_CALIBRATED + (size_t)m] =
          tm_number_read(fields[0], &end);
    c->unreliable += fields[2][0] == '0';
  }
  return true;
}

static tempera_status read_run(tm_calibration *c, const char *folder,
                               size_t run, tempera_error *error) {
  char name[64], *text = NULL;
  size_t length;
  snprintf(name, sizeof name, "run-%05zu.csv", run + 1);
  char *path = tm_path_join(folder, name);
  bool there = path && tm_file_exists(path);
  tempera_status status = !path   ? tm_fail_memory(error)
                          : there ? tm_file_read(path, &text, &length, error)
                                  : TEMPERA_OK;
  tm_heap_free(path);
  if (status != TEMPERA_OK || !there)
    return status;
  c->done++;
  c->truth[run] = -1;
  for (char *at = text, *next; at && *at && status == TEMPERA_OK; at = next) {
    next = strchr(at, '\n');
    if (next)
      *next++ = '\0';
    if (!take_line(c, run, at))
      status = tm_fail_memory(error);
  }
  tm_heap_free(text);
  return status;
}

static tempera_status read_all(tm_calibration *c, const char *folder,
                               tempera_error *error) {
  c->probability = TM_NEW(c->arena, double, c->runs *TM_MOST_CALIBRATED + 1);
  c->truth = TM_NEW(c->arena, int, c->runs + 1);
  if (!c->probability || !c->truth)
    return tm_fail_memory(error);
  for (size_t i = 0; i < c->runs * TM_MOST_CALIBRATED; i++)
    c->probability[i] = NAN;
  for (size_t i = 0; i < c->runs; i++) {
    c->truth[i] = -1;
    TM_TRY(read_run(c, folder, i, error));
  }
  return c->done ? TEMPERA_OK
                 : tm_fail(error, TEMPERA_ERROR_INPUT,
                           "%s holds no runs of a calibration", folder);
}

/* ---- uniform ranks ----------------------------------------------------------
 */

bool tm_rank_tails(tm_rank_law *l, tm_arena *arena) {
  size_t n = l->n;
  l->tails = TM_NEW(arena, double, (n + 1) * TM_RANKS);
  double *pmf = TM_NEW(arena, double, n + 2);
  if (!l->tails || !pmf)
    return false;
  for (size_t k = 0; k < TM_RANKS; k++) {
    double z = (double)(k + 1) / (TM_RANKS + 1), below = 0, N = (double)n;
    for (size_t j = 0; j <= n; j++) {
      double J = (double)j;
      pmf[j] = exp(lgamma(N + 1) - lgamma(J + 1) - lgamma(N - J + 1) +
                   J * log(z) + (N - J) * log1p(-z));
    }
    for (size_t j = 0; j <= n; j++) {
      double lower = below + pmf[j], upper = 1 - below;
      l->tails[k * (n + 1) + j] = fmin(1, 2 * fmin(lower, upper));
      below += pmf[j];
    }
  }
  return true;
}

static double least_tail(const tm_rank_law *l, const int *ranks) {
  size_t counts[TM_RANKS + 1] = {0}, below = 0;
  double least = 1;
  for (size_t i = 0; i < l->n; i++)
    counts[ranks[i]]++;
  for (size_t k = 0; k < TM_RANKS; k++) {
    below += counts[k];
    least = fmin(least, l->tails[k * (l->n + 1) + below]);
  }
  return least;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static bool make_law(tm_rank_law *l, tm_arena *arena) {
  tempera_random random = tm_random(1, 0, TM_PURPOSE_TEST);
  int *ranks = TM_NEW(arena, int, l->n + 1);
  l->minima = TM_NEW(arena, double, SIMULATIONS);
  if (!ranks || !l->minima || !tm_rank_tails(l, arena))
    return false;
  for (size_t s = 0; s < SIMULATIONS; s++) {
    for (size_t i = 0; i < l->n; i++)
      ranks[i] = (int)tempera_random_below(&random, TM_RANKS + 1);
    l->minima[s] = least_tail(l, ranks);
  }
  qsort(l->minima, SIMULATIONS, sizeof *l->minima, ascending);
  return true;
}

static double share_below(const tm_rank_law *l, double least) {
  size_t n = 0;
  while (n < SIMULATIONS && l->minima[n] <= least * (1 + 1e-9))
    n++;
  /* beyond all that was simulated: no more than the sum over places */
  return n ? ((double)n + 1) / (SIMULATIONS + 1)
           : fmin(1.0 / (SIMULATIONS + 1), TM_RANKS * least);
}

/* p of the mean rank and of the mean square about the middle, both by their
 * normal limits: ranks are uniform on 0..L. */
static double moments(const tm_rank_series *s) {
  double n = (double)s->count, mean = 0, square = 0, v = 0, fourth = 0;
  for (int r = 0; r <= TM_RANKS; r++) {
    double x = (r + 0.5) / (TM_RANKS + 1) - 0.5;
    v += x * x / (TM_RANKS + 1);
    fourth += x * x * x * x / (TM_RANKS + 1);
  }
  for (size_t i = 0; i < s->count; i++) {
    double x = (s->ranks[i] + 0.5) / (TM_RANKS + 1) - 0.5;
    mean += x / n;
    square += x * x / n;
  }
  double shift = fabs(mean) / sqrt(v / n);
  double spread = fabs(square - v) / sqrt((fourth - v * v) / n);
  return erfc(fmax(shift, spread) / sqrt(2));
}

/* ---- what they say
 * ----------------------------------------------------------- */

static const double INTERVALS[2] = {0.5, 0.9};

static void cover(tm_rank_series *s) {
  for (int k = 0; k < 2; k++) {
    double inside = 0, n = (double)s->count, p = INTERVALS[k];
    for (size_t i = 0; i < s->count; i++) {
      double place = (s->ranks[i] + 0.5) / (TM_RANKS + 1);
      inside += fabs(place - 0.5) < p / 2;
    }
    s->covered[k] = inside / n;
    s->coverage_se[k] = sqrt(p * (1 - p) / n);
  }
}

/* z of "the model was true" minus its probability, over runs. */
static void judge_models(tm_calibration *c) {
  for (size_t m = 0; m < c->model_count && c->model_count > 1; m++) {
    double difference = 0, variance = 0, n = 0;
    for (size_t i = 0; i < c->runs; i++) {
      const double *log_z = c->probability + i * TM_MOST_CALIBRATED;
      double most = -INFINITY, sum = 0;
      bool whole = c->truth[i] >= 0;
      for (size_t k = 0; k < c->model_count; k++) {
        whole = whole && isfinite(log_z[k]);
        most = fmax(most, log_z[k]);
      }
      for (size_t k = 0; k < c->model_count; k++)
        sum += exp(log_z[k] - most);
      if (!whole)
        continue;
      double p = exp(log_z[m] - most) / sum, is = c->truth[i] == (int)m;
      difference += is - p;
      variance += p * (1 - p);
      c->mean[m] += p;
      c->share[m] += is;
      n++;
    }
    c->model_z[m] = variance > 0 ? difference / sqrt(variance) : NAN;
    c->mean[m] /= n;
    c->share[m] /= n;
  }
}

static tempera_status judge(tm_calibration *c, tempera_error *error) {
  tm_rank_law l = {0};
  c->worst = 1;
  for (size_t i = 0; i < c->count; i++) {
    tm_rank_series *s = &c->list[i];
    if (s->count != l.n) {
      l = (tm_rank_law){.n = s->count};
      if (!make_law(&l, c->arena))
        return tm_fail_memory(error);
    }
    /* three tests, the least of whose p counts */
    s->p = fmin(
        1, 3 * fmin(share_below(&l, least_tail(&l, s->ranks)), moments(s)));
    s->gamma = l.minima[SIMULATIONS / 20];
    cover(s);
    if (s->p < c->worst || !c->culprit) {
      c->worst = s->p;
      c->culprit = s->name;
    }
  }
  judge_models(c);
  size_t tests = c->count;
  for (size_t m = 0; m < c->model_count && c->model_count > 1; m++) {
    double p = erfc(fabs(c->model_z[m]) / sqrt(2));
    tests++;
    if (p < c->worst) {
      c->worst = p;
      c->culprit = c->models[m];
    }
  }
  c->worst = fmin(1, c->worst * (double)tests);
  return TEMPERA_OK;
}

static const double ALARM = 0.01;

bool tm_calibration_alarm(double p) { return p < ALARM; }

bool tm_calibration_fine(const tm_calibration *c) {
  return c->worst >= ALARM && c->failed == 0;
}

void tm_calibration_verdict(const tm_calibration *c, tm_text *out) {
  if (c->worst < ALARM)
    tm_text_printf(out,
                   "Not calibrated: %s (p %.2g over all that was looked at). "
                   "The sampler, the program or the simulation is wrong: its "
                   "posterior is not that of the data it was given.",
                   c->culprit, c->worst);
  else if (c->failed)
    tm_text_printf(out,
                   "%zu of %zu runs failed (%s): what is left out may be what "
                   "matters.",
                   c->failed, c->done, c->why);
  else
    tm_text_printf(out,
                   "Calibrated, as far as %zu runs tell: the smallest p over "
                   "all that was looked at is %.2g.",
                   c->done, c->worst);
}

/* ---- text and JSON
 * ----------------------------------------------------------- */

static void add_rows(const tm_calibration *c, bool colour, tm_text *out) {
  static const char *const titles[] = {
      "parameter", "runs", "p", "50% interval", "se", "90% interval", "se"};
  tm_table table = {.columns = 7};
  for (int i = 0; i < 7; i++)
    tm_table_cell(&table, titles[i]);
  for (size_t i = 0; i < c->count; i++) {
    char count[24];
    snprintf(count, sizeof count, "%zu", c->list[i].count);
    tm_table_cell(&table, c->list[i].name);
    tm_table_cell(&table, count);
    tm_table_number(&table, c->list[i].p, 4);
    for (int k = 0; k < 2; k++) {
      tm_table_number(&table, c->list[i].covered[k], 3);
      tm_table_number(&table, c->list[i].coverage_se[k], 3);
    }
  }
  tm_table_print(&table, colour, out);
}

static void add_models(const tm_calibration *c, bool colour, tm_text *out) {
  static const char *const titles[] = {"model", "mean probability",
                                       "share of truth", "z"};
  tm_table table = {.columns = 4};
  if (c->model_count < 2)
    return;
  for (int i = 0; i < 4; i++)
    tm_table_cell(&table, titles[i]);
  for (size_t m = 0; m < c->model_count; m++) {
    tm_table_cell(&table, c->models[m]);
    tm_table_number(&table, c->mean[m], 3);
    tm_table_number(&table, c->share[m], 3);
    tm_table_number(&table, c->model_z[m], 2);
  }
  tm_text_add(out, "\n");
  tm_table_print(&table, colour, out);
}

static void add_text(const tm_calibration *c, bool colour, tm_text *out) {
  add_rows(c, colour, out);
  tm_text_add(out, "\n  p: of uniform ranks, by the simultaneous band; an "
                   "interval should hold the truth\n  as often as it says.\n");
  add_models(c, colour, out);
  tm_text_add(out, "\n");
  tm_calibration_verdict(c, out);
  if (c->unreliable)
    tm_text_printf(out, "\n%zu runs were not reliable by their own verdict.",
                   c->unreliable);
  if (c->done < c->runs)
    tm_text_printf(out, "\n%zu of %zu runs are done.", c->done, c->runs);
  tm_text_add(out, "\n");
}

static tempera_status dump(const tm_calibration *c, char **text,
                           tempera_error *error) {
  (void)tm_json_watch();
  json_t *root = json_object(), *list = json_array(), *models = json_array();
  tm_text words = {0};
  tm_calibration_verdict(c, &words);
  tm_json_integer(root, "runs", c->runs);
  tm_json_integer(root, "done", c->done);
  tm_json_integer(root, "failed", c->failed);
  tm_json_integer(root, "unreliable", c->unreliable);
  json_object_set_new(root, "calibrated", json_boolean(tm_calibration_fine(c)));
  tm_json_real(root, "p", c->worst);
  tm_json_string(root, "verdict", words.failed ? "" : words.data);
  tm_text_clear(&words);
  for (size_t i = 0; i < c->count; i++) {
    const tm_rank_series *s = &c->list[i];
    json_t *item = json_object(), *ranks = json_array();
    tm_json_string(item, "name", s->name);
    tm_json_real(item, "p", s->p);
    tm_json_real(item, "covered_50", s->covered[0]);
    tm_json_real(item, "covered_90", s->covered[1]);
    for (size_t k = 0; k < s->count; k++)
      json_array_append_new(ranks, json_integer(s->ranks[k]));
    json_object_set_new(item, "ranks", ranks);
    json_array_append_new(list, item);
  }
  json_object_set_new(root, "parameters", list);
  for (size_t m = 0; m < c->model_count && c->model_count > 1; m++) {
    json_t *item = json_object();
    tm_json_string(item, "name", c->models[m]);
    tm_json_real(item, "mean_probability", c->mean[m]);
    tm_json_real(item, "share_of_truth", c->share[m]);
    tm_json_real(item, "z", c->model_z[m]);
    json_array_append_new(models, item);
  }
  json_object_set_new(root, "models", models);
  return tm_json_dump(root, text, error);
}

static tempera_status put_json(const char *folder, const char *text,
                               tempera_error *error) {
  char *path = tm_path_join(folder, "calibration.json");
  tempera_status status = path
                              ? tm_file_replace(path, text, strlen(text), error)
                              : tm_fail_memory(error);
  tm_heap_free(path);
  return status;
}

tempera_status tempera_calibration_report(const char *folder, size_t runs,
                                          bool colour, char **text, char **json,
                                          tempera_error *error) {
  tm_calibration c = {.arena = tm_arena_create(), .runs = runs};
  tm_text out = {0};
  char *dumped = NULL;
  tempera_status status = TEMPERA_OK;
  TM_TRY_DONE(c.arena ? TEMPERA_OK : tm_fail_memory(error));
  TM_TRY_DONE(read_all(&c, folder, error));
  TM_TRY_DONE(judge(&c, error));
  TM_TRY_DONE(dump(&c, &dumped, error));
  TM_TRY_DONE(put_json(folder, dumped, error));
  TM_TRY_DONE(tm_calibration_page(&c, folder, error));
  add_text(&c, colour, &out);
  TM_TRY_DONE(out.failed ? tm_fail_memory(error) : TEMPERA_OK);
  *text = out.data;
  *json = dumped;
  out = (tm_text){0};
  dumped = NULL;
done:
  tm_heap_free(dumped);
  tm_text_clear(&out);
  tm_arena_free(c.arena);
  return status;
}
