/* check_higher.c - calls of functions that take a function (higher.h). */
#include "language/check/higher.h"

#include <string.h>

#define NEWTON                                                                 \
  { "1e-3", "1e-6", "200" }
#define POWELL                                                                 \
  { "1e-10", "1e-6", "200" }
#define QUADRATURE                                                             \
  { "1.4901161193847656e-8", "0", "15" }
#define DAE                                                                    \
  { "1e-10", "1e-10", "1e8" }
/* its options are controls (check_laplace.c) */
#define LAPLACE                                                                \
  { "0" }

static const tm_higher HIGHER[] = {
    {"solve_newton", "v", "v", 'v', 'v', false, false, NEWTON},
    {"solve_newton_tol", "v", "v", 'v', 'v', true, false, NEWTON},
    {"solve_powell", "v", "v", 'v', 'v', false, false, POWELL},
    {"solve_powell_tol", "v", "v", 'v', 'v', true, false, POWELL},
    {"algebra_solver", "v", "v", 'v', 'v', true, true, POWELL},
    {"algebra_solver_newton", "v", "v", 'v', 'v', true, true, NEWTON},
    {"integrate_1d", "rr", "rr", 'r', 'r', true, true, QUADRATURE},
    {"integrate_1d_double_exponential", "rr", "rr", 'r', 'r', false, false,
     QUADRATURE},
    {"integrate_1d_double_exponential_tol", "rr", "rr", 'r', 'r', true, false,
     QUADRATURE},
    {"integrate_1d_gauss_kronrod", "rr", "rr", 'r', 'r', false, false,
     QUADRATURE},
    {"integrate_1d_gauss_kronrod_tol", "rr", "rr", 'r', 'r', true, false,
     QUADRATURE},
    {"dae", "rvv", "vvRA", 'v', 'w', false, false, DAE},
    {"dae_tol", "rvv", "vvRA", 'v', 'w', true, false, DAE},
    {"laplace_marginal", "v", "Rm", 'r', 'r', false, false, LAPLACE},
    {"laplace_marginal_tol", "v", "RmVRRRRR", 'r', 'r', false, false, LAPLACE},
    {"laplace_latent_rng", "v", "Rm", 'r', 'v', false, false, LAPLACE},
    {"laplace_latent_rng_tol", "v", "RmVRRRRR", 'r', 'v', false, false,
     LAPLACE},
    {"laplace_latent_tol_rng", "v", "RmVRRRRR", 'r', 'v', false, false,
     LAPLACE},
    /* its tuple's items, by names that nobody can write */
    {"laplace_latent_solve.1", "v", "Rm", 'r', 'v', false, false, LAPLACE},
    {"laplace_latent_solve.2", "v", "Rm", 'r', 'm', false, false, LAPLACE},
    {"laplace_latent_solve_tol.1", "v", "RmVRRRRR", 'r', 'v', false, false,
     LAPLACE},
    {"laplace_latent_solve_tol.2", "v", "RmVRRRRR", 'r', 'm', false, false,
     LAPLACE},
    {"map_rect", "vvai", "vwBC", 'v', 'v', false, false, {NULL}},
};

const tm_higher *tm_higher_find(const char *name) {
  for (size_t i = 0; i < sizeof HIGHER / sizeof *HIGHER; i++)
    if (!strcmp(HIGHER[i].name, name))
      return &HIGHER[i];
  return NULL;
}

static tm_type type_of(char letter) {
  switch (letter | 0x20) {
  case 'v':
    return tm_type_of(TM_VECTOR, 0);
  case 'm':
    return tm_type_of(TM_MATRIX, 0);
  case 'w':
    return tm_type_of(TM_VECTOR, 1);
  case 'a':
    return tm_type_of(TM_REAL, 1);
  case 'b':
    return tm_type_of(TM_REAL, 2);
  case 'i':
    return tm_type_of(TM_INT, 1);
  case 'c':
    return tm_type_of(TM_INT, 2);
  default:
    return tm_type_of(TM_REAL, 0);
  }
}

enum { OLD_MORE = 3, MOST = 24 };

void tm_higher_layout(const tm_higher *h, size_t parts, size_t *tolerances,
                      size_t *first, size_t *count) {
  size_t controls = strlen(h->controls);
  if (h->old) {
    *first = controls;
    *count = OLD_MORE;
    *tolerances = parts > controls + OLD_MORE ? controls + OLD_MORE : 0;
    return;
  }
  *tolerances = h->tolerances ? controls : 0;
  *first = controls + (h->tolerances ? 3 : 0);
  *count = parts - *first;
}

static tempera_status check_control(tm_checker *c, const tm_expression *e,
                                    const tm_expression *part, tm_type type,
                                    bool data) {
  char wanted[TM_TYPE_NAME], found[TM_TYPE_NAME];
  if (!tm_type_promotes(part->type, type))
    return tm_complain(c->source, part->token, "%s: this must be %s, not %s",
                       e->text, tm_type_name(type, wanted, sizeof wanted),
                       tm_type_name(part->type, found, sizeof found));
  if (data && part->level == TM_LEVEL_PARAMETER && !c->function &&
      c->block != TM_BLOCK_GENERATED_QUANTITIES)
    return tm_complain(c->source, part->token,
                       "%s: this cannot depend on parameters", e->text);
  return TEMPERA_OK;
}

/* How many parts there may be behind the function. */
static bool count_fits(const tm_higher *h, size_t parts) {
  size_t controls = strlen(h->controls);
  if (!h->old)
    return parts >= controls + (h->tolerances ? 3 : 0) &&
           parts <= controls + MOST && (h->defaults[0] || parts == controls);
  size_t more = parts - controls - OLD_MORE;
  return parts >= controls + OLD_MORE &&
         (more == 0 || more == (h->result == 'r' ? 1 : 3));
}

/* f is called with the inner values and with `more`. */
static tempera_status find_function(tm_checker *c, tm_expression *e,
                                    const tm_higher *h, size_t first,
                                    size_t count) {
  tm_type types[MOST + 8];
  size_t inner = strlen(h->inner);
  for (size_t i = 0; i < inner; i++)
    types[i] = type_of(h->inner[i]);
  for (size_t i = 0; i < count; i++)
    types[inner + i] = e->parts[1 + first + i]->type;
  return tm_find_system(c, e, types, inner + count, type_of(h->value));
}

/* laplace_latent_solve has values alone. */
static tempera_status check_slopes(tm_checker *c, const tm_expression *e) {
  if (strncmp(e->text, "laplace_latent_solve", 20) != 0 || c->function ||
      e->level < TM_LEVEL_PARAMETER ||
      c->block == TM_BLOCK_GENERATED_QUANTITIES)
    return TEMPERA_OK;
  return tm_complain(c->source, e->token,
                     "laplace_latent_solve has no slopes: where its arguments "
                     "depend on parameters it may only stand in generated "
                     "quantities");
}

tempera_status tm_check_higher(tm_checker *c, tm_expression *e) {
  const tm_higher *h = tm_higher_find(e->text);
  if (e->part_count < 2 || !count_fits(h, e->part_count - 1))
    return tm_complain(c->source, e->token,
                       "%s: the number of arguments does not fit", e->text);
  TM_TRY(tm_check_place(c, e, e->text));
  e->level = strstr(e->text, "_rng") ? TM_LEVEL_PARAMETER : TM_LEVEL_CONSTANT;
  TM_TRY(tm_check_system_arguments(c, e));
  TM_TRY(check_slopes(c, e));
  size_t tolerances, first, count;
  tm_higher_layout(h, e->part_count - 1, &tolerances, &first, &count);
  for (size_t i = 0; h->controls[i]; i++)
    TM_TRY(check_control(c, e, e->parts[1 + i], type_of(h->controls[i]),
                         h->controls[i] < 'a'));
  size_t end = tolerances + (h->old && h->result == 'r' ? 1 : 3);
  for (size_t i = tolerances; tolerances && i < end; i++)
    TM_TRY(check_control(c, e, e->parts[1 + i], type_of('r'), true));
  e->type = type_of(h->result);
  return find_function(c, e, h, first, count);
}
