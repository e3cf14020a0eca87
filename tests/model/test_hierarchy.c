/* Which scales of programs are found to scale what, about what (hierarchy.h).
 */
#include "model/hierarchy.h"

#include "quick_compiler.h"

#include <math.h>
#include <string.h>

static tempera_model *load(const char *text, const char *json) {
  tempera_program *program = NULL;
  tempera_data *data = NULL;
  tempera_model *model = NULL;
  tempera_error error = {0};
  if (tempera_program_parse("p", text, strlen(text), &program, &error) ||
      tempera_data_parse(json, strlen(json), &data, &error) ||
      tempera_program_load(program, data, &model, &error))
    fail_msg("%s\n%s", text, error.message);
  tempera_program_free(program);
  tempera_data_free(data);
  return model;
}

/* "sigma^1 x8: 1 mu", and of several one after the other. */
static void describe(const tempera_model *model, const tm_family *f, char *out,
                     size_t size) {
  const tm_block *block = &model->blocks[model->block_of_u[f->scale]];
  const char *name = model->names[block->theta + (f->scale - block->u)];
  int n = snprintf(out, size, "%s^%g x%zu:", name, f->power, f->count);
  for (size_t k = 0; k < f->centres; k++)
    n += snprintf(out + n, size - (size_t)n, " %g %s", f->weight[k],
                  model->names[f->centre[k]]);
  if (f->shift[0] != 0)
    n += snprintf(out + n, size - (size_t)n, " + %g", f->shift[0]);
  (void)snprintf(out + n, size - (size_t)n, "; ");
}

static void check(const char *text, const char *json, const char *expected) {
  tempera_model *model = load(text, json);
  tm_arena *arena = tm_arena_create();
  double *theta = TM_NEW(arena, double, model->size);
  double *u = TM_NEW(arena, double, model->dimension), jacobian;
  char found[500] = "";
  tm_hierarchy hierarchy;
  tm_constrain(model, u, theta, &jacobian);
  assert_int_equal(tm_hierarchy_find(model, theta, arena, &hierarchy, NULL),
                   TEMPERA_OK);
  for (size_t i = 0; i < hierarchy.count; i++) {
    size_t length = strlen(found);
    describe(model, &hierarchy.families[i], found + length,
             sizeof found - length);
  }
  if (strcmp(found, expected) != 0)
    fail_msg("%s\nhas %s, not %s", text, found, expected);
  tm_arena_free(arena);
  tempera_model_free(model);
}

#define Y "data { vector[4] y; vector[4] z; }"
#define LIKELIHOOD "y ~ normal(x, 1);"
static const char DATA[] = "{\"y\":[1,2,0,1],\"z\":[1,-1,2,0.5]}";

static void scales_of_normals_are_found(void **state) {
  (void)state;
  check(Y "parameters { real mu; real<lower=0> s; vector[4] x; }"
          "model { mu ~ normal(0, 1); s ~ normal(0, 1); x ~ normal(mu, "
          "s);" LIKELIHOOD "}",
        DATA, "s^1 x4: 1 mu; ");
  check(Y "parameters { real<lower=0, upper=9> s; vector[4] x; }"
          "model { for (i in 1:4) x[i] ~ normal(3, s);" LIKELIHOOD "}",
        DATA, "s^1 x4: + 3; ");
  check(Y "parameters { vector[2] b; real<lower=0> v; vector[4] x; }"
          "model { b ~ normal(0, 1); v ~ inv_gamma(1, 1);"
          "  x ~ normal(b[1] + b[2] * z, sqrt(v));" LIKELIHOOD "}",
        DATA, "v^0.5 x4: 1 b[1] 1 b[2]; ");
  check(Y "parameters { real<lower=0> t; vector[4] x; }"
          "transformed parameters { real s = 1 / sqrt(t); }"
          "model { t ~ gamma(1, 1); x ~ normal(0, s);" LIKELIHOOD "}",
        DATA, "t^-0.5 x4:; ");
}

static void scales_may_be_given_by_logarithms(void **state) {
  (void)state;
  check(Y "parameters { real mu; real v; vector[4] x; }"
          "model { mu ~ normal(0, 1); v ~ normal(0, 3);"
          "  x ~ normal(mu, exp(v / 2));" LIKELIHOOD "}",
        DATA, "v^0.5 x4: 1 mu; ");
}

static void so_are_those_of_other_families(void **state) {
  (void)state;
  check(Y "parameters { real mu; real<lower=0> s; vector[4] x; }"
          "model { mu ~ normal(0, 1); s ~ exponential(1);"
          "  x ~ student_t(4, mu, s);" LIKELIHOOD "}",
        DATA, "s^1 x4: 1 mu; ");
  check(Y "parameters { real mu; real<lower=0> s; vector<lower=0>[4] x; }"
          "model { mu ~ normal(0, 1); s ~ exponential(1);"
          "  x ~ lognormal(mu, s);" LIKELIHOOD "}",
        DATA, "s^1 x4: 1 mu; ");
  check(Y "parameters { real<lower=0> s; vector[4] x; }"
          "model { s ~ exponential(1); x[1] ~ normal(0, 1);"
          "  x[2:4] ~ normal(x[1:3], s);" LIKELIHOOD "}",
        DATA, "s^1 x3: 1 x[1]; ");
}

static void each_scale_has_its_own(void **state) {
  (void)state;
  check("data { array[3] vector[2] y; }"
        "parameters { vector[2] mu; vector<lower=0>[2] s;"
        "  array[3] vector[2] x; }"
        "model { mu ~ normal(0, 1); s ~ exponential(1);"
        "  for (k in 1:3) { x[k] ~ normal(mu, s); y[k] ~ normal(x[k], 1); } }",
        "{\"y\":[[1,2],[0,1],[2,2]]}",
        "s[1]^1 x3: 1 mu[1]; s[2]^1 x3: 1 mu[2]; ");
  check(Y "parameters { real mu; real<lower=0> s; vector[4] x; vector[2] w; }"
          "model { mu ~ normal(0, 1); s ~ exponential(1); x ~ normal(mu, s);"
          "  w ~ normal(0, s);" LIKELIHOOD " y[1] ~ normal(w[1], 1); }",
        DATA, "s^1 x6: 1 mu; ");
}

/* A scale of data, deviations that are standardised, a prior of its own for
 * what is scaled. */
static void where_there_is_none_none_is_found(void **state) {
  (void)state;
  check(Y "parameters { real a; real b; real<lower=0> s; }"
          "model { a ~ normal(0, 1); b ~ normal(0, 1); s ~ exponential(1);"
          "  y ~ normal(a + b * z, s); }",
        DATA, "");
  check(Y "parameters { real mu; real<lower=0> s; vector[4] e; }"
          "model { mu ~ normal(0, 1); s ~ exponential(1);"
          "  e ~ normal(0, 1); y ~ normal(mu + s * e, 1); }",
        DATA, "");
  check(Y "parameters { real<lower=0> s; vector[4] x; }"
          "model { s ~ exponential(1); x ~ normal(0, s); x ~ normal(1, "
          "1);" LIKELIHOOD "}",
        DATA, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(scales_of_normals_are_found),
      cmocka_unit_test(scales_may_be_given_by_logarithms),
      cmocka_unit_test(so_are_those_of_other_families),
      cmocka_unit_test(each_scale_has_its_own),
      cmocka_unit_test(where_there_is_none_none_is_found),
  };
  return cmocka_run_group_tests(tests, compiling_quickly, NULL);
}
