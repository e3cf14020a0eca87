/* embedded_laplace_line.c - derivatives of slopes along a line (embedded_laplace.h), which the
 * tape, being of first order, cannot give: central differences of its exact
 * slopes at steps 1, 1/2, 1/4, ..., extrapolated to 0 (Ridders 1982), each
 * component with the step that serves it best. Directions are scaled so that
 * 1 is a step of the latent variable's own size. */
#include "language/runtime/embedded_laplace.h"

enum { FEWEST = 3, LEVELS = 14, SHRINKS = 60 };

typedef struct table {
  const tm_line *line;
  long size; /* components: of theta, then of arguments */
  double *at[3], *theta;
  double *row[2]; /* LEVELS columns of size, the last and this one */
  double *best, *error, *scale;
} table;

double tm_latent_slopes(tm_callable *c, const double *theta, int n,
                        double *of_theta, double *of_arguments) {
  double *x = tm_copied(c->tape, theta, n);
  double *scratch = tm_take(c->tape, (size_t)n * sizeof(double) + 1);
  tm_callable_vector(c, 0, x, n, scratch);
  double value = tm_callable_slope(c, 0, of_arguments);
  memcpy(of_theta, scratch, (size_t)n * sizeof(double));
  return value;
}

/* The slopes at t of the line; false where they are not finite. */
static bool slopes(const table *b, double t, double *out) {
  const tm_line *l = b->line;
  for (int i = 0; i < l->n; i++)
    b->theta[i] = l->theta[i] + t * l->direction[i];
  tm_tape_mark mark = tm_tape_here(l->c->tape);
  tm_latent_slopes(l->c, b->theta, l->n, out, out + l->n);
  tm_tape_back_to(l->c->tape, mark);
  bool finite = true;
  for (long k = 0; k < b->size; k++)
    finite = finite && isfinite(out[k]);
  return finite;
}

/* The central difference with step t in column 0 of this row. */
static bool difference(const table *b, double t, double *row) {
  if (!slopes(b, t, b->at[0]) || !slopes(b, -t, b->at[1]))
    return false;
  for (long k = 0; k < b->size; k++) {
    double up = b->at[0][k], down = b->at[1][k], middle = b->at[2][k];
    row[k] = b->line->order == 1 ? (up - down) / (2 * t)
                                 : (up - 2 * middle + down) / (t * t);
    b->scale[k] = fmax(fabs(middle), fmax(fabs(up), fabs(down)));
  }
  return true;
}

/* Extrapolate component k with all steps so far; keep it where it stands
 * better than before. */
static void extrapolate(const table *b, long k, int level) {
  double four = 1;
  for (int j = 1; j <= level; j++) {
    four *= 4;
    double *now = b->row[1] + j * b->size, *left = now - b->size;
    const double *above = b->row[0] + (j - 1) * b->size;
    now[k] = left[k] + (left[k] - above[k]) / (four - 1);
    double error = fmax(fabs(now[k] - left[k]), fabs(now[k] - above[k]));
    if (error <= b->error[k]) {
      b->error[k] = error;
      b->best[k] = now[k];
    }
  }
}

static bool settled(const table *b) {
  for (long k = 0; k < b->size; k++)
    if (!(b->error[k] <= 1e-12 * (fabs(b->best[k]) + b->scale[k])))
      return false;
  return true;
}

static table set_up(const tm_line *line) {
  tm_tape *tape = line->c->tape;
  table b = {.line = line, .size = line->n + line->c->columns};
  size_t bytes = (size_t)b.size * sizeof(double) + 1;
  for (int i = 0; i < 3; i++)
    b.at[i] = tm_take(tape, bytes);
  for (int i = 0; i < 2; i++)
    b.row[i] = tm_take(tape, LEVELS * bytes);
  b.theta = tm_take(tape, (size_t)line->n * sizeof(double) + 1);
  b.best = tm_take(tape, bytes);
  b.error = tm_take(tape, bytes);
  b.scale = tm_take(tape, bytes);
  for (long k = 0; k < b.size; k++)
    b.error[k] = INFINITY;
  return b;
}

void tm_line_derivatives(const tm_line *line, double *of_theta,
                         double *of_arguments) {
  tm_tape_mark mark = tm_tape_here(line->c->tape);
  table b = set_up(line);
  if (!slopes(&b, 0, b.at[2]))
    tm_runtime_reject(line->c->tape,
                      "laplace: slopes of the likelihood are not finite");
  double t = 1;
  int shrinks = 0;
  while (!difference(&b, t, b.row[0])) { /* e.g. an overflow far out */
    t *= 0.5;
    if (++shrinks > SHRINKS)
      tm_runtime_reject(line->c->tape,
                        "laplace: the likelihood has no second derivatives");
  }
  for (int level = 1; level < LEVELS; level++) {
    t *= 0.5;
    if (!difference(&b, t, b.row[1]))
      break;
    for (long k = 0; k < b.size; k++)
      extrapolate(&b, k, level);
    if (level >= FEWEST && settled(&b))
      break;
    double *swap = b.row[0];
    b.row[0] = b.row[1];
    b.row[1] = swap;
  }
  memcpy(of_theta, b.best, (size_t)line->n * sizeof(double));
  if (of_arguments && line->c->columns)
    memcpy(of_arguments, b.best + line->n,
           (size_t)line->c->columns * sizeof(double));
  tm_tape_back_to(line->c->tape, mark);
}
