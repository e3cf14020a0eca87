/* embedded_laplace.c - see embedded_laplace.h. With a = K^-1 theta, W =
 * -d2f/dtheta2 at the mode and S = (K^-1 + W)^-1 = (I + K W)^-1 K: log p(y) ~
 * f(theta) - a'theta / 2 - log det(I + K W) / 2 The mode solves theta = K
 * f'(theta); Newton's steps need no inverse of K, which may be singular. Slopes
 * (Margossian et al. 2020): with s = d(-log det / 2)/dtheta = sum_ij S_ij f_ijk
 * / 2 and u = S s, by K:          a a'/2 - (W - W S W)/2 + (s - W u) a' by an
 * argument: f_e + sum_ij S_ij f_ije / 2 + u . f_theta,e W is made of blocks on
 * the diagonal, so that one direction reaches all blocks at once. */
#include "language/runtime/embedded_laplace.h"

#include <cblas.h>
#include <lapacke.h>

typedef struct latent {
  tm_callable *c;
  int n, block;
  const double *k;
  double tolerance, most_steps, most_halvings;
  double *theta, *a, *g, *row; /* at the mode: theta, K^-1 theta, slopes */
  double value, objective;
  double *w; /* n x block: row j's block of W */
  double *system, *s, *step, *step_a, *trial, *trial_a, *trial_g;
  lapack_int *pivots;
} latent;

static double *room(const latent *l, long n) {
  return tm_take(l->c->tape, (size_t)n * sizeof(double) + 1);
}

static void read_options(latent *l, const tm_any *a) {
  l->tolerance = tm_as_var(&a[1]).v;
  l->most_steps = tm_as_var(&a[2]).v;
  double solver = tm_as_var(&a[3]).v;
  l->most_halvings = tm_as_var(&a[4]).v;
  if (a[0].u.t.dim[0] != l->n)
    tm_runtime_fail(l->c->tape, l->c->place,
                    "laplace: the start has %d elements, K is %d x %d",
                    a[0].u.t.dim[0], l->n, l->n);
  if (!(l->tolerance > 0) || !(l->most_steps > 0) || !(solver >= 1) ||
      !(solver <= 3) || !(l->most_halvings >= 0))
    tm_runtime_fail(l->c->tape, l->c->place,
                    "laplace: tolerance and most steps must be positive, the "
                    "solver 1, 2 or 3, halvings not negative");
}

static latent set_up(tm_callable *c, bool options) {
  const tm_any *a = c->system->controls;
  const tm_tensor *k = &a[TM_LAPLACE_K].u.t;
  latent l = {.c = c,
              .n = k->dim[0],
              .block = (int)tm_as_var(&a[TM_LAPLACE_BLOCK]).v,
              .k = k->v,
              .tolerance = 1.4901161193847656e-8,
              .most_steps = 500,
              .most_halvings = 1000};
  long n = l.n;
  if (k->dim[1] != n)
    tm_runtime_fail(c->tape, c->place, "laplace: K is %d x %d", k->dim[0],
                    k->dim[1]);
  if (l.block < 1 || (n && n % l.block))
    tm_runtime_fail(c->tape, c->place,
                    "laplace: blocks of %d elements do not fill %ld", l.block,
                    n);
  double **const vectors[] = {&l.theta,  &l.a,     &l.g,       &l.step,
                              &l.step_a, &l.trial, &l.trial_a, &l.trial_g};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
    *vectors[i] = room(&l, n);
  l.row = room(&l, c->columns);
  l.w = room(&l, n * l.block);
  l.system = room(&l, n * n);
  l.s = room(&l, n * n);
  l.pivots = tm_take(c->tape, (size_t)n * sizeof(lapack_int) + 1);
  if (options)
    read_options(&l, a + TM_LAPLACE_OPTIONS);
  return l;
}

/* out = W x, x and out with `columns` columns */
static void times_w(const latent *l, const double *x, int columns,
                    double *out) {
  for (int i = 0; i < l->n; i++) {
    int first = i / l->block * l->block;
    for (int c = 0; c < columns; c++) {
      double sum = 0;
      for (int d = 0; d < l->block; d++)
        sum +=
            l->w[(long)i * l->block + d] * x[(long)(first + d) * columns + c];
      out[(long)i * columns + c] = sum;
    }
  }
}

static double size_of(const latent *l, int i) {
  double sd = sqrt(l->k[(long)i * l->n + i]);
  return sd > 0 ? fmin(0.5, sd) : 0.5;
}

/* W at theta, column after column of its blocks. */
static void find_curvature(latent *l) {
  tm_tape_mark mark = tm_tape_here(l->c->tape);
  double *direction = room(l, l->n), *out = room(l, l->n);
  for (int d = 0; d < l->block; d++) {
    for (int i = 0; i < l->n; i++)
      direction[i] = i % l->block == d ? size_of(l, i) : 0;
    tm_line_derivatives(&(tm_line){l->c, l->theta, direction, l->n, 1}, out,
                        NULL);
    for (int i = 0; i < l->n; i++)
      l->w[(long)i * l->block + d] =
          -out[i] / direction[i / l->block * l->block + d];
  }
  for (int i = 0; i < l->n; i++) /* it is symmetric */
    for (int d = 0; d < i % l->block; d++) {
      double *one = &l->w[(long)i * l->block + d];
      double *other =
          &l->w[(long)(i / l->block * l->block + d) * l->block + i % l->block];
      *one = *other = 0.5 * (*one + *other);
    }
  tm_tape_back_to(l->c->tape, mark);
}

/* LU of I + K (W + more); log det, NaN where it is not positive. */
static double factorise(latent *l, double more) {
  int n = l->n, b = l->block;
  double *m = l->system;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      int first = j / b * b;
      double sum = (i == j) + more * l->k[(long)i * n + j];
      for (int d = 0; d < b; d++)
        sum +=
            l->k[(long)i * n + first + d] * l->w[(long)(first + d) * b + j % b];
      m[(long)i * n + j] = sum;
    }
  if (n && LAPACKE_dgetrf(LAPACK_ROW_MAJOR, n, n, m, n, l->pivots) != 0)
    return NAN;
  double log_det = 0;
  bool negative = false;
  for (int i = 0; i < n; i++) {
    double pivot = m[(long)i * n + i];
    log_det += log(fabs(pivot));
    negative ^= (pivot < 0) ^ (l->pivots[i] != i + 1);
  }
  return negative ? NAN : log_det;
}

/* How far theta = K f'(theta) is from true. */
static double gap(const latent *l) {
  double sum = 0;
  for (int i = 0; i < l->n; i++)
    sum += (l->g[i] - l->a[i]) * (l->g[i] - l->a[i]);
  return sqrt(sum);
}

/* Newton's step of theta and of a = K^-1 theta: with r = g - a,
 * (I + K W') step = K r, step_a = r - W' step. */
static bool find_step(latent *l, double more) {
  int n = l->n;
  if (isnan(factorise(l, more)))
    return false;
  for (int i = 0; i < n; i++)
    l->trial[i] = l->g[i] - l->a[i];
  if (n)
    cblas_dgemv(CblasRowMajor, CblasNoTrans, n, n, 1, l->k, n, l->trial, 1, 0,
                l->step, 1);
  if (n)
    LAPACKE_dgetrs(LAPACK_ROW_MAJOR, 'N', n, 1, l->system, n, l->pivots,
                   l->step, 1);
  times_w(l, l->step, 1, l->step_a);
  bool finite = true;
  for (int i = 0; i < n; i++) {
    l->step_a[i] = l->trial[i] - l->step_a[i] - more * l->step[i];
    finite = finite && isfinite(l->step[i]) && isfinite(l->step_a[i]);
  }
  return finite;
}

static double objective_at(latent *l, const double *theta, const double *a,
                           double *g, double *value) {
  double sum = 0;
  *value = tm_latent_slopes(l->c, theta, l->n, g, l->row);
  for (int i = 0; i < l->n; i++)
    sum += a[i] * theta[i];
  return *value - 0.5 * sum;
}

/* Take the step, halved until the objective does not fall. */
static bool take_step(latent *l) {
  double share = 1;
  for (double halvings = 0;; halvings++, share *= 0.5) {
    double value;
    for (int i = 0; i < l->n; i++) {
      l->trial[i] = l->theta[i] + share * l->step[i];
      l->trial_a[i] = l->a[i] + share * l->step_a[i];
    }
    double objective =
        objective_at(l, l->trial, l->trial_a, l->trial_g, &value);
    bool higher = objective >= l->objective - 1e-13 * fabs(l->objective);
    if (higher || (l->most_halvings == 0 && isfinite(objective))) {
      size_t bytes = (size_t)l->n * sizeof(double);
      memcpy(l->theta, l->trial, bytes);
      memcpy(l->a, l->trial_a, bytes);
      memcpy(l->g, l->trial_g, bytes);
      l->value = value;
      l->objective = objective;
      return true;
    }
    if (halvings >= l->most_halvings || share < 1e-12)
      return false;
  }
}

/* Where the likelihood is not log-concave, W is raised until a step climbs. */
static bool climb(latent *l) {
  double most = 1;
  for (long i = 0; i < (long)l->n * l->block; i++)
    most = fmax(most, fabs(l->w[i]));
  if (find_step(l, 0) && take_step(l))
    return true;
  for (double more = 0.01 * most; more < 1e5 * most; more *= 10)
    if (find_step(l, more) && take_step(l))
      return true;
  return false;
}

/* The start: the caller's where K^-1 of it can be had, else 0. */
static void begin(latent *l, const tm_any *start) {
  long n = l->n;
  bool moved = false;
  for (long i = 0; start && i < n; i++)
    moved = moved || start->u.t.v[i] != 0;
  if (moved) {
    memcpy(l->system, l->k, (size_t)(n * n) * sizeof(double));
    memcpy(l->a, start->u.t.v, (size_t)n * sizeof(double));
    if (LAPACKE_dposv(LAPACK_ROW_MAJOR, 'L', l->n, 1, l->system, l->n, l->a,
                      1) == 0)
      memcpy(l->theta, start->u.t.v, (size_t)n * sizeof(double));
    else
      memset(l->a, 0, (size_t)n * sizeof(double));
  }
  l->objective = objective_at(l, l->theta, l->a, l->g, &l->value);
  if (!isfinite(l->objective))
    tm_runtime_reject(l->c->tape,
                      "laplace: the likelihood is %g at the start of the "
                      "search for its mode",
                      l->value);
}

/* What Newton's step promises, (g - a)'step: free of the scale of theta. */
static double promise(const latent *l) {
  double sum = 0;
  for (int i = 0; i < l->n; i++)
    sum += (l->g[i] - l->a[i]) * l->step[i];
  return sum;
}

/* One step; false when nothing is left to gain. Steps beyond the tolerance, as
 * long as they halve the gap, make values as smooth as their slopes say. */
static bool approach(latent *l) {
  double before = gap(l);
  find_curvature(l);
  double left = find_step(l, 0) ? promise(l) : INFINITY;
  bool near = before <= l->tolerance ||
              (left >= 0 && left <= l->tolerance * l->tolerance);
  if (!climb(l)) {
    if (!near)
      tm_runtime_reject(l->c->tape,
                        "laplace: the search for the mode is stuck");
    return false;
  }
  return !(near && gap(l) >= 0.5 * before);
}

/* To the mode. Gives log det(I + K W). */
static double find_mode(latent *l, const tm_any *start) {
  begin(l, start);
  for (double steps = 0, more = gap(l) > 0; more; steps++) {
    if (steps > l->most_steps)
      tm_runtime_reject(l->c->tape, "laplace: no mode within %g steps",
                        l->most_steps);
    tm_tape_mark mark = tm_tape_here(l->c->tape);
    more = approach(l) && gap(l) > 0;
    tm_tape_back_to(l->c->tape, mark);
  }
  find_curvature(l);
  double log_det = factorise(l, 0);
  if (isnan(log_det))
    tm_runtime_reject(l->c->tape, "laplace: the likelihood has no mode there");
  return log_det;
}

/* S, made symmetric. */
static void find_spread(latent *l) {
  int n = l->n;
  memcpy(l->s, l->k, (size_t)n * (size_t)n * sizeof(double));
  if (n)
    LAPACKE_dgetrs(LAPACK_ROW_MAJOR, 'N', n, n, l->system, n, l->pivots, l->s,
                   n);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) {
      double mean = 0.5 * (l->s[(long)i * n + j] + l->s[(long)j * n + i]);
      l->s[(long)i * n + j] = l->s[(long)j * n + i] = mean;
    }
}

/* Column d of the Cholesky factors of the blocks of S; those that have no
 * spread stay where they are. `factors` is n x block. */
static void factor_blocks(const latent *l, double *factors) {
  int b = l->block;
  for (int first = 0; first < l->n; first += b)
    for (int j = 0; j < b; j++)
      for (int i = j; i < b; i++) {
        double sum = l->s[(long)(first + i) * l->n + first + j];
        for (int k = 0; k < j; k++)
          sum -= factors[(long)(first + i) * b + k] *
                 factors[(long)(first + j) * b + k];
        double pivot = factors[(long)(first + j) * b + j];
        factors[(long)(first + i) * b + j] = i == j      ? sqrt(fmax(sum, 0))
                                             : pivot > 0 ? sum / pivot
                                                         : 0;
      }
}

/* sum_ij S_ij d2(slopes)/dtheta_i dtheta_j / 2: of theta it is s. */
static void third_derivatives(latent *l, double *s, double *of_arguments) {
  tm_tape_mark mark = tm_tape_here(l->c->tape);
  int n = l->n, b = l->block;
  double *factors = room(l, (long)n * b), *direction = room(l, n);
  double *one = room(l, n), *row = room(l, l->c->columns);
  factor_blocks(l, factors);
  for (int d = 0; d < b; d++) {
    for (int i = 0; i < n; i++)
      direction[i] = factors[(long)i * b + d];
    tm_line_derivatives(&(tm_line){l->c, l->theta, direction, n, 2}, one, row);
    for (int i = 0; i < n; i++)
      s[i] += 0.5 * one[i];
    for (long k = 0; k < l->c->columns; k++)
      of_arguments[k] += 0.5 * row[k];
  }
  tm_tape_back_to(l->c->tape, mark);
}

/* u . f_theta,e: along u, in steps of the spread. */
static void move_mode(latent *l, const double *u, double *of_arguments) {
  tm_tape_mark mark = tm_tape_here(l->c->tape);
  double *direction = room(l, l->n), *out = room(l, l->n);
  double *row = room(l, l->c->columns), most = 0;
  for (int i = 0; i < l->n; i++) {
    double sd = sqrt(l->s[(long)i * l->n + i]);
    most = sd > 0 ? fmax(most, fabs(u[i]) / sd) : most;
  }
  if (most > 0) {
    for (int i = 0; i < l->n; i++)
      direction[i] = u[i] / most;
    tm_line_derivatives(&(tm_line){l->c, l->theta, direction, l->n, 1}, out,
                        row);
    for (long k = 0; k < l->c->columns; k++)
      of_arguments[k] += most * row[k];
  }
  tm_tape_back_to(l->c->tape, mark);
}

/* a a'/2 - (W - W S W)/2 + (s - W u) a' */
static void slopes_of_k(const latent *l, const double *s, const double *u,
                        double *out) {
  int n = l->n;
  double *ws = room(l, (long)n * n), *wu = room(l, n);
  times_w(l, l->s, n, ws); /* then W S W is that times W */
  times_w(l, u, 1, wu);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      int first = j / l->block * l->block;
      double r = i / l->block == j / l->block
                     ? l->w[(long)i * l->block + j % l->block]
                     : 0;
      for (int d = 0; d < l->block; d++)
        r -= ws[(long)i * n + first + d] *
             l->w[(long)(first + d) * l->block + j % l->block];
      out[(long)i * n + j] = (0.5 * l->a[i] + s[i] - wu[i]) * l->a[j] - 0.5 * r;
    }
}

static const tm_any *start_of(const tm_callable *c, bool options) {
  return options ? &c->system->controls[TM_LAPLACE_OPTIONS] : NULL;
}

tm_any tm_laplace_marginal(tm_callable *c, bool options) {
  latent l = set_up(c, options);
  double log_det = find_mode(&l, start_of(c, options));
  double value = l.objective - 0.5 * log_det;
  const tm_tensor *k = &c->system->controls[TM_LAPLACE_K].u.t;
  if (!k->d && !c->columns)
    return tm_any_real(value);
  double *s = room(&l, l.n), *u = room(&l, l.n),
         *columns = room(&l, c->columns);
  find_spread(&l);
  tm_latent_slopes(c, l.theta, l.n, l.g, columns);
  third_derivatives(&l, s, columns);
  if (l.n)
    cblas_dgemv(CblasRowMajor, CblasNoTrans, l.n, l.n, 1, l.s, l.n, s, 1, 0, u,
                1);
  move_mode(&l, u, columns);
  tm_partial partials[TM_CALLABLE_ARGUMENTS + 1];
  int count = 0;
  for (int i = 0; i < c->outer_count; i++)
    partials[count++] = (tm_partial){
        c->outers[i].adjoint, columns + c->outers[i].column, c->outers[i].n};
  double *of_k = tm_room(c->tape, k->d, (long)l.n * l.n);
  if (of_k)
    slopes_of_k(&l, s, u, of_k);
  partials[count++] = (tm_partial){k->d, of_k, (long)l.n * l.n};
  return tm_scalar_result(c->tape, value, count, partials);
}

/* theta + a root of S times normals; S may be singular where K is. */
tm_any tm_laplace_latent(tm_callable *c, bool options) {
  latent l = set_up(c, options);
  (void)find_mode(&l, start_of(c, options));
  find_spread(&l);
  int n = l.n;
  tm_tensor out = tm_tensor_new(c->tape, 1, &n, 0);
  memcpy(out.v, l.theta, (size_t)n * sizeof(double));
  if (n && LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'V', 'L', n, l.s, n, l.step) != 0)
    tm_runtime_reject(c->tape, "laplace: the spread has no eigenvalues");
  for (int j = 0; j < n; j++) {
    double z =
        tempera_random_normal(c->tape->random) * sqrt(fmax(l.step[j], 0));
    for (int i = 0; i < n; i++)
      out.v[i] += l.s[(long)i * n + j] * z;
  }
  return tm_any_tensor(out, 1);
}

static latent solved(tm_callable *c, bool options) {
  if (c->system->controls[TM_LAPLACE_K].u.t.d || c->columns)
    tm_runtime_fail(c->tape, c->place,
                    "laplace_latent_solve has no slopes: use it in generated "
                    "quantities");
  latent l = set_up(c, options);
  (void)find_mode(&l, start_of(c, options));
  return l;
}

tm_any tm_laplace_mode(tm_callable *c, bool options) {
  latent l = solved(c, options);
  tm_tensor out = tm_tensor_new(c->tape, 1, &l.n, 0);
  memcpy(out.v, l.theta, (size_t)l.n * sizeof(double));
  return tm_any_tensor(out, 1);
}

tm_any tm_laplace_factor(tm_callable *c, bool options) {
  latent l = solved(c, options);
  int n = l.n;
  find_spread(&l);
  tm_tensor out = tm_tensor_new(c->tape, 2, (int[]){n, n}, 0);
  if (n && LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', n, l.s, n) != 0)
    tm_runtime_reject(c->tape, "laplace_latent_solve: the spread is not "
                               "positive definite");
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      out.v[(long)i * n + j] = l.s[(long)i * n + j];
  return tm_any_tensor(out, 1);
}
