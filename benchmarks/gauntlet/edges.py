"""edges.py - what goes wrong at the edges: heavy tails, boundaries, priors with
several modes, hard constraints, degenerate programs."""
import math
from math import exp, inf, lgamma, log, pi, sqrt

from exact import (beta, binomial, cauchy, cdf, gamma, log_beta, log_choose,
                   log_gauss, log_gauss2, log_sum, log_trapezoid,
                   log_trapezoid2, normal, student)
from problem import add, noise

# ---- heavy tails -------------------------------------------------------------
HEAVY = "heavy tails"


def line(kind, name, program, data, f, low, high, derivation="quadrature",
         breaks=(), quick=False, tolerance=1e-6):
    """One parameter x with log joint density f, both ways by quadrature: as it
    is, and in x = m + sinh(u), which needs other nodes."""
    def plain():
        edges = [low, *breaks, high]
        return log_sum(log_gauss(f, a, b, 600)
                       for a, b in zip(edges, edges[1:]))

    def sinh():
        edges = [math.asinh(v) for v in (low, *breaks, high)]
        return log_sum(log_gauss(
            lambda u: f(math.sinh(u)) + log(math.cosh(u)), a, b, 400, 5)
            for a, b in zip(edges, edges[1:]))
    add(kind, name, program, data, plain, derivation, sinh,
        "the same in x = sinh(u)", quick=quick, tolerance=tolerance)


LOCATION = """
data { int N; vector[N] y; }
parameters { real x; }
model { x ~ %s; y ~ %s; }
"""


def location(name, y, prior, prior_text, density, text, span=4000.0, **more):
    line(HEAVY, name, LOCATION % (prior_text, text), {"N": len(y), "y": y},
         lambda x: prior(x) + sum(density(v, x) for v in y), -span, span,
         breaks=(-50.0, -10.0, 0.0, 10.0, 50.0), **more)


location("cauchy-prior-near", [3.0], cauchy, "cauchy(0, 1)",
         lambda v, x: normal(v, x), "normal(x, 1)", quick=True)
location("cauchy-prior-far", [40.0], cauchy, "cauchy(0, 1)",
         lambda v, x: normal(v, x), "normal(x, 1)")
location("cauchy-pair", [-10.0, 10.0], lambda x: normal(x, 0, 10),
         "normal(0, 10)", lambda v, x: cauchy(v, x), "cauchy(x, 1)", span=150)
location("cauchy-three", [-20.0, 0.0, 20.5], lambda x: normal(x, 0, 20),
         "normal(0, 20)", lambda v, x: cauchy(v, x, .5), "cauchy(x, .5)",
         span=300)
location("t-outliers", [.1, -.4, .3, .8, 25.0, 31.0],
         lambda x: normal(x, 0, 10), "normal(0, 10)",
         lambda v, x: student(v, 3, x), "student_t(3, x, 1)", span=150)
location("conflict", [8.0, 8.5, 7.9], lambda x: student(x, 3),
         "student_t(3, 0, 1)", lambda v, x: student(v, 3, x),
         "student_t(3, x, 1)", span=2000)
location("laplace-data", [-1.0, .5, 4.0, 9.0], cauchy, "cauchy(0, 1)",
         lambda v, x: -abs(v - x) - log(2), "double_exponential(x, 1)")


def heavy_axes(d):
    y = [round(3 * e, 2) for e in noise(60 + d, d)]

    def one(v, rule, n):
        return rule(lambda u: log(math.cosh(u)) + student(
            math.sinh(u), 2) + normal(v, math.sinh(u), .5), -9, 9, n)
    add(HEAVY, "t-axes-%d" % d, """
data { int D; vector[D] y; }
parameters { vector[D] x; }
model { x ~ student_t(2, 0, 1); y ~ normal(x, .5); }
""", {"D": d, "y": y}, lambda: sum(one(v, log_gauss, 400) for v in y),
        "quadrature on each axis, x = sinh(u)",
        lambda: sum(one(v, log_trapezoid, 3000) for v in y), "trapezoid rule")


heavy_axes(10)


def half_cauchy():
    y = [30.0, -25.0]

    def f(u):
        s = exp(u)
        return u + log(2) + cauchy(s) + sum(normal(v, 0, s) for v in y)
    add(HEAVY, "half-cauchy-scale", """
data { vector[2] y; }
parameters { real<lower=0> s; }
model { s ~ cauchy(0, 1); y ~ normal(0, s); }
""", {"y": y}, lambda: log_gauss(f, -4, 25), "quadrature over log s",
        lambda: log_trapezoid(f, -4, 25), "trapezoid rule")


def horseshoe():
    y = [.3, -.2, 5.0]

    def over(inner, outer):
        def given(u):
            tau = exp(u)
            return u + log(2) + cauchy(tau) + sum(inner(
                lambda w: w + log(2) + cauchy(exp(w)) + normal(
                    v, 0, math.hypot(1, tau * exp(w))), -16, 16) for v in y)
        return outer(given, -16, 16)
    add(HEAVY, "horseshoe-3", """
data { int P; vector[P] y; }
parameters { real<lower=0> tau; vector<lower=0>[P] l; vector[P] z; }
model {
  tau ~ cauchy(0, 1); l ~ cauchy(0, 1); z ~ normal(0, 1);
  y ~ normal(tau * l .* z, 1);
}
""", {"P": 3, "y": y},
        lambda: over(lambda f, a, b: log_gauss(f, a, b, 40, 6),
                     lambda f, a, b: log_gauss(f, a, b, 40, 6)),
        "effects integrated, nested quadrature over the scales",
        lambda: over(lambda f, a, b: log_trapezoid(f, a, b, 250),
                     lambda f, a, b: log_trapezoid(f, a, b, 250)),
        "trapezoid rule", tolerance=1e-5)


def pareto():
    y, a = [7.0, 12.0, 9.0], 1.5

    def closed():
        # uniform(0, t) data under a Pareto prior: conjugate
        top, n = max(1.0, *y), len(y)
        return log(a) - log(a + n) - (a + n) * log(top)

    def numeric():
        # u = log t
        return log_gauss(lambda u: log(a) - (a + len(y)) * u,
                         log(max(y)), 30, 400)
    add(HEAVY, "pareto", """
data { int N; vector[N] y; }
parameters { real<lower=1> t; }
model { t ~ pareto(1, 1.5); y ~ uniform(0, t); }
""", {"N": 3, "y": y}, closed, "Pareto and uniform are conjugate", numeric,
        "quadrature over log t")


half_cauchy()
horseshoe()
pareto()

# ---- boundaries --------------------------------------------------------------
EDGE = "boundaries"


def binomial_edge(name, k, n, a, b, quick=False):
    def numeric():
        # p = sin^2: ends become smooth
        def f(u):
            p, q = math.sin(u) ** 2, math.cos(u) ** 2
            return (log_choose(n, k) + (k + a - .5) * log(p)
                    + (n - k + b - .5) * log(q) + log(2) - log_beta(a, b))
        return log_gauss(f, 0, pi / 2, 400)
    add(EDGE, name, """
data { int k; int n; real a; real b; }
parameters { real<lower=0, upper=1> p; }
model { p ~ beta(a, b); k ~ binomial(n, p); }
""", {"k": k, "n": n, "a": a, "b": b},
        lambda: log_choose(n, k) + log_beta(k + a, n - k + b) - log_beta(a, b),
        "beta-binomial", numeric, "quadrature in p = sin^2(u)", quick=quick)


binomial_edge("none-of-ten", 0, 10, 1.0, 1.0, quick=True)
binomial_edge("jeffreys", 0, 20, .5, .5)
binomial_edge("both-ends", 3, 6, .2, .2)


def corner(d, rate):
    add(EDGE, "corner-%d" % d, """
data { int D; real rate; }
parameters { vector<lower=0, upper=1>[D] x; }
model { target += -rate * sum(x); // @likelihood
}
""", {"D": d, "rate": rate}, lambda: d * log(-math.expm1(-rate) / rate),
        "an exponential integral on each axis",
        lambda: d * log_gauss(lambda x: -rate * x, 0, 1), "quadrature")


corner(2, 20.0)
corner(10, 20.0)
corner(40, 5.0)


def dirichlet(name, counts, alpha):
    K, n = len(counts), sum(counts)

    def closed():
        return (lgamma(n + 1) - sum(lgamma(c + 1) for c in counts)
                + lgamma(K * alpha) - lgamma(n + K * alpha)
                + sum(lgamma(c + alpha) - lgamma(alpha) for c in counts))

    def urn():
        total, seen = 0.0, [0] * K
        for k, c in enumerate(counts):
            for _ in range(c):
                total += log((seen[k] + alpha) / (sum(seen) + K * alpha))
                seen[k] += 1
        return total + lgamma(n + 1) - sum(lgamma(c + 1) for c in counts)
    add(EDGE, name, """
data { int K; array[K] int n; real alpha; }
parameters { simplex[K] p; }
model { p ~ dirichlet(rep_vector(alpha, K)); n ~ multinomial(p); }
""", {"K": K, "n": counts, "alpha": alpha}, closed, "Dirichlet-multinomial",
        urn, "Polya's urn, one draw after another")


dirichlet("simplex-zeros", [9, 0, 0, 3], 1.0)
dirichlet("simplex-sparse", [5, 0, 0, 0, 1], .3)


def half_normal_edge():
    y = [-1.2, -.8, -2.0]
    line(EDGE, "half-normal", """
data { int N; vector[N] y; }
parameters { real<lower=0> x; }
model { x ~ normal(0, 1); y ~ normal(x, 1); }
""", {"N": 3, "y": y}, lambda x: log(2) + normal(x) + sum(
        normal(v, x) for v in y), 0, 12, "the mode is the bound; quadrature")


def scale_floor():
    y = [.1, -.05, .02, .07]
    line(EDGE, "scale-floor", """
data { int N; vector[N] y; }
parameters { real<lower=.1, upper=10> s; }
model { y ~ normal(0, s); }
""", {"N": 4, "y": y}, lambda s: -log(9.9) + sum(normal(v, 0, s) for v in y),
        .1, 10, "flat scale, most mass at its lower bound; quadrature")


def nested_bounds():
    # a ~ U(0,1), b ~ U(a,1); y ~ normal(b - a, .1)
    y = .9

    def f(a):
        return log_gauss(lambda b: normal(y, b - a, .1), a, 1,
                         30) - math.log1p(-a)
    add(EDGE, "nested-bounds", """
data { real y; }
parameters { real<lower=0, upper=1> a; real<lower=a, upper=1> b; }
model { b ~ uniform(a, 1); y ~ normal(b - a, .1); }
""", {"y": y}, lambda: log_gauss(f, 0, 1, 60), "nested quadrature",
        lambda: log_gauss(lambda a: log((cdf(1 - a, y, .1) - cdf(0, y, .1))
                                        / (1 - a)), 0, 1, 200),
        "the inner integral by erf", tolerance=1e-5)


def truncated():
    y = [.3, .7, 1.1]
    cut = cdf(2) - cdf(0)
    line(EDGE, "truncated", """
data { int N; vector[N] y; }
parameters { real<lower=0, upper=2> x; }
model { x ~ normal(0, 1) T[0, 2]; y ~ normal(x, .2); }
""", {"N": 3, "y": y}, lambda x: normal(x) - log(cut) + sum(
        normal(v, x, .2) for v in y), 0, 2, "a truncated normal; quadrature")


half_normal_edge()
scale_floor()
nested_bounds()
truncated()


def diffuse(name, text, a, y):
    """A precision under gamma(a, a), half of which lies below the smallest
    number there is when a = .001 (as does half of an inverse gamma above the
    largest): Student's t by conjugacy, and quadrature in log(precision)."""
    n, square = len(y), sum(v * v for v in y)

    def closed():
        return (-n / 2 * log(2 * pi) + a * log(a) - lgamma(a) +
                lgamma(a + n / 2) - (a + n / 2) * log(a + square / 2))

    def numeric():
        def f(u):
            return (a * log(a) - lgamma(a) + a * u - a * exp(u) -
                    n / 2 * log(2 * pi) + n / 2 * u - exp(u) * square / 2)
        return log_trapezoid(f, -60, 6, 4000)
    add(EDGE, name, text, {"N": n, "y": y}, closed, "conjugate", numeric,
        "quadrature in the log of the precision", tolerance=1e-6)


for _a in (.001, .01):
    diffuse("diffuse-precision-%g" % _a, """
data { int N; vector[N] y; }
parameters { real<lower=0> tau; }
model { tau ~ gamma(%g, %g); y ~ normal(0, 1 / sqrt(tau)); }
""" % (_a, _a), _a, [.3, -1.2, .7, .1, 2.])
    diffuse("diffuse-variance-%g" % _a, """
data { int N; vector[N] y; }
parameters { real<lower=0> v; }
model { v ~ inv_gamma(%g, %g); y ~ normal(0, sqrt(v)); }
""" % (_a, _a), _a, [.3, -1.2, .7, .1, 2.])


def beta_ends(a, n, k):
    """beta(a, a) with a part of its mass above the largest number below 1."""
    add(EDGE, "beta-ends-%g" % a, """
data { int n; int k; }
parameters { real<lower=0, upper=1> p; }
model { p ~ beta(%g, %g); k ~ binomial(n, p); }
""" % (a, a), {"n": n, "k": k},
        lambda: log_choose(n, k) + log_beta(k + a, n - k + a) - log_beta(a, a),
        "conjugate", lambda: log_trapezoid(
            lambda u: log_choose(n, k) - log_beta(a, a) +
            (k + a) * -math.log1p(exp(-u)) + (n - k + a) * -math.log1p(exp(u)),
            -60, 60, 8000), "quadrature in logit(p)")


beta_ends(.05, 10, 3)
beta_ends(.2, 6, 5)


# ---- priors with several modes -----------------------------------------------
PRIOR = "priors with modes"


def mixed_prior(name, statement, parts, y, s, quick=False):
    """x ~ sum of weighted normals, y ~ normal(x, s)."""
    def closed():
        terms = []
        for w, m, sd in parts:
            prec = 1 / sd ** 2 + len(y) / s ** 2
            lin = m / sd ** 2 + sum(y) / s ** 2
            quad = (m / sd) ** 2 + sum(v * v for v in y) / s ** 2
            terms.append(log(w) - log(sd) - len(y) * (
                log(s) + .5 * log(2 * pi)) - .5 * log(prec)
                - .5 * (quad - lin * lin / prec))
        return log_sum(terms)

    def numeric():
        return log_sum(log(w) + log_trapezoid(
            lambda x: normal(x, m, sd) + sum(normal(v, x, s) for v in y),
            m - 14 * sd, m + 14 * sd) for w, m, sd in parts)
    add(PRIOR, name, """
data { int N; vector[N] y; real s; }
parameters { real x; }
model { %s y ~ normal(x, s); }
""" % statement, {"N": len(y), "y": y, "s": s}, closed,
        "a mixture of normal convolutions", numeric,
        "trapezoid rule on each part", quick=quick)


mixed_prior("log-mix-5", """
  target += log_mix(.5, normal_lpdf(x | -5, 1), normal_lpdf(x | 5, 1));
""", [(.5, -5, 1), (.5, 5, 1)], [4.5], 1.0, quick=True)
mixed_prior("log-mix-20", """
  target += log_mix(.3, normal_lpdf(x | -20, .5), normal_lpdf(x | 20, .5));
""", [(.3, -20, .5), (.7, 20, .5)], [0.4], 10.0)
mixed_prior("log-mix-uneven", """
  target += log_mix(.5, normal_lpdf(x | 0, 1), normal_lpdf(x | 10, .05));
""", [(.5, 0, 1), (.5, 10, .05)], [6.0], 3.0)
mixed_prior("log-sum-exp-3", """
  target += log_sum_exp([log(.2) + normal_lpdf(x | -30, 1),
                         log(.5) + normal_lpdf(x | 0, 1),
                         log(.3) + normal_lpdf(x | 30, 2)]);
""", [(.2, -30, 1), (.5, 0, 1), (.3, 30, 2)], [20.0, 14.0], 15.0)
mixed_prior("log-mix-100", """
  target += log_mix(.5, normal_lpdf(x | -100, 1), normal_lpdf(x | 100, 1));
""", [(.5, -100, 1), (.5, 100, 1)], [3.0], 100.0)
mixed_prior("unscaled-mixture", """
  target += log_sum_exp(-.5 * (x - 8)^2, 1 - .5 * (x + 8)^2);
""", [(1 / (1 + exp(1)), 8, 1), (exp(1) / (1 + exp(1)), -8, 1)], [5.0], 4.0)


def mixed_axes(d):
    y = [round(3 * e, 2) for e in noise(80 + d, d)]

    def numeric(v):
        return log_trapezoid(lambda x: normal(v, x, 2) + log_sum(
            (log(.4) + normal(x, -4, .5), log(.6) + normal(x, 4, .5))),
            -14, 14, 2000)
    add(PRIOR, "log-mix-axes-%d" % d, """
data { int D; vector[D] y; }
parameters { vector[D] x; }
model {
  for (i in 1:D)
    target += log_mix(.4, normal_lpdf(x[i] | -4, .5),
                      normal_lpdf(x[i] | 4, .5));
  y ~ normal(x, 2);
}
""", {"D": d, "y": y}, lambda: sum(log_sum((
        log(.4) + normal(v, -4, sqrt(4.25)),
        log(.6) + normal(v, 4, sqrt(4.25)))) for v in y),
        "2^d prior modes, axis by axis", lambda: sum(map(numeric, y)),
        "trapezoid rule on each axis")


mixed_axes(2)
mixed_axes(6)


def double_well():
    def well(x):
        return -(x * x - 9) ** 2 / 4

    def f(x):
        return well(x) + normal(2.0, x, 2)
    add(PRIOR, "double-well", """
data { real y; }
parameters { real x; }
model { target += -(x^2 - 9)^2 / 4; y ~ normal(x, 2); }
""", {"y": 2.0}, lambda: log_gauss(f, -8, 8) - log_gauss(well, -8, 8),
        "quadrature, prior normalised by another",
        lambda: log_trapezoid(f, -8, 8) - log_trapezoid(well, -8, 8),
        "trapezoid rule")


def prior_ring():
    def radial(t):
        return log(t) - (t - 5) ** 2 / .08

    def f(a, t):
        x, y = t * math.cos(a), t * math.sin(a)
        return radial(t) + normal(4.0, x, 1.0) + normal(1.0, y, 3.0)
    box = ((-pi, pi), (3.5, 6.5))

    def ratio(rule, one):
        return rule(f, box) - one(radial, 3.5, 6.5) - log(2 * pi)
    add(PRIOR, "prior-ring", """
data { vector[2] y; }
parameters { vector[2] x; }
model {
  target += -(sqrt(dot_self(x)) - 5)^2 / .08;
  y[1] ~ normal(x[1], 1); y[2] ~ normal(x[2], 3);
}
""", {"y": [4.0, 1.0]}, lambda: ratio(
        lambda g, b: log_gauss2(g, b, 40), log_gauss),
        "polar coordinates, quadrature", lambda: ratio(
            lambda g, b: log_trapezoid2(g, b, 300), log_trapezoid),
        "trapezoid rule", tolerance=1e-5)


def spike_slab_prior():
    y = [.1, 2.5, -.2, 3.1]

    def closed(v):
        return log_sum((log(.5) + normal(v, 0, sqrt(1 + 1e-4)),
                        log(.5) + normal(v, 0, sqrt(10))))

    def numeric(v):
        return log_sum((log(.5) + log_trapezoid(
            lambda x: normal(x, 0, .01) + normal(v, x), -.2, .2),
            log(.5) + log_trapezoid(
                lambda x: normal(x, 0, 3) + normal(v, x), -40, 40)))
    add(PRIOR, "spike-and-slab", """
data { int P; vector[P] y; }
parameters { vector[P] b; }
model {
  for (i in 1:P)
    target += log_mix(.5, normal_lpdf(b[i] | 0, .01), normal_lpdf(b[i] | 0, 3));
  y ~ normal(b, 1);
}
""", {"P": 4, "y": y}, lambda: sum(map(closed, y)),
        "two normal convolutions on each axis", lambda: sum(map(numeric, y)),
        "trapezoid rule on each part")


double_well()
prior_ring()
spike_slab_prior()

# ---- hard constraints --------------------------------------------------------
HARD = "hard constraints"


def ordered(d):
    """x_1 < ... < x_d, uniform, with exp(-x) on each: symmetric, so 1/d!."""
    def volumes():
        # integrate the chain one variable after another, exactly:
        # int_0^x e^-t (1-e^-t)^k / k! dt = (1-e^-x)^(k+1) / (k+1)!
        return d * log(1 - exp(-1)) - sum(log(k + 1) for k in range(d))
    add(HARD, "ordered-%d" % d, """
data { int D; }
parameters { vector<lower=0, upper=1>[D] x; }
model {
  for (i in 2:D) {
    if (x[i] < x[i - 1]) {
      target += negative_infinity(); // @likelihood
    }
  }
  target += -sum(x); // @likelihood
}
""", {"D": d}, lambda: d * log_gauss(lambda x: -x, 0, 1)
        - lgamma(d + 1), "by symmetry one order of d! has its share",
        volumes, "the chain of integrals in closed form")


for d in (4, 5, 7, 8, 10, 13):
    ordered(d)


def ordered_prior(d):
    """The same by reject, which belongs to the prior."""
    add(HARD, "ordered-prior-%d" % d, """
data { int D; }
parameters { vector<lower=0, upper=1>[D] x; }
model {
  for (i in 2:D) {
    if (x[i] < x[i - 1]) reject("out of order");
  }
  target += -sum(x); // @likelihood
}
""", {"D": d}, lambda: d * log(1 - exp(-1)),
        "by symmetry the prior without the order gives the same",
        lambda: d * log_gauss(lambda x: -x, 0, 1), "quadrature")


ordered_prior(4)
ordered_prior(7)


def slit(name, d, half, quick=False):
    """The cube |x| < half around (.3, ...) of the unit cube."""
    add(HARD, name, """
data { int D; real half; }
parameters { vector<lower=0, upper=1>[D] x; }
model {
  if (max(abs(x - .3)) > half) {
    target += negative_infinity(); // @likelihood
  }
  target += sum(x); // @likelihood
}
""", {"D": d, "half": half},
        lambda: d * (.3 + log(2 * math.sinh(half))),
        "an exponential over a small cube", lambda: d * log_gauss(
            lambda x: x, .3 - half, .3 + half, 4), "quadrature", quick=quick)


slit("slit-1-1e-2", 1, .005, quick=True)
slit("slit-1-1e-4", 1, 5e-5)
slit("slit-1-1e-6", 1, 5e-7)
slit("slit-2-1e-4", 2, .005)
slit("slit-3-1e-6", 3, .005)
slit("slit-2-1e-8", 2, 5e-5)
slit("slit-3-1e-12", 3, 5e-5)


def below_plane(d):
    def slices():
        # V_k = V_(k-1) * int_0^1 (1-t)^(k-1) dt
        return sum(log_gauss(lambda t: (k - 1) * math.log1p(-t), 0, 1)
                   for k in range(2, d + 1))
    add(HARD, "below-plane-%d" % d, """
data { int D; }
parameters { vector<lower=0, upper=1>[D] x; }
model {
  if (sum(x) > 1) {
    target += negative_infinity(); // @likelihood
  }
}
""", {"D": d}, lambda: -lgamma(d + 1), "the volume of a simplex", slices,
        "slices, one dimension after another")


below_plane(3)
below_plane(6)
below_plane(8)


def interval_data():
    low, high = 4.0, 5.0
    add(HARD, "tail-interval", """
data { real low; real high; }
parameters { real x; }
model {
  x ~ normal(0, 1);
  if (x < low || x > high) {
    target += negative_infinity(); // @likelihood
  }
}
""", {"low": low, "high": high}, lambda: log(cdf(-low) - cdf(-high)),
        "a normal interval", lambda: log_gauss(normal, low, high),
        "quadrature")


def uniform_ends():
    y = [2.1, 3.7, 2.9, 3.3]
    n, top, bottom = len(y), max(y), min(y)

    def inner(rule):
        return rule(lambda a: normal(a, 0, 3) + rule(
            lambda b: normal(b, 0, 3) - n * log(b - a), top, 36), -36, bottom)
    add(HARD, "uniform-ends", """
data { int N; vector[N] y; }
parameters { real a; real b; }
model { a ~ normal(0, 3); b ~ normal(0, 3); y ~ uniform(a, b); }
""", {"N": n, "y": y}, lambda: inner(lambda f, a, b: log_gauss(f, a, b, 60)),
        "quadrature over both ends",
        lambda: inner(lambda f, a, b: log_gauss(f, a, b, 200, 3)),
        "finer and simpler quadrature", tolerance=1e-5)


def ball(d, r):
    log_volume = d / 2 * log(pi) - lgamma(d / 2 + 1) + d * log(r)

    def slices():
        # V_d = V_(d-1) * int (1-t^2)^((d-1)/2), from the interval upward
        total = log(2 * r)
        for k in range(2, d + 1):
            total += log(r) + log_gauss(
                lambda u: k * log(math.cos(u)), -pi / 2, pi / 2)
        return total
    add(HARD, "ball-%d" % d, """
data { int D; real r; }
parameters { vector<lower=-1, upper=1>[D] x; }
model {
  if (dot_self(x) > r^2) {
    target += negative_infinity(); // @likelihood
  }
}
""", {"D": d, "r": r}, lambda: log_volume - d * log(2),
        "the volume of a ball", lambda: slices() - d * log(2),
        "slices, one dimension after another")


def two_slits():
    """Two intervals far apart, of unlike widths."""
    a, b = 1e-6, 3e-6
    add(HARD, "two-slits", """
data { real a; real b; }
parameters { real<lower=0, upper=1> x; }
model {
  if (!(abs(x - .2) < a) && !(abs(x - .9) < b)) {
    target += negative_infinity(); // @likelihood
  }
  target += 2 * x; // @likelihood
}
""", {"a": a, "b": b}, lambda: log_sum((
            .4 + log(math.sinh(2 * a)), 1.8 + log(math.sinh(2 * b)))),
        "an exponential over two intervals", lambda: log_sum((
            log_gauss(lambda x: 2 * x, .2 - a, .2 + a, 2),
            log_gauss(lambda x: 2 * x, .9 - b, .9 + b, 2))), "quadrature")


two_slits()
interval_data()
uniform_ends()
ball(5, 1.0)
ball(6, .3)

# ---- degenerate programs -----------------------------------------------------
DEGENERATE = "degenerate"


def no_evidence(name, program, data, why, quick=False):
    add(DEGENERATE, name, program, data, None, why, quick=quick)


no_evidence("no-likelihood", """
parameters { real mu; }
model { mu ~ normal(0, 1); }
""", {}, "no likelihood: there is no evidence")
no_evidence("data-as-prior", """
data { int N; vector[N] y; }
parameters { real mu; }
model { for (i in 1:N) mu ~ normal(y[i], 1); }
""", {"N": 3, "y": [1.0, 2.0, 1.5]}, "no likelihood: there is no evidence")
no_evidence("improper", """
data { int N; vector[N] y; }
parameters { real mu; real<lower=0> s; }
model { y ~ normal(mu, s); }
""", {"N": 4, "y": [1.0, 2.0, 1.5, .2]},
            "an improper prior: no evidence", quick=True)
no_evidence("improper-one", """
data { int N; vector[N] y; }
parameters { vector[2] mu; }
model { mu[1] ~ normal(0, 1); y ~ normal(mu[1] + mu[2], 1); }
""", {"N": 3, "y": [1.0, 2.0, 1.5]}, "an improper prior: no evidence")


def exact(name, program, data, truth, derivation, check, second):
    add(DEGENERATE, name, program, data, truth, derivation, check, second)


exact("single-datum", """
data { real y; }
parameters { real mu; real<lower=0> s; }
model { mu ~ normal(0, 1); s ~ exponential(1); y ~ normal(mu, s); }
""", {"y": .7}, lambda: log_gauss(lambda u: u - exp(u) + normal(
    .7, 0, math.hypot(1, exp(u))), -25, 5, 400),
    "mu integrated, quadrature over log s", lambda: log_trapezoid(
        lambda u: u - exp(u) + normal(.7, 0, math.hypot(1, exp(u))), -25, 5),
    "trapezoid rule")
exact("constant-likelihood", """
data { int N; vector[N] y; }
parameters { vector[3] mu; }
model { mu ~ normal(0, 1); y ~ normal(0, 1); }
""", {"N": 2, "y": [1.0, -2.0]}, lambda: normal(1) + normal(-2),
    "the likelihood does not depend on anything",
    lambda: -2.5 - log(2 * pi), "by hand")
exact("no-rows", """
data { int N; vector[N] y; }
parameters { real mu; }
model { mu ~ normal(0, 1); y ~ normal(mu, 1); }
""", {"N": 0, "y": []}, lambda: 0.0, "no data: Z = 1", lambda: 0.0, "by hand")
exact("idle-parameter", """
data { real y; }
parameters { real mu; real<lower=0, upper=1> idle; }
model { mu ~ normal(0, 1); y ~ normal(mu, 1); }
""", {"y": .5}, lambda: normal(.5, 0, sqrt(2)), "a normal convolution",
    lambda: log_trapezoid(lambda m: normal(m) + normal(.5, m), -9, 9),
    "trapezoid rule")
exact("certain", """
data { int N; vector[N] y; }
parameters { real mu; }
model { mu ~ normal(0, 1e-6); y ~ normal(mu, 1); }
""", {"N": 2, "y": [1.0, -1.5]}, lambda: normal(1) + normal(-1.5)
    + .125e-12, "the prior is almost a point: the likelihood there",
    lambda: log_trapezoid(lambda m: normal(m, 0, 1e-6) + normal(1, m)
                          + normal(-1.5, m), -1e-5, 1e-5), "trapezoid rule")
exact("huge-scale", """
data { real y; }
parameters { real mu; }
model { mu ~ normal(0, 1e8); y ~ normal(mu, 1e8); }
""", {"y": 2e8}, lambda: normal(2e8, 0, sqrt(2) * 1e8),
    "a normal convolution", lambda: log_trapezoid(
        lambda u: normal(u) + normal(2e8, u * 1e8, 1e8), -9, 9),
    "trapezoid rule")
