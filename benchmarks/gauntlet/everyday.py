"""everyday.py - models as users write them: conjugate pairs, constrained types,
time series, equations, survival, mixtures, hyperparameters in the data, and the
styles of programs that generate Stan."""
import math
from itertools import product
from math import cos, exp, inf, lgamma, log, pi, sin, sqrt

from exact import (beta, binomial, cauchy, cdf, cholesky, gamma, inv_gamma,
                   log_beta, log_choose, log_det, log_gauss, log_gauss2,
                   log_sum, log_trapezoid, log_trapezoid2, multi_normal,
                   multi_student, normal, poisson, student)
from problem import add, noise

EVERYDAY = "everyday"
TYPES = "constrained types"
SERIES = "time series"
STYLE = "styles"


def axis(kind, name, program, data, f, low, high, why, closed=None,
         tolerance=1e-6, panels=600, quick=False):
    """One unknown left, f its log joint density; by quadrature twice, or in
    closed form and by quadrature."""
    def by_gauss():
        return log_gauss(f, low, high, panels)

    def by_trapezoid():
        # x = low + (high - low) (1 + tanh(pi/2 sinh t)) / 2: both ends smooth
        def g(t):
            s = pi / 2 * math.sinh(t)
            x = low + (high - low) / (1 + exp(-2 * s))
            if not low < x < high:
                return -inf
            return f(x) + log((high - low) * pi / 4 * math.cosh(t)
                              / math.cosh(s) ** 2)
        return log_trapezoid(g, -3.4, 3.4, 4000)
    add(kind, name, program, data, closed or by_gauss, why,
        by_gauss if closed else by_trapezoid,
        "quadrature" if closed else "tanh-sinh rule", tolerance=tolerance,
        quick=quick)


def plane(kind, name, program, data, f, box, why, panels=60, intervals=400,
          tolerance=1e-5):
    add(kind, name, program, data, lambda: log_gauss2(f, box, panels), why,
        lambda: log_trapezoid2(f, box, intervals), "trapezoid rule",
        tolerance=tolerance)


# ---- one unknown -------------------------------------------------------------

def waiting():
    y, a, b = [.2, 1.4, .7, 2.2, .1, .9], 2.0, 3.0
    n, s = len(y), sum(y)
    axis(EVERYDAY, "exponential-rate", """
data { int N; vector[N] y; real a; real b; }
parameters { real<lower=0> rate; }
model { rate ~ gamma(a, b); y ~ exponential(rate); }
""", {"N": n, "y": y, "a": a, "b": b},
         lambda r: gamma(r, a, b) + n * log(r) - r * s, 1e-12, 40,
         "gamma and exponential are conjugate",
         lambda: a * log(b) - lgamma(a) + lgamma(a + n) - (a + n) * log(b + s),
         quick=True)


def variance():
    y, a, b = [1.2, -.4, 3.1, -2.2, .6], 2.5, 1.5
    n, q = len(y), sum(v * v for v in y) / 2
    axis(EVERYDAY, "variance", """
data { int N; vector[N] y; }
parameters { real<lower=0> v; }
model { v ~ inv_gamma(2.5, 1.5); y ~ normal(0, sqrt(v)); }
""", {"N": n, "y": y},
         lambda u: u + inv_gamma(exp(u), a, b) + sum(
             normal(v, 0, exp(u / 2)) for v in y), -5, 14,
         "inverse gamma and normal are conjugate",
         lambda: a * log(b) - lgamma(a) + lgamma(a + n / 2)
         - (a + n / 2) * log(b + q) - n / 2 * log(2 * pi))


def circle():
    y, k = [.3, 2.9, -2.8, .5, 3.0], 2.0

    def bessel(x):
        return math.fsum(exp(2 * (n * log(x / 2) - lgamma(n + 1)))
                         for n in range(80))

    def closed():
        c = 1 + k * sum(map(cos, y))
        s = k * sum(map(sin, y))
        return (log(bessel(math.hypot(c, s))) - log(bessel(1))
                - len(y) * log(2 * pi * bessel(k)))
    axis(EVERYDAY, "von-mises", """
data { int N; vector[N] y; }
parameters { real<lower=-pi(), upper=pi()> mu; }
model { mu ~ von_mises(0, 1); y ~ von_mises(mu, 2); }
""", {"N": len(y), "y": y}, lambda m: cos(m) - log(2 * pi * bessel(1)) + sum(
        k * cos(v - m) - log(2 * pi * bessel(k)) for v in y), -pi, pi,
        "a product of von Mises densities is one", closed)


def counts_lognormal():
    k = [3, 0, 7, 2, 12]
    axis(EVERYDAY, "poisson-log", """
data { int N; array[N] int k; }
parameters { real eta; }
model { eta ~ normal(0, 3); k ~ poisson_log(eta); }
""", {"N": len(k), "k": k}, lambda e: normal(e, 0, 3) + sum(
        poisson(v, exp(e)) for v in k), -20, 8, "quadrature")


def skewed():
    y, w = [1.3, 2.2, .4, 3.9], -4.0
    axis(EVERYDAY, "skew-normal", """
data { int N; vector[N] y; }
parameters { real m; }
model { m ~ logistic(0, 2); y ~ skew_normal(m, 2, -4); }
""", {"N": len(y), "y": y}, lambda m: -m / 2 - log(2) - 2 * math.log1p(
        exp(-m / 2)) + sum(log(2) + normal(v, m, 2) + log(max(
            cdf(w * (v - m) / 2), 1e-300)) for v in y), -12, 30, "quadrature")


def big_binomial():
    n, k = 1000000, 421337
    add(EVERYDAY, "million-trials", """
data { int n; int k; }
parameters { real<lower=0, upper=1> p; }
model { p ~ beta(2, 2); k ~ binomial(n, p); }
""", {"n": n, "k": k}, lambda: log_choose(n, k) + log_beta(k + 2, n - k + 2)
        - log_beta(2, 2), "beta-binomial", lambda: log_gauss(
            lambda p: beta(p, 2, 2) + binomial(k, n, p), .41, .43, 400),
        "quadrature around the peak")


def many_data():
    n = 20000
    y = [round(1.7 + 2 * e, 2) for e in noise(901, n, 2)]
    s, q = sum(y), sum(v * v for v in y)

    def closed():
        prec = n / 4 + 1 / 9
        return (-n * (log(2) + .5 * log(2 * pi)) - log(3) - .5 * log(prec)
                - .5 * (q / 4 - (s / 4) ** 2 / prec))
    add(EVERYDAY, "many-data", """
data { int N; vector[N] y; }
parameters { real mu; }
model { mu ~ normal(0, 3); y ~ normal(mu, 2); }
""", {"N": n, "y": y}, closed, "a normal mean", lambda: log_trapezoid(
        lambda m: normal(m, 0, 3) - n * (log(2) + .5 * log(2 * pi))
        - (q - 2 * m * s + n * m * m) / 8, s / n - .3, s / n + .3),
        "trapezoid rule around the peak")


def censored():
    y, cut, missing = [1.2, .3, 2.8, 1.9], 3.0, 5
    axis(EVERYDAY, "censored", """
data { int N; vector[N] y; int missing; real cut; }
parameters { real mu; }
model {
  mu ~ normal(0, 5);
  y ~ normal(mu, 1);
  target += missing * normal_lccdf(cut | mu, 1);
}
""", {"N": len(y), "y": y, "missing": missing, "cut": cut},
         lambda m: normal(m, 0, 5) + sum(normal(v, m) for v in y)
         + missing * log(max(cdf(-cut, -m), 1e-300)), -9, 12, "quadrature")


def rounded():
    y = [2, 3, 3, 1, 2, 5]
    axis(EVERYDAY, "rounded", """
data { int N; array[N] int y; }
parameters { real mu; }
model {
  mu ~ normal(0, 5);
  for (i in 1:N)
    target += log_diff_exp(normal_lcdf(y[i] + .5 | mu, 1.2),
                           normal_lcdf(y[i] - .5 | mu, 1.2));
}
""", {"N": len(y), "y": y}, lambda m: normal(m, 0, 5) + sum(log(max(
        abs(cdf(-abs(v - m) + .5, 0, 1.2) - cdf(-abs(v - m) - .5, 0, 1.2)),
        1e-300)) for v in y), -8, 13, "quadrature")


def cut_data():
    y = [.4, .1, 1.3, .2]
    axis(EVERYDAY, "truncated-data", """
data { int N; vector[N] y; }
parameters { real<lower=-6, upper=6> mu; }
model { for (i in 1:N) y[i] ~ normal(mu, 1) T[0, ]; }
""", {"N": len(y), "y": y}, lambda m: -log(12) + sum(
        normal(v, m) - log(cdf(m)) for v in y), -6, 6, "quadrature")


def truncated_scale():
    y = [.9, -1.7, 2.1, .2]
    cut = cdf(3) - cdf(.5)
    axis(EVERYDAY, "truncated-scale", """
data { int N; vector[N] y; real low; real high; }
parameters { real<lower=low, upper=high> s; }
model { s ~ normal(0, 1) T[low, high]; y ~ normal(0, s); }
""", {"N": len(y), "y": y, "low": .5, "high": 3.0}, lambda s: normal(s)
         - log(cut) + sum(normal(v, 0, s) for v in y), .5, 3, "quadrature")


def jacobian_by_hand():
    k = [4, 2, 7]
    a, b = 2.0, 1.0
    n, s = len(k), sum(k)
    axis(EVERYDAY, "jacobian-by-hand", """
data { int N; array[N] int k; }
parameters { real x; }
transformed parameters { real<lower=0> rate = exp(x); }
model {
  target += gamma_lpdf(rate | 2, 1) + x;
  k ~ poisson(rate);
}
""", {"N": n, "k": k}, lambda x: x + gamma(exp(x), a, b) + sum(
        poisson(v, exp(x)) for v in k), -20, 5, "gamma-Poisson in log rate",
        lambda: a * log(b) - lgamma(a) + lgamma(a + s) - (a + s) * log(b + n)
        - sum(lgamma(v + 1) for v in k))


for make in (waiting, variance, circle, counts_lognormal, skewed, big_binomial,
             many_data, censored, rounded, cut_data, truncated_scale,
             jacobian_by_hand):
    make()


# ---- two unknowns ------------------------------------------------------------

def robust():
    y = [.2, -.5, .9, 6.0, .1, -7.5]
    plane(EVERYDAY, "unknown-tails", """
data { int N; vector[N] y; }
parameters { real mu; real<lower=0> nu; }
model { mu ~ normal(0, 5); nu ~ gamma(2, .1); y ~ student_t(nu, mu, 1); }
""", {"N": len(y), "y": y}, lambda m, u: normal(m, 0, 5) + u + gamma(
        exp(u), 2, .1) + sum(student(v, exp(u), m) for v in y),
        ((-12, 12), (-9, 6)), "quadrature over mu and log nu")


def outliers():
    y = [.2, -.5, .9, 1.4, .1, -17.5, 12.0]
    plane(EVERYDAY, "outlier-share", """
data { int N; vector[N] y; }
parameters { real mu; real<lower=0, upper=1> p; }
model {
  mu ~ normal(0, 5);
  p ~ beta(1, 3);
  for (i in 1:N)
    target += log_mix(p, normal_lpdf(y[i] | mu, 10), normal_lpdf(y[i] | mu, 1));
}
""", {"N": len(y), "y": y}, lambda m, u: normal(m, 0, 5) + log(
        3 * (1 - sin(u) ** 2) ** 2 * 2 * sin(u) * cos(u) + 1e-300) + sum(
            log_sum((log(sin(u) ** 2 + 1e-300) + normal(v, m, 10),
                     log(cos(u) ** 2 + 1e-300) + normal(v, m))) for v in y),
        ((-25, 25), (0, pi / 2)), "quadrature over mu and p = sin^2",
        panels=40, intervals=400)


def overdispersed():
    k = [0, 3, 11, 1, 6, 0, 22]

    def f(a, b):
        mu, phi = exp(a), exp(b)
        return (a + gamma(mu, 2, .2) + b + gamma(phi, 2, 1) + sum(
            lgamma(v + phi) - lgamma(phi) - lgamma(v + 1)
            + phi * log(phi / (mu + phi)) + v * log(mu / (mu + phi))
            for v in k))
    plane(EVERYDAY, "overdispersed", """
data { int N; array[N] int k; }
parameters { real<lower=0> mu; real<lower=0> phi; }
model { mu ~ gamma(2, .2); phi ~ gamma(2, 1); k ~ neg_binomial_2(mu, phi); }
""", {"N": len(k), "k": k}, f, ((-6, 6), (-10, 4)),
          "quadrature over both logarithms")


def zeros():
    k = [0, 0, 0, 0, 3, 0, 5, 2]
    zero = k.count(0)
    rest = [v for v in k if v]

    def closed():
        # each zero is structural or not: sums over how many are
        m, s = len(rest), sum(rest)
        terms = []
        for j in range(zero + 1):
            n = zero - j + m  # with rate
            terms.append(
                log_choose(zero, j) + log_beta(2 + j, 2 + len(k) - j)
                - log_beta(2, 2) + 2 * log(.5) + lgamma(2 + s)
                - (2 + s) * log(.5 + n))
        return log_sum(terms) - sum(lgamma(v + 1) for v in rest)

    def f(p, u):
        rate = exp(u)
        return (beta(p, 2, 2) + u + gamma(rate, 2, .5)
                + zero * log(p + (1 - p) * exp(-rate))
                + sum(log(1 - p) + poisson(v, rate) for v in rest))
    add(EVERYDAY, "zero-inflated", """
data { int N; array[N] int k; }
parameters { real<lower=0, upper=1> p; real<lower=0> rate; }
model {
  p ~ beta(2, 2);
  rate ~ gamma(2, .5);
  for (i in 1:N) {
    if (k[i] == 0)
      target += log_sum_exp(bernoulli_lpmf(1 | p),
                            bernoulli_lpmf(0 | p) + poisson_lpmf(0 | rate));
    else
      target += bernoulli_lpmf(0 | p) + poisson_lpmf(k[i] | rate);
  }
}
""", {"N": len(k), "k": k}, closed, "a sum over how many zeros are structural",
        lambda: log_gauss2(f, ((1e-9, 1 - 1e-9), (-7, 4)), 60), "quadrature",
        tolerance=1e-5)


def survival():
    t, dead = [1.2, 3.4, .7, 5.0, 2.2, 5.0], [1, 1, 1, 0, 1, 0]

    def f(a, b):
        shape, scale = exp(a), exp(b)
        total = normal(a, 0, 1) + normal(b, 1, 1)
        for v, d in zip(t, dead):
            z = (v / scale) ** shape
            total += -z + (a + (shape - 1) * log(v) - shape * b if d else 0)
        return total
    plane(EVERYDAY, "survival", """
data { int N; vector[N] t; array[N] int dead; }
parameters { real<lower=0> shape; real<lower=0> scale; }
model {
  shape ~ lognormal(0, 1);
  scale ~ lognormal(1, 1);
  for (i in 1:N) {
    if (dead[i] == 1) t[i] ~ weibull(shape, scale);
    else target += weibull_lccdf(t[i] | shape, scale);
  }
}
""", {"N": len(t), "t": t, "dead": dead}, f, ((-6, 4), (-6, 8)),
          "quadrature over both logarithms")


def scale_product():
    y = [3.0, -.7, 1.4, .2]

    def flat(u):
        return normal(u, 0, sqrt(2)) + sum(normal(v, 0, exp(u)) for v in y)

    def both(a, b):
        return normal(a) + normal(b) + sum(normal(v, 0, exp(a + b)) for v in y)
    add(EVERYDAY, "scale-product", """
data { int N; vector[N] y; }
parameters { real<lower=0> a; real<lower=0> b; }
model { a ~ lognormal(0, 1); b ~ lognormal(0, 1); y ~ normal(0, a * b); }
""", {"N": len(y), "y": y}, lambda: log_gauss(flat, -12, 12),
        "the logarithms' sum is normal", lambda: log_trapezoid2(
            both, ((-8, 8), (-8, 8)), 500), "trapezoid rule over both",
        tolerance=1e-5)


def unknown_gamma():
    y = [1.1, .4, 2.7, 1.9, .8]
    n, s, p = len(y), sum(y), sum(map(log, y))

    def f(u):
        a = exp(u)
        return (u + gamma(a, 2, 1) + (a - 1) * p - n * lgamma(a)
                + lgamma(1 + n * a) - (1 + n * a) * log(1 + s))

    def both(u, w):
        a, b = exp(u), exp(w)
        return (u + gamma(a, 2, 1) + w - b
                + sum(gamma(v, a, b) for v in y))
    add(EVERYDAY, "gamma-shape", """
data { int N; vector[N] y; }
parameters { real<lower=0> a; real<lower=0> b; }
model { a ~ gamma(2, 1); b ~ exponential(1); y ~ gamma(a, b); }
""", {"N": n, "y": y}, lambda: log_gauss(f, -12, 5), "the rate integrated",
        lambda: log_trapezoid2(both, ((-9, 4), (-14, 4)), 500),
        "trapezoid rule over both logarithms", tolerance=1e-5)


def sources():
    # distances to three stations on a line: the mirror image fits as well
    station, r, s = [0.0, 2.0, 5.0], [3.1, 2.4, 3.2], .1

    def f(x, y):
        return normal(x, 0, 4) + normal(y, 0, 4) + sum(
            normal(d, math.hypot(x - a, y), s) for a, d in zip(station, r))
    plane(EVERYDAY, "stations", """
data { int N; vector[N] a; vector[N] r; }
parameters { real x; real y; }
model {
  x ~ normal(0, 4); y ~ normal(0, 4);
  for (i in 1:N) r[i] ~ normal(sqrt(square(x - a[i]) + square(y)), .1);
}
""", {"N": 3, "a": station, "r": r}, f, ((.5, 4), (-4, 4)),
          "two mirror images; quadrature", panels=80, intervals=800)


for make in (robust, outliers, overdispersed, zeros, survival, scale_product,
             unknown_gamma, sources):
    make()


# ---- constrained types -------------------------------------------------------

def correlation():
    y = [(1.0, .8), (-.4, .1), (2.0, 1.1), (-1.2, -1.5), (.3, -.6)]

    def f(r, eta=2.0):
        d = 1 - r * r
        norm = log_beta(eta, eta) + (2 * eta - 1) * log(2)
        return ((eta - 1) * log(d) - norm + sum(
            -log(2 * pi) - .5 * log(d)
            - (a * a - 2 * r * a * b + b * b) / (2 * d) for a, b in y))
    for name, decl, stmt in (
            ("corr-matrix", "corr_matrix[2] R;",
             "R ~ lkj_corr(2); y ~ multi_normal(rep_vector(0, 2), R);"),
            ("corr-factor", "cholesky_factor_corr[2] L;",
             "L ~ lkj_corr_cholesky(2);"
             " y ~ multi_normal_cholesky(rep_vector(0, 2), L);")):
        axis(TYPES, name, """
data { int N; array[N] vector[2] y; }
parameters { %s }
model { %s }
""" % (decl, stmt), {"N": len(y), "y": [list(v) for v in y]}, f,
             -1 + 1e-12, 1 - 1e-12, "quadrature over the correlation",
             tolerance=1e-5)


def covariance():
    y = [[1.0, .8], [-.4, .1], [2.0, 1.1], [-1.2, -1.5]]
    nu, n = 5.0, len(y)

    def det(m):
        return m[0][0] * m[1][1] - m[0][1] * m[1][0]

    def multigamma(a):
        return .5 * log(pi) + lgamma(a) + lgamma(a - .5)

    def scatter(rows):
        return [[(i == j) + sum(r[i] * r[j] for r in rows) for j in (0, 1)]
                for i in (0, 1)]

    def closed():
        s = scatter(y)
        return (-n * log(pi) + multigamma((nu + n) / 2) - multigamma(nu / 2)
                + nu / 2 * log(1.0) - (nu + n) / 2 * log(det(s)))

    def one_by_one():
        # predictive: t with nu + k - 1 degrees of freedom
        total = 0
        for k, row in enumerate(y):
            s = scatter(y[:k])
            df = nu + k - 1
            total += multi_student(row, df, [[v / df for v in r] for r in s])
        return total
    add(TYPES, "cov-matrix", """
data { int N; array[N] vector[2] y; }
parameters { cov_matrix[2] S; }
model {
  S ~ inv_wishart(5, identity_matrix(2));
  y ~ multi_normal(rep_vector(0, 2), S);
}
""", {"N": n, "y": y}, closed, "inverse Wishart and normal are conjugate",
        one_by_one, "one prediction after another")


def direction():
    y = 1.3

    def f(a):
        return -log(2 * pi) + normal(y, 1.5 * cos(a), .2)
    axis(TYPES, "unit-vector", """
data { real y; }
parameters { unit_vector[2] u; }
model { y ~ normal(1.5 * u[1], .2); }
""", {"y": y}, f, -pi, pi, "uniform on the circle; quadrature over the angle")


def contrasts():
    y, s = [1.0, -.4, .9], .5
    m = sum(y) / 3
    # two orthonormal contrasts, each normal(0, 1); their mean is fixed
    c = [(y[0] - y[1]) / sqrt(2), (y[0] + y[1] - 2 * y[2]) / sqrt(6)]
    rest = normal(sqrt(3) * m, 0, s)
    add(TYPES, "sum-to-zero", """
data { vector[3] y; }
parameters { sum_to_zero_vector[3] x; }
model { x ~ normal(0, 1); y ~ normal(x, .5); }
""", {"y": y}, lambda: rest + sum(normal(v, 0, math.hypot(1, s)) for v in c),
        "two orthonormal contrasts and the mean", lambda: rest + sum(
            log_trapezoid(lambda x: normal(x) + normal(v, x, s), -9, 9)
            for v in c), "trapezoid rule")


def cutpoints():
    k = [3, 9, 4]  # how often each of three answers

    def logistic(x):
        return 1 / (1 + exp(-x)) if x > 0 else exp(x) / (1 + exp(x))

    def f(a, b):  # b > a
        if b <= a:
            return -inf
        p = [logistic(a), logistic(b) - logistic(a), logistic(-b)]
        if min(p) <= 0:
            return -inf
        return log(2) + normal(a, 0, 2) + normal(b, 0, 2) + sum(
            n * log(q) for n, q in zip(k, p))

    def inner(rule):
        return rule(lambda a: rule(lambda t: f(a, a + exp(t)) + t, -14, 3.2),
                    -12, 8)
    y = [i + 1 for i, n in enumerate(k) for _ in range(n)]
    add(TYPES, "cutpoints", """
data { int N; array[N] int y; }
parameters { ordered[2] c; }
model { c ~ normal(0, 2); for (i in 1:N) y[i] ~ ordered_logistic(0, c); }
""", {"N": len(y), "y": y}, lambda: inner(
        lambda g, a, b: log_gauss(g, a, b, 80)),
        "two ordered normals; quadrature", lambda: inner(
            lambda g, a, b: log_trapezoid(g, a, b, 500)), "trapezoid rule",
        tolerance=1e-5)


def shares(K):
    y = [-2.2, -1.8, .1, .3, 2.6, 3.1, 2.8][:7 if K == 3 else 5]
    mean = [-2.0, 0.0, 3.0][:K]

    def allocations():
        terms = []
        for z in product(range(K), repeat=len(y)):
            n = [z.count(k) for k in range(K)]
            terms.append(lgamma(K) + sum(map(lgamma, (v + 1 for v in n)))
                         - lgamma(K + len(y))
                         + sum(normal(v, mean[k]) for v, k in zip(y, z)))
        return log_sum(terms)

    def over():
        table = [[exp(normal(v, m)) for m in mean] for v in y]

        def f(*p):
            return sum(log(sum(a * b for a, b in zip(p, row)))
                       for row in table)
        if K == 2:
            return log_gauss(lambda p: f(p, 1 - p), 0, 1, 100)
        return log(2) + log_gauss(lambda p: log_gauss(
            lambda q: f(p, (1 - p) * q, (1 - p) * (1 - q)), 0, 1, 30)
            + math.log1p(-p), 0, 1, 30)
    add(TYPES, "shares-%d" % K, """
data { int N; int K; vector[N] y; vector[K] m; }
parameters { simplex[K] p; }
model {
  p ~ dirichlet(rep_vector(1, K));
  for (i in 1:N) {
    vector[K] t = log(p);
    for (k in 1:K) t[k] += normal_lpdf(y[i] | m[k], 1);
    target += log_sum_exp(t);
  }
}
""", {"N": len(y), "K": K, "y": y, "m": mean}, allocations,
        "sum over allocations", over, "quadrature over the simplex",
        tolerance=1e-5)


def ordered_mixture():
    y = [-1.9, -2.4, -1.2, 1.8, 2.7, 2.2]
    n = len(y)

    def part(values):
        prec = len(values) + 1 / 25
        total, square = sum(values), sum(v * v for v in values)
        return (-.5 * len(values) * log(2 * pi) - .5 * log(25 * prec)
                - .5 * (square - total ** 2 / prec))

    def closed():
        return log_sum(-n * log(2) + part([v for v, k in zip(y, z) if k])
                       + part([v for v, k in zip(y, z) if not k])
                       for z in product((0, 1), repeat=n))

    def f(a, b):
        return normal(a, 0, 5) + normal(b, 0, 5) + sum(log_sum(
            (normal(v, a), normal(v, b))) - log(2) for v in y)
    add(TYPES, "ordered-mixture", """
data { int N; vector[N] y; }
parameters { ordered[2] mu; }
model {
  mu ~ normal(0, 5);
  for (i in 1:N)
    target += log_mix(.5, normal_lpdf(y[i] | mu[1], 1),
                      normal_lpdf(y[i] | mu[2], 1));
}
""", {"N": n, "y": y}, closed,
        "half of the plane and twice the prior: sum over allocations",
        lambda: log_trapezoid2(f, ((-24, 24), (-24, 24)), 500),
        "trapezoid rule over the plane", tolerance=1e-5)


def moved():
    y = [6.1, 5.2, 7.0]
    add(TYPES, "offset-multiplier", """
data { int N; vector[N] y; }
parameters { real<offset=5, multiplier=2> mu; }
model { mu ~ normal(5, 2); y ~ normal(mu, 1); }
""", {"N": 3, "y": y}, lambda: multi_normal(
        y, [5.0] * 3, [[4.0 + (i == j) for j in range(3)] for i in range(3)]),
        "a multivariate normal", lambda: log_trapezoid(
            lambda m: normal(m, 5, 2) + sum(normal(v, m) for v in y),
            -15, 25), "trapezoid rule", quick=True)


def groups():
    y, s = [2.8, .8, -.3, 1.4], [1.5, 1.0, 1.6, .7]

    def f(u, rule):
        tau = exp(u)
        return u + log(2) + cauchy(tau, 0, 2) + rule(
            lambda m: normal(m, 0, 5) + sum(
                normal(v, m, math.hypot(e, tau)) for v, e in zip(y, s)),
            -45, 45)

    def by_matrix(u):
        tau = exp(u)
        return u + log(2) + cauchy(tau, 0, 2) + multi_normal(
            y, [0.0] * 4, [[25 + (s[i] ** 2 + tau ** 2 if i == j else 0)
                            for j in range(4)] for i in range(4)])
    add(TYPES, "group-multiplier", """
data { int J; vector[J] y; vector[J] s; }
parameters {
  real mu; real<lower=0> tau;
  vector<offset=mu, multiplier=tau>[J] theta;
}
model {
  mu ~ normal(0, 5); tau ~ cauchy(0, 2);
  theta ~ normal(mu, tau); y ~ normal(theta, s);
}
""", {"J": 4, "y": y, "s": s}, lambda: log_gauss(by_matrix, -25, 20, 300),
        "effects integrated, quadrature over log tau", lambda: log_trapezoid(
            lambda u: f(u, lambda g, a, b: log_trapezoid(g, a, b, 600)),
            -25, 20, 600), "trapezoid rule over both", tolerance=1e-5)


def data_bound():
    # the bound holds data: prior and posterior live above the largest
    y, a = [7.0, 3.0, 9.5], 1.5
    n, top = len(y), max(y)
    add(TYPES, "data-in-bound", """
data { int N; vector[N] y; }
parameters { real<lower=max(y)> t; }
model { t ~ pareto(1, 1.5); y ~ uniform(0, t); }
""", {"N": n, "y": y}, lambda: log(a / (a + n)) - n * log(top),
        "Pareto above its bound", lambda: log_gauss(
            lambda u: -(a + n) * u, log(top), 40, 400) - log_gauss(
                lambda u: -a * u, log(top), 40, 400), "quadrature over log t")


correlation()
covariance()
direction()
contrasts()
cutpoints()
shares(2)
shares(3)
ordered_mixture()
moved()
groups()
data_bound()


# ---- time series and equations -----------------------------------------------

def autoregression():
    y = [.5, 1.1, .4, .9, 1.6, .8, .3]
    axis(SERIES, "ar-1", """
data { int T; vector[T] y; }
parameters { real<lower=-1, upper=1> phi; }
model { for (t in 2:T) y[t] ~ normal(phi * y[t - 1], .5); }
""", {"T": len(y), "y": y}, lambda p: -log(2) + sum(
        normal(b, p * a, .5) for a, b in zip(y, y[1:])), -1, 1, "quadrature",
         quick=True)


def state_space():
    y, q, r = [.3, .9, 1.4, .7, 2.2, 2.9, 2.4, 3.3], .6, .5
    T = len(y)

    def kalman():
        m, v, total = 0.0, 0.0, 0.0
        for x in y:
            v += q * q
            total += normal(x, m, sqrt(v + r * r))
            gain = v / (v + r * r)
            m, v = m + gain * (x - m), v * (1 - gain)
        return total
    add(SERIES, "state-space", """
data { int T; vector[T] y; }
parameters { vector[T] z; }
transformed parameters { vector[T] x = .6 * cumulative_sum(z); }
model { z ~ std_normal(); y ~ normal(x, .5); }
""", {"T": T, "y": y}, kalman, "Kalman's filter", lambda: multi_normal(
        y, [0.0] * T, [[q * q * (1 + min(i, j)) + (r * r if i == j else 0)
                        for j in range(T)] for i in range(T)]),
        "a multivariate normal")


def curve():
    x = [0.0, .5, 1.1, 2.0, 2.6, 3.5]
    y = [.2, .6, .9, -.3, -.8, .1]
    n = len(y)

    def f(u):
        l = exp(u)
        return normal(u, 0, 1) + multi_normal(y, [0.0] * n, [
            [exp(-(a - b) ** 2 / (2 * l * l)) + (.09 if i == j else 0)
             for j, b in enumerate(x)] for i, a in enumerate(x)])
    axis(SERIES, "gaussian-process", """
data { int N; array[N] real x; vector[N] y; }
parameters { real<lower=0> l; }
model {
  matrix[N, N] K = gp_exp_quad_cov(x, 1.0, l) + diag_matrix(rep_vector(.09, N));
  l ~ lognormal(0, 1);
  y ~ multi_normal(rep_vector(0, N), K);
}
""", {"N": n, "x": x, "y": y}, f, -8, 8, "quadrature over log l")


def frequency():
    n, s = 24, .5
    t = [round(.5 * i, 1) for i in range(n)]
    y = [round(1.2 * sin(1.7 * v + .4) + s * e, 2)
         for v, e in zip(t, noise(77, n))]

    def f(w):
        c = [[cos(w * v), sin(w * v)] for v in t]
        return -log(2.9) + multi_normal(y, [0.0] * n, [
            [c[i][0] * c[j][0] + c[i][1] * c[j][1]
             + (s * s if i == j else 0) for j in range(n)] for i in range(n)])

    def by_normal_equations(w):
        c, d = [cos(w * v) for v in t], [sin(w * v) for v in t]
        aa = sum(v * v for v in c) / s ** 2 + 1
        bb = sum(v * v for v in d) / s ** 2 + 1
        ab = sum(p * q for p, q in zip(c, d)) / s ** 2
        u = sum(p * q for p, q in zip(c, y)) / s ** 2
        v = sum(p * q for p, q in zip(d, y)) / s ** 2
        det = aa * bb - ab * ab
        return (-log(2.9) + sum(normal(q, 0, s) for q in y) - .5 * log(det)
                + .5 * (bb * u * u - 2 * ab * u * v + aa * v * v) / det)
    add(SERIES, "frequency", """
data { int N; vector[N] t; vector[N] y; }
parameters { real<lower=.1, upper=3> w; real a; real b; }
model {
  a ~ normal(0, 1); b ~ normal(0, 1);
  y ~ normal(a * cos(w * t) + b * sin(w * t), .5);
}
""", {"N": n, "t": t, "y": y}, lambda: log_gauss(f, .1, 3, 40),
        "amplitudes integrated, quadrature over the frequency",
        lambda: log_trapezoid(by_normal_equations, .1, 3, 4000),
        "normal equations, trapezoid rule", tolerance=1e-4)


def decay():
    t, y = [.5, 1.0, 2.0, 4.0], [7.2, 4.9, 2.4, .7]
    axis(SERIES, "ode-decay", """
functions {
  vector rhs(real t, vector x, real k) { return -k * x; }
}
data { int N; array[N] real t; vector[N] y; }
parameters { real<lower=0> k; }
model {
  array[N] vector[1] x = ode_rk45(rhs, [10]', 0, t, k);
  k ~ gamma(2, 2);
  for (i in 1:N) y[i] ~ lognormal(log(x[i][1]), .2);
}
""", {"N": 4, "t": t, "y": y}, lambda k: gamma(k, 2, 2) + sum(
        normal(log(v), log(10) - k * a, .2) - log(v) for a, v in zip(t, y)),
        1e-12, 30, "the equation solved by hand", tolerance=1e-5)


def growth():
    t, y = [1.0, 2.0, 3.0, 5.0, 8.0], [1.6, 2.6, 3.9, 7.4, 9.3]

    def size(r, v):
        return 10 / (1 + 9 * exp(-r * v))
    axis(SERIES, "ode-growth", """
functions {
  vector rhs(real t, vector x, real r) { return r * x .* (1 - x / 10); }
}
data { int N; array[N] real t; vector[N] y; }
parameters { real<lower=0> r; }
model {
  array[N] vector[1] x = ode_bdf_tol(rhs, [1.0]', 0, t, 1e-8, 1e-8, 100000, r);
  r ~ lognormal(-1, 1);
  for (i in 1:N) y[i] ~ normal(x[i][1], .3);
}
""", {"N": 5, "t": t, "y": y}, lambda u: normal(u, -1, 1) + sum(
        normal(v, size(exp(u), a), .3) for a, v in zip(t, y)), -9, 7,
        "the logistic curve, quadrature over log r", tolerance=1e-5)


def switching():
    # hidden states summed by the program, their means unknown
    y = [.2, -.3, .5, 2.9, 3.4, 2.6, .1, -.6]

    def forward(a, b):
        p = [log(.5) + normal(y[0], a), log(.5) + normal(y[0], b)]
        for v in y[1:]:
            p = [normal(v, a) + log_sum((p[0] + log(.8), p[1] + log(.2))),
                 normal(v, b) + log_sum((p[0] + log(.2), p[1] + log(.8)))]
        return log_sum(p)

    def paths():
        terms = []
        for z in product((0, 1), repeat=len(y)):
            term = log(.5) + sum(log(.8 if a == b else .2)
                                 for a, b in zip(z, z[1:]))
            for k in (0, 1):
                part = [v for v, s in zip(y, z) if s == k]
                prec, total = len(part) + 1 / 9, sum(part)
                term += (-.5 * len(part) * log(2 * pi) - .5 * log(9 * prec)
                         - .5 * (sum(v * v for v in part) - total ** 2 / prec))
            terms.append(term)
        return log_sum(terms)
    add(SERIES, "hidden-states", """
data { int T; vector[T] y; }
parameters { vector[2] mu; }
model {
  matrix[2, 2] G = [[.8, .2], [.2, .8]];
  matrix[2, T] lik;
  mu ~ normal(0, 3);
  for (t in 1:T) for (k in 1:2) lik[k, t] = normal_lpdf(y[t] | mu[k], 1);
  target += hmm_marginal(lik, G, [.5, .5]');
}
""", {"T": len(y), "y": y}, paths, "sum over all paths", lambda: log_trapezoid2(
        lambda a, b: normal(a, 0, 3) + normal(b, 0, 3) + forward(a, b),
        ((-14, 14), (-14, 14)), 300), "forward recursion, trapezoid rule",
        tolerance=1e-5)


autoregression()
state_space()
curve()
frequency()
decay()
growth()
switching()


# ---- styles ------------------------------------------------------------------

def generated_regression():
    """As regression packages write it: centred predictors, an intercept with a
    Student prior, a half-Student scale normalised by hand."""
    x = [.3, -1.2, .8, 1.9, -.4, .6, -2.0]
    y = [1.4, -.6, 1.5, 3.6, .1, 1.7, -1.9]
    n, mean = len(x), sum(x) / len(x)
    c = [v - mean for v in x]

    def f(a, u):
        s = exp(u)
        prec = sum(v * v for v in c) / s ** 2 + 1 / 4
        r = [v - a for v in y]
        lin = sum(p * q for p, q in zip(c, r)) / s ** 2
        return (student(a, 3, 1, 2.5) + u + log(2) + student(s, 3, 0, 2.5)
                - log(2) - .5 * log(prec) - n * (u + .5 * log(2 * pi))
                - .5 * (sum(v * v for v in r) / s ** 2 - lin * lin / prec))
    plane(STYLE, "generated-regression", """
data { int<lower=1> N; vector[N] Y; int<lower=1> K; matrix[N, K] X; int prior_only; }
transformed data {
  int Kc = K - 1;
  matrix[N, Kc] Xc;
  vector[Kc] means_X;
  for (i in 2:K) {
    means_X[i - 1] = mean(X[, i]);
    Xc[, i - 1] = X[, i] - means_X[i - 1];
  }
}
parameters { vector[Kc] b; real Intercept; real<lower=0> sigma; }
transformed parameters {
  real lprior = 0;
  lprior += normal_lpdf(b | 0, 2);
  lprior += student_t_lpdf(Intercept | 3, 1, 2.5);
  lprior += student_t_lpdf(sigma | 3, 0, 2.5)
    - 1 * student_t_lccdf(0 | 3, 0, 2.5);
}
model {
  if (!prior_only) {
    target += normal_id_glm_lpdf(Y | Xc, Intercept, b, sigma);
  }
  target += lprior;
}
generated quantities { real b_Intercept = Intercept - dot_product(means_X, b); }
""", {"N": n, "Y": y, "K": 2, "X": [[1.0, v] for v in x], "prior_only": 0}, f,
        ((-12, 14), (-4, 5)), "slope integrated, quadrature over the rest",
        panels=80, intervals=900,
          tolerance=1e-4)


def data_hyper():
    y = [1.2, .7, 2.1]
    m, sd, rate = 1.0, .5, 2.0

    def f(a, u):
        s = exp(u)
        return (normal(a, m, sd) + u + log(rate) - rate * s
                + sum(normal(v, a, s) for v in y))
    plane(STYLE, "data-hyperparameters", """
data { int N; vector[N] y; real prior_mean; real prior_sd; real prior_rate; }
parameters { real mu; real<lower=0> sigma; }
model {
  real lp = 0;
  lp += normal_lpdf(mu | prior_mean, prior_sd);
  lp += exponential_lpdf(sigma | prior_rate);
  target += lp;
  target += normal_lpdf(y | mu, sigma);
}
""", {"N": 3, "y": y, "prior_mean": m, "prior_sd": sd, "prior_rate": rate}, f,
        ((-4, 6), (-12, 4)), "quadrature over mu and log sigma")


def counted():
    z = [1, 3, 2, 2, 1, 3, 3, 3, 2, 3]
    n = [z.count(k) for k in (1, 2, 3)]
    N = len(z)

    def closed():
        return (lgamma(N + 1) - sum(lgamma(v + 1) for v in n) + lgamma(6)
                - 3 * lgamma(2) + sum(lgamma(v + 2) for v in n)
                - lgamma(N + 6))

    def urn():
        seen, total = [2.0] * 3, lgamma(N + 1) - sum(
            lgamma(v + 1) for v in n)
        for v in z:
            total += log(seen[v - 1] / sum(seen))
            seen[v - 1] += 1
        return total
    add(STYLE, "counted-in-the-program", """
data { int N; array[N] int z; }
transformed data {
  array[3] int n = {0, 0, 0};
  for (i in 1:N) n[z[i]] += 1;
}
parameters { simplex[3] p; }
model { p ~ dirichlet([2, 2, 2]'); n ~ multinomial(p); }
""", {"N": N, "z": z}, closed, "Dirichlet-multinomial", urn, "Polya's urn",
        quick=True)


def target_only():
    y, x = [0, 1, 1, 0, 1, 1], [-1.2, .4, 1.5, -.3, .2, 2.2]

    def f(a, b):
        return normal(a, 0, 2) + normal(b, 0, 2) + sum(
            (a + b * v if k else 0) - math.log1p(exp(a + b * v))
            for k, v in zip(y, x))
    plane(STYLE, "target-only", """
functions {
  real my_prior_lp(vector b) { target += normal_lupdf(b | 0, 2); return 0; }
  real fit_lpmf(array[] int y, vector eta) {
    return bernoulli_logit_lpmf(y | eta);
  }
}
data { int N; array[N] int y; vector[N] x; }
parameters { vector[2] b; }
model {
  real unused = my_prior_lp(b);
  y ~ fit(b[1] + b[2] * x);
}
""", {"N": len(y), "y": y, "x": x}, f, ((-16, 16), (-16, 16)),
        "quadrature over both coefficients")


def missing():
    y = [1.0, 1.6, .3]
    add(STYLE, "missing-values", """
data { int N; int M; vector[N] y; }
parameters { real mu; vector[M] gone; }
model { mu ~ normal(0, 2); gone ~ normal(mu, 1); y ~ normal(mu, 1); }
""", {"N": len(y), "M": 2, "y": y}, lambda: multi_normal(
        y, [0.0] * 3, [[4.0 + (i == j) for j in range(3)] for i in range(3)]),
        "the missing ones integrate to one", lambda: log_trapezoid(
            lambda m: normal(m, 0, 2) + sum(normal(v, m) for v in y), -20, 20),
        "trapezoid rule")


generated_regression()
data_hyper()
counted()
target_only()
missing()
