/* Facts about masses, densities of large shapes, and T[lower, upper]: values
 * and slopes keep their digits wherever bounds and arguments lie, beside 80-
 * and 600-digit arithmetic. */
#include "model/model.h"

#include "cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct known {
  double t, value, slope;
} known;

/* The likelihood of this statement and its slope in t. */
static void compare(const char *statement, const known *all, size_t count,
                    double limit) {
  char text[256];
  tempera_program *p = NULL;
  tempera_model *m = NULL;
  tempera_error error = {0};
  snprintf(text, sizeof text, "parameters { real t; } model { %s }", statement);
  if (tempera_program_parse("p", text, strlen(text), &p, &error) ||
      tempera_program_load(p, NULL, &m, &error))
    fail_msg("%s", error.message);
  const tempera_model_spec *s = tempera_model_spec_of(m);
  for (size_t i = 0; i < count; i++) {
    double value, again, slope = 0;
    assert_int_equal(s->log_likelihood(&all[i].t, &value, s->user), 0);
    assert_int_equal(
        s->log_likelihood_gradient(&all[i].t, &again, &slope, s->user), 0);
    if (!(fabs(value - all[i].value) <= 0.01 * limit * (1 + fabs(value))) ||
        !(fabs(again - value) <= 1e-13 * (1 + fabs(value))) ||
        !(fabs(slope - all[i].slope) <= limit * (1 + fabs(slope))))
      fail_msg("%s at t = %g: %.17g (%.17g), slope %.17g (%.17g)", statement,
               all[i].t, value, all[i].value, slope, all[i].slope);
  }
  tempera_model_free(m);
  tempera_program_free(p);
}

static void both_tails_keep_their_digits(void **state) {
  (void)state;
  static const known normal[] = {
      {-35, -5.2250872712821589, 0.2214750294033125},
      {-9, -0.071971900923850273, 0.14154371198759147},
      {-1, 0.29560973597608264, -0.13316904663155275},
      {0.5, 0.0097278004909495776, -0.25},
      {2, -0.45439026402391736, -0.36683095336844725},
      {9, -4.1865699397675246, -0.62881100702020288},
      {35, -22.254026286332987, -0.72063890200498182}};
  compare("0.25 ~ normal(t, 1) T[0, 1];", normal, 7, 1e-10);
  compare("[0.25] ~ normal(t, 1) T[0, 1];", normal, 7, 1e-10);
  static const known gamma[] = {
      {-8, -0.18221905883965076, 0.00010249343893806158},
      {-1, -0.075381741944024853, 0.1014400395992532},
      {1, 0.35160840907243704, 0.25346805625379705},
      {4, -9.4445438848896598, -12.631551298323968},
      {6, -94.636530507007301, -99.854725750027146}};
  compare("1.25 ~ gamma(2, exp(t)) T[1, 2];", gamma, 5, 1e-10);
}

static void so_do_whole_numbers(void **state) {
  (void)state;
  static const known poisson[] = {
      {-20, -21.386294361635179, 0.99999999948471159},
      {-2, -3.4204741838061511, 0.96547159043737258},
      {1, -1.2236095349846645, -0.0090463840639661102},
      {4, -10.552248521231437, -4.8121804329958863},
      {6, -20.398730173475501, -4.9772996092337536}};
  compare("4 ~ poisson(exp(t)) T[3, 9];", poisson, 5, 1e-10);
}

/* Slopes of shapes are differences of masses, some of which have 12 digits. */
static void small_and_large_arguments_have_slopes(void **state) {
  (void)state;
  static const struct {
    const char *mass;
    size_t count;
    known at[4];
  } all[] = {
      {"gamma_lcdf(1 | exp(t), 1)",
       3,
       {{-14, -1.8242421381009883e-7, -1.8242438566039007e-7},
        {-3, -0.011538570246194712, -0.012154580039911921},
        {2, -10.194187079302194, -15.381070986129177}}},
      {"gamma_lcdf(1002000 | exp(t), 1)",
       2,
       {{13.8125, -2.7852990509413471e-7, -0.0014427087505922493},
        {13.8173828125, -0.597448331852529, -719.97534555689689}}},
      {"gamma_lccdf(1 | exp(t), 1)",
       3,
       {{-14, -15.516931108177082, 1.0000008508244379},
        {-3, -4.4678236587423704, 1.0473214096388729},
        {2, -3.738771492285708e-5, 0.00057507384751917274}}},
      {"beta_lccdf(0.25 | exp(t), 2)",
       3,
       {{-6, -6.4517896729678075, 1.000301609503982},
        {0, -0.57536414490356185, 0.74489561420435937},
        {2, -0.00023285858231440303, 0.0021882569054525109}}},
      {"binomial_lccdf(4 | 9, inv_logit(t))",
       4,
       {{-25, -120.16371809316425, 4.9999999998842671},
        {-1, -2.7302763561371907, 2.8387939609472712},
        {3, -2.5735346784770232e-5, 0.00011855566498163488},
        {12, -1.103263865781368e-24, 5.5162628402246976e-24}}},
      {"binomial_logit_lcdf(4 | 9, t)",
       4,
       {{-12, -1.103263865781368e-24, -5.5162628402246976e-24},
        {-1, -0.067424033194073814, -0.19800301470858552},
        {3, -10.567658017376782, -4.60666570550201},
        {25, -120.16371809316425, -4.9999999998842671}}},
      {"poisson_log_lcdf(2 | t)",
       3,
       {{-9, -3.1322581015239512e-13, -9.3964843928432587e-13},
        {0, -0.083709268125844935, -0.2},
        {5, -139.09283079290805, -146.42663378934363}}},
      {"bernoulli_lcdf(0 | inv_logit(t))",
       3,
       {{-30, -9.3576229688397368e-14, -9.357622968839299e-14},
        {0, -0.69314718055994531, -0.5},
        {4, -4.0181499279178097, -0.98201379003790844}}},
      {"neg_binomial_2_lccdf(3 | exp(t), 2)",
       3,
       {{-12, -49.163165555891923, 3.9999852539371635},
        {0, -3.0951661705421779, 2.4242424242424242},
        {5, -0.0017229575349385199, 0.0033574758645200797}}},
      {"uniform_lcdf(1000.0625 | 1000 + t, 1001)",
       2,
       {{-1, -0.63252255874351047, -0.44117647058823529},
        {0, -2.7725887222397812, -15.0}}},
      {"uniform_lccdf(1000.0625 | 999, 1001 + t)",
       2,
       {{0, -0.75768570169751648, 0.56666666666666667},
        {1, -0.43721380642274468, 0.18279569892473118}}},
      {"lognormal_lccdf(2 | t, 0.0078125)",
       3,
       {{0.625, -41.141580897914455, 1130.8349634560688},
        {0.6875, -1.44864065203332, 167.41641169784436},
        {0.75, -1.7045929664173467e-13, 1.6167328657951468e-10}}},
      {"lognormal_lcdf(2 | 0.5, exp(t))",
       3,
       {{-4, -2.6650350294676917e-26, -2.9899000395425559e-24},
        {0, -0.55064439210393717, -0.13117147465370719},
        {6, -0.69276525511808174, -0.00038185248845073429}}},
      {"pareto_lcdf(2.000244140625 | 2, exp(t))",
       3,
       {{-5, -14.010974790557879, 0.99999958877350724},
        {0, -9.0110354101418147, 0.99993896981034903},
        {5, -4.0200185727263607, 0.99096948065347156}}},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    char statement[128];
    snprintf(statement, sizeof statement, "target += %s; // @likelihood\n",
             all[i].mass);
    compare(statement, all[i].at, all[i].count, 1e-8);
  }
}

static void large_shapes_keep_their_digits(void **state) {
  (void)state;
  static const struct {
    const char *term;
    size_t count;
    known at[4];
  } all[] = {
      {"neg_binomial_2_lpmf(3 | 2.5, exp(t))",
       4,
       {{0, -2.2621796783590068, 0.43771322198082248},
        {3, -1.6075353521419822, 0.061133118752539653},
        {20, -1.542887276439676, 2.8340862166918362e-9},
        {40, -1.5428872736055898, 5.8414871010259348e-18}}},
      {"neg_binomial_2_log_lpmf(50 | 4, exp(t))",
       4,
       {{0, -4.9256463238082968, 0.56375870234494586},
        {3, -3.5591866846413029, 0.32080695510554044},
        {20, -3.0759170146566427, 2.9739371303067711e-8},
        {40, -3.0759169849172712, 6.1297413938562559e-17}}},
      {"neg_binomial_lpmf(3 | 2 * exp(t), exp(t))",
       4,
       {{0, -2.0794415416798359, 0.28037230554677605},
        {3, -1.736709980657539, 0.023905014252143679},
        {20, -1.7123179285787959, 1.0305768094491313e-9},
        {40, -1.7123179275482191, 2.1241771276457945e-18}}},
      {"student_t_lpdf(1.5 | exp(t), 0, 2)",
       4,
       {{0, -2.284164169037765, 0.33000362924573555},
        {3, -1.9157212612667764, 0.022256887517284034},
        {20, -1.8933357146965654, 9.3194738941299454e-10},
        {40, -1.8933357137646181, 1.9208867384765681e-18}}},
      {"multi_student_t_lpdf([1.5, 1]' | exp(t), [0, 0]', identity_matrix(2))",
       4,
       {{0, -4.0082555408138337, 0.42359933206124903},
        {3, -3.4940426419491088, 0.031766462044056089},
        {20, -3.462877067665361, 1.2560154924129329e-9},
        {40, -3.4628770664093455, 2.5888408743183121e-18}}},
      {"beta_binomial_lpmf(3 | 10, 2 * exp(t), exp(t))",
       4,
       {{0, -2.8033603809065349, -0.050108225108225108},
        {3, -3.8083938383764187, -0.25851547738768949},
        {20, -4.119189586760563, -1.5458651910909725e-8},
        {40, -4.119189602219215, -3.1862656914686916e-17}}},
      {"dirichlet_multinomial_lpmf({1, 2, 3} | exp(t) * [1, 2, 3]')",
       4,
       {{0, -2.7343675094195835, 0.5974025974025974},
        {3, -2.0229962676103752, 0.048065997785595412},
        {20, -1.9740810280831632, 2.061153619370302e-9},
        {40, -1.9740810260220096, 4.248354255291589e-18}}},
      {"beta_neg_binomial_lpmf(3 | 2, 2 * exp(t), exp(t))",
       4,
       {{0, -2.8622008809294684, 0.22142857142857143},
        {3, -2.714345271746234, -0.0041456237282380679},
        {20, -2.7204727207572416, -3.435255955970807e-10},
        {40, -2.7204727211007672, -7.0805904254859813e-19}}},
      {"yule_simon_lpmf(3 | exp(t))",
       4,
       {{0, -2.4849066497880003, -0.083333333333333333},
        {3, -5.5895694416542142, -1.7320656318965829},
        {20, -39.306852831806976, -1.9999999876330783},
        {40, -79.306852819440055, -2.0}}},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    char statement[128];
    snprintf(statement, sizeof statement, "target += %s; // @likelihood\n",
             all[i].term);
    compare(statement, all[i].at, all[i].count, 1e-11);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(both_tails_keep_their_digits),
      cmocka_unit_test(so_do_whole_numbers),
      cmocka_unit_test(small_and_large_arguments_have_slopes),
      cmocka_unit_test(large_shapes_keep_their_digits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
