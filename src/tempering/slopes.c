/* slopes.c - the two parts of the density, l and p, with gradients and Hessians
 * by differences: of gradients where the model has them, else of values
 * (method 4.2). */
#include "tempering/climb.h"

#include <math.h>
#include <string.h>

/* In scales. */
static const double VALUE_STEP = 0.05, FINE_STEP = 1e-3, SLOPE_STEP = 1e-3;

bool tm_climber_forgive(tm_climber *c) {
  tm_evaluator *evaluator = c->evaluator;
  if (evaluator->failure == TM_FAILURE_STOP)
    return false;
  evaluator->status = TEMPERA_OK;
  evaluator->failure = TM_FAILURE_NONE;
  evaluator->error = (tempera_error){0};
  return true;
}

bool tm_climber_positive(const tm_climber *c) {
  return isfinite(c->trial.log_likelihood) && isfinite(c->trial.log_prior) &&
         isfinite(c->trial.log_jacobian);
}

/* Both parts where the trial is, which has been evaluated. */
static bool take_parts(tm_climber *c, double *l, double *p) {
  if (!tm_climber_forgive(c) || !tm_climber_positive(c))
    return false;
  *l = c->trial.log_likelihood;
  *p = c->measure == TM_LIKELIHOOD ? 0 : c->trial.log_prior;
  if (c->measure == TM_UNCONSTRAINED)
    *p += c->trial.log_jacobian;
  return true;
}

/* The library's prior gradient has the Jacobian's in it. */
static void take_off_jacobian(tm_climber *c) {
  double *zero = c->evaluator->gradient;
  memset(zero, 0, c->model->size * sizeof(double));
  tm_pull_back(c->model, c->trial.u, c->trial.theta, zero, true, c->jg);
  for (size_t j = 0; j < c->model->dimension; j++)
    c->pg[j] -= c->jg[j];
}

bool tm_climber_look(tm_climber *c, double *l, double *p) {
  if (c->evaluator->status != TEMPERA_OK)
    return false;
  tm_evaluate(c->evaluator, &c->trial);
  return take_parts(c, l, p);
}

bool tm_climber_slopes(tm_climber *c, double *l, double *p, double *gl,
                       double *gp) {
  if (c->evaluator->status != TEMPERA_OK)
    return false;
  tm_evaluate_gradient(c->evaluator, &c->trial, c->lg, c->pg);
  if (!take_parts(c, l, p))
    return false;
  if (c->measure == TM_NATURAL)
    take_off_jacobian(c);
  for (size_t k = 0; k < c->frame->reals; k++) {
    gl[k] = c->lg[c->frame->real[k]];
    gp[k] = c->measure == TM_LIKELIHOOD ? 0 : c->pg[c->frame->real[k]];
    if (!isfinite(gl[k]) || !isfinite(gp[k]))
      return false;
  }
  return true;
}

void tm_climber_go(tm_climber *c, const double *u) {
  memcpy(c->trial.u, u, c->model->dimension * sizeof(double));
}

/* Where one side has density zero: the other side's slope is all there is.
 * Uphill away from the edge it is followed; towards it, u is the optimum and
 * 1/slope the spread, combined with what curvature there is. */
static void edge_difference(tm_climber *c, tm_spot *at, double tau, size_t k,
                            double h, double side) {
  size_t d = c->frame->reals, j = c->frame->real[k];
  const double *near = side > 0 ? c->plus : c->minus;
  double dl = near[2 * k] - at->l, dp = near[2 * k + 1] - at->p, l2, p2;
  double gain = tau * dl + dp, bend = 0;
  tm_climber_go(c, at->u);
  c->trial.u[j] += 2 * side * h;
  if (tm_climber_look(c, &l2, &p2))
    bend = -(tm_spot_height(at, tau) + tau * l2 + p2 -
             2 * (tau * near[2 * k] + near[2 * k + 1])) /
           (h * h);
  at->gl[k] = gain > 0 ? side * dl / h : 0;
  at->gp[k] = gain > 0 ? side * dp / h : 0;
  at->hl[k * d + k] = 0;
  at->hp[k * d + k] = fmax(bend, 0) + gain * gain / (h * h);
  c->edge = c->edge || gain <= 0;
}

/* From values at +-h. */
void tm_climber_differences(tm_climber *c, tm_spot *at, double tau,
                            bool curvature) {
  size_t d = c->frame->reals;
  c->edge = false;
  for (size_t k = 0; k < d; k++) {
    size_t j = c->frame->real[k];
    double h = (c->fine ? FINE_STEP : VALUE_STEP) * c->scale[k];
    double *plus = c->plus + 2 * k, *minus = c->minus + 2 * k;
    tm_climber_go(c, at->u);
    c->trial.u[j] = at->u[j] + h;
    bool right = tm_climber_look(c, plus, plus + 1);
    c->trial.u[j] = at->u[j] - h;
    bool left = tm_climber_look(c, minus, minus + 1);
    c->used[k] = right && left ? h : 0;
    if (right && left) {
      at->gl[k] = (plus[0] - minus[0]) / (2 * h);
      at->gp[k] = (plus[1] - minus[1]) / (2 * h);
      if (curvature) {
        at->hl[k * d + k] = -(plus[0] - 2 * at->l + minus[0]) / (h * h);
        at->hp[k * d + k] = -(plus[1] - 2 * at->p + minus[1]) / (h * h);
      }
    } else if (right || left) {
      edge_difference(c, at, tau, k, h, right ? 1 : -1);
    } else {
      at->gl[k] = at->gp[k] = at->hl[k * d + k] = 0;
      at->hp[k * d + k] = 1 / (h * h);
      c->edge = true;
    }
  }
}

/* Mixed derivatives, two evaluations for a pair. */
static void pair_difference(tm_climber *c, tm_spot *at, size_t i, size_t k) {
  size_t d = c->frame->reals;
  double hi = c->used[i], hk = c->used[k], l[2], p[2];
  bool fine = hi > 0 && hk > 0;
  for (int side = 0; side < 2 && fine; side++) {
    double sign = side ? -1 : 1;
    tm_climber_go(c, at->u);
    c->trial.u[c->frame->real[i]] += sign * hi;
    c->trial.u[c->frame->real[k]] += sign * hk;
    fine = tm_climber_look(c, &l[side], &p[side]);
  }
  double area = 2 * hi * hk, hl = 0, hp = 0;
  if (fine) {
    hl = -(l[0] + l[1] + 2 * at->l - c->plus[2 * i] - c->minus[2 * i] -
           c->plus[2 * k] - c->minus[2 * k]) /
         area;
    hp = -(p[0] + p[1] + 2 * at->p - c->plus[2 * i + 1] - c->minus[2 * i + 1] -
           c->plus[2 * k + 1] - c->minus[2 * k + 1]) /
         area;
  }
  at->hl[i * d + k] = at->hl[k * d + i] = hl;
  at->hp[i * d + k] = at->hp[k * d + i] = hp;
}

static void slope_differences(tm_climber *c, tm_spot *at) {
  size_t d = c->frame->reals;
  for (size_t k = 0; k < d; k++) {
    if (tm_evaluator_stopped(c->evaluator))
      return;
    size_t j = c->frame->real[k];
    double l, p, width = 0, h = SLOPE_STEP * c->scale[k];
    memset(c->lane, 0, d * sizeof(double));
    memset(c->values, 0, d * sizeof(double));
    for (int side = 1; side >= -1; side -= 2) {
      tm_climber_go(c, at->u);
      c->trial.u[j] += side * h;
      bool good = tm_climber_slopes(c, &l, &p, c->tl, c->tp);
      width += good ? h : 0;
      for (size_t i = 0; i < d; i++) {
        c->lane[i] += side * (good ? c->tl[i] : at->gl[i]);
        c->values[i] += side * (good ? c->tp[i] : at->gp[i]);
      }
    }
    for (size_t i = 0; i < d; i++) {
      at->hl[k * d + i] = width > 0 ? -c->lane[i] / width : 0;
      at->hp[k * d + i] = width > 0 ? -c->values[i] / width : i == k;
    }
  }
  for (size_t i = 0; i < d; i++)
    for (size_t k = 0; k < i; k++) {
      double hl = 0.5 * (at->hl[i * d + k] + at->hl[k * d + i]);
      double hp = 0.5 * (at->hp[i * d + k] + at->hp[k * d + i]);
      at->hl[i * d + k] = at->hl[k * d + i] = hl;
      at->hp[i * d + k] = at->hp[k * d + i] = hp;
    }
}

void tm_climber_rescale(tm_climber *c, const tm_spot *at, double tau) {
  size_t d = c->frame->reals;
  for (size_t k = 0; k < d; k++) {
    double bend = tau * at->hl[k * d + k] + at->hp[k * d + k];
    double most = 30 * c->frame->step[k];
    if (bend > 0)
      c->scale[k] = fmin(most, 1 / sqrt(bend));
  }
}

/* Once more if the steps turn out to have been far from the spread. */
void tm_climber_renew(tm_climber *c, tm_spot *at, double tau) {
  size_t d = c->frame->reals;
  for (int again = 0; again < 3; again++) {
    memcpy(c->step, c->scale, d * sizeof(double));
    if (tm_has_gradients(c->model)) {
      slope_differences(c, at);
    } else {
      tm_climber_differences(c, at, tau, true);
      for (size_t i = 0; i < d && c->evaluator->status == TEMPERA_OK; i++)
        for (size_t k = 0; k < i; k++)
          pair_difference(c, at, i, k);
    }
    if (c->evaluator->status != TEMPERA_OK)
      return; /* what there is of the Hessian will not be used */
    tm_climber_rescale(c, at, tau);
    double off = 0;
    for (size_t k = 0; k < d; k++)
      off = fmax(off, fabs(log(c->scale[k] / c->step[k])));
    if (off < (tm_has_gradients(c->model) ? 4 : 1.5))
      return;
  }
}
