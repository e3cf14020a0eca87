/* binding.c - data, parameters and quantities by name. */
#include "language/load/binding.h"

#include "model/predictive.h"

#include "language/load/maps.h"
#include "language/read/ast.h"

#include <stdio.h>

/* ---- data --------------------------------------------------------------- */

static void shape_text(char *out, size_t size, const size_t *dims,
                       size_t rank) {
  size_t used = 0;
  out[0] = '\0';
  for (size_t i = 0; i < rank && used < size; i++)
    used += (size_t)snprintf(out + used, size - used, "%s%zu", i ? ", " : "",
                             dims[i]);
}

/* Declared and found sizes must agree; [] is an empty array of any rank. */
static void check_shape(tm_tape *tape, const tm_binding *b, const char *name,
                        int rank, const int *dim) {
  size_t found[16] = {0}, declared[TM_RANK], found_rank;
  tempera_error error = {0};
  if (tempera_data_dimensions(b->data, name, found, 16, &found_rank, &error))
    tm_runtime_fail(tape, "", "%s", error.message);
  bool same = found_rank == (size_t)rank;
  long wanted = 1;
  for (int i = 0; i < rank; i++) {
    declared[i] = (size_t)dim[i];
    wanted *= dim[i];
    same = same && found[i] == declared[i];
  }
  size_t count = 1;
  for (size_t i = 0; i < found_rank && i < 16; i++)
    count *= found[i];
  if (same || (wanted == 0 && count == 0 && found_rank > 0 && rank > 0))
    return;
  char is[100], was[100];
  shape_text(was, sizeof was, declared, (size_t)rank);
  shape_text(is, sizeof is, found, found_rank > 16 ? 16 : found_rank);
  tm_runtime_fail(tape, "",
                  "variable %s: declared with sizes [%s], the data have [%s]",
                  name, was, is);
}

static tempera_status fetch(const tm_binding *b, const char *name, int integer,
                            int rank, tm_tensor *t, tempera_error *error) {
  size_t count = 0;
  const double *reals = NULL;
  const int64_t *whole = NULL;
  int64_t one = 0;
  if (rank == 0 && integer) {
    TM_TRY(tempera_data_integer(b->data, name, &one, error));
    t->v[0] = (double)one;
  } else if (rank == 0) {
    TM_TRY(tempera_data_real(b->data, name, t->v, error));
  } else if (integer) {
    TM_TRY(tempera_data_integers(b->data, name, &whole, &count, error));
    for (size_t i = 0; i < count; i++)
      t->v[i] = (double)whole[i];
  } else {
    TM_TRY(tempera_data_reals(b->data, name, &reals, &count, error));
    if (count)
      memcpy(t->v, reals, count * sizeof(double));
  }
  return TEMPERA_OK;
}

tm_tensor tm_binding_read(tm_tape *tape, void *binding, const char *name,
                          int integer, int rank, const int *dim) {
  tm_binding *b = binding;
  tempera_error error = {0};
  b->reading = name;
  if (!b->data || !tempera_data_has(b->data, name))
    tm_runtime_fail(tape, "", "the data lack variable %s", name);
  check_shape(tape, b, name, rank, dim);
  tm_tensor t = tm_tensor_new(tape, rank, dim, 0);
  if (tm_count(&t) > 0 && fetch(b, name, integer, rank, &t, &error))
    tm_runtime_fail(tape, "", "%s", error.message);
  for (long k = 0; integer && k < tm_count(&t); k++)
    if (fabs(t.v[k]) > 2147483647)
      tm_runtime_fail(tape, "", "variable %s: %.0f is too large for an int",
                      name, t.v[k]);
  return t;
}

/* ---- parameters --------------------------------------------------------- */

/* name[1,2] for element k in column-major order; with `part`, name[1,2,part].
 */
static const char *part_name(const tm_binding *b, const char *name,
                             const tm_tensor *shape, long k, const char *part) {
  char text[320];
  long at = tm_columnwise(shape, k), index[TM_RANK];
  for (int i = shape->rank; i-- > 0;) {
    index[i] = at % shape->dim[i] + 1;
    at /= shape->dim[i];
  }
  int used = snprintf(text, sizeof text, "%s", name);
  for (int i = 0; i < shape->rank; i++)
    used += snprintf(text + used, sizeof text - (size_t)used, "%s%ld",
                     i ? "," : "[", index[i]);
  if (part)
    used += snprintf(text + used, sizeof text - (size_t)used, "%s%s",
                     shape->rank ? "," : "[", part);
  if (shape->rank || part)
    snprintf(text + used, sizeof text - (size_t)used, "]");
  return tm_arena_text(b->arena, text);
}

static const char *element_name(const tm_binding *b, const char *name,
                                const tm_tensor *shape, long k) {
  return part_name(b, name, shape, k, NULL);
}

/* Of complex numbers, whose parts are the last dimension and come first. */
static const char *pair_name(const tm_binding *b, const char *name,
                             const tm_tensor *shape, long k) {
  tm_tensor numbers = tm_shape(shape->rank - 1, shape->dim);
  return part_name(b, name, &numbers, k / 2, k % 2 ? "imag" : "real");
}

static tempera_parameter *new_parameter(tm_tape *tape, tm_binding *b) {
  if (b->parameter_count == b->parameter_capacity) {
    size_t more = b->parameter_capacity ? 2 * b->parameter_capacity : 64;
    tempera_parameter *bigger = TM_NEW(b->arena, tempera_parameter, more);
    if (!bigger)
      tm_runtime_fail(tape, "", "out of memory");
    if (b->parameter_count)
      memcpy(bigger, b->parameters, b->parameter_count * sizeof *bigger);
    b->parameters = bigger;
    b->parameter_capacity = more;
  }
  tempera_parameter *p = &b->parameters[b->parameter_count++];
  *p = (tempera_parameter){.lower = -INFINITY, .upper = INFINITY};
  return p;
}

/* One block per element: its own name and bounds. */
static void add_elements(tm_tape *tape, tm_binding *b, const char *name,
                         int kind, const tm_tensor *shape, const tm_view *lower,
                         const tm_view *upper) {
  long n = tm_count(shape);
  bool integer = kind == TM_WHOLE;
  for (long k = 0; k < n; k++) {
    long at = tm_columnwise(shape, k);
    tempera_parameter *p = new_parameter(tape, b);
    p->name = kind == TM_PAIRS ? pair_name(b, name, shape, k)
                               : element_name(b, name, shape, k);
    p->kind = integer ? TEMPERA_INTEGER : TEMPERA_REAL;
    p->lower = lower->v[at * lower->stride];
    p->upper = upper->v[at * upper->stride];
    if (!p->name)
      tm_runtime_fail(tape, "", "out of memory");
    if (p->lower > p->upper || (p->lower == p->upper && !integer) ||
        isnan(p->lower) || isnan(p->upper))
      tm_runtime_fail(tape, "", "parameter %s: lower=%g is not below upper=%g",
                      p->name, p->lower, p->upper);
  }
}

/* Vectors with one pair of bounds for all are one block. */
static void add_block(tm_tape *tape, tm_binding *b, const char *name,
                      int integer, const tm_tensor *shape, double lower,
                      double upper) {
  if (tm_count(shape) == 0)
    return;
  tempera_parameter *p = new_parameter(tape, b);
  p->name = tm_arena_text(b->arena, name);
  p->kind = integer ? TEMPERA_INTEGER : TEMPERA_REAL;
  p->size = shape->rank ? (size_t)shape->dim[0] : 0;
  p->lower = lower;
  p->upper = upper;
  if (!p->name)
    tm_runtime_fail(tape, "", "out of memory");
  if (!(lower < upper) && !(integer && lower == upper))
    tm_runtime_fail(tape, "", "parameter %s: lower=%g is not below upper=%g",
                    name, lower, upper);
}

static const char *constraint_name(int constraint) {
  static const char *const names[] = {
      [TM_SIMPLEX] = "simplex",
      [TM_UNIT_VECTOR] = "unit_vector",
      [TM_ORDERED] = "ordered",
      [TM_POSITIVE_ORDERED] = "positive_ordered",
      [TM_SUM_TO_ZERO] = "sum_to_zero_vector",
      [TM_CHOLESKY_CORR] = "cholesky_factor_corr",
      [TM_CHOLESKY_COV] = "cholesky_factor_cov",
      [TM_CORRELATION] = "corr_matrix",
      [TM_COVARIANCE] = "cov_matrix",
      [TM_ROW_STOCHASTIC] = "row_stochastic_matrix",
      [TM_COLUMN_STOCHASTIC] = "column_stochastic_matrix",
      [TM_SUM_TO_ZERO_MATRIX] = "sum_to_zero_matrix"};
  return names[constraint];
}

/* `size` names from element `first` on. */
static const char *const *block_names(tm_tape *tape, const tm_binding *b,
                                      const char *name, const tm_tensor *shape,
                                      long first, long size) {
  const char **names = TM_NEW(b->arena, const char *, (size_t)size);
  for (long k = 0; names && k < size; k++) {
    names[k] = element_name(b, name, shape, first + k);
    if (!names[k])
      names = NULL;
  }
  if (!names)
    tm_runtime_fail(tape, "", "out of memory");
  return names;
}

/* A block with a map that is still to be filled. */
static tempera_map *add_mapped(tm_tape *tape, tm_binding *b, const char *name,
                               const tm_tensor *shape, long first, long size) {
  tempera_parameter *p = new_parameter(tape, b);
  tempera_map *map = TM_NEW(b->arena, tempera_map, 1);
  p->name = tm_arena_text(b->arena, name);
  p->size = (size_t)size;
  p->transform = TEMPERA_MAPPED;
  p->value_names = block_names(tape, b, name, shape, first, size);
  p->map = map;
  if (!p->name || !map)
    tm_runtime_fail(tape, "", "out of memory");
  return map;
}

/* ---- Stan's order -------------------------------------------------------- */

static void add_place(tm_tape *tape, tm_binding *b, size_t place) {
  if (b->order_count == b->order_capacity) {
    size_t more = b->order_capacity ? 2 * b->order_capacity : 64;
    size_t *bigger = TM_NEW(b->arena, size_t, more);
    if (!bigger)
      tm_runtime_fail(tape, "", "out of memory");
    if (b->order_count)
      memcpy(bigger, b->order, b->order_count * sizeof *bigger);
    b->order = bigger;
    b->order_capacity = more;
  }
  b->order[b->order_count++] = place;
}

/* Coordinates of a special type lie as in Stan. */
static void keep_places(tm_tape *tape, tm_binding *b, size_t count) {
  size_t first = b->order_count;
  for (size_t i = 0; i < count; i++)
    add_place(tape, b, first + i);
}

/* Elements of arrays come one after another, the last index fastest; inside
 * them, as in ours, the first. */
static void add_places(tm_tape *tape, tm_binding *b, const tm_tensor *shape,
                       int depth) {
  size_t first = b->order_count;
  tm_tensor inner = tm_shape(shape->rank - depth, shape->dim + depth);
  long count = tm_count(shape), size = tm_count(&inner);
  size_t *place = tm_take(tape, ((size_t)size + 1) * sizeof *place);
  for (long k = 0; k < size; k++)
    place[tm_columnwise(&inner, k)] = (size_t)k;
  for (long k = 0; k < count; k++) {
    long at = tm_columnwise(shape, k);
    add_place(tape, b, first + (size_t)(at / size * size) + place[at % size]);
  }
}

/* Complex numbers likewise, their parts side by side. */
static void add_pair_places(tm_tape *tape, tm_binding *b,
                            const tm_tensor *shape, int depth) {
  size_t first = b->order_count;
  tm_tensor numbers = tm_shape(shape->rank - 1, shape->dim);
  long count = tm_count(&numbers);
  add_places(tape, b, &numbers, depth);
  size_t *place = tm_take(tape, ((size_t)count + 1) * sizeof *place);
  for (long k = 0; k < count; k++)
    place[k] = b->order[first + (size_t)k] - first;
  b->order_count = first;
  for (long k = 0; k < 2 * count; k++)
    add_place(tape, b, first + 2 * place[k / 2] + (size_t)(k % 2));
}

/* ---- special types ------------------------------------------------------- */

/* Where the first value of each element of an array lies in theta. */
static const size_t *element_places(tm_tape *tape, const tm_tensor *shape,
                                    int depth, long count) {
  tm_tensor array = tm_shape(depth, shape->dim);
  size_t *places = tm_take(tape, (size_t)count * sizeof *places);
  for (long k = 0; k < count; k++)
    places[tm_columnwise(&array, k)] = (size_t)k;
  return places;
}

/* Simplexes, ordered vectors, matrices, and arrays of them. */
static void add_special(tm_tape *tape, tm_binding *b, const char *name,
                        tm_constraint constraint, const tm_tensor *shape,
                        int depth) {
  long size = 1, count = 1;
  for (int i = 0; i < shape->rank; i++)
    *(i < depth ? &count : &size) *= shape->dim[i];
  int rows = shape->dim[depth];
  int columns = shape->rank - depth == 2 ? shape->dim[depth + 1] : 1;
  if (count == 0 || size == 0)
    return;
  tempera_map each, *map = add_mapped(tape, b, name, shape, 0, count * size);
  bool has = tm_map_of(constraint, (size_t)rows, (size_t)columns, 0, 1, &each);
  if (has && depth) {
    tm_array_map *array = tm_take(tape, sizeof *array);
    *array = (tm_array_map){each, (size_t)count,
                            element_places(tape, shape, depth, count), depth};
    has = tm_array_map_of(array, map);
  } else if (has) {
    *map = each;
  }
  if (!has && constraint == TM_UNIT_VECTOR && rows > 0) /* as Stan says */
    tm_runtime_fail(tape, "",
                    "parameter %s: a unit vector needs two elements or more",
                    name);
  if (!has)
    tm_runtime_fail(tape, "", "parameter %s: %s of size %d is not supported",
                    name, constraint_name(constraint), rows);
  keep_places(tape, b, map->unconstrained_size);
  if (constraint == TM_SIMPLEX && !depth && rows > 1) {
    tempera_parameter *p = &b->parameters[b->parameter_count - 1];
    p->transform = TEMPERA_SIMPLEX;
    p->map = NULL;
  }
}

/* Offset and multiplier: one block per element, or one for a vector. */
static void add_shifted(tm_tape *tape, tm_binding *b, const char *name,
                        const tm_tensor *shape, const tm_view *offset,
                        const tm_view *multiplier) {
  bool together = offset->scalar && multiplier->scalar;
  long n = tm_count(shape), blocks = together ? n > 0 : n;
  for (long k = 0; k < blocks; k++) {
    long size = together ? n : 1, at = tm_columnwise(shape, k);
    tempera_map *map = add_mapped(tape, b, name, shape, k, size);
    double scale = multiplier->v[at * multiplier->stride];
    (void)tm_map_of(TM_OFFSET, (size_t)size, 1, offset->v[at * offset->stride],
                    scale, map);
    if (!(scale > 0))
      tm_runtime_fail(tape, "", "parameter %s: multiplier=%g is not positive",
                      name, scale);
  }
}

long tm_binding_parameter(tm_tape *tape, void *binding, const char *name,
                          int constraint, int kind, int depth, int rank,
                          const int *dim, tm_any lower, tm_any upper) {
  tm_binding *b = binding;
  tm_tensor shape = tm_shape(rank, dim);
  tm_view lo, hi;
  long offset = (long)b->theta_count;
  b->first_coordinate = b->order_count;
  tm_view_of(&lower, &lo);
  tm_view_of(&upper, &hi);
  b->theta_count += (size_t)tm_count(&shape);
  bool special = constraint > TM_OFFSET;
  if (kind == TM_PAIRS)
    add_pair_places(tape, b, &shape, depth);
  else if (!special)
    add_places(tape, b, &shape, depth);
  if (constraint == TM_OFFSET)
    add_shifted(tape, b, name, &shape, &lo, &hi);
  else if (special)
    add_special(tape, b, name, (tm_constraint)constraint, &shape, depth);
  else if (rank <= 1 && lo.scalar && hi.scalar && kind != TM_PAIRS)
    add_block(tape, b, name, kind == TM_WHOLE, &shape, *lo.v, *hi.v);
  else
    add_elements(tape, b, name, kind, &shape, &lo, &hi);
  return offset;
}

long tm_binding_dependent(tm_tape *tape, void *binding, const char *name,
                          int shifted, int depth, int rank, const int *dim,
                          const void *instance, tm_limits limits) {
  tm_binding *b = binding;
  tm_tensor shape = tm_shape(rank, dim);
  long offset = (long)b->theta_count, size = tm_count(&shape);
  b->first_coordinate = b->order_count;
  b->theta_count += (size_t)size;
  add_places(tape, b, &shape, depth);
  if (!b->pool)
    b->pool = tm_limits_pool_new();
  if (!b->pool)
    tm_runtime_fail(tape, "", "out of memory");
  if (size > 0)
    tm_limits_map(tape, b->pool, &limits, instance, (size_t)offset, &shape,
                  shifted, add_mapped(tape, b, name, &shape, 0, size));
  return offset;
}

void tm_binding_improper(void *binding) {
  tm_binding *b = binding;
  if (b->order_count == b->first_coordinate || b->improper)
    return; /* there is nothing to know, or another is */
  b->improper = true;
  b->first_improper = b->parameter_count - 1;
}

void tm_binding_refuse_rows(void *binding) {
  ((tm_binding *)binding)->refused = true;
}

void tm_binding_conditional(void *binding, long offset) {
  tm_binding *b = binding;
  if (b->conditional_count == TM_CONDITIONAL)
    return;
  size_t *range = b->conditional[b->conditional_count++];
  range[0] = (size_t)offset;
  range[1] = b->theta_count;
}

/* ---- quantities --------------------------------------------------------- */

static void make_room(tm_tape *tape, tm_binding *b, size_t more) {
  if (b->name_count + more <= b->name_capacity)
    return;
  size_t capacity = 2 * (b->name_count + more);
  const char **names = TM_NEW(b->arena, const char *, capacity);
  if (!names)
    tm_runtime_fail(tape, "", "out of memory");
  if (b->name_count)
    memcpy(names, b->names, b->name_count * sizeof *names);
  b->names = names;
  b->name_capacity = capacity;
}

void tm_binding_announce(tm_tape *tape, void *binding, const char *name,
                         int kind, int rank, const int *dim) {
  tm_binding *b = binding;
  tm_tensor shape = tm_shape(rank, dim);
  long n = tm_count(&shape);
  make_room(tape, b, (size_t)n);
  for (long k = 0; k < n; k++) {
    b->names[b->name_count] = kind & TM_PAIRS
                                  ? pair_name(b, name, &shape, k)
                                  : element_name(b, name, &shape, k);
    if (!b->names[b->name_count++])
      tm_runtime_fail(tape, "", "out of memory");
  }
  b->transformed_count += kind & TM_GENERATED ? 0 : (size_t)n;
}

int tm_binding_enough(const void *binding) {
  const tm_binding *b = binding;
  return b->value_count == b->value_room;
}

void tm_binding_output(tm_tape *tape, void *binding, tm_any value) {
  tm_binding *b = binding;
  tm_view v;
  tm_view_of(&value, &v);
  tm_tensor shape = value.tag == TM_TAG_TENSOR ? value.u.t : tm_shape(0, NULL);
  if (b->value_count + (size_t)v.n > b->value_room)
    tm_runtime_fail(tape, "", "a quantity has more values than were declared");
  for (long k = 0; k < v.n; k++)
    b->values[b->value_count++] =
        v.scalar ? *v.v : v.v[tm_columnwise(&shape, k)];
}

/* ---- outcomes drawn -------------------------------------------------------
 */

static void copy_elements(double *to, const tm_replicas *r, tm_any from,
                          size_t count) {
  tm_view v;
  tm_view_of(&from, &v);
  for (size_t k = 0; to && k < count && r->size + k < r->room; k++)
    to[r->size + k] = v.v[(long)k * v.stride];
}

void tm_binding_replica(tm_tape *tape, void *binding, const char *name,
                        int whole, tm_any observed, tm_tensor drawn) {
  tm_replicas *r = binding;
  if (r->count == TM_MOST_REPLICAS)
    tm_runtime_fail(tape, "", "more than %d variables have outcomes",
                    TM_MOST_REPLICAS);
  tm_replica *one = &r->each[r->count++];
  *one = (tm_replica){.whole = whole,
                      .rank = drawn.rank,
                      .first = r->size,
                      .count = (size_t)tm_count(&drawn)};
  snprintf(one->name, sizeof one->name, "%s", name);
  for (int i = 0; i < drawn.rank; i++)
    one->dim[i] = drawn.dim[i];
  copy_elements(r->observed, r, observed, one->count);
  copy_elements(r->drawn, r, tm_any_tensor(drawn, 1), one->count);
  r->size += one->count;
}
