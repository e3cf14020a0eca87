/* valley.c - see valley.h.
 *
 * Directions tried: every coordinate; then, with the points whitened, those
 * that fixed-point iterations for extreme skewness and kurtosis reach (as in
 * FastICA, Hyvarinen 1999; two modes of unequal weight are skew, two of equal
 * weight are flat), and the principal one. A projection is split where its
 * kernel density has a valley below half the lower of the two peaks beside
 * it, by more than chance: with c = sum_i phi((t - t_i)/h) the variance of c
 * is c/(2 sqrt pi) for independent draws, and for correlated ones more by the
 * inverse of the efficiency measured inside the peaks. A direction that was
 * sought for must pass a higher bar, as a search over d directions finds more
 * by chance. At last no way may lead around the valley: the projection of
 * a ring has one, the ring has none. So the density is also taken in the plane
 * of the projection and of the direction in which draws in the valley lie
 * farthest out; neither peak may reach across the cut there at half the
 * height of the lower. */
#include "estimate/modes/valley.h"

#include "estimate/mixing/mixing.h"
#include "estimate/modes/plane.h"
#include "numeric/sort.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
  PER_WIDTH = 3, /* grid cells per bandwidth */
  REACH = 4 * PER_WIDTH,
  MOST_CELLS = 6000,
  FEWEST_POINTS = 10, /* on either side */
  STEPS = 12,         /* of a fixed-point iteration */
  STARTS = 4,
  TURNS = 100 /* of a power iteration */
};
static const double SIGNIFICANT = 25;             /* squared standard errors */
static const double CHANCE = 0.28209479177387814; /* 1/(2 sqrt pi) */
static const double DEEP = 0.5;
static const double BEYOND = 3; /* spreads of the plane beyond the peaks */

typedef struct valley {
  double score;           /* squared standard errors; 0: none */
  double cut, peak, high; /* places of the cut, lower and higher peak */
  double width;           /* bandwidth */
} valley;

struct tm_valley_work {
  tm_cloud cloud;
  tm_mixing_work *mixing;
  const size_t *member;
  size_t count;
  double *mean, *factor;    /* of the members: Cholesky of the covariance */
  double *z;                /* members whitened */
  double *t, *sorted;       /* projections of the members */
  double *u;                /* projections beside t, for the plane */
  double *series;           /* over the whole cloud */
  double *direction, *next; /* directions, whitened */
  double *beside;           /* that of u */
  double *plain;            /* a direction, not whitened */
  double *cells, *smooth;   /* the density on a grid */
  double *left, *right;     /* highest to either side, places */
  tm_plane plane;           /* the density over t and u */
};

tm_valley_work *tm_valley_work_create(tm_arena *arena, const tm_cloud *cloud) {
  size_t n = cloud->chains * cloud->rows, d = cloud->dims;
  tm_valley_work *w = TM_NEW(arena, tm_valley_work, 1);
  if (!w)
    return NULL;
  w->cloud = *cloud;
  w->mixing = tm_mixing_work_create(arena, cloud->chains, cloud->rows);
  w->mean = TM_NEW(arena, double, d);
  w->factor = TM_NEW(arena, double, d *d);
  w->z = TM_NEW(arena, double, n *d);
  w->t = TM_NEW(arena, double, n);
  w->sorted = TM_NEW(arena, double, n);
  w->u = TM_NEW(arena, double, n);
  w->series = TM_NEW(arena, double, n);
  w->direction = TM_NEW(arena, double, d);
  w->next = TM_NEW(arena, double, d);
  w->beside = TM_NEW(arena, double, d);
  w->plain = TM_NEW(arena, double, d);
  w->cells = TM_NEW(arena, double, MOST_CELLS);
  w->smooth = TM_NEW(arena, double, MOST_CELLS);
  w->left = TM_NEW(arena, double, MOST_CELLS);
  w->right = TM_NEW(arena, double, MOST_CELLS);
  bool made = w->mixing && w->mean && w->factor && w->z && w->t && w->sorted &&
              w->u && w->series && w->direction && w->next && w->beside &&
              w->plain && w->cells && w->smooth && w->left && w->right &&
              tm_plane_create(arena, &w->plane);
  return made ? w : NULL;
}

static const double *point(const tm_valley_work *w, size_t i) {
  return w->cloud.x + w->member[i] * w->cloud.dims;
}

/* Four sums at once: the additions need not wait for each other. */
static double dot(const double *a, const double *b, size_t d) {
  double part[4] = {0};
  size_t j = 0;
  for (; j + 4 <= d; j += 4)
    for (size_t k = 0; k < 4; k++)
      part[k] += a[j + k] * b[j + k];
  for (; j < d; j++)
    part[0] += a[j] * b[j];
  return (part[0] + part[1]) + (part[2] + part[3]);
}

static void normalise(double *x, size_t d) {
  double squares = 0;
  for (size_t j = 0; j < d; j++)
    squares += x[j] * x[j];
  for (size_t j = 0; j < d; j++)
    x[j] /= sqrt(squares) + 1e-300;
}

/* ---- one dimension ----------------------------------------------------- */

/* Of the values in w->sorted. */
static double spread(const tm_valley_work *w) {
  size_t n = w->count;
  double mean = 0, squares = 0;
  for (size_t i = 0; i < n; i++)
    mean += w->sorted[i] / (double)n;
  for (size_t i = 0; i < n; i++)
    squares += (w->sorted[i] - mean) * (w->sorted[i] - mean);
  double sd = sqrt(squares / (double)n);
  double range = (w->sorted[n * 3 / 4] - w->sorted[n / 4]) / 1.349;
  return range > 0 ? fmin(sd, range) : sd;
}

/* The smoothed counts; returns the number of cells. */
static size_t smooth_counts(tm_valley_work *w, double h, double *low) {
  size_t n = w->count, edge = n / 2000;
  double cell = h / PER_WIDTH, half = (MOST_CELLS / 2 - 1) * cell;
  double from = fmax(w->sorted[edge] - 4 * h, w->sorted[n / 2] - half);
  double to = fmin(w->sorted[n - 1 - edge] + 4 * h, w->sorted[n / 2] + half);
  size_t cells = (size_t)((to - from) / cell) + 1;
  double kernel[REACH + 1];
  for (size_t k = 0; k <= REACH; k++)
    kernel[k] = exp(-0.5 * pow((double)k / PER_WIDTH, 2)) / sqrt(2 * M_PI);
  memset(w->cells, 0, cells * sizeof(double));
  memset(w->smooth, 0, cells * sizeof(double));
  for (size_t i = 0; i < n; i++)
    if (w->sorted[i] >= from && w->sorted[i] < to)
      w->cells[(size_t)((w->sorted[i] - from) / cell)]++;
  for (size_t g = 0; g < cells; g++) {
    if (w->cells[g] == 0)
      continue;
    size_t a = g > REACH ? g - REACH : 0;
    size_t b = g + REACH < cells ? g + REACH : cells - 1;
    for (size_t k = a; k <= b; k++)
      w->smooth[k] += w->cells[g] * kernel[k > g ? k - g : g - k];
  }
  *low = from;
  return cells;
}

static void find_peaks(tm_valley_work *w, size_t cells) {
  size_t best = 0;
  for (size_t g = 0; g < cells; g++) {
    best = w->smooth[g] > w->smooth[best] ? g : best;
    w->left[g] = (double)best;
  }
  best = cells - 1;
  for (size_t g = cells; g-- > 0;) {
    best = w->smooth[g] > w->smooth[best] ? g : best;
    w->right[g] = (double)best;
  }
}

static valley valley_at(tm_valley_work *w, double h) {
  double low, cell = h / PER_WIDTH, score = 0;
  size_t cells = smooth_counts(w, h, &low), first = 0, last = 0;
  find_peaks(w, cells);
  for (size_t g = 0; g < cells; g++) {
    double v = w->smooth[g];
    double peak =
        fmin(w->smooth[(size_t)w->left[g]], w->smooth[(size_t)w->right[g]]);
    double s =
        v < DEEP * peak ? (peak - v) * (peak - v) / (CHANCE * (peak + v)) : 0;
    if (s > score) {
      score = s;
      first = last = g;
    } else if (s == score && g == last + 1) {
      last = g; /* an empty stretch is cut in its middle */
    }
  }
  if (score == 0)
    return (valley){0};
  size_t g = (first + last) / 2;
  double a = low + (w->left[g] + 0.5) * cell;
  double b = low + (w->right[g] + 0.5) * cell;
  bool lower = w->smooth[(size_t)w->left[g]] < w->smooth[(size_t)w->right[g]];
  return (valley){score, low + ((double)g + 0.5) * cell, lower ? a : b,
                  lower ? b : a, h};
}

static size_t below(const tm_valley_work *w, double cut) {
  size_t k = 0;
  while (k < w->count && w->sorted[k] < cut)
    k++;
  return k;
}

/* The clearest valley of the projections in w->t. */
static valley valley_of(tm_valley_work *w) {
  memcpy(w->sorted, w->t, w->count * sizeof(double));
  tm_sort(w->sorted, w->count);
  double h = 0.9 * spread(w) * pow((double)w->count, -0.2);
  valley best = {0};
  if (!(h > DBL_EPSILON * 100 * fabs(w->sorted[w->count / 2])) || h < 1e-9)
    return best;
  for (int k = 0; k < 2; k++) {
    valley v = valley_at(w, k ? 2.5 * h : h);
    size_t side = v.score > 0 ? below(w, v.cut) : 0;
    if (v.score > best.score && side >= FEWEST_POINTS &&
        w->count - side >= FEWEST_POINTS)
      best = v;
  }
  return best;
}

/* ---- is it more than chance -------------------------------------------- */

/* How far from a peak the density stays above a quarter of its height, at
 * the places of sorted projections: counts in a window of two widths. */
static double reach_of_peak(const tm_valley_work *w, double peak, double h,
                            double step) {
  double at = (double)(below(w, peak + h) - below(w, peak - h)), x = peak;
  for (int k = 0; k < 400; k++) {
    x += step;
    if ((double)(below(w, x + h) - below(w, x - h)) < at / 4)
      break;
  }
  return x;
}

/* Effective draws per draw inside one peak. */
static double efficiency(tm_valley_work *w, const valley *v, double peak) {
  double a = reach_of_peak(w, peak, v->width, -v->width / 2);
  double b = reach_of_peak(w, peak, v->width, v->width / 2);
  if (peak < v->cut)
    b = fmin(b, v->cut);
  else
    a = fmax(a, v->cut);
  double sum = 0, n = 0;
  for (size_t i = 0; i < w->count; i++)
    if (w->t[i] >= a && w->t[i] <= b) {
      sum += w->t[i];
      n++;
    }
  size_t all = w->cloud.chains * w->cloud.rows;
  memset(w->series, 0, all * sizeof(double));
  for (size_t i = 0; i < w->count; i++)
    if (w->t[i] >= a && w->t[i] <= b)
      w->series[w->member[i]] = w->t[i] - sum / n;
  double ess = tm_mixing_ess(w->mixing, w->series);
  return isnan(ess) ? 0 : fmin(1, ess / (double)all);
}

/* ---- is there a way around ---------------------------------------------- */

/* The direction beside w->direction in which draws of the valley lie farthest
 * out: the first principal one of whitened draws, weighted by nearness to the
 * cut. By power iteration, of many steps as there is little between the first
 * and the others. Into w->beside. */
static void look_beside(tm_valley_work *w, const valley *v) {
  size_t d = w->cloud.dims;
  double half = fmax(fabs(v->cut - v->peak), fabs(v->cut - v->high));
  for (size_t j = 0; j < d; j++)
    w->next[j] = 1 + 0.1 * (double)(j % 3);
  for (int step = 0; step < TURNS; step++) {
    double along = dot(w->next, w->direction, d);
    for (size_t j = 0; j < d; j++)
      w->beside[j] = w->next[j] - along * w->direction[j];
    normalise(w->beside, d);
    memset(w->next, 0, d * sizeof(double));
    for (size_t i = 0; i < w->count; i++) {
      double near = 1 - fabs(w->t[i] - v->cut) / half;
      double g = near > 0 ? near * dot(w->beside, w->z + i * d, d) : 0;
      for (size_t j = 0; j < d && g != 0; j++)
        w->next[j] += g * w->z[i * d + j];
    }
  }
}

/* Projects on w->beside, far ones to the rim. False when the plane would be
 * too large, for peaks so far apart that nothing joins them, or flat. */
static bool lay_plane(tm_valley_work *w, const valley *v) {
  tm_plane *p = &w->plane;
  size_t n = w->count, d = w->cloud.dims;
  double along = spread(w), cell = v->width / along / TM_PLANE_PER_WIDTH;
  double low = fmin(v->peak, v->high) - BEYOND * along;
  double high = fmax(v->peak, v->high) + BEYOND * along;
  for (size_t i = 0; i < n; i++)
    w->sorted[i] = w->u[i] = dot(w->beside, w->z + i * d, d);
  tm_sort(w->sorted, n);
  double across = spread(w), left = w->sorted[n / 2] - BEYOND * across;
  for (size_t i = 0; i < n; i++)
    w->u[i] = fmax(left, fmin(left + 2 * BEYOND * across, w->u[i]));
  p->t = low;
  p->u = left;
  p->wide = cell * along;
  p->tall = cell * across;
  p->rows = (size_t)(2 * BEYOND / cell) + 2;
  double columns = (high - low) / p->wide + 1;
  if (!(across > 1e-9 && columns < (double)(TM_PLANE_MOST / p->rows)))
    return false;
  p->columns = (size_t)columns;
  return true;
}

/* Whether one of the hills, above half the height of the lower peak, reaches
 * the cut. */
static bool way_around(tm_valley_work *w, const valley *v) {
  if (w->cloud.dims < 2)
    return false;
  look_beside(w, v);
  if (!lay_plane(w, v))
    return false;
  tm_plane_fill(&w->plane, w->t, w->u, w->count);
  return tm_plane_leads(&w->plane, v->peak, v->high, v->cut, DEEP);
}

/* Whether the projections in w->t pass, their valley in *v. `bar` is the
 * score to beat. */
static bool clear_valley(tm_valley_work *w, double bar, valley *v) {
  *v = valley_of(w);
  if (v->score < bar)
    return false;
  double e = fmin(efficiency(w, v, v->peak), efficiency(w, v, v->high));
  v->score *= e;
  return v->score >= bar && !way_around(w, v);
}

/* ---- directions -------------------------------------------------------- */

static void covariance(tm_valley_work *w) {
  size_t d = w->cloud.dims;
  double n = (double)w->count;
  memset(w->mean, 0, d * sizeof(double));
  memset(w->factor, 0, d * d * sizeof(double));
  for (size_t i = 0; i < w->count; i++)
    for (size_t j = 0; j < d; j++)
      w->mean[j] += point(w, i)[j] / n;
  for (size_t i = 0; i < w->count; i++) {
    const double *x = point(w, i);
    for (size_t j = 0; j < d; j++) {
      double off = (x[j] - w->mean[j]) / n;
      for (size_t k = 0; k <= j; k++)
        w->factor[j * d + k] += off * (x[k] - w->mean[k]);
    }
  }
}

/* In place, lower triangle; a little on the diagonal, as values that sum to
 * one have no full covariance. */
static void cholesky(double *a, size_t d) {
  for (size_t j = 0; j < d; j++) {
    double diagonal = a[j * d + j] + 1e-6;
    for (size_t k = 0; k < j; k++)
      diagonal -= a[j * d + k] * a[j * d + k];
    diagonal = sqrt(fmax(diagonal, 1e-8));
    a[j * d + j] = diagonal;
    for (size_t i = j + 1; i < d; i++) {
      double sum = a[i * d + j];
      for (size_t k = 0; k < j; k++)
        sum -= a[i * d + k] * a[j * d + k];
      a[i * d + j] = sum / diagonal;
    }
  }
}

/* z = L^-1 (x - mean). */
static void whiten(tm_valley_work *w) {
  size_t d = w->cloud.dims;
  covariance(w);
  cholesky(w->factor, d);
  for (size_t i = 0; i < w->count; i++) {
    const double *x = point(w, i);
    double *z = w->z + i * d;
    for (size_t j = 0; j < d; j++) {
      double sum = x[j] - w->mean[j] - dot(w->factor + j * d, z, j);
      z[j] = sum / w->factor[j * d + j];
    }
  }
}

static void project(tm_valley_work *w, const double *direction) {
  size_t d = w->cloud.dims;
  for (size_t i = 0; i < w->count; i++)
    w->t[i] = dot(direction, w->z + i * d, d);
}

/* One step towards extreme skewness (g = u^2) or kurtosis (g = u^3), u held
 * within three so that a few far draws do not decide. True when it is there. */
static bool fixed_point(tm_valley_work *w, bool cubic) {
  size_t d = w->cloud.dims;
  double slope = 0, n = (double)w->count;
  project(w, w->direction);
  memset(w->next, 0, d * sizeof(double));
  for (size_t i = 0; i < w->count; i++) {
    double u = fmax(-3, fmin(3, w->t[i]));
    double g = (cubic ? u * u * u : u * u) / n;
    slope += (fabs(w->t[i]) > 3 ? 0 : cubic ? 3 * u * u : 2 * u) / n;
    for (size_t j = 0; j < d; j++)
      w->next[j] += g * w->z[i * d + j];
  }
  for (size_t j = 0; j < d; j++)
    w->next[j] -= slope * w->direction[j];
  normalise(w->next, d);
  double turn = fabs(dot(w->direction, w->next, d));
  memcpy(w->direction, w->next, d * sizeof(double));
  return turn > 0.9999;
}

/* The direction of the largest variance before whitening, by power
 * iteration with L L^T; whitened it is L^T times it. */
static void principal(tm_valley_work *w) {
  size_t d = w->cloud.dims;
  for (size_t j = 0; j < d; j++)
    w->direction[j] = 1 + 0.1 * (double)(j % 3);
  for (int step = 0; step < 40; step++) {
    for (size_t j = 0; j < d; j++) /* next = L direction */
      w->next[j] = dot(w->factor + j * d, w->direction, j + 1);
    normalise(w->next, d);
    memset(w->direction, 0, d * sizeof(double));
    for (size_t j = 0; j < d; j++)
      for (size_t k = 0; k <= j; k++)
        w->direction[k] += w->factor[j * d + k] * w->next[j];
    normalise(w->direction, d);
  }
}

/* The principal direction, or the difference of two of the members, the same
 * ones every time. */
static void start(tm_valley_work *w, size_t k) {
  size_t d = w->cloud.dims, n = w->count;
  size_t a = (k * 7919 + 13) % n, b = (a + n / 2 + k * 104729) % n;
  if (k == 0) {
    principal(w);
    return;
  }
  for (size_t j = 0; j < d; j++)
    w->direction[j] = w->z[a * d + j] - w->z[b * d + j] + (j == k ? 1e-6 : 0);
  normalise(w->direction, d);
}

/* The whitened direction as one for points themselves: L^-T direction; returns
 * its value at the mean. */
static double unwhiten(tm_valley_work *w, const double *direction) {
  size_t d = w->cloud.dims;
  double offset = 0;
  for (size_t j = d; j-- > 0;) {
    double sum = direction[j];
    for (size_t k = j + 1; k < d; k++)
      sum -= w->factor[k * d + j] * w->plain[k];
    w->plain[j] = sum / w->factor[j * d + j];
  }
  for (size_t j = 0; j < d; j++)
    offset += w->plain[j] * w->mean[j];
  return offset;
}

static bool search_whitened(tm_valley_work *w, double bar, valley *best) {
  principal(w);
  project(w, w->direction);
  if (clear_valley(w, bar, best))
    return true;
  for (size_t k = 0; k < 2 * STARTS; k++) {
    start(w, k / 2);
    for (int step = 0; step < STEPS && !fixed_point(w, k % 2); step++)
      ;
    project(w, w->direction);
    if (clear_valley(w, bar, best))
      return true;
  }
  return false;
}

/* The coordinate with the clearest valley, its projections in w->t; dims if
 * there is none. */
static size_t search_coordinates(tm_valley_work *w, valley *best) {
  size_t d = w->cloud.dims, chosen = d;
  for (size_t j = 0; j < d; j++) {
    valley v;
    for (size_t i = 0; i < w->count; i++)
      w->t[i] = point(w, i)[j];
    memset(w->direction, 0, d * sizeof(double)); /* whitened: a row of L */
    memcpy(w->direction, w->factor + j * d, (j + 1) * sizeof(double));
    normalise(w->direction, d);
    if (clear_valley(w, fmax(SIGNIFICANT, best->score), &v)) {
      *best = v;
      chosen = j;
    }
  }
  for (size_t i = 0; chosen < d && i < w->count; i++)
    w->t[i] = point(w, i)[chosen];
  return chosen;
}

/* Fisher's direction for the two sides of a cut: in whitened coordinates the
 * difference of their means. */
static void discriminate(tm_valley_work *w, double cut) {
  size_t d = w->cloud.dims, low = 0;
  for (size_t i = 0; i < w->count; i++)
    low += w->t[i] < cut;
  memset(w->direction, 0, d * sizeof(double));
  for (size_t i = 0; i < w->count; i++) {
    double share =
        w->t[i] < cut ? -1 / (double)low : 1 / (double)(w->count - low);
    for (size_t j = 0; j < d; j++)
      w->direction[j] += share * w->z[i * d + j];
  }
  normalise(w->direction, d);
}

/* The projection a valley was found in is a rough direction; the one between
 * the two sides separates them better, if the valley shows there too. */
static void refine(tm_valley_work *w, const valley *found, tm_cut *cut) {
  double at = found->cut;
  for (int k = 0; k < 3; k++) {
    discriminate(w, at);
    project(w, w->direction);
    valley v = valley_of(w);
    if (v.score < found->score)
      return;
    at = v.cut;
    cut->cut = at + unwhiten(w, w->direction);
    memcpy(cut->direction, w->plain, w->cloud.dims * sizeof(double));
  }
}

bool tm_valley_find(tm_valley_work *w, const size_t *members, size_t count,
                    tm_cut *cut) {
  w->member = members;
  w->count = count;
  size_t d = w->cloud.dims;
  if (count < 4 * FEWEST_POINTS || d == 0)
    return false;
  valley best = {0};
  whiten(w);
  size_t coordinate = search_coordinates(w, &best);
  if (coordinate < d) {
    memset(cut->direction, 0, d * sizeof(double));
    cut->direction[coordinate] = 1;
    cut->cut = best.cut;
  } else {
    if (d < 2 || !search_whitened(w, SIGNIFICANT + 2 * (double)d, &best))
      return false;
    cut->cut = best.cut + unwhiten(w, w->direction);
    memcpy(cut->direction, w->plain, d * sizeof(double));
  }
  refine(w, &best, cut);
  return true;
}
