/* Facts about the priors of programs: which have a known integral, what it is,
 * and that draws from them follow their law. */
#include "base/random.h"
#include "tempera.h"

#include "cmocka_all.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef enum kind { KNOWN, DRAWN, NEITHER } kind;

typedef struct example {
  const char *parameters, *model;
  kind kind;
  double log_integral; /* KNOWN */
  size_t value;        /* whose law is `law`, when there is one */
  double (*law)(double x);
  const char *functions_or_more; /* transformed parameters */
} example;

static double normal_law(double x) { return gsl_cdf_ugaussian_P(x); }
static double half_normal_law(double x) {
  return 2 * gsl_cdf_ugaussian_P(x) - 1;
}
static double two_humps_law(double x) {
  return 0.3 * gsl_cdf_gaussian_P(x + 5, 1) +
         0.7 * gsl_cdf_gaussian_P(x - 5, 2);
}
static double even_humps_law(double x) {
  return 0.5 * gsl_cdf_gaussian_P(x + 5, 1) +
         0.5 * gsl_cdf_gaussian_P(x - 5, 2);
}
static double tail_law(double x) {
  return 1 - gsl_cdf_ugaussian_Q(x) / gsl_cdf_ugaussian_Q(6);
}
static double uniform_law(double x) { return (x - 2) / 3; }
static double unit_law(double x) { return (x + 1) / 2; }
/* The least of three. */
static double least_law(double x) { return 1 - pow(gsl_cdf_ugaussian_Q(x), 3); }
/* The first of three equal parts: beta(1, 2). */
static double part_law(double x) { return 1 - (1 - x) * (1 - x); }
static double disc_law(double x) {
  return 0.5 + (x * sqrt(1 - x * x) + asin(x)) / M_PI;
}
/* A cut mixture: both halves above 0. */
static double cut_humps_law(double x) {
  double low = two_humps_law(0);
  return (two_humps_law(x) - low) / (1 - low);
}
/* e^-m Phi(m), of a mean whose normal is cut at 0. */
static double cut_mean_law(double m) {
  double whole = .5 + exp(.5) * gsl_cdf_ugaussian_Q(1);
  double part = .5 - exp(-m) * gsl_cdf_ugaussian_P(m) +
                exp(.5) * (gsl_cdf_ugaussian_P(m + 1) - gsl_cdf_ugaussian_P(1));
  return part / whole;
}
/* e^-m P(k <= 3), of a rate whose count is cut above 3. */
static double cut_rate_law(double m) {
  double sum = 0, whole = 0;
  for (int k = 0; k <= 3; k++) {
    sum += pow(.5, k + 1) * gsl_cdf_gamma_P(m, k + 1, .5);
    whole += pow(.5, k + 1);
  }
  return sum / whole;
}
/* The sum of a normal and half of another; of three normals. */
static double half_more_law(double x) {
  return gsl_cdf_gaussian_P(x, sqrt(1.25));
}
static double walk_law(double x) { return gsl_cdf_gaussian_P(x, sqrt(3)); }
/* beta(1, 3), beta(2, 2) on (-1, 1). */
static double share_law(double x) { return 1 - pow(1 - x, 3); }
static double beta_law(double x) { return gsl_cdf_beta_P((x + 1) / 2, 2, 2); }
static double t_law(double x) { return gsl_cdf_tdist_P(x, 4); }
static double even_law(double x) { return gsl_cdf_gaussian_P(x - 3, 2); }
/* A mean of a normal and a weight that is uniform. */
static double weighted_law(double x) { return even_humps_law(x); }

static const example EXAMPLES[] = {
    {"real a;", "a ~ normal(0, 1);", KNOWN, 0, 0, normal_law},
    {"real<lower=0> a;", "a ~ normal(0, 1);", KNOWN, -M_LN2, 0,
     half_normal_law},
    {"real<lower=0> a;",
     "target += normal_lpdf(a | 0, 1) - 1 * "
     "normal_lccdf(0 | 0, 1);",
     KNOWN, 0, 0, half_normal_law},
    {"real<lower=0> a;", "a ~ normal(0, 1) T[0, ];", KNOWN, 0, 0,
     half_normal_law},
    {"real<lower=6> a;", "a ~ normal(0, 1);", KNOWN, -20.7367689499, 0,
     tail_law},
    {"real<lower=2, upper=5> a;", "", KNOWN, 1.0986122887, 0, uniform_law},
    {"array[2] int<lower=1, upper=6> k;", "", KNOWN, 3.5835189385, 0, NULL},
    {"array[2] int<lower=1, upper=3> z;", "z ~ categorical([0.2, 0.3, 0.5]');",
     KNOWN, 0, 0, NULL},
    {"array[2] int<lower=1, upper=2> z;", "z ~ categorical([0.2, 0.3, 0.5]');",
     NEITHER, 0, 0, NULL},
    {"simplex[3] p;", "", KNOWN, -M_LN2, 0, part_law},
    {"simplex[3] p;", "p ~ dirichlet([1, 1, 1]');", KNOWN, 0, 0, part_law},
    {"real a;",
     "target += log_mix(0.3, normal_lpdf(a | -5, 1), normal_lpdf(a | 5, 2));",
     KNOWN, 0, 0, two_humps_law},
    {"real a;",
     "target += log_sum_exp(log(0.3) + normal_lpdf(a | -5, 1), log1m(0.3) + "
     "normal_lpdf(a | 5, 2));",
     KNOWN, 0, 0, two_humps_law},
    {"real a;",
     "target += log_sum_exp({log(3) + normal_lpdf(a | -5, 1), log(7) + "
     "normal_lpdf(a | 5, 2)});",
     KNOWN, 2.302585093, 0, two_humps_law},
    {"real<lower=0> a;",
     "target += log_mix(0.3, normal_lpdf(a | -5, 1), normal_lpdf(a | 5, 2));",
     KNOWN, -0.3629038459, 0, cut_humps_law},
    {"simplex[2] w; real a;",
     "target += log_sum_exp(log(w[1]) + normal_lpdf(a | -5, 1), log(w[2]) + "
     "normal_lpdf(a | 5, 2));",
     KNOWN, 0, 2, weighted_law},
    {"real a; real w;", /* weights that do not sum to one */
     "w ~ normal(0, 1); target += log_sum_exp(w + normal_lpdf(a | -5, 1), "
     "normal_lpdf(a | 5, 2));",
     NEITHER, 0, 0, NULL},
    {"ordered[3] a;", "a ~ normal(0, 1);", KNOWN, -1.791759469, 0, least_law},
    {"positive_ordered[2] a;", "a ~ normal(0, 1);", KNOWN, -3 * M_LN2, 0, NULL},
    {"ordered[2] a;", "a[1] ~ normal(0, 1); a[2] ~ normal(1, 1);", DRAWN, 0, 0,
     NULL},
    {"real m; real<lower=0> s; vector[3] a;",
     "a ~ normal(m, s); m ~ normal(0, 1); s ~ exponential(2);", KNOWN, 0, 0,
     normal_law},
    {"real<lower=0> m; real<lower=0> a;",
     "m ~ exponential(1); a ~ normal(m, 1);", DRAWN, 0, 0, cut_mean_law},
    {"real<lower=0> m; int<lower=0, upper=3> k;",
     "m ~ exponential(1); k ~ poisson(m);", DRAWN, 0, 0, cut_rate_law},
    {"real m; real<lower=7> a;", /* one draw in a million would be kept */
     "m ~ normal(0, 1); a ~ normal(m, 1);", NEITHER, 0, 0, NULL},
    {"real<lower=0> m; real<lower=0> a;", /* and a term that is not drawn */
     "m ~ exponential(1); a ~ normal(m, 1); a + m ~ normal(1, 9);", NEITHER, 0,
     0, NULL},
    {"real<lower=0> m; real<lower=0> a;",
     "m ~ exponential(1); a ~ normal(m, 1) T[0, ];", KNOWN, 0, 0, NULL},
    {"real<lower=0> m; real<lower=0, upper=m> a;",
     "m ~ exponential(1); a ~ uniform(0, m);", KNOWN, 0, 0, NULL},
    {"vector[4] b;", "b[1] ~ normal(0, 1); b[2:4] ~ normal(0, 3);", KNOWN, 0, 0,
     normal_law},
    {"vector[3] x;",
     "for (i in 2:3) x[i] ~ normal(x[i - 1], 1); x[1] ~ normal(0, 1);", KNOWN,
     0, 0, normal_law},
    {"cholesky_factor_corr[2] L;", "L ~ lkj_corr_cholesky(1);", KNOWN, 0, 1,
     unit_law},
    {"corr_matrix[2] C;", "C ~ lkj_corr(1.5);", KNOWN, 0, 1, disc_law},
    {"vector[2] x;", "x ~ multi_normal([0, 1]', [[1, .5], [.5, 2]]);", KNOWN, 0,
     0, normal_law},
    {"array[3] vector[2] x;", "x ~ multi_normal([0, 1]', [[1, .5], [.5, 2]]);",
     KNOWN, 0, 2, normal_law},
    {"vector[2] m; array[2] vector[2] x;", /* both elements of x[2] */
     "m ~ normal(0, 1); for (i in 1:2) x[i] ~ multi_normal_cholesky(m, "
     "[[.5, 0], [.3, .4]]);",
     KNOWN, 0, 5, half_more_law},
    {"array[3] vector[2] x;", /* each from the one before */
     "x[1] ~ std_normal(); for (i in 2:3) x[i] ~ multi_normal(x[i - 1], "
     "identity_matrix(2));",
     KNOWN, 0, 2, walk_law},
    {"matrix[3, 2] x;",
     "for (i in 1:3) x[i] ~ multi_normal([0, 1]', [[1, .5], [.5, 2]]);", KNOWN,
     0, 2, normal_law},
    {"vector[2] x;", "x ~ multi_student_t(4, [0, 0]', identity_matrix(2));",
     KNOWN, 0, 1, t_law},
    {"array[2] simplex[4] p;", "p ~ dirichlet(rep_vector(1, 4));", KNOWN, 0, 5,
     share_law},
    {"array[2] cholesky_factor_corr[2] L;",
     "for (k in 1:2) L[k] ~ lkj_corr_cholesky(1);", KNOWN, 0, 3, unit_law},
    {"vector[3] x;", "x[1] ~ normal(0, 1); x[2:3] ~ normal(x[1:2], 1);", KNOWN,
     0, 2, walk_law},
    {"vector[3] x;", "x[2:3] ~ normal(x[1:2], [1, 1]'); x[1] ~ normal(0, 1);",
     KNOWN, 0, 2, walk_law},
    {"vector[3] x;", "x[1:2] ~ normal(0, 1); x[2:3] ~ normal(x[1:2], 1);",
     NEITHER, 0, 0, NULL},
    {"real<lower=-1, upper=1> r;", "(r + 1) / 2 ~ beta(2, 2);", KNOWN, M_LN2, 0,
     beta_law},
    {"vector<lower=-1, upper=1>[2] r;", "0.5 - 0.5 * r ~ beta(2, 2);", KNOWN,
     2 * M_LN2, 1, beta_law},
    {"real<upper=3> a;", "3 - a ~ normal(0, 2);", KNOWN, -M_LN2, 0, NULL},
    {"real a;", "-(a - 3) / 2 ~ normal(0, 1);", KNOWN, M_LN2, 0, even_law},
    {"array[2] real<lower=1> a;", "for (i in 1:2) a[i] - 1 ~ exponential(1);",
     KNOWN, 0, 1, NULL},
    {"real a; real b;", "a ~ normal(0, 1); a * b ~ normal(0, 1);", NEITHER, 0,
     0, NULL},
    {"real a;", "a ~ normal(0, 1); a + 1 ~ normal(0, 1);", NEITHER, 0, 0, NULL},
    {"vector[2] u; vector[2] v;",
     "x ~ multi_normal([0, 1]', [[1, .5], [.5, 2]]);", KNOWN, 0, 1, normal_law,
     "array[2] vector[2] x; for (i in 1:2) { x[i, 1] = u[i]; x[i, 2] = v[i]; "
     "}"},
    {"real<lower=0> a; vector[2] b;", /* parts of it are drawn from, too */
     "x ~ normal(0, 1); b ~ normal(x[1], 1);", KNOWN, -M_LN2, 0,
     half_normal_law, "vector<lower=0>[1] x; x[1] = a;"},
    {"vector[3] a;", "x ~ normal(0, 1);", KNOWN, 0, 2, normal_law,
     "vector[3] x; x[1:2] = a[2:3]; x[3] = a[1];"},
    {"simplex[3] a; simplex[3] b;",
     "for (k in 1:2) p[k] ~ dirichlet([1, 1, 1]');", KNOWN, 0, 3, part_law,
     "array[2] simplex[3] p; p[1] = a; p[2] = b;"},
    {"real<lower=0> a; real b;", /* normal draws may not lie where a cannot */
     "x ~ normal(0, 1);", NEITHER, 0, 0, NULL,
     "vector[2] x; x[1] = a; x[2] = b;"},
    {"real a; real b;", "x ~ normal(0, 1); a ~ normal(0, 1);", NEITHER, 0, 0,
     NULL, "vector[2] x; x[1] = a; x[2] = b;"},
    {"real a;", "x ~ normal(0, 1);", NEITHER, 0, 0, NULL, /* a twice */
     "vector[2] x; x[1] = a; x[2] = a;"},
    {"real a; real b;", "x ~ normal(0, 1);", NEITHER, 0, 0, NULL,
     "vector[2] x; x[1] = a; x[2] = b * b;"},
    {"real a; real b;", "a ~ normal(0, 1); b ~ normal(t, 1);", KNOWN, 0, 0,
     normal_law, "real t = 2 * a;"},
    {"real a;", "a ~ normal(0, 1); if (a < 0) reject(\"no\");", DRAWN, 0, 0,
     half_normal_law},
    {"real a; real<lower=0> b;", "a ~ normal(0, 1); b ~ exponential(1);", DRAWN,
     0, 0, NULL, "real<lower=0> t = a;"},
    {"ordered[2] a;", "b ~ normal(0, 1); c ~ normal(0, 1);", DRAWN, 0, 0, NULL,
     "real b = a[1]; real c = a[2];"},
    {"real a;", "b ~ normal(0, 1);", KNOWN, 0, 0, normal_law, "real b = a;"},
    {"real a;", "b ~ normal(0, 1);", NEITHER, 0, 0, NULL,
     "real b = a; b += 0.1 * square(a);"},
    {"real a;", "a ~ normal(0, 1); a ~ normal(1, 2);", NEITHER, 0, 0, NULL},
    {"real a;", "a ~ normal(0, 1); target += -square(a);", NEITHER, 0, 0, NULL},
    {"real a;", "target += lprior;", KNOWN, 0, 0, normal_law,
     "real lprior = 0; lprior += normal_lpdf(a | 0, 1);"},
    {"real a;", "a ~ normal(0, 1); target += -3;", KNOWN, -3, 0, normal_law},
    /* conditions that hold at all draws; precisions that round to zero */
    {"real a; real<lower=0> b;", "a ~ normal(0, 1); b ~ exponential(1);", KNOWN,
     0, 0, normal_law, "real<lower=0> s = sqrt(b);"},
    {"real<lower=0> t; vector[3] a;",
     "t ~ gamma(0.001, 0.001); a ~ normal(0, s);", KNOWN, 0, 0, NULL,
     "real<lower=0> s = 1 / sqrt(t);"},
    /* and one that does not */
    {"real a; real b;", "a ~ normal(0, 1); b ~ normal(0, 1);", DRAWN, 0, 1,
     normal_law, "real<lower=-2> s = a;"},
};

static tempera_model *load(const example *e) {
  char text[1024];
  tempera_program *program = NULL;
  tempera_model *model = NULL;
  tempera_error error = {0};
  const char *more = e->functions_or_more;
  snprintf(text, sizeof text,
           "parameters { %s }\n%s%s%s\nmodel { %s\n1 ~ normal(0, 1); }",
           e->parameters, more ? "transformed parameters { " : "",
           more ? more : "", more ? " }" : "", e->model);
  if (tempera_program_parse("prior", text, strlen(text), &program, &error))
    fail_msg("%s\n%s", text, error.message);
  if (tempera_program_load(program, NULL, &model, &error))
    fail_msg("%s\n%s", text, error.message);
  tempera_program_free(program);
  return model;
}

static void integrals_are_known_where_they_can_be(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof EXAMPLES / sizeof *EXAMPLES; i++) {
    const example *e = &EXAMPLES[i];
    tempera_model *model = load(e);
    const tempera_model_spec *s = tempera_model_spec_of(model);
    if ((e->kind != NEITHER) != (s->prior_draw != NULL) ||
        (e->kind == KNOWN) != s->prior_normalised)
      fail_msg("{ %s } { %s }: drawn %d, known %d", e->parameters, e->model,
               s->prior_draw != NULL, s->prior_normalised);
    if (e->kind == KNOWN &&
        !(fabs(s->prior_log_integral - e->log_integral) < 1e-7))
      fail_msg("{ %s } { %s }: log integral %.10g, not %.10g", e->parameters,
               e->model, s->prior_log_integral, e->log_integral);
    tempera_model_free(model);
  }
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* sqrt(n) D of Kolmogorov and Smirnov: above 2.6 in 3 of a million. */
static double distance(const tempera_model *model, const example *e) {
  enum { N = 5000 };
  static double x[N];
  const tempera_model_spec *s = tempera_model_spec_of(model);
  double *theta = calloc(tempera_model_size(model), sizeof(double)), most = 0;
  tempera_random random = tm_random(11, 0, TM_PURPOSE_TEST);
  for (size_t i = 0; i < N; i++) {
    assert_int_equal(s->prior_draw(&random, theta, s->user), 0);
    x[i] = theta[e->value];
  }
  free(theta);
  qsort(x, N, sizeof *x, ascending);
  for (size_t i = 0; i < N; i++) {
    double p = e->law(x[i]);
    most = fmax(most,
                fmax(fabs(p - (double)i / N), fabs(p - (double)(i + 1) / N)));
  }
  return sqrt(N) * most;
}

static void draws_follow_the_prior(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof EXAMPLES / sizeof *EXAMPLES; i++) {
    const example *e = &EXAMPLES[i];
    if (!e->law)
      continue;
    tempera_model *model = load(e);
    double d = distance(model, e);
    if (!(d < 2.6))
      fail_msg("{ %s } { %s }: sqrt(n) D = %.2f", e->parameters, e->model, d);
    tempera_model_free(model);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(integrals_are_known_where_they_can_be),
      cmocka_unit_test(draws_follow_the_prior),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
