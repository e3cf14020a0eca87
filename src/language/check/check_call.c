/* check_call.c - calls: the user's functions, ours, and the rules of their
 * names (_lpdf, _lp, _rng). */
#include "language/check/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_ARGUMENTS = 32 };

tm_function *tm_function_find(const tm_checker *c, const char *name,
                              const tm_type *types, size_t count,
                              bool *exists) {
  tm_function *best = NULL;
  int least = 0;
  *exists = false;
  for (size_t i = 0; i < c->program->function_count; i++) {
    tm_function *f = c->program->functions[i];
    if (strcmp(f->name, name))
      continue;
    *exists = true;
    if (f->argument_count != count)
      continue;
    int cost = 0;
    for (size_t k = 0; k < count && cost >= 0; k++) {
      int one = tm_promotion(types[k], f->arguments[k]->type);
      cost = one < 0 ? -1 : cost + one;
    }
    if (cost >= 0 && (!best || cost < least)) {
      best = f->definition ? f->definition : f;
      least = cost;
    }
  }
  return best;
}

bool tm_density_known(const tm_checker *c, const char *name) {
  bool exists;
  (void)tm_function_find(c, name, NULL, 0, &exists);
  if (exists)
    return true;
  tm_type type;
  (void)tm_builtin_find(name, NULL, 0, &type, &exists);
  return exists;
}

static const char *const DENSITY_SUFFIXES[] = {"_lpdf", "_lpmf", "_lupdf",
                                               "_lupmf"};

static bool is_density(const char *name) {
  for (size_t i = 0; i < 4; i++)
    if (tm_ends_with(name, DENSITY_SUFFIXES[i]))
      return true;
  return false;
}

static bool takes_bar(const char *name) {
  return is_density(name) || tm_ends_with(name, "_cdf") ||
         tm_ends_with(name, "_lcdf") || tm_ends_with(name, "_lccdf");
}

/* Names of old and of dropped constants, turned into the ones we have. */
static const char *modern_name(tm_checker *c, const tm_expression *e) {
  size_t n = strlen(e->text);
  if (tm_ends_with(e->text, "_lupdf"))
    return tm_joined(c, e->text, n - 6, "_lpdf");
  if (tm_ends_with(e->text, "_lupmf"))
    return tm_joined(c, e->text, n - 6, "_lpmf");
  static const char *const old[][3] = {{"_cdf_log", "_lcdf", ""},
                                       {"_ccdf_log", "_lccdf", ""},
                                       {"_log", "_lpdf", "_lpmf"}};
  for (size_t i = 0; i < 3; i++) {
    if (!tm_ends_with(e->text, old[i][0]))
      continue;
    for (size_t k = 1; k < 3; k++) {
      const char *name =
          tm_joined(c, e->text, n - strlen(old[i][0]), old[i][k]);
      if (name && old[i][k][0] && tm_density_known(c, name))
        return name;
    }
  }
  return e->text;
}

static tempera_status unknown_function(tm_checker *c, const tm_expression *e) {
  if (tm_builtin_unsupported(e->text))
    return tm_complain(c->source, e->token, "the function %s is not supported",
                       e->text);
  tm_suggestion s = {.wanted = e->text};
  for (size_t i = 0; i < c->program->function_count; i++)
    tm_suggestion_offer(&s, c->program->functions[i]->name);
  for (size_t i = 0; i < tm_builtin_count(); i++)
    tm_suggestion_offer(&s, tm_builtin_at(i)->name);
  char hint[96];
  return tm_complain(c->source, e->token, "unknown function '%s'%s", e->text,
                     tm_suggestion_text(&s, hint, sizeof hint));
}

static tempera_status wrong_arguments(tm_checker *c, const tm_expression *e,
                                      const char *name) {
  char found[160] = "", wanted[160] = "", type[TM_TYPE_NAME];
  for (size_t i = 0; i < e->part_count; i++) {
    size_t used = strlen(found);
    snprintf(found + used, sizeof found - used, "%s%s", i ? ", " : "",
             tm_type_name(e->parts[i]->type, type, sizeof type));
  }
  for (size_t i = 0; i < c->program->function_count; i++) {
    const tm_function *f = c->program->functions[i];
    if (strcmp(f->name, name))
      continue;
    snprintf(wanted, sizeof wanted, "(");
    for (size_t k = 0; k < f->argument_count; k++) {
      size_t used = strlen(wanted);
      snprintf(wanted + used, sizeof wanted - used, "%s%s", k ? ", " : "",
               tm_type_name(f->arguments[k]->type, type, sizeof type));
    }
    size_t used = strlen(wanted);
    snprintf(wanted + used, sizeof wanted - used, ")");
  }
  if (!wanted[0])
    tm_builtin_signatures(name, wanted, sizeof wanted);
  return tm_complain(c->source, e->token,
                     "%s takes %s, but is called with (%s)", e->text, wanted,
                     found);
}

static bool raises_target(const char *name) {
  return tm_ends_with(name, "_lp") || tm_ends_with(name, "_jacobian") ||
         !strcmp(name, "target") || !strcmp(name, "get_lp");
}

static tempera_status check_raising_place(tm_checker *c, const tm_expression *e,
                                          const char *name) {
  bool jacobian = tm_ends_with(name, "_jacobian");
  const tm_function *in = c->function;
  if (in ? in->uses_target && (jacobian || !in->jacobian)
         : c->block == TM_BLOCK_MODEL ||
               c->block == TM_BLOCK_TRANSFORMED_PARAMETERS)
    return TEMPERA_OK;
  return tm_complain(c->source, e->token,
                     "%s may only be called in transformed parameters, in the "
                     "model block and in functions whose names end in %s",
                     name, jacobian ? "_jacobian or _lp" : "_lp");
}

tempera_status tm_check_place(tm_checker *c, const tm_expression *e,
                              const char *name) {
  const tm_function *in = c->function;
  if (tm_ends_with(name, "_rng") || tm_ends_with(name, "_rng_tol")) {
    bool fine = in ? tm_ends_with(in->name, "_rng")
                   : c->block == TM_BLOCK_TRANSFORMED_DATA ||
                         c->block == TM_BLOCK_GENERATED_QUANTITIES;
    if (!fine)
      return tm_complain(c->source, e->token,
                         "random numbers may only be drawn in transformed "
                         "data, generated quantities and functions whose "
                         "names end in _rng");
  }
  return raises_target(name) ? check_raising_place(c, e, name) : TEMPERA_OK;
}

/* Prior and likelihood are kept apart, so there is no one target on which
 * either could depend: it may be printed, and kept in locals for that. */
tempera_status tm_check_reading(tm_checker *c, const tm_expression *e) {
  c->read = true;
  if (c->printing || c->reading)
    return TEMPERA_OK;
  return tm_complain(c->source, e->token,
                     "the target's value may only be printed, and compared by "
                     "is_nan or is_inf: prior and likelihood are kept apart, "
                     "so nothing can depend on it");
}

static tempera_status check_target_value(tm_checker *c, tm_expression *e) {
  e->type = tm_type_of(TM_REAL, 0);
  e->level = c->printing ? TM_LEVEL_DATA : TM_LEVEL_PARAMETER;
  if (!c->function)
    return tm_check_reading(c, e);
  e->level = TM_LEVEL_DATA;
  c->function->reads_target = c->function->reads_target || !c->printing;
  return TEMPERA_OK;
}

static tempera_status check_user_call(tm_checker *c, tm_expression *e) {
  const tm_function *f = e->function;
  for (size_t i = 0; i < f->argument_count; i++)
    if (f->arguments[i]->data_only &&
        e->parts[i]->level == TM_LEVEL_PARAMETER &&
        c->block != TM_BLOCK_GENERATED_QUANTITIES &&
        !(c->function && e->parts[i]->type.base == TM_INT))
      return tm_complain(c->source, e->parts[i]->token,
                         "argument %zu of %s is marked data and cannot "
                         "depend on parameters",
                         i + 1, f->name);
  for (size_t i = 0; i < f->argument_count; i++)
    TM_TRY(tm_widen(c, &e->parts[i], f->arguments[i]->type));
  if (f->reads_target)
    TM_TRY(check_target_value(c, e));
  if (f->uses_target && f->result.base != TM_VOID)
    c->raised = true;
  e->type = f->result;
  if (f->uses_target || tm_ends_with(f->name, "_rng"))
    e->level = TM_LEVEL_PARAMETER;
  return TEMPERA_OK;
}

static bool constant_call(tm_expression *e) {
  static const struct {
    const char *name;
    double value;
  } constants[] = {{"pi", 3.141592653589793},
                   {"e", 2.718281828459045},
                   {"sqrt2", 1.4142135623730951},
                   {"log2", 0.6931471805599453},
                   {"log10", 2.302585092994046},
                   {"not_a_number", (double)NAN},
                   {"positive_infinity", (double)INFINITY},
                   {"negative_infinity", -(double)INFINITY},
                   {"machine_precision", 2.220446049250313e-16}};
  for (size_t i = 0;
       e->part_count == 0 && i < sizeof constants / sizeof *constants; i++)
    if (!strcmp(constants[i].name, e->text)) {
      e->kind = TM_E_REAL;
      e->number = constants[i].value;
      e->type = tm_type_of(TM_REAL, 0);
      return true;
    }
  return false;
}

static bool is_target(const tm_expression *e) {
  return (!strcmp(e->text, "target") || !strcmp(e->text, "get_lp")) &&
         e->part_count == 0;
}

/* Functions without slopes are of data, or of draws that are there. */
static tempera_status check_data_only(tm_checker *c, const tm_expression *e) {
  static const char *const names[] = {"quantile", "linspaced",
                                      "hmm_hidden_state_prob"};
  bool density = !c->function && c->block != TM_BLOCK_GENERATED_QUANTITIES;
  bool varies = false; /* numbers of elements do not */
  for (size_t i = 0; i < e->part_count; i++)
    varies = varies || (e->parts[i]->level == TM_LEVEL_PARAMETER &&
                        e->parts[i]->type.base != TM_INT);
  for (size_t i = 0; density && i < sizeof names / sizeof *names; i++)
    if (!strncmp(e->text, names[i], strlen(names[i])) && varies)
      return tm_complain(c->source, e->token,
                         "the arguments of %s cannot depend on parameters here",
                         e->text);
  return TEMPERA_OK;
}

static tempera_status resolve(tm_checker *c, tm_expression *e, const char *name,
                              const tm_type *types) {
  bool users, ours;
  e->function = tm_function_find(c, name, types, e->part_count, &users);
  if (e->function)
    return check_user_call(c, e);
  e->builtin = tm_builtin_find(name, types, e->part_count, &e->type, &ours);
  if (e->builtin) {
    if (tm_ends_with(name, "_rng"))
      e->level = TM_LEVEL_PARAMETER;
    TM_TRY(tm_widen_arguments(c, e, types));
    return check_data_only(c, e);
  }
  return users || ours ? wrong_arguments(c, e, name) : unknown_function(c, e);
}

tempera_status tm_check_call(tm_checker *c, tm_expression *e) {
  tm_type types[MOST_ARGUMENTS];
  if (e->part_count > MOST_ARGUMENTS)
    return tm_complain(c->source, e->token, "more than %d arguments",
                       MOST_ARGUMENTS);
  bool found = false;
  TM_TRY(tm_check_returning(c, e, &found));
  if (found || constant_call(e))
    return TEMPERA_OK;
  TM_TRY(tm_check_tuple_sizes(c, e));
  TM_TRY(tm_check_complex_sizes(c, e));
  for (size_t i = 0; i < e->part_count; i++)
    types[i] = e->parts[i]->type;
  bool old = !takes_bar(e->text);
  const char *name = modern_name(c, e);
  if (!name)
    return tm_fail_memory(c->source->error);
  if (e->bar && !takes_bar(name) && e->token->text != NULL &&
      !strncmp(e->token->text, "reduce_sum", 10))
    e->bar = false;
  if (e->bar && !takes_bar(name))
    return tm_complain(c->source, e->token,
                       "only densities and distribution functions take |; "
                       "write a comma in the call of %s",
                       e->text);
  if (!e->bar && !old && takes_bar(name) && e->part_count > 1)
    return tm_complain(c->source, e->token,
                       "write a | after the first argument of %s, as in "
                       "normal_lpdf(y | mu, sigma)",
                       e->text);
  TM_TRY(tm_check_place(c, e, name));
  if (is_target(e))
    return check_target_value(c, e);
  return resolve(c, e, name, types);
}
