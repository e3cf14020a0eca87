"""models.py - models of everyday kinds: many dimensions, regressions with known
and unknown scale, hierarchies, funnels, change points, integers."""
import math
import random
from itertools import combinations, product
from math import exp, inf, lgamma, log, pi, sqrt

from exact import (LOG_2PI, beta, binomial, cdf, cholesky, forward, gamma,
                   gram, inv_gamma, log_beta, log_choose, log_det, log_gauss,
                   log_gauss2, log_sum, log_trapezoid, log_trapezoid2,
                   multi_normal, multi_student, normal, poisson, square,
                   student, transpose)
from problem import add, noise

# ---- many dimensions ---------------------------------------------------------
DIMENSIONS = "dimensions"


def means(d, s):
    y = [round(1.5 * e, 3) for e in noise(d, d)]
    add(DIMENSIONS, "means-%d" % d, """
data { int D; vector[D] y; real s; }
parameters { vector[D] mu; }
model { mu ~ normal(0, 1); y ~ normal(mu, s); }
""", {"D": d, "y": y, "s": s},
        lambda: sum(normal(v, 0, math.hypot(1, s)) for v in y),
        "y is normal with variance 1 + s^2", lambda: sum(log_trapezoid(
            lambda m: normal(m) + normal(v, m, s), -9, 9, 400) for v in y),
        "trapezoid rule on each axis", quick=d == 20)


means(20, .1)
means(50, .1)
means(100, .2)
means(200, .5)


def equicorrelated(d, r):
    """x has correlation r, every coordinate observed with noise."""
    y = noise(d + 1, d)
    s = .5

    def closed():
        cov = [[(1 + s * s) if i == j else r for j in range(d)]
               for i in range(d)]
        return multi_normal(y, [0] * d, cov)

    def shared():
        return log_trapezoid(
            lambda f: normal(f) + sum(
                normal(v, sqrt(r) * f, sqrt(1 - r + s * s)) for v in y),
            -8, 8, 800)
    add(DIMENSIONS, "correlated-%d" % d, """
data { int D; vector[D] y; real r; }
transformed data {
  matrix[D, D] L = cholesky_decompose(
      add_diag(rep_matrix(r, D, D), rep_vector(1 - r, D)));
}
parameters { vector[D] x; }
model { x ~ multi_normal_cholesky(rep_vector(0, D), L); y ~ normal(x, .5); }
""", {"D": d, "y": y, "r": r}, closed, "a multivariate normal", shared,
        "one common factor, trapezoid rule")


equicorrelated(30, .9)
equicorrelated(60, .5)


def walk(T):
    """A random walk observed with noise."""
    steps, s = noise(T, T), .7
    y, level = [], 0.0
    for a, b in zip(steps, noise(T + 1, T)):
        level += a
        y.append(round(level + s * b, 2))

    def closed():
        cov = [[min(i, j) + 1 + (s * s if i == j else 0) for j in range(T)]
               for i in range(T)]
        return multi_normal(y, [0] * T, cov)

    def kalman():
        m, v, total = 0.0, 0.0, 0.0
        for t in y:
            v += 1
            total += normal(t, m, sqrt(v + s * s))
            gain = v / (v + s * s)
            m, v = m + gain * (t - m), v * (1 - gain)
        return total
    add(DIMENSIONS, "walk-%d" % T, """
data { int T; vector[T] y; real s; }
parameters { vector[T] x; }
model {
  x[1] ~ normal(0, 1);
  for (t in 2:T) x[t] ~ normal(x[t - 1], 1);
  y ~ normal(x, s);
}
""", {"T": T, "y": y, "s": s}, closed, "a multivariate normal", kalman,
        "the Kalman filter")


walk(30)
walk(100)

# ---- regressions -------------------------------------------------------------
REGRESSION = "regressions"


def design(n, p, seed, collinear=0.0):
    e = noise(seed, n * p)
    x = [e[i * p:(i + 1) * p] for i in range(n)]
    if collinear:
        for row in x:
            row[1] = round(row[0] + collinear * row[1], 3)
    return x


def response(x, seed, sd=1.0):
    b = noise(seed + 1, len(x[0]))
    e = noise(seed + 2, len(x))
    return [round(sum(p * q for p, q in zip(row, b)) + sd * v, 2)
            for row, v in zip(x, e)]


def small_space(x, y, s, S):
    """log N(y | 0, s^2 I + S^2 x x') through the p x p matrix."""
    xt = transpose(x)
    a = gram(xt, (s / S) ** 2)
    low = cholesky(a)
    xy = [sum(p * q for p, q in zip(column, y)) for column in xt]
    rest = sum(v * v for v in y) - square(low, xy)
    n, p = len(y), len(xt)
    return -.5 * (n * LOG_2PI + 2 * (n - p) * log(s) + 2 * p * log(S)
                  + log_det(low) + rest / s ** 2)


def known_scale(name, n, p, S, collinear=0.0, quick=False):
    x = design(n, p, n + p, collinear)
    y = response(x, n + p)
    add(REGRESSION, name, """
data { int N; int P; matrix[N, P] X; vector[N] y; real S; }
parameters { vector[P] b; }
model { b ~ normal(0, S); y ~ normal(X * b, 1); }
""", {"N": n, "P": p, "X": x, "y": y, "S": S},
        lambda: multi_normal(y, [0] * n, gram(x, 1.0, S * S)),
        "y is normal with covariance I + S^2 X X'",
        lambda: small_space(x, y, 1.0, S), "through X'X", quick=quick)


known_scale("known-scale-2", 20, 2, 2.0, quick=True)
known_scale("known-scale-5", 40, 5, 3.0)
known_scale("known-scale-10", 60, 10, 2.0)
known_scale("known-scale-30", 80, 30, 1.0)
known_scale("vague-prior-4", 50, 4, 100.0)
known_scale("collinear-3", 40, 3, 5.0, collinear=.02)


def conjugate_scale(n, p, S=3.0, a=2.0, b=2.0):
    x = design(n, p, 7 * n + p)
    y = response(x, 7 * n + p, 1.5)

    def closed():
        cov = gram(x, b / a, S * S * b / a)
        return multi_student(y, 2 * a, cov)

    def numeric():
        base = small_space(x, y, 1.0, S)
        rest = -2 * base - n * LOG_2PI
        xt = transpose(x)
        low = cholesky(gram(xt, 1 / S ** 2))
        xy = [sum(p * q for p, q in zip(c, y)) for c in xt]
        squares = sum(v * v for v in y) - square(low, xy)
        det = rest - squares

        def f(u):
            v = exp(u)
            return (u + inv_gamma(v, a, b)
                    - .5 * (n * LOG_2PI + n * u + det + squares / v))
        return log_trapezoid(f, -8, 8)
    add(REGRESSION, "unknown-scale-%d" % p, """
data { int N; int P; matrix[N, P] X; vector[N] y; real S; }
parameters { vector[P] b; real<lower=0> v; }
model {
  v ~ inv_gamma(2, 2);
  b ~ normal(0, S * sqrt(v));
  y ~ normal(X * b, sqrt(v));
}
""", {"N": n, "P": p, "X": x, "y": y, "S": S}, closed,
        "y is multivariate t, normal-inverse-gamma", numeric,
        "quadrature over the variance")


conjugate_scale(20, 2)
conjugate_scale(30, 5)
conjugate_scale(50, 12)


def free_scale(n, p, S=5.0):
    x = design(n, p, 3 * n + p)
    y = response(x, 3 * n + p, .8)

    def f(u):
        s = exp(u)
        return u - s + small_space(x, y, s, S)
    add(REGRESSION, "independent-scale-%d" % p, """
data { int N; int P; matrix[N, P] X; vector[N] y; real S; }
parameters { vector[P] b; real<lower=0> s; }
model { b ~ normal(0, S); s ~ exponential(1); y ~ normal(X * b, s); }
""", {"N": n, "P": p, "X": x, "y": y, "S": S},
        lambda: log_gauss(f, -5, 4, 60), "quadrature over the scale",
        lambda: log_trapezoid(f, -5, 4, 400), "trapezoid rule")


free_scale(25, 3)
free_scale(40, 8)


def two_coefficients(name, model, f, y, x, quick=False):
    def joint(a, b):
        return normal(a, 0, 2) + normal(b, 0, 2) + sum(
            f(v, a + b * t) for v, t in zip(y, x))
    box = ((-8, 8), (-8, 8))
    add(REGRESSION, name, """
data { int N; vector[N] x; array[N] int y; }
parameters { real a; real b; }
model { a ~ normal(0, 2); b ~ normal(0, 2); y ~ %s(a + b * x); }
""" % model, {"N": len(y), "x": x, "y": y},
        lambda: log_gauss2(joint, box, 24), "quadrature over both",
        lambda: log_trapezoid2(joint, box, 200), "trapezoid rule")


two_coefficients("logistic", "bernoulli_logit",
                 lambda v, t: -math.log1p(exp(-t if v else t)),
                 [0, 0, 1, 0, 1, 0, 1, 1, 1, 0, 1, 1],
                 [-2.1, -1.7, -1.2, -.8, -.5, .1, .3, .6, 1.1, 1.4, 1.9, 2.3])
two_coefficients("counts", "poisson_log",
                 lambda v, t: v * t - exp(t) - lgamma(v + 1),
                 [0, 1, 0, 2, 3, 2, 6, 8], [-1.5, -1, -.6, -.1, .3, .8, 1.2,
                                            1.6])

# ---- hierarchies -------------------------------------------------------------
HIERARCHY = "hierarchies"
SCHOOLS = ([28, 8, -3, 7, -1, 1, 18, 12], [15, 10, 16, 11, 9, 11, 10, 18])


def schools(name, y, s, centred, scale, quick=False):
    def given(u):
        """mu integrated in closed form."""
        tau = exp(u)
        v = [a * a + tau * tau for a in s]
        prec = 1 / 25 + sum(1 / t for t in v)
        lin = sum(a / t for a, t in zip(y, v))
        quad = sum(a * a / t for a, t in zip(y, v))
        base = -.5 * sum(LOG_2PI + log(t) for t in v)
        prior = log(2) + student(tau, 1, 0, scale)
        return (u + prior + base - .5 * log(25 * prec)
                - .5 * (quad - lin * lin / prec))

    def both(mu, u):
        tau = exp(u)
        return (u + log(2) + student(tau, 1, 0, scale) + normal(mu, 0, 5)
                + sum(normal(a, mu, math.hypot(b, tau))
                      for a, b in zip(y, s)))
    inside = ("theta ~ normal(mu, tau); y ~ normal(theta, s);" if centred else
              "theta ~ normal(0, 1); y ~ normal(mu + tau * theta, s);")
    add(HIERARCHY, name, """
data { int J; vector[J] y; vector[J] s; real scale; }
parameters { real mu; real<lower=0> tau; vector[J] theta; }
model { mu ~ normal(0, 5); tau ~ cauchy(0, scale); %s }
""" % inside, {"J": len(y), "y": y, "s": s, "scale": scale},
        lambda: log_gauss(given, -30, 30, 600),
        "effects and mean integrated, quadrature over log tau",
        lambda: log_trapezoid2(both, ((-40, 40), (-18, 18)), 300),
        "trapezoid rule over mean and log tau", tolerance=1e-5, quick=quick)


schools("schools-centred", *SCHOOLS, True, 5)
schools("schools-apart", *SCHOOLS, False, 5, quick=True)
schools("three-groups-centred", [4.1, -2.2, 1.0], [1, 1, 1], True, 2)
schools("three-groups-apart", [4.1, -2.2, 1.0], [1, 1, 1], False, 2)
many = [round(1 + 2 * e, 2) for e in noise(30, 30)]
schools("thirty-groups-centred", many, [1] * 30, True, 2)
schools("thirty-groups-apart", many, [1] * 30, False, 2)


def rates():
    y = [5, 1, 5, 14, 3, 19, 1, 1, 4, 22]
    t = [94.3, 15.7, 62.9, 125.8, 5.2, 31.4, 1.0, 1.0, 2.1, 10.5]

    def f(u):
        b = exp(u)
        return u + gamma(b, 1, 1) + sum(
            lgamma(1 + k) - lgamma(k + 1) + log(b) - (1 + k) * log(b + v)
            + k * log(v) for k, v in zip(y, t))
    add(HIERARCHY, "pump-rates", """
data { int N; array[N] int y; vector[N] t; }
parameters { real<lower=0> b; vector<lower=0>[N] rate; }
model { b ~ gamma(1, 1); rate ~ gamma(1, b); y ~ poisson(rate .* t); }
""", {"N": 10, "y": y, "t": t}, lambda: log_gauss(f, -12, 6),
        "rates integrated to negative binomials, quadrature over b",
        lambda: log_trapezoid(f, -12, 6), "trapezoid rule")


def proportions():
    y, n = [0, 1, 3, 5, 2, 7], [10, 12, 9, 11, 14, 10]

    def f(m, u):
        k = exp(u)
        a, b = m * k, (1 - m) * k
        return u + gamma(k, 2, .2) + sum(
            log_choose(c, v) + log_beta(a + v, b + c - v) - log_beta(a, b)
            for v, c in zip(y, n))
    add(HIERARCHY, "proportions", """
data { int J; array[J] int y; array[J] int n; }
parameters {
  real<lower=0, upper=1> m; real<lower=0> k; vector<lower=0, upper=1>[J] p;
}
model { k ~ gamma(2, .2); p ~ beta(m * k, (1 - m) * k); y ~ binomial(n, p); }
""", {"J": 6, "y": y, "n": n},
        lambda: log_gauss2(f, ((0, 1), (-12, 6)), 40),
        "beta-binomials, quadrature over mean and concentration",
        lambda: log_gauss(lambda w: log_gauss(
            lambda u: f(cdf(w), u) + normal(w), -14, 6, 100, 4), -8.2, 8.2,
            100, 4), "quadrature in other coordinates", tolerance=1e-5)


def one_way():
    J, n = 5, 4
    e = noise(99, J * n + J)
    y = [[round(2 * e[j] + .7 * e[J + j * n + i], 2) for i in range(n)]
         for j in range(J)]

    def f(u, w):
        tau, s = exp(u), exp(w)
        total = u + w - tau - s
        for row in y:
            m = sum(row) / n
            ss = sum((v - m) ** 2 for v in row)
            total += (normal(m, 0, sqrt(tau ** 2 + s * s / n)) - ss / (2 * s * s)
                      - (n - 1) / 2 * (LOG_2PI + 2 * w) - .5 * log(n))
        return total
    add(HIERARCHY, "one-way", """
data { int J; int n; array[J] vector[n] y; }
parameters { real<lower=0> tau; real<lower=0> s; vector[J] a; }
model {
  tau ~ exponential(1); s ~ exponential(1);
  a ~ normal(0, tau);
  for (j in 1:J) y[j] ~ normal(a[j], s);
}
""", {"J": J, "n": n, "y": y},
        lambda: log_gauss2(f, ((-14, 4), (-3, 3)), 40),
        "group means integrated, quadrature over both scales",
        lambda: log_trapezoid2(f, ((-16, 4), (-3, 3)), 300),
        "trapezoid rule", tolerance=1e-5)


def log_scale(name, unit, groups, spread):
    """The scale by its logarithm, without a bound: the density is highest deep
    in the neck, where there is no mass."""
    e = noise(7, groups)
    y = [round(2 + .7 * x, 3) * unit for x in e]
    mean = log(unit) - .2

    def given(u):
        v = (.5 * unit) ** 2 + exp(2 * u)
        prec = 1 / (10 * unit) ** 2 + groups / v
        return (normal(u, mean, spread) - groups / 2 * (LOG_2PI + log(v))
                - .5 * log(prec) - log(10 * unit)
                - .5 * (sum(a * a for a in y) / v - (sum(y) / v) ** 2 / prec))

    def both(m, u):
        sd = math.hypot(.5 * unit, exp(u))
        return (log(unit) + normal(m * unit, 0, 10 * unit)
                + normal(u, mean, spread) + sum(normal(a, m * unit, sd)
                                                for a in y))
    add(HIERARCHY, name, """
data { int J; vector[J] y; real unit; real mean_log; real spread; }
parameters { real mu; real log_tau; vector[J] theta; }
model {
  mu ~ normal(0, 10 * unit);
  log_tau ~ normal(mean_log, spread);
  theta ~ normal(mu, exp(log_tau));
  y ~ normal(theta, .5 * unit);
}
""", {"J": groups, "y": y, "unit": unit, "mean_log": mean, "spread": spread},
        lambda: log_gauss(given, mean - 12 * spread, mean + 12 * spread, 600),
        "effects and mean integrated, quadrature over the log of the scale",
        lambda: log_trapezoid2(both, ((-8, 12), (mean - 9 * spread,
                                                 mean + 9 * spread)), 300),
        "trapezoid rule over mean and log of the scale", tolerance=1e-5)


rates()
proportions()
one_way()
log_scale("log-scale-10", 1, 10, 1)
log_scale("log-scale-tiny", 1e-6, 10, 1)
log_scale("log-scale-40", 1, 40, 1.5)

# ---- funnels -----------------------------------------------------------------
FUNNEL = "funnels"


def funnel(name, d, spread, noise_sd, centred, quick=False):
    y = [round(2 * e, 2) for e in noise(40 + d, d)]

    def f(v):
        sd = math.hypot(exp(v / 2), noise_sd)
        return normal(v, 0, spread) + sum(normal(t, 0, sd) for t in y)
    inside = ("x ~ normal(0, exp(v / 2)); y ~ normal(x, s);" if centred else
              "x ~ normal(0, 1); y ~ normal(exp(v / 2) * x, s);")
    add(FUNNEL, name, """
data { int D; vector[D] y; real s; real spread; }
parameters { real v; vector[D] x; }
model { v ~ normal(0, spread); %s }
""" % inside, {"D": d, "y": y, "s": noise_sd, "spread": spread},
        lambda: log_gauss(f, -12 * spread, 12 * spread),
        "the x integrated, quadrature over v",
        lambda: log_trapezoid(f, -12 * spread, 12 * spread),
        "trapezoid rule", quick=quick)


funnel("funnel-apart-3", 3, 3, 1, False, quick=True)
funnel("funnel-centred-3", 3, 3, 1, True)
funnel("funnel-apart-10", 10, 3, 2, False)
funnel("funnel-centred-10", 10, 3, 2, True)
funnel("funnel-vague-5", 5, 3, 20, True)
funnel("funnel-apart-25", 25, 2, .5, False)

# ---- change points -----------------------------------------------------------
CHANGE = "change points"
COUNTS = [4, 5, 4, 1, 0, 4, 3, 4, 0, 6, 3, 3, 4, 0, 2, 6, 3, 3, 5, 4, 1, 0, 1,
          0, 1, 1, 0, 0, 3, 1, 0, 2, 0, 1, 1, 0, 1, 1, 0, 2]


def gamma_poisson(part, a=2.0, b=1.0):
    """log of the integral of prod Poisson(k | r) Gamma(r | a, b)."""
    n, total = len(part), sum(part)
    return (a * log(b) - lgamma(a) + lgamma(a + total)
            - (a + total) * log(b + n) - sum(lgamma(k + 1) for k in part))


def gamma_poisson_step(part, a=2.0, b=1.0):
    """The same, one observation after another: negative binomials."""
    total = 0.0
    for k in part:
        total += (lgamma(a + k) - lgamma(a) - lgamma(k + 1)
                  + a * log(b / (b + 1)) - k * log(b + 1))
        a, b = a + k, b + 1
    return total


def disasters():
    T = len(COUNTS)

    def over(part):
        return log_sum(part(COUNTS[:k]) + part(COUNTS[k:])
                       for k in range(1, T)) - log(T - 1)
    add(CHANGE, "disasters", """
data { int T; array[T] int y; }
parameters { int<lower=1, upper=T - 1> k; vector<lower=0>[2] r; }
model {
  r ~ gamma(2, 1);
  y[1:k] ~ poisson(r[1]);
  y[k + 1:T] ~ poisson(r[2]);
}
""", {"T": T, "y": COUNTS}, lambda: over(gamma_poisson),
        "sum over the change, gamma-Poisson on both sides",
        lambda: over(gamma_poisson_step), "negative binomials one by one",
        quick=True)

    def two(part):
        pairs = list(combinations(range(1, T), 2))
        return log_sum(part(COUNTS[:i]) + part(COUNTS[i:j]) + part(COUNTS[j:])
                       for i, j in pairs) - 2 * log(T - 1)
    add(CHANGE, "disasters-two", """
data { int T; array[T] int y; }
parameters { array[2] int<lower=1, upper=T - 1> k; vector<lower=0>[3] r; }
model {
  r ~ gamma(2, 1);
  if (k[1] >= k[2]) {
    target += negative_infinity(); // @likelihood
  } else {
    y[1:k[1]] ~ poisson(r[1]);
    y[k[1] + 1:k[2]] ~ poisson(r[2]);
    y[k[2] + 1:T] ~ poisson(r[3]);
  }
}
""", {"T": T, "y": COUNTS}, lambda: two(gamma_poisson),
        "sum over ordered pairs", lambda: two(gamma_poisson_step),
        "negative binomials one by one")


disasters()


def normal_part(part, s, S):
    """Observations with a common normal mean."""
    n = len(part)
    prec = n / s ** 2 + 1 / S ** 2
    lin = sum(part) / s ** 2
    return (-.5 * n * LOG_2PI - n * log(s) - log(S) - .5 * log(prec)
            - .5 * (sum(v * v for v in part) / s ** 2 - lin * lin / prec))


def normal_part_step(part, s, S):
    m, v, total = 0.0, S * S, 0.0
    for t in part:
        total += normal(t, m, sqrt(v + s * s))
        gain = v / (v + s * s)
        m, v = m + gain * (t - m), v * (1 - gain)
    return total


def shifts(name, where, size, s):
    T = 40
    y = [round((size if i >= where else 0) + s * e, 2)
         for i, e in enumerate(noise(T + where, T))]

    def over(part):
        return log_sum(part(y[:k], s, 3) + part(y[k:], s, 3)
                       for k in range(1, T)) - log(T - 1)
    add(CHANGE, name, """
data { int T; vector[T] y; real s; }
parameters { int<lower=1, upper=T - 1> k; vector[2] mu; }
model {
  mu ~ normal(0, 3);
  y[1:k] ~ normal(mu[1], s);
  y[k + 1:T] ~ normal(mu[2], s);
}
""", {"T": T, "y": y, "s": s}, lambda: over(normal_part),
        "sum over the change, normal means on both sides",
        lambda: over(normal_part_step), "predictive densities one by one")


shifts("shift-sharp", 25, 4.0, .5)
shifts("shift-faint", 15, .5, 1.0)


def moment():
    """A change at a real time: constant between observation times."""
    T = 20
    t = [round((i + .5) / T, 4) for i in range(T)]
    y = [round((2 if v > .6 else 0) + .5 * e, 2)
         for v, e in zip(t, noise(321, T))]

    def over(part):
        edges = [0.0] + t + [1.0]
        return log_sum(log(b - a) + part(y[:i], .5, 3) + part(y[i:], .5, 3)
                       for i, (a, b) in enumerate(zip(edges, edges[1:])))
    add(CHANGE, "moment", """
data { int T; vector[T] t; vector[T] y; }
parameters { real<lower=0, upper=1> when; vector[2] mu; }
model {
  mu ~ normal(0, 3);
  for (i in 1:T) y[i] ~ normal(t[i] > when ? mu[2] : mu[1], .5);
}
""", {"T": T, "t": t, "y": y}, lambda: over(normal_part),
        "sum over the gaps between times", lambda: over(normal_part_step),
        "predictive densities one by one")


def knee():
    T = 25
    t = [round(i / (T - 1), 4) for i in range(T)]
    y = [round(3 * max(v - .4, 0) + .2 * e, 3)
         for v, e in zip(t, noise(77, T))]

    def given(when):
        x = [[max(v - when, 0.0)] for v in t]
        return small_space(x, y, .2, 5.0)
    add(CHANGE, "knee", """
data { int T; vector[T] t; vector[T] y; }
parameters { real<lower=0, upper=1> when; real b; }
model { b ~ normal(0, 5); y ~ normal(b * fdim(t, when), .2); }
""", {"T": T, "t": t, "y": y}, lambda: log_sum(
        log_gauss(given, a, b, 20) for a, b in zip(t, t[1:])),
        "the slope integrated, quadrature over the knee",
        lambda: log_gauss(lambda w: log_trapezoid(
            lambda b: normal(b, 0, 5) + sum(
                normal(v, b * max(u - w, 0), .2) for u, v in zip(t, y)),
            -30, 30, 600), 0, 1, 48, 2), "both by quadrature",
        tolerance=1e-4)


moment()
knee()

# ---- integers ----------------------------------------------------------------
INTEGER = "integers"


def ising(name, rows, cols, J, h, quick=False):
    def energy(s):
        total = h * sum(s)
        for r in range(rows):
            for c in range(cols):
                if c + 1 < cols:
                    total += J * s[r * cols + c] * s[r * cols + c + 1]
                if r + 1 < rows:
                    total += J * s[r * cols + c] * s[(r + 1) * cols + c]
        return total

    def enumerate_all():
        return log_sum(energy(s) for s in product(
            (-1, 1), repeat=rows * cols)) - rows * cols * log(2)

    def transfer():
        states = list(product((-1, 1), repeat=cols))
        own = {s: h * sum(s) + J * sum(a * b for a, b in zip(s, s[1:]))
               for s in states}
        weight = dict(own)
        for _ in range(rows - 1):
            weight = {s: own[s] + log_sum(
                weight[q] + J * sum(a * b for a, b in zip(s, q))
                for q in states) for s in states}
        return log_sum(weight.values()) - rows * cols * log(2)
    add(INTEGER, name, """
data { int R; int C; real J; real h; }
parameters { array[R, C] int<lower=0, upper=1> up; }
model {
  for (r in 1:R) {
    for (c in 1:C) {
      int s = 2 * up[r, c] - 1;
      target += h * s; // @likelihood
      if (c < C) {
        target += J * s * (2 * up[r, c + 1] - 1); // @likelihood
      }
      if (r < R) {
        target += J * s * (2 * up[r + 1, c] - 1); // @likelihood
      }
    }
  }
}
""", {"R": rows, "C": cols, "J": J, "h": h}, enumerate_all,
        "sum over all states", transfer, "transfer matrices", quick=quick)


ising("ising-3", 3, 3, .4, .2)
ising("ising-4-warm", 4, 4, .3, 0.0)
ising("ising-4-cold", 4, 4, .7, 0.0)
ising("ising-chain", 12, 1, .8, .1, quick=True)


def labels():
    y = [-2.1, -1.4, -1.9, -.7, 1.2, 2.3, 1.7, 2.6]
    n = len(y)

    def allocations():
        terms = []
        for z in product((0, 1), repeat=n):
            terms.append(-n * log(2) + sum(
                normal_part([v for v, k in zip(y, z) if k == j], 1, 3)
                for j in (0, 1)))
        return log_sum(terms)

    def over_means():
        def f(a, b):
            return normal(a, 0, 3) + normal(b, 0, 3) + sum(
                log_sum((normal(v, a), normal(v, b))) - log(2) for v in y)
        return log_trapezoid2(f, ((-14, 14), (-14, 14)), 160)
    add(INTEGER, "labels", """
data { int N; vector[N] y; }
parameters { array[N] int<lower=1, upper=2> z; vector[2] mu; }
model { mu ~ normal(0, 3); y ~ normal(mu[z], 1); }
""", {"N": n, "y": y}, allocations, "sum over allocations", over_means,
        "labels summed, trapezoid rule over the means", tolerance=1e-5)


def unknown_size():
    k = [16, 18, 22, 25, 27]

    def closed(n):
        s, m = sum(k), len(k)
        return sum(log_choose(n, v) for v in k) + log_beta(
            1 + s, 1 + m * n - s)

    def numeric(n):
        return log_gauss(lambda p: sum(binomial(v, n, p) for v in k), 0, 1, 40)
    add(INTEGER, "unknown-size", """
data { int K; array[K] int k; }
parameters { int<lower=0, upper=300> n; real<lower=0, upper=1> p; }
model { k ~ binomial(n, p); }
""", {"K": 5, "k": k},
        lambda: log_sum(map(closed, range(27, 301))) - log(301),
        "sum over n of beta functions",
        lambda: log_sum(map(numeric, range(27, 301))) - log(301),
        "quadrature over p")


def recapture():
    first, second, both = 40, 35, 12

    def f(n):
        return (log_choose(first, both) + log_choose(n - first, second - both)
                - log_choose(n, second))
    add(INTEGER, "recapture", """
data { int first; int second; int both; }
parameters { int<lower=63, upper=1000> n; }
model { both ~ hypergeometric(second, first, n - first); }
""", {"first": first, "second": second, "both": both},
        lambda: log_sum(map(f, range(63, 1001))) - log(938), "a sum over n",
        lambda: log(math.fsum(
            math.comb(first, both) * math.comb(n - first, second - both)
            / math.comb(n, second) for n in range(63, 1001)) / 938),
        "the same in whole numbers")


def selection():
    n, p = 20, 5
    x = design(n, p, 55)
    y = [round(1.5 * row[0] - row[3] + e, 2)
         for row, e in zip(x, noise(56, n))]

    def over(f):
        return log_sum(f([[a for a, g in zip(row, take) if g] for row in x])
                       for take in product((0, 1), repeat=p)) - p * log(2)
    add(INTEGER, "selection", """
data { int N; int P; matrix[N, P] X; vector[N] y; }
parameters { array[P] int<lower=0, upper=1> g; vector[P] b; }
model {
  b ~ normal(0, 2);
  y ~ normal(X * (b .* to_vector(g)), 1);
}
""", {"N": n, "P": p, "X": x, "y": y},
        lambda: over(lambda part: multi_normal(y, [0] * n, gram(
            part, 1.0, 4.0)) if part[0] else sum(map(normal, y))),
        "sum over subsets, each a multivariate normal",
        lambda: over(lambda part: small_space(part, y, 1.0, 2.0) if part[0]
                     else sum(map(normal, y))), "through X'X")


def subset_sum():
    w = [3, 7, 12, 19, 26, 31, 45, 58, 64, 77]
    y, s = 171, 2.0

    def counted():
        ways = {0: 1}
        for v in w:
            more = dict(ways)
            for total, count in ways.items():
                more[total + v] = more.get(total + v, 0) + count
            ways = more
        return log_sum(log(c) + normal(y, t, s)
                       for t, c in ways.items()) - len(w) * log(2)
    add(INTEGER, "subset-sum", """
data { int N; vector[N] w; real y; }
parameters { array[N] int<lower=0, upper=1> g; }
model { y ~ normal(dot_product(w, to_vector(g)), 2); }
""", {"N": len(w), "w": w, "y": y}, lambda: log_sum(
        normal(y, sum(a * b for a, b in zip(w, g)), s)
        for g in product((0, 1), repeat=len(w))) - len(w) * log(2),
        "sum over all subsets", counted, "counts of every total")


def hidden_chain():
    y = [.2, -.3, .4, 2.1, 1.8, 2.6, -.2, .1]
    stay, mean = .9, (0.0, 2.0)

    def path(z):
        total = log(.5) + sum(normal(v, mean[k]) for v, k in zip(y, z))
        return total + sum(log(stay if a == b else 1 - stay)
                           for a, b in zip(z, z[1:]))

    def filtered():
        alpha = [log(.5) + normal(y[0], m) for m in mean]
        for v in y[1:]:
            alpha = [normal(v, mean[k]) + log_sum(
                alpha[q] + log(stay if q == k else 1 - stay) for q in (0, 1))
                for k in (0, 1)]
        return log_sum(alpha)
    add(INTEGER, "hidden-chain", """
data { int T; vector[T] y; }
parameters { array[T] int<lower=0, upper=1> z; }
model {
  z[1] ~ bernoulli(.5);
  for (t in 2:T) z[t] ~ bernoulli(z[t - 1] == 1 ? .9 : .1);
  y ~ normal(2 * to_vector(z), 1);
}
""", {"T": len(y), "y": y},
        lambda: log_sum(map(path, product((0, 1), repeat=len(y)))),
        "sum over all paths", filtered, "the forward recursion")


labels()
unknown_size()
recapture()
selection()
subset_sum()
hidden_chain()
