/* limits.c - bounds, offsets and multipliers that depend on other parameters.
 *
 * A compiled program gives a function that computes the limits of a parameter
 * from theta, and one that records the computation on a tape. The block's map
 * calls them with the values of the blocks before its own; going back, what
 * the density says about the limits is passed on to those values. Maps are
 * called from many threads: tapes are lent from a pool. */
#include "language/load/limits.h"

#include "model/model.h"

#include <sched.h>

enum { LENT = 64 };

typedef struct lent {
  tm_tape tape;
  tm_guard guard;
  bool busy;
} lent;

struct tm_limits_pool {
  lent tapes[LENT];
};

/* What a map's context points at; `shape` is the variable's. */
typedef struct limited {
  tm_limits limits;
  tm_limits_pool *pool;
  const void *instance;
  size_t offset; /* of the block in theta */
  tm_tensor shape;
  bool shifted; /* offset and multiplier, not bounds */
} limited;

/* Value k and its limits. */
typedef struct limit {
  double lower, upper;
} limit;

tm_limits_pool *tm_limits_pool_new(void) {
  tm_limits_pool *pool = tm_heap_alloc(1, sizeof *pool);
  for (int i = 0; pool && i < LENT; i++)
    tm_tape_start(&pool->tapes[i].tape, &pool->tapes[i].guard);
  return pool;
}

void tm_limits_pool_free(tm_limits_pool *pool) {
  for (int i = 0; pool && i < LENT; i++)
    tm_tape_free(&pool->tapes[i].tape);
  tm_heap_free(pool);
}

static lent *borrow(tm_limits_pool *pool) {
  for (;;) {
    for (int i = 0; i < LENT; i++)
      if (!__atomic_test_and_set(&pool->tapes[i].busy, __ATOMIC_ACQUIRE)) {
        tm_tape_reset(&pool->tapes[i].tape);
        return &pool->tapes[i];
      }
    sched_yield();
  }
}

static void give_back(lent *l) { __atomic_clear(&l->busy, __ATOMIC_RELEASE); }

/* ---- one value ---------------------------------------------------------- */

static limit limit_of(const limited *c, const tm_view *v, long k) {
  long at = tm_columnwise(&c->shape, k);
  return (limit){v[0].v[at * v[0].stride], v[1].v[at * v[1].stride]};
}

static bool is_usable(const limited *c, limit l) {
  return c->shifted ? isfinite(l.lower) && l.upper > 0 && isfinite(l.upper)
                    : l.lower < l.upper;
}

/* dvalue/dlimits, and those of its log Jacobian. */
static void slopes_of(const limited *c, limit l, double u, double *value,
                      double *jacobian) {
  bool below = isfinite(l.lower), above = isfinite(l.upper);
  value[0] = value[1] = jacobian[0] = jacobian[1] = 0;
  if (c->shifted) {
    value[0] = 1;
    value[1] = u;
    jacobian[1] = 1 / l.upper;
  } else if (below && above) {
    value[1] = tm_inv_logit(u);
    value[0] = tm_inv_logit(-u);
    jacobian[1] = 1 / (l.upper - l.lower);
    jacobian[0] = -jacobian[1];
  } else {
    value[0] = below;
    value[1] = above;
  }
}

/* ---- the map ------------------------------------------------------------ */

typedef struct task {
  const tempera_map *map;
  const double *u, *theta; /* of the block */
  double *gradient;        /* or NULL */
  bool jacobian;
  double *out;
  double log_jacobian;
  bool fine; /* all inside */
} task;

typedef void (*work_fn)(const limited *c, task *t, const tm_view *v);

/* Compute the limits and hand them over; a failure leaves `fine` false. */
static void with_limits(task *t, bool active, work_fn work) {
  const limited *c = t->map->context;
  lent *l = borrow(c->pool);
  tm_any out[2];
  tm_view v[2];
  t->fine = false;
  if (!setjmp(l->guard.place)) {
    tm_limits_fn compute = active ? c->limits.gradient : c->limits.value;
    compute(&l->tape, c->instance, t->theta - c->offset,
            active ? t->gradient - c->offset : NULL, out);
    tm_view_of(&out[0], &v[0]);
    tm_view_of(&out[1], &v[1]);
    t->fine = true;
    work(c, t, v);
    if (active && t->fine)
      tm_backward(&l->tape);
  }
  give_back(l);
}

static void constrain_all(const limited *c, task *t, const tm_view *v) {
  for (size_t k = 0; k < t->map->size; k++) {
    limit l = limit_of(c, v, (long)k);
    t->fine = t->fine && is_usable(c, l);
    if (c->shifted) {
      t->out[k] = l.lower + l.upper * t->u[k];
      t->log_jacobian += log(l.upper);
    } else {
      tm_block one = tm_block_between(l.lower, l.upper);
      t->log_jacobian += tm_constrain_block(&one, t->u + k, t->out + k);
    }
  }
}

/* Where there is no room between the bounds, NaN: nothing is inside. */
static double limited_constrain(const tempera_map *m, const double *u,
                                double *x) {
  task t = {.map = m, .u = u, .theta = x, .out = x};
  with_limits(&t, false, constrain_all);
  for (size_t k = 0; !t.fine && k < m->size; k++)
    x[k] = NAN;
  return t.fine ? t.log_jacobian : 0;
}

static void unconstrain_all(const limited *c, task *t, const tm_view *v) {
  for (size_t k = 0; k < t->map->size; k++) {
    limit l = limit_of(c, v, (long)k);
    tm_block one = tm_block_between(l.lower, l.upper);
    if (c->shifted)
      t->out[k] = (t->theta[k] - l.lower) / l.upper;
    else
      tm_unconstrain_block(&one, t->theta + k, t->out + k);
  }
}

static void limited_unconstrain(const tempera_map *m, const double *x,
                                double *u) {
  task t = {.map = m, .theta = x, .out = u};
  with_limits(&t, false, unconstrain_all);
  for (size_t k = 0; !t.fine && k < m->size; k++)
    u[k] = NAN;
}

static void all_inside(const limited *c, task *t, const tm_view *v) {
  for (size_t k = 0; k < t->map->size && t->fine; k++) {
    limit l = limit_of(c, v, (long)k);
    double x = t->theta[k];
    t->fine = is_usable(c, l) && isfinite(x) &&
              (c->shifted || (x >= l.lower && x <= l.upper));
  }
}

static bool limited_inside(const tempera_map *m, const double *x) {
  task t = {.map = m, .theta = x};
  with_limits(&t, false, all_inside);
  return t.fine;
}

static void pull_all(const limited *c, task *t, const tm_view *v) {
  for (size_t k = 0; k < t->map->size; k++) {
    limit l = limit_of(c, v, (long)k);
    bool below = isfinite(l.lower), above = isfinite(l.upper);
    double slope = 1, grows = 0, share = tm_inv_logit(t->u[k]);
    if (c->shifted) {
      slope = l.upper;
    } else if (below && above) {
      slope = (l.upper - l.lower) * share * (1 - share);
      grows = 1 - 2 * share;
    } else if (below || above) {
      slope = below ? t->theta[k] - l.lower : t->theta[k] - l.upper;
      grows = 1;
    }
    t->out[k] = t->gradient[k] * slope + (t->jacobian ? grows : 0);
  }
}

static void limited_pull(const tempera_map *m, const double *u, const double *x,
                         const double *g, bool jacobian, double *out) {
  task t = {.map = m,
            .u = u,
            .theta = x,
            .gradient = (double *)(uintptr_t)g, /* read only */
            .jacobian = jacobian,
            .out = out};
  with_limits(&t, false, pull_all);
}

static void pull_limits(const limited *c, task *t, const tm_view *v) {
  for (size_t k = 0; k < t->map->size; k++) {
    double value[2], jacobian[2];
    long at = tm_columnwise(&c->shape, (long)k);
    slopes_of(c, limit_of(c, v, (long)k), t->u[k], value, jacobian);
    for (int i = 0; i < 2; i++)
      if (v[i].d)
        v[i].d[at * v[i].stride] +=
            t->gradient[k] * value[i] + (t->jacobian ? jacobian[i] : 0);
  }
}

static void limited_pull_earlier(const tempera_map *m, const double *u,
                                 const double *x, double *gradient,
                                 bool jacobian) {
  task t = {
      .map = m, .u = u, .theta = x, .gradient = gradient, .jacobian = jacobian};
  with_limits(&t, true, pull_limits);
}

void tm_limits_map(tm_tape *tape, tm_limits_pool *pool, const tm_limits *limits,
                   const void *instance, size_t offset, const tm_tensor *shape,
                   bool shifted, tempera_map *map) {
  limited *c = tm_take(tape, sizeof *c);
  *c = (limited){*limits, pool, instance, offset, *shape, shifted};
  size_t size = (size_t)tm_count(shape);
  *map = (tempera_map){.unconstrained_size = size,
                       .size = size,
                       .constrain = limited_constrain,
                       .unconstrain = limited_unconstrain,
                       .inside = limited_inside,
                       .pull_back = limited_pull,
                       .pull_earlier = limited_pull_earlier,
                       .context = c};
}
