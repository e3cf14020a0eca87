/* sir.c - the paper's third model: the plague of Eyam, 1666.
 *
 *   dS/dt = -beta S I,  dI/dt = beta S I - alpha I,  dR/dt = alpha I,
 *   R(0) = 0,  I(0) = I0,  S(0) = N - I0,
 *   y_j ~ Binomial(N, R(t_j)/N) at every time,
 *   x_j ~ Binomial(N, I(t_j)/N) at the last times,
 *   alpha, beta ~ Exponential(1),  I0 ~ Binomial(N, 5/N), an integer.
 *
 * At t = 0 nobody has died and y = 0: such a row contributes nothing. I0 = 0
 * gives a likelihood of zero. sir_flow.h solves the equations; here
 * log R = log alpha + log J and log(N - R) = log(S + I), so the binomials
 * are right even where the log likelihood is -5e5. */
#include "paper_data.h"
#include "sir_flow.h"

#include <stdlib.h>

enum { ALPHA, BETA, I0, SIZE };

typedef struct sir {
  size_t n, tail; /* rows with t > 0; of which the last carry an x */
  double N, log_N;
  double deaths;            /* sum of y */
  double constant;          /* binomial coefficients and powers of N */
  double *memory;           /* all arrays below */
  double *t, *y, *alive;    /* alive = N - y; padded by a vector */
  double *alive_before;     /* sums of `alive` over the rows before */
  double *x;                /* tail of them */
  double *log_prior;        /* of I0 = 0 .. N */
  double *log_choose;       /* log binomial(N, .) */
  double *J, *left, *log_I; /* the solution at t; log_I at the tail */
} sir;

/* Rows first .. end-1 lie in this series. */
static void read_rows(const sir *m, const sir_flow *flow,
                      const sir_series *series, size_t first, size_t end) {
  for (size_t j = first; j < end; j += FLOW_LANES)
    series_read(flow, series, m->t + j, m->J + j, m->left + j);
  size_t tail = m->n - m->tail;
  for (size_t j = first > tail ? first : tail; j < end; j++)
    m->log_I[j - tail] = series_log_I(flow, series, m->t[j]);
}

/* The rows from `first` on, where log I is a straight line. Returns
 * sum (N - y) * the log of the unit of `left`. */
static double finish_rows(const sir *m, const sir_flow *flow, double growth,
                          size_t first) {
  double I = exp(flow->log_I), units = 0;
  size_t tail = m->n - m->tail;
  for (size_t j = first; j < m->n; j++) {
    double duration = m->t[j] - flow->time;
    m->J[j] = flow->J + I * exponential_area(growth, duration);
    double log_I = flow->log_I + growth * duration;
    double log_S = flow_log_S(flow, m->J[j]);
    m->left[j] = 1 + exp(-fabs(log_S - log_I));
    units += m->alive[j] * fmax(log_S, log_I);
    if (j >= tail)
      m->log_I[j - tail] = log_I;
  }
  return units;
}

/* Fills J, left and log_I; *units as in finish_rows. False when the rates are
 * beyond all numbers. */
static bool solve(const sir *m, sir_flow *flow, double *units) {
  sir_series series;
  double growth, last = m->t[m->n - 1];
  *units = 0;
  for (size_t row = 0; row < m->n;) {
    if (flow_settled(flow, last - flow->time, &growth)) {
      *units += finish_rows(m, flow, growth, row);
      return true;
    }
    series_expand(flow, &series);
    double until = flow->time + series.reach / series.rate;
    if (!(until > flow->time))
      return false;
    size_t end = row;
    while (end < m->n && m->t[end] <= until)
      end++;
    read_rows(m, flow, &series, row, end);
    *units += series.scale * (m->alive_before[end] - m->alive_before[row]);
    flow_advance(flow, &series);
    row = end;
  }
  return true;
}

/* sum y log J + (N - y) log left; sums in lanes, so that they overlap. */
static double death_terms(const sir *m) {
  double sum[FLOW_LANES] = {0};
  for (size_t j = m->n; j < m->n + FLOW_LANES; j++)
    m->J[j] = m->left[j] = 1; /* rows that only fill the last vector */
  for (size_t j = 0; j < m->n; j += FLOW_LANES)
    for (size_t lane = 0; lane < FLOW_LANES; lane++)
      sum[lane] += m->y[j + lane] * log_lane(m->J[j + lane]) +
                   m->alive[j + lane] * log_lane(m->left[j + lane]);
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* x ~ Binomial(N, I/N), with 1 - I/N = (S + R)/N where I is most of N. */
static double infection_terms(const sir *m, const sir_flow *flow) {
  double total = 0;
  for (size_t j = 0; j < m->tail; j++) {
    double log_I = m->log_I[j], I = exp(log_I), x = m->x[j];
    double J = m->J[m->n - m->tail + j];
    double others = exp(flow_log_S(flow, J)) + flow->alpha * J;
    double log_others =
        I < 0.5 * m->N ? log1p(-I / m->N) : log(others) - m->log_N;
    total += x > 0 ? x * (log_I - m->log_N) : 0;
    total += x < m->N ? (m->N - x) * log_others : 0;
  }
  return total;
}

static int log_likelihood(const double *theta, double *value, void *user) {
  const sir *m = user;
  double alpha = theta[ALPHA], beta = theta[BETA];
  *value = -INFINITY;
  if (!(theta[I0] >= 1) || !(alpha >= 0) || !(beta >= 0) || alpha > 1e100 ||
      beta > 1e100 || (alpha == 0 && m->deaths > 0))
    return 0;
  sir_flow flow = {.alpha = alpha,
                   .beta = beta,
                   .log_S0 = log(m->N - theta[I0]),
                   .log_I = log(theta[I0])};
  double units;
  if (!solve(m, &flow, &units))
    return 0;
  double removal = m->deaths > 0 ? m->deaths * log(alpha) : 0;
  *value = m->constant + removal + units + death_terms(m) +
           infection_terms(m, &flow);
  return 0;
}

static int log_prior(const double *theta, double *value, void *user) {
  const sir *m = user;
  bool inside = theta[I0] >= 0 && theta[I0] <= m->N;
  double of_I0 = inside ? m->log_prior[(size_t)theta[I0]] : -INFINITY;
  *value = of_I0 - theta[ALPHA] - theta[BETA];
  return 0;
}

static int prior_draw(tempera_random *random, double *theta, void *user) {
  const sir *m = user;
  theta[ALPHA] = tempera_random_exponential(random);
  theta[BETA] = tempera_random_exponential(random);
  theta[I0] = (double)tempera_random_binomial(random, (int64_t)m->N, 5 / m->N);
  return 0;
}

static int propose_alpha(double tau, double scale, const double *theta,
                         double *proposed, double *log_ratio,
                         tempera_random *random, void *user) {
  (void)tau;
  (void)user;
  proposed[ALPHA] = propose_positive(theta[ALPHA], scale, log_ratio, random);
  return 0;
}

static int propose_beta(double tau, double scale, const double *theta,
                        double *proposed, double *log_ratio,
                        tempera_random *random, void *user) {
  (void)tau;
  (void)user;
  proposed[BETA] = propose_positive(theta[BETA], scale, log_ratio, random);
  return 0;
}

/* log Binomial(k; N, mean/N) */
static double log_binomial(const sir *m, double k, double mean) {
  double hits = k > 0 ? k * log(mean / m->N) : 0;
  double misses = k < m->N ? (m->N - k) * log1p(-mean / m->N) : 0;
  return m->log_choose[(size_t)k] + hits + misses;
}

/* Binomial(N, I0/N). From 0 and from N there is no way back, so a step to
 * them can never be accepted. */
static int propose_I0(double tau, double scale, const double *theta,
                      double *proposed, double *log_ratio,
                      tempera_random *random, void *user) {
  const sir *m = user;
  (void)tau;
  (void)scale;
  double from = theta[I0];
  double to =
      (double)tempera_random_binomial(random, (int64_t)m->N, from / m->N);
  proposed[I0] = to;
  *log_ratio =
      to == from ? 0 : log_binomial(m, from, to) - log_binomial(m, to, from);
  return *log_ratio > -INFINITY ? 0 : 1;
}

/* One block of memory; the arrays in the order of the struct. */
static sir *sir_create(size_t n, size_t tail, double N) {
  size_t padded = n + 2 * FLOW_LANES, states = (size_t)N + 1;
  sir *m = calloc(1, sizeof *m);
  double *memory =
      m ? calloc(6 * padded + 2 * (tail + states), sizeof *memory) : NULL;
  if (!memory) {
    free(m);
    return NULL;
  }
  *m = (sir){.n = n, .tail = tail, .N = N, .log_N = log(N), .memory = memory};
  double **arrays[] = {&m->t, &m->y,   &m->alive, &m->alive_before,
                       &m->J, &m->left};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
    *arrays[k] = memory + k * padded;
  m->x = memory + 6 * padded;
  m->log_I = m->x + tail;
  m->log_prior = m->log_I + tail;
  m->log_choose = m->log_prior + states;
  return m;
}

static void sir_release(void *user) {
  sir *m = user;
  if (m)
    free(m->memory);
  free(m);
}

static int sir_clone(const void *user, void **copy) {
  const sir *m = user;
  sir *made = sir_create(m->n, m->tail, m->N);
  if (!made)
    return 1;
  size_t padded = m->n + 2 * FLOW_LANES, states = (size_t)m->N + 1;
  memcpy(made->memory, m->memory,
         (6 * padded + 2 * (m->tail + states)) * sizeof *m->memory);
  made->deaths = m->deaths;
  made->constant = m->constant;
  *copy = made;
  return 0;
}

/* The data as they are in the file. */
typedef struct rows {
  size_t n, tail;
  int64_t N;
  const double *t;
  const int64_t *y, *x;
} rows;

static tempera_status check_rows(const rows *d, tempera_error *error) {
  for (size_t j = 0; j < d->n; j++) {
    if (d->t[j] < 0 || (j > 0 && d->t[j] < d->t[j - 1]))
      return bad_data(error,
                      "data t[%zu] is %g; times must not be negative "
                      "and must not decrease",
                      j + 1, d->t[j]);
    if (d->y[j] < 0 || d->y[j] > d->N)
      return bad_data(error, "data y[%zu] is %lld; it must be from 0 to N",
                      j + 1, (long long)d->y[j]);
    if (d->t[j] == 0 && d->y[j] != 0)
      return bad_data(error,
                      "data y[%zu] is %lld at time 0, when nobody has "
                      "died yet",
                      j + 1, (long long)d->y[j]);
  }
  for (size_t j = 0; j < d->tail; j++)
    if (d->x[j] < 0 || d->x[j] > d->N)
      return bad_data(error, "data x[%zu] is %lld; it must be from 0 to N",
                      j + 1, (long long)d->x[j]);
  if (d->t[d->n - 1] == 0 || (d->tail && d->t[d->n - d->tail] == 0))
    return bad_data(error, "data t: the rows of x, and one row at least, "
                           "must lie after time 0");
  return TEMPERA_OK;
}

static tempera_status read_rows_from(const tempera_data *data, rows *d,
                                     tempera_error *error) {
  int64_t n = 0;
  size_t count;
  TRY(need_data(data, error));
  TRY(read_integer(data, "N", 6, 1000000, &d->N, error));
  TRY(read_integer(data, "n", 1, INT32_MAX, &n, error));
  d->n = (size_t)n;
  TRY(read_reals(data, "t", d->n, &d->t, error));
  TRY(tempera_data_integers(data, "y", &d->y, &count, error));
  if (count != d->n)
    return bad_data(error, "data y has %zu values; n says %zu", count, d->n);
  TRY(tempera_data_integers(data, "x", &d->x, &d->tail, error));
  if (d->tail > d->n)
    return bad_data(error, "data x has %zu values, more than the %zu times",
                    d->tail, d->n);
  return check_rows(d, error);
}

static void set_tables(sir *m) {
  double hit = log(5 / m->N), miss = log1p(-5 / m->N);
  for (size_t k = 0; k <= (size_t)m->N; k++) {
    double count = (double)k;
    m->log_choose[k] =
        lgamma(m->N + 1) - lgamma(count + 1) - lgamma(m->N - count + 1);
    m->log_prior[k] = m->log_choose[k] + count * hit + (m->N - count) * miss;
  }
}

static void set_rows(sir *m, const rows *d) {
  size_t skipped = d->n - m->n; /* rows at time 0 */
  for (size_t j = 0; j < m->n; j++) {
    int64_t y = d->y[skipped + j];
    m->t[j] = d->t[skipped + j];
    m->y[j] = (double)y;
    m->alive[j] = m->N - (double)y;
    m->alive_before[j + 1] = m->alive_before[j] + m->alive[j];
    m->deaths += (double)y;
    m->constant += m->log_choose[y] - m->N * m->log_N;
  }
  for (size_t j = 0; j < m->tail; j++) {
    m->x[j] = (double)d->x[j];
    m->constant += m->log_choose[d->x[j]];
  }
}

static tempera_status create_model(sir *m, tempera_model **model,
                                   tempera_error *error) {
  static const tempera_proposal proposals[] = {
      {.name = "alpha", .propose = propose_alpha, .scale = 0.02},
      {.name = "beta", .propose = propose_beta, .scale = 0.02},
      {.name = "I0", .propose = propose_I0, .scale = 1}};
  static const double start[SIZE] = {[ALPHA] = 0.09, [BETA] = 0.0006, [I0] = 4};
  const tempera_recipe recipe = {.proposals = proposals,
                                 .proposal_count = SIZE,
                                 .start = start,
                                 .start_tau = 0.5,
                                 .tau_move = TEMPERA_TAU_TRUNCATED_NORMAL,
                                 .tau_scale = 0.1};
  const tempera_parameter parameters[SIZE] = {
      [ALPHA] = {.name = "alpha", .upper = INFINITY},
      [BETA] = {.name = "beta", .upper = INFINITY},
      [I0] = {.name = "I0", .kind = TEMPERA_INTEGER, .upper = m->N}};
  const tempera_model_spec spec = {
      .name = "sir",
      .parameters = parameters,
      .parameter_count = SIZE,
      .log_likelihood = log_likelihood,
      .log_prior = log_prior,
      .prior_draw = prior_draw,
      .recipe = &recipe,
      .prior_normalised = true,
      .user = m,
      .clone = sir_clone,
      .release = sir_release,
  };
  return tempera_model_create(&spec, model, error);
}

TEMPERA_DECLARE_MODEL;

tempera_status tempera_model_open(const tempera_data *data,
                                  tempera_model **model, tempera_error *error) {
  rows d = {0};
  TRY(read_rows_from(data, &d, error));
  size_t skipped = 0;
  while (d.t[skipped] == 0)
    skipped++;
  sir *m = sir_create(d.n - skipped, d.tail, (double)d.N);
  if (!m)
    return no_memory(error);
  set_tables(m);
  set_rows(m, &d);
  tempera_status status = create_model(m, model, error);
  if (status != TEMPERA_OK)
    sir_release(m);
  return status;
}
