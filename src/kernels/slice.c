/* slice.c - componentwise slice sampling on the unconstrained scale (Neal,
 * Slice sampling, 2003): stepping out (figure 3), doubling (figure 4) with
 * its acceptance test (figure 6), and shrinkage (figure 5).
 *
 * The first width is a function of tau, tuned in warmup so that an interval
 * is widened as often as it is shrunk. Doubling finds the size of a slice in
 * few steps from any width, so it is used where no width has been learned;
 * stepping out is cheaper where one has. */
#include "kernels/move.h"

#include <math.h>
#include <string.h>

enum {
  STEPS = 64,     /* stepping out: at most this many widths in all */
  DOUBLINGS = 12, /* doubling: at most 2^12 widths */
  SHRINKS = 400   /* beyond the resolution of doubles */
};

typedef struct slice {
  tm_shared *shared;
  tm_scale *widths; /* one per real */
  bool always_double;
} slice;

/* The density along one coordinate, and what is done there. */
typedef struct line {
  tm_step *step;
  size_t coordinate;
  double from, level, width;
  double left, right; /* the interval */
  unsigned widened, shrunk;
} line;

static bool applies(const tempera_model *model) {
  return model->real_dimension > 0;
}

static tempera_status create(tm_shared *shared, tm_arena *arena, void **state,
                             tempera_error *error) {
  slice *made = TM_NEW(arena, slice, 1);
  tm_scale *widths = TM_NEW(arena, tm_scale, shared->real_count);
  if (!made || !widths)
    return tm_fail_memory(error);
  for (size_t i = 0; i < shared->real_count; i++)
    tm_scale_start(&widths[i], 1, 0.5);
  *made = (slice){.shared = shared, .widths = widths};
  *state = made;
  return TEMPERA_OK;
}

static tempera_status create_doubling(tm_shared *shared, tm_arena *arena,
                                      void **state, tempera_error *error) {
  TM_TRY(create(shared, arena, state, error));
  ((slice *)*state)->always_double = true;
  return TEMPERA_OK;
}

/* Is x in the slice? The point at x is left in `at`. */
static bool inside(const line *l, tm_point *at, double x) {
  at->u[l->coordinate] = x;
  tm_evaluate(l->step->evaluator, at);
  return tm_log_density(at, l->step->tau) > l->level;
}

static void place_interval(line *l) {
  l->left = l->from - l->width * tm_random_uniform(l->step->random);
  l->right = l->left + l->width;
}

static void step_out(line *l, tm_point *at) {
  uint64_t leftward = tempera_random_below(l->step->random, STEPS);
  uint64_t rightward = STEPS - 1 - leftward;
  for (; leftward > 0 && inside(l, at, l->left); leftward--, l->widened++)
    l->left -= l->width;
  for (; rightward > 0 && inside(l, at, l->right); rightward--, l->widened++)
    l->right += l->width;
}

static void double_out(line *l, tm_point *at) {
  bool left = inside(l, at, l->left), right = inside(l, at, l->right);
  for (int k = 0; k < DOUBLINGS && (left || right); k++, l->widened++) {
    double length = l->right - l->left;
    if (tm_random_uniform(l->step->random) < 0.5) {
      l->left -= length;
      left = inside(l, at, l->left);
    } else {
      l->right += length;
      right = inside(l, at, l->right);
    }
  }
}

/* Would doubling from x have found this interval too? Otherwise the move
 * from x back to where we are would be impossible. */
static bool reversible(const line *l, tm_point *at, double x) {
  double left = l->left, right = l->right;
  bool differ = false;
  while (right - left > 1.1 * l->width) {
    double middle = (left + right) / 2;
    if ((l->from < middle) != (x < middle))
      differ = true;
    if (x < middle)
      right = middle;
    else
      left = middle;
    if (differ && !inside(l, at, left) && !inside(l, at, right))
      return false;
  }
  return true;
}

/* Draw from the interval, shrinking it towards `from` at each failure. */
static bool shrink(line *l, tm_point *proposal, tm_point *ends) {
  double left = l->left, right = l->right;
  for (int k = 0; k < SHRINKS; k++) {
    double x = left + tm_random_uniform(l->step->random) * (right - left);
    if (inside(l, proposal, x) && (!ends || reversible(l, ends, x)))
      return true;
    if (x < l->from)
      left = x;
    else
      right = x;
    l->shrunk++;
  }
  return false;
}

static void adapt(tm_scale *width, const line *l) {
  unsigned all = l->widened + l->shrunk;
  tm_scale_update(width, l->step->place, all ? (double)l->widened / all : 0.5);
}

static void step_coordinate(slice *state, tm_step *step, size_t i) {
  tm_shared *shared = state->shared;
  tm_point *proposal = &shared->proposal, *spare = &shared->spare;
  tm_scale *width = &state->widths[i];
  size_t j = shared->reals[i];
  double density = tm_log_density(step->point, step->tau);
  line l = {.step = step,
            .coordinate = j,
            .from = step->point->u[j],
            .level = density - tempera_random_exponential(step->random),
            .width = tm_scale_at(width, step->place, step->adapt)};
  bool doubling = state->always_double || !tm_scale_learnt(width, step->place);
  place_interval(&l);
  if (doubling)
    double_out(&l, proposal);
  else
    step_out(&l, proposal);
  if (shrink(&l, proposal, doubling ? spare : NULL))
    tm_point_copy(shared->model, proposal, step->point);
  if (step->adapt)
    adapt(width, &l);
  proposal->u[j] = spare->u[j] = step->point->u[j];
}

static void step(void *opaque, tm_step *step) {
  slice *state = opaque;
  tm_shared *shared = state->shared;
  size_t bytes = shared->model->dimension * sizeof(double);
  memcpy(shared->proposal.u, step->point->u, bytes);
  memcpy(shared->spare.u, step->point->u, bytes);
  for (size_t i = 0; i < shared->real_count; i++)
    step_coordinate(state, step, i);
}

static void freeze(void *opaque) {
  slice *state = opaque;
  tm_scale_freeze(state->widths, state->shared->real_count);
}

static void archive(void *opaque, tm_archive *archive) {
  slice *state = opaque;
  tm_scale_archive(state->widths, state->shared->real_count, archive);
}

const tm_move_type tm_move_slice = {
    .name = "slice",
    .applies = applies,
    .create = create,
    .step = step,
    .freeze = freeze,
    .archive = archive,
};

const tm_move_type tm_move_slice_doubling = {
    .name = "slice-doubling",
    .applies = applies,
    .create = create_doubling,
    .step = step,
    .freeze = freeze,
    .archive = archive,
};
