/* The paper's bimodal model from the command's own shared libraries, against
 * exact answers (quadrature; kept here, so that the project is complete). */
#include "draws/draws.h"
#include "estimate_support.h"
#include "paper_support.h"
#include "whole_run.h"

typedef struct truth {
  const char *model, *data;
  double log_z;
  double mode_mu;     /* mean of |mu| */
  double mean_sigma2; /* 0: no such parameter */
} truth;

static const truth TRUTHS[] = {
    {"bimodal", "bimodal.json", -38.25321251549197, 1.4097040573917219, 0},
    {"bimodal", "bimodal-1555.json", -39.20117593068108, 1.377653454755654, 0},
    {"bimodal2", "bimodal.json", -39.54462832902814, 1.3994675286106193,
     1.1950795614112035},
    {"bimodal2", "bimodal-1555.json", -40.370366734013075, 1.3633676772970034,
     1.2780249858750632},
};

/* Distribution function of tau under `profile`, from quadrature. */
typedef struct cdf_point {
  double tau, one, two; /* one and two parameters, data of seed 2555 */
} cdf_point;
static const cdf_point CDF[] = {
    {0.01, 0.01697203371324976, 0.026017499251717514},
    {0.05, 0.09248537927862477, 0.14393425936494644},
    {0.1, 0.18113493125298946, 0.2720647899379256},
    {0.25, 0.3886079939753838, 0.5254343162832037},
    {0.5, 0.6380038894312487, 0.7550287441205056},
    {0.75, 0.8336034209420432, 0.8969200292489274},
};

static void check_evidence(const tempera_summary *summary, const truth *t) {
  const char *names[] = {"rb", "ti", "ss"};
  for (size_t i = 0; i < 3; i++) {
    const tempera_estimate *e = estimate(summary, names[i]);
    print_message("%s %s seed %d: %s %.4f se %.4f error %+.4f\n", t->model,
                  t->data, (int)summary->seed, e->name, e->log_z, e->se,
                  e->log_z - t->log_z);
    assert_true(e->se > 0 && fabs(e->log_z - t->log_z) < 4 * e->se);
  }
  assert_true(fabs(summary->log_z - t->log_z) < 0.05);
  assert_true(summary->reliable);
}

/* Means of |mu| and sigma^2 over the target draws; MCSE of sigma2 from the
 * summary, of |mu| from its batch means over chains. */
static void check_parameters(const tempera_summary *summary,
                             const tempera_draws *draws, const truth *t) {
  double sum = 0, square = 0;
  size_t chains = tempera_draws_chains(draws), n = tempera_draws_count(draws);
  enum { BATCHES = 25 };
  for (size_t c = 0; c < chains; c++) {
    const double *mu = tempera_draws_values(draws, TEMPERA_TARGET, c, 0);
    for (size_t b = 0; b < BATCHES; b++) {
      double mean = 0;
      for (size_t i = b * n / BATCHES; i < (b + 1) * n / BATCHES; i++)
        mean += fabs(mu[i]) / (double)(n / BATCHES);
      sum += mean;
      square += mean * mean;
    }
  }
  double batches = (double)(chains * BATCHES), mean = sum / batches;
  double se = sqrt((square / batches - mean * mean) / batches);
  assert_true(fabs(mean - t->mode_mu) < 4 * se);
  /* Both modes, by symmetry: the mean of mu is 0. */
  assert_true(fabs(summary->values[0].mean) < 4 * summary->values[0].mcse);
  if (t->mean_sigma2 > 0)
    assert_true(fabs(summary->values[1].mean - t->mean_sigma2) <
                4 * summary->values[1].mcse);
}

static void bimodal_is_right_at_default_settings(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof TRUTHS / sizeof *TRUTHS; i++) {
    tempera_model *model = paper_model(TRUTHS[i].model, TRUTHS[i].data);
    for (uint64_t seed = 1; seed <= 5; seed++) {
      tempera_options o = tempera_options_default();
      o.seed = seed;
      tempera_sampler *sampler = make_sampler(model, &o);
      tempera_summary *summary = run_sampler(sampler);
      check_evidence(summary, &TRUTHS[i]);
      check_parameters(summary, tempera_sampler_draws(sampler), &TRUTHS[i]);
      tempera_summary_free(summary);
      tempera_sampler_free(sampler);
    }
    tempera_model_free(model);
  }
}

/* Share of draws below tau, with its error from batches. */
static void check_cdf(const tempera_draws *draws, double tau, double exact) {
  enum { BATCHES = 20 };
  size_t chains = tempera_draws_chains(draws), n = tempera_draws_count(draws);
  double sum = 0, square = 0, batches = (double)(chains * BATCHES);
  for (size_t c = 0; c < chains; c++) {
    const double *taus = tempera_draws_tau(draws, TEMPERA_TEMPERED, c);
    for (size_t b = 0; b < BATCHES; b++) {
      size_t below = 0;
      for (size_t i = b * n / BATCHES; i < (b + 1) * n / BATCHES; i++)
        below += taus[i] <= tau;
      double share = (double)below / (double)(n / BATCHES);
      sum += share;
      square += share * share;
    }
  }
  double mean = sum / batches;
  double se = sqrt((square / batches - mean * mean) / batches);
  assert_true(fabs(mean - exact) < 4 * se + 1e-3); /* 1e-3: the ridge's gap */
}

static void tau_follows_the_exact_profile_law(void **state) {
  (void)state;
  for (int two = 0; two < 2; two++) {
    tempera_model *model =
        paper_model(two ? "bimodal2" : "bimodal", "bimodal.json");
    tempera_options o = tempera_options_default();
    o.seed = 11;
    o.tau_prior = TEMPERA_PRIOR_PROFILE;
    tempera_sampler *sampler = make_sampler(model, &o);
    tempera_summary *summary = run_sampler(sampler);
    for (size_t i = 0; i < sizeof CDF / sizeof *CDF; i++)
      check_cdf(tempera_sampler_draws(sampler), CDF[i].tau,
                two ? CDF[i].two : CDF[i].one);
    tempera_summary_free(summary);
    tempera_sampler_free(sampler);
    tempera_model_free(model);
  }
}

/* `--paper`: the printed estimator is off by +0.49 on the very draws from
 * which rb and ti are right (method 3.2). */
typedef struct moments {
  double sum, square;
  int count;
} moments;

static void add(moments *m, double x) {
  m->sum += x;
  m->square += x * x;
  m->count++;
}

static double mean_of(const moments *m) { return m->sum / m->count; }

static double sd_of(const moments *m) {
  double mean = mean_of(m);
  return sqrt((m->square - m->count * mean * mean) / (m->count - 1));
}

static void the_published_bias_is_the_estimators(void **state) {
  (void)state;
  enum { REPLICATES = 20 };
  const char *names[] = {"ti-paper", "ti", "rb"};
  moments m[3] = {0};
  tempera_model *model = paper_model("bimodal", "bimodal.json");
  for (uint64_t seed = 1; seed <= REPLICATES; seed++) {
    tempera_options o = tempera_options_default();
    o.seed = seed;
    o.paper = true;
    tempera_sampler *sampler = make_sampler(model, &o);
    tempera_summary *summary = run_sampler(sampler);
    for (size_t i = 0; i < 3; i++)
      add(&m[i], estimate(summary, names[i])->log_z);
    tempera_summary_free(summary);
    tempera_sampler_free(sampler);
  }
  tempera_model_free(model);
  for (size_t i = 0; i < 3; i++)
    print_message("%s: mean %.4f sd %.4f\n", names[i], mean_of(&m[i]),
                  sd_of(&m[i]));
  assert_true(fabs(mean_of(&m[0]) - -37.767) < 0.02);
  assert_true(sd_of(&m[0]) > 0.01 && sd_of(&m[0]) < 0.04);
  for (size_t i = 1; i < 3; i++)
    assert_true(fabs(mean_of(&m[i]) - TRUTHS[0].log_z) <
                4 * sd_of(&m[i]) / sqrt(REPLICATES) + 0.001);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bimodal_is_right_at_default_settings),
      cmocka_unit_test(tau_follows_the_exact_profile_law),
      cmocka_unit_test(the_published_bias_is_the_estimators),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
