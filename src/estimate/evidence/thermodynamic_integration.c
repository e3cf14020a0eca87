/* thermodynamic_integration.c - thermodynamic integration, log Z = integral of
 * E_tau[l] over tau (method 2 and 4.4): `ti` over all draws in bins of tau, and
 * `ti-paper` as published.
 *
 * Inside a bin the draws' tau has density proportional to P(tau) z(tau), not
 * uniform. With g = log P known, weights e^{-g(tau) - m tau}, m the bin's
 * mean of l (which is the slope of log z), make it uniform to second order; m
 * is the solution of m = weighted mean of l under its own weights. Without g,
 * or where g has steps (weights so uneven that they bias the mean), a straight
 * line fitted to l over tau is read off at the bin's centre. */
#include "estimate/evidence/evidence.h"

#include "numeric/vector_exp.h"

#include <math.h>
#include <string.h>

/* Draws in a bin: more where taus are held, since edges lie between taus and a
 * tau is held the longer the lower l is, which biases the means of short bins
 * (by 0.4 standard errors with 100 draws each, 0.1 with 400); but not so many
 * that few bins are left. */
enum {
  FEWEST = 100,
  FEWEST_HELD = 400,
  FEWEST_BINS = 12,
  TI_MOST = 200,
  NEWTON_STEPS = 30
};

/* The position in `order` where bin j of `count` ends: no tau is parted. */
static size_t bin_end(const tm_tempered *view, size_t used, size_t j,
                      size_t count) {
  size_t end = (j + 1) * used / count;
  while (end > 0 && end < used &&
         view->tau[view->order[end]] == view->tau[view->order[end - 1]])
    end++;
  return end;
}

bool tm_bins_make(const tm_tempered *view, double top, size_t fewest,
                  size_t most, tm_bins *bins) {
  size_t used = view->ordered;
  while (used > 0 && view->tau[view->order[used - 1]] > top)
    used--;
  size_t wanted = used / fewest;
  wanted = wanted > most ? most : (wanted < 1 ? 1 : wanted);
  bins->first = TM_NEW(view->arena, size_t, wanted + 1);
  bins->edge = TM_NEW(view->arena, double, wanted + 1);
  bins->mean = TM_NEW(view->arena, double, wanted);
  bins->count = 0;
  if (!bins->first || !bins->edge || !bins->mean)
    return false;
  bins->edge[0] = view->tau_min;
  for (size_t j = 0; j < wanted; j++) {
    size_t end = bin_end(view, used, j, wanted);
    if (end <= bins->first[bins->count])
      continue;
    size_t k = ++bins->count;
    bins->first[k] = end;
    bins->edge[k] =
        end == used
            ? top
            : (view->tau[view->order[end - 1]] + view->tau[view->order[end]]) /
                  2;
  }
  return true;
}

static bool has_weights(const tm_tempered *view) {
  return view->prior.count && !view->prior_steps;
}

/* Is every fifth tau that of the draw before, in order? The atom's are. */
static bool taus_are_held(const tm_tempered *view) {
  size_t held = 0;
  for (size_t k = 1; k < view->ordered; k++) {
    double tau = view->tau[view->order[k]];
    held += tau > view->tau_min && tau == view->tau[view->order[k - 1]];
  }
  return held > view->ordered / 5;
}

bool tm_bins_ti(const tm_tempered *view, tm_bins *bins) {
  size_t fewest = FEWEST;
  if (taus_are_held(view)) {
    size_t share = view->ordered / FEWEST_BINS;
    fewest = share < FEWEST        ? FEWEST
             : share > FEWEST_HELD ? FEWEST_HELD
                                   : share;
  }
  return tm_bins_make(view, fmin(view->draw_top, view->weight_top), fewest,
                      TI_MOST, bins);
}

/* One bin at work: its draws, and a weight for each. */
typedef struct bin {
  const tm_tempered *view;
  const size_t *draw;
  size_t count;
  double centre, width;
  double *weight;
  double *tau, *l, *log_prior; /* the draws', in this order */
} bin;

typedef struct moments {
  double total, l, tau, covariance, tau_variance;
} moments;

static moments moments_of(const bin *b) {
  moments m = {0};
  for (size_t k = 0; k < b->count; k++) {
    m.total += b->weight[k];
    m.l += b->weight[k] * b->l[k];
    m.tau += b->weight[k] * b->tau[k];
  }
  m.l /= m.total;
  m.tau /= m.total;
  for (size_t k = 0; k < b->count; k++) {
    double t = b->tau[k] - m.tau;
    m.covariance += b->weight[k] * t * (b->l[k] - m.l);
    m.tau_variance += b->weight[k] * t * t;
  }
  m.covariance /= m.total;
  m.tau_variance /= m.total;
  return m;
}

static void weigh(const bin *b, double slope) {
  double most = -INFINITY;
  for (size_t k = 0; k < b->count; k++) {
    b->weight[k] = -b->log_prior[k] - slope * b->tau[k];
    most = b->weight[k] > most ? b->weight[k] : most;
  }
  for (size_t k = 0; k < b->count; k++)
    b->weight[k] -= most;
  tm_vector_exp(b->weight, b->count);
}

/* The bin's mean by Newton's method on m - F(m), F' = -covariance; weights
 * become the influence on the integral over the bin. */
static double weighted_mean(const bin *b) {
  for (size_t k = 0; k < b->count; k++)
    b->weight[k] = 1;
  double slope = moments_of(b).l, gain = 1;
  moments m = {0};
  for (int step = 0; step < NEWTON_STEPS; step++) {
    weigh(b, slope);
    m = moments_of(b);
    gain = fmax(1 + m.covariance, 0.5);
    double change = (m.l - slope) / gain;
    slope += change;
    if (fabs(change) * b->width < 1e-9)
      break;
  }
  double scale = (double)b->view->count * b->width / (m.total * gain);
  for (size_t k = 0; k < b->count; k++)
    b->weight[k] *= scale * (b->l[k] - m.l);
  return slope;
}

static double fitted_mean(const bin *b) {
  for (size_t k = 0; k < b->count; k++)
    b->weight[k] = 1;
  moments m = moments_of(b);
  double slope = m.tau_variance > 0 ? m.covariance / m.tau_variance : 0;
  double off = m.tau_variance > 0 ? (b->centre - m.tau) / m.tau_variance : 0;
  double scale = (double)b->view->count * b->width / m.total;
  for (size_t k = 0; k < b->count; k++) {
    double t = b->tau[k] - m.tau;
    double residual = b->l[k] - m.l - slope * t;
    b->weight[k] = scale * (1 + off * t) * residual;
  }
  return m.l + slope * (b->centre - m.tau);
}

/* Room for the draws of any bin. */
static bool bin_create(const tm_tempered *view, const tm_bins *bins, bin *b) {
  size_t most = 0;
  for (size_t j = 0; j < bins->count; j++) {
    size_t count = bins->first[j + 1] - bins->first[j];
    most = count > most ? count : most;
  }
  b->tau = TM_NEW(view->arena, double, most);
  b->l = TM_NEW(view->arena, double, most);
  b->log_prior = TM_NEW(view->arena, double, most);
  return b->tau && b->l && b->log_prior;
}

/* They lie all over the memory, and are looked at many times. */
static void bin_load(bin *b, const tm_bins *bins, size_t j) {
  const tm_tempered *view = b->view;
  b->draw = view->order + bins->first[j];
  b->count = bins->first[j + 1] - bins->first[j];
  b->width = bins->edge[j + 1] - bins->edge[j];
  b->centre = (bins->edge[j] + bins->edge[j + 1]) / 2;
  for (size_t k = 0; k < b->count; k++) {
    b->tau[k] = view->tau[b->draw[k]];
    b->l[k] = view->l[b->draw[k]];
    if (has_weights(view))
      b->log_prior[k] = tm_loglinear_at(&view->prior, b->tau[k]);
  }
}

bool tm_evidence_ti(const tm_tempered *view, tm_bins *bins, size_t from,
                    double *scratch, tm_evidence *evidence) {
  double integral = 0;
  bin b = {.view = view, .weight = scratch, .width = 1};
  if (!bin_create(view, bins, &b))
    return false;
  for (size_t j = from; j < bins->count; j++) {
    bin_load(&b, bins, j);
    bins->mean[j] = has_weights(view) ? weighted_mean(&b) : fitted_mean(&b);
    integral += b.width * bins->mean[j];
    for (size_t k = 0; k < b.count; k++)
      evidence->psi[b.draw[k]] += b.weight[k];
  }
  evidence->log_z = bins->count ? evidence->log_z + integral : NAN;
  evidence->top = 1;
  if (!bins->count || bins->edge[bins->count] >= 1)
    return true;
  /* The last bin's mean is a mean over lower taus, so it bounds E_top. */
  memset(scratch, 0, view->count * sizeof(double));
  size_t last = bins->count - 1;
  for (size_t k = bins->first[last]; k < bins->first[last + 1]; k++)
    scratch[view->order[k]] = evidence->psi[view->order[k]] / b.width;
  tm_evidence_extend(view, bins->edge[bins->count], bins->mean[last], scratch,
                     evidence);
  return true;
}

double tm_evidence_left_sum(const double *tau, const double *l,
                            const size_t *order, size_t count,
                            double *variance) {
  double integral = 0;
  *variance = 0;
  for (size_t k = 0; k < count;) {
    double at = tau[order[k]], sum = 0, squares = 0;
    size_t end = k;
    for (; end < count && tau[order[end]] == at; end++)
      sum += l[order[end]];
    double n = (double)(end - k), mean = sum / n;
    for (size_t i = k; i < end; i++)
      squares += (l[order[i]] - mean) * (l[order[i]] - mean);
    double width = (end < count ? tau[order[end]] : 1) - at;
    integral += width * mean;
    if (n > 1)
      *variance += width * width * squares / (n * (n - 1));
    k = end;
  }
  return integral;
}

bool tm_evidence_ti_paper(const tm_tempered *view, double *log_z, double *se,
                          double *between) {
  size_t chains = view->chains, *draw = TM_NEW(view->arena, size_t, view->rows);
  double *value = TM_NEW(view->arena, double, chains);
  if (!draw || !value)
    return false;
  double mean = 0, variance = 0, squares = 0, m = (double)chains;
  for (size_t c = 0; c < chains; c++) {
    size_t n = 0;
    for (size_t k = 0; k < view->ordered; k++)
      if (view->order[k] / view->rows == c)
        draw[n++] = view->order[k];
    double printed;
    value[c] =
        n ? tm_evidence_left_sum(view->tau, view->l, draw, n, &printed) : NAN;
    mean += value[c] / m;
    variance += n ? printed / (m * m) : NAN;
  }
  for (size_t c = 0; c < chains; c++)
    squares += (value[c] - mean) * (value[c] - mean);
  *log_z = mean;
  *se = sqrt(variance);
  *between = chains < 3 ? NAN : sqrt(squares / (m * (m - 1)));
  return true;
}
