/* verdict.c - how often is the verdict wrong? Sound runs, of which none should
 * be called unreliable, beside runs with a planted failure, of which none
 * should be called reliable unless its log Z is right all the same. All of
 * automatic length, so that the rules are asked again and again until they are
 * content, as they are in use.
 *
 *   bench-verdict [--seeds N] [--only NAME] [-o FILE]
 *
 * theta ~ N(0, I) in d dimensions, L(theta) = w N(theta; m, s^2 I) +
 * (1 - w) N(theta; -m, t^2 I), so Z = w N(m; 0, (1 + s^2) I) + (1 - w) N(m; 0,
 * (1 + t^2) I). Planted:
 *
 *   withheld    the target chain never exchanges and all chains start in one
 *               mode, which a random walk does not leave; the tempered chain
 *               sees both
 *   closed      the second mode is a narrow peak in the middle of the first:
 * the optimiser knows it, but no chain gets in: random walks, no jumps frozen
 * the first coordinate has density zero off the value that prior_draw gives it
 *   shifted     prior_draw has another mean than log_prior
 *   wrong curve the profile tau prior in ten dimensions
 *   stuck label two components that the density tells apart (w = 0.6); chains
 *               start in either, a random walk does not change them, and there
 *               is no reference leg. With it (label freed) there is no failure:
 *               q is fitted to the draws of all chains, so that the leg carries
 *               each of them to the other label, and R-hat sees it */
#include "experiment.h"

enum { MOST_SIZE = 10, CHAINS = 4, SEEDS = 20 };
static const double LOG_2_PI = 1.8378770664093454836;

typedef struct plant {
  const char *name;
  bool sound;
  size_t size;
  double w, s, t;
  double shift; /* of prior_draw */
  bool frozen;
  bool walk;   /* random walks, no jumps and no exchange */
  bool middle; /* the second part is where the first is */
  bool profile;
  bool apart;  /* chains start in different modes */
  bool no_leg; /* without the reference leg */
} plant;

static const plant plants[] = {
    {.name = "two modes",
     .sound = true,
     .size = 3,
     .w = 0.8,
     .s = 0.2,
     .t = 0.2},
    {.name = "one mode", .sound = true, .size = 10, .w = 1, .s = 0.2, .t = 1},
    {.name = "unequal widths",
     .sound = true,
     .size = 3,
     .w = 0.5,
     .s = 0.2,
     .t = 0.05},
    {.name = "withheld", .size = 3, .w = 0.8, .s = 0.2, .t = 0.2, .walk = true},
    {.name = "closed",
     .size = 10,
     .w = 0.5,
     .s = 0.5,
     .t = 0.02,
     .walk = true,
     .middle = true},
    {.name = "frozen", .size = 3, .w = 1, .s = 0.2, .t = 1, .frozen = true},
    {.name = "shifted by 0.25",
     .size = 3,
     .w = 1,
     .s = 0.2,
     .t = 1,
     .shift = 0.25},
    {.name = "shifted by 1", .size = 3, .w = 1, .s = 0.2, .t = 1, .shift = 1},
    {.name = "wrong curve",
     .size = 10,
     .w = 1,
     .s = 0.1,
     .t = 1,
     .profile = true},
    {.name = "stuck label",
     .size = 2,
     .w = 0.6,
     .s = 0.1,
     .t = 0.1,
     .walk = true,
     .apart = true,
     .no_leg = true},
    {.name = "label freed",
     .sound = true,
     .size = 2,
     .w = 0.6,
     .s = 0.1,
     .t = 0.1,
     .walk = true,
     .apart = true}};
enum { PLANTS = sizeof plants / sizeof *plants };

/* m is (1, 1, ...), or (-1, 1) for labels. */
static double mean_of(const plant *p, size_t i) {
  return p->apart && i == 0 ? -1 : 1;
}

/* Of the second part, as a multiple of m. */
static double side_of(const plant *p) { return p->middle ? 1 : -1; }

static double log_part(const plant *p, const double *theta, double sign,
                       double sd) {
  double value = 0;
  for (size_t i = 0; i < p->size; i++) {
    double z = (theta[i] - sign * mean_of(p, i)) / sd;
    value -= 0.5 * (LOG_2_PI + z * z) + log(sd);
  }
  return value;
}

static const double HELD = 0.75; /* where the frozen coordinate is */

static int likelihood_gradient(const double *theta, double *value,
                               double *gradient, void *user) {
  const plant *p = user;
  double a = log(p->w) + log_part(p, theta, 1, p->s);
  double b = log(1 - p->w) + log_part(p, theta, side_of(p), p->t);
  double most = fmax(a, b);
  if (p->frozen && theta[0] != HELD)
    return 1;
  *value = most + log(exp(a - most) + exp(b - most));
  for (size_t i = 0; i < p->size; i++)
    gradient[i] = exp(a - *value) * (mean_of(p, i) - theta[i]) / (p->s * p->s) +
                  exp(b - *value) * (side_of(p) * mean_of(p, i) - theta[i]) /
                      (p->t * p->t);
  return 0;
}

static int likelihood(const double *theta, double *value, void *user) {
  double gradient[MOST_SIZE];
  return likelihood_gradient(theta, value, gradient, user);
}

static int prior_gradient(const double *theta, double *value, double *gradient,
                          void *user) {
  const plant *p = user;
  *value = 0;
  for (size_t i = 0; i < p->size; i++) {
    *value -= 0.5 * (LOG_2_PI + theta[i] * theta[i]);
    gradient[i] = -theta[i];
  }
  return 0;
}

static int prior(const double *theta, double *value, void *user) {
  double gradient[MOST_SIZE];
  return prior_gradient(theta, value, gradient, user);
}

static int prior_draw(tempera_random *random, double *theta, void *user) {
  const plant *p = user;
  for (size_t i = 0; i < p->size; i++)
    theta[i] = p->shift + tempera_random_normal(random);
  if (p->frozen)
    theta[0] = HELD;
  return 0;
}

static double log_z(const plant *p) {
  double a = 0, b = 0;
  for (size_t i = 0; i < p->size; i++) {
    double va = 1 + p->s * p->s, vb = 1 + p->t * p->t;
    a -= 0.5 * (LOG_2_PI + log(va) + 1 / va);
    b -= 0.5 * (LOG_2_PI + log(vb) + 1 / vb);
  }
  return a + log(p->w + (1 - p->w) * exp(b - a));
}

static tempera_model *make_model(const plant *p) {
  tempera_parameter theta = {
      .name = "theta", .size = p->size, .lower = -INFINITY, .upper = INFINITY};
  bool smooth = !p->frozen;
  tempera_model_spec spec = {
      .name = p->name,
      .parameters = &theta,
      .parameter_count = 1,
      .log_likelihood = likelihood,
      .log_prior = prior,
      .log_likelihood_gradient = smooth ? likelihood_gradient : NULL,
      .log_prior_gradient = smooth ? prior_gradient : NULL,
      .prior_draw = prior_draw,
      .prior_normalised = true,
      .user = (void *)(uintptr_t)p};
  tempera_model *model = NULL;
  bench_check(tempera_model_create(&spec, &model, &bench_error));
  return model;
}

static tempera_options make_options(const plant *p, double *init) {
  tempera_options o = tempera_options_default();
  o.chains = CHAINS;
  if (p->profile)
    o.tau_prior = TEMPERA_PRIOR_PROFILE;
  if (!p->walk)
    return o;
  o.kernel = TEMPERA_KERNEL_RANDOM_WALK;
  o.jumps = false;
  o.exchange = 0;
  o.reference = !p->no_leg;
  for (size_t c = 0; c < CHAINS; c++)
    for (size_t i = 0; i < p->size; i++)
      init[c * p->size + i] = (p->apart && c % 2 ? -1 : 1) * mean_of(p, i);
  o.init = init;
  return o;
}

/* ------------------------------------------------------------------------
 * Counting
 */

typedef struct tally {
  size_t refused, right, wrong;
  double evaluations;
  char why[3][24]; /* the findings that refused, the most frequent first */
  size_t times[3];
} tally;

static void count_reason(tally *t, const char *code) {
  for (size_t k = 0; k < 3; k++) {
    if (!t->times[k])
      snprintf(t->why[k], sizeof t->why[k], "%s", code);
    if (!strcmp(t->why[k], code)) {
      t->times[k]++;
      return;
    }
  }
}

static tally count(const result *results, size_t seeds, double truth) {
  tally t = {0};
  for (size_t i = 0; i < seeds; i++) {
    const result *r = &results[i];
    double error = fabs(r->headline.log_z - truth);
    t.evaluations += (r->likelihoods + r->gradients) / (double)seeds;
    if (!r->ok || !r->reliable) {
      t.refused++;
      count_reason(&t, r->ok ? r->finding : "failed");
    } else if (error < fmax(4 * r->headline.se, 0.02)) {
      t.right++;
    } else {
      t.wrong++;
    }
  }
  return t;
}

/* Of sound runs up to one in twenty may be refused; of the others none may be
 * called reliable and be wrong. */
static void show(experiment *e, const char *name, bool sound, const tally *t) {
  bool met = t->wrong == 0 && (!sound || 20 * t->refused <= e->seeds);
  printf("%-16s %-8s %8zu %8zu %8zu %10.0f  %s", name,
         sound ? "sound" : "planted", t->refused, t->right, t->wrong,
         t->evaluations, experiment_verdict(e, met));
  for (size_t k = 0; k < 3 && t->times[k]; k++)
    printf("%s %s %zu", k ? "," : " ", t->why[k], t->times[k]);
  printf("\n");
  json_t *row = json_pack("{s:s,s:b,s:I,s:I,s:I,s:I}", "name", name, "sound",
                          sound, "seeds", (json_int_t)e->seeds, "refused",
                          (json_int_t)t->refused, "right", (json_int_t)t->right,
                          "wrong", (json_int_t)t->wrong);
  experiment_number(row, "evaluations", t->evaluations);
  json_array_append_new(e->rows, row);
}

static void run_plant(experiment *e, const plant *p) {
  double init[CHAINS * MOST_SIZE];
  if (!experiment_wants(e, p->name))
    return;
  problem exact = {.name = p->name, .log_z = log_z(p)};
  tempera_model *model = make_model(p);
  tempera_options o = make_options(p, init);
  result *results = replicate(&exact, model, &o, e->seeds);
  tally t = count(results, e->seeds, exact.log_z);
  show(e, p->name, p->sound, &t);
  free(results);
  tempera_model_free(model);
}

static void run_paper(experiment *e, const char *name) {
  if (!experiment_wants(e, name))
    return;
  const problem *p = paper_problem(name);
  tempera_model *model = bench_load(p->library, p->data);
  tempera_options o = tempera_options_default();
  result *results = replicate(p, model, &o, e->seeds);
  tally t = count(results, e->seeds, p->log_z);
  show(e, name, true, &t);
  free(results);
  tempera_model_free(model);
}

int main(int argc, char **argv) {
  experiment e = experiment_begin(argc, argv, SEEDS);
  printf("%-16s %-8s %8s %8s %8s %10s\n", "", "", "refused", "right", "wrong",
         "evals/run");
  run_paper(&e, "bimodal-2555");
  run_paper(&e, "galaxy-3");
  for (size_t k = 0; k < PLANTS; k++)
    run_plant(&e, &plants[k]);
  return experiment_end(&e);
}
