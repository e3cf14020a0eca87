"""shapes.py - shapes that are unlike those of peaks.py: thin curved ridges,
signs and corners, parts that are not normal, steps, heavy tails in many
dimensions, integers beside reals, hierarchies with modes."""
import math
from itertools import product
from math import exp, inf, lgamma, log, pi, sqrt

from exact import (beta, binomial, cauchy, cdf, gamma, inv_gamma, log_beta,
                   log_choose, log_gauss, log_gauss2, log_sum, log_trapezoid,
                   log_trapezoid2, multi_normal, multi_student, normal,
                   poisson, student)
from problem import add, noise

THIN = "thin ridges"
CORNERS = "signs and corners"
PARTS = "unlike parts"
STEPS = "steps"
TAILS = "heavy axes"
COUNTS = "counts and switches"


# ---- thin ridges -------------------------------------------------------------

def parabola(s):
    y = 1.0

    def f(a):  # b integrated: y ~ normal(a^2 - b), b ~ normal(0, 1)
        return normal(a, 0, 2) + normal(y, a * a, math.hypot(1, s))

    def sheared():
        return log_trapezoid(lambda a: normal(a, 0, 2) + log_trapezoid(
            lambda t: normal(t) + normal(a * a - y + s * t), -8, 8, 100),
            -4, 4, 1000)
    add(THIN, "parabola-%g" % s, """
data { real y; real s; }
parameters { real a; real b; }
model { a ~ normal(0, 2); b ~ normal(0, 1); y ~ normal(a^2 - b, s); }
""", {"y": y, "s": s}, lambda: log_gauss(f, -8, 8), "one axis integrated",
        sheared, "along the ridge", tolerance=1e-5, quick=s > .01)


def triple(s):
    y = 2.0

    def f(u, v):  # a = sinh u, b = sinh v: c integrated
        a, b = math.sinh(u), math.sinh(v)
        return (normal(a) + normal(b) + log(math.cosh(u) * math.cosh(v))
                + normal(y, 0, math.hypot(a * b, s)))

    def product_density():
        # p = a b has density K0(|p|)/pi
        def k0(x):
            return log_trapezoid(lambda t: -x * math.cosh(t), 0, 12, 600)
        return log(2) + log_trapezoid(
            lambda w: w + k0(exp(w)) - log(pi) + normal(
                y, 0, math.hypot(exp(w), s)), -14, 4, 1500)
    add(THIN, "triple-product", """
data { real y; real s; }
parameters { vector[3] x; }
model { x ~ normal(0, 1); y ~ normal(prod(x), s); }
""", {"y": y, "s": s}, lambda: log_gauss2(f, ((-3, 3), (-3, 3)), 80),
        "one factor integrated, quadrature over two", product_density,
        "the density of a product of two normals", tolerance=2e-4)


def plane_ridge(d, s):
    y = 3.0
    add(THIN, "sum-%d" % d, """
data { int D; real y; real s; }
parameters { vector[D] x; }
model { x ~ normal(0, 1); y ~ normal(sum(x), s); }
""", {"D": d, "y": y, "s": s}, lambda: normal(y, 0, sqrt(d + s * s)),
        "a normal convolution", lambda: log_trapezoid(
            lambda t: normal(t, 0, sqrt(d)) + normal(y, t, s), y - 12 * s,
            y + 12 * s), "trapezoid rule over the sum")


def spiral():
    # radius and angle observed together: r - angle/2 wound up twice
    s = .05

    def f(x, y):
        r, a = math.hypot(x, y), math.atan2(y, x)
        return (normal(x, 0, 2) + normal(y, 0, 2)
                + 20 * (math.cos(4 * r - a) - 1))
    add(THIN, "spiral", """
data { real k; }
parameters { vector[2] x; }
model {
  x ~ normal(0, 2);
  target += k * (cos(4 * sqrt(dot_self(x)) - atan2(x[2], x[1])) - 1); // @likelihood
}
""", {"k": 20.0}, lambda: log_gauss2(
        lambda r, a: f(r * math.cos(a), r * math.sin(a)) + log(r),
        ((1e-12, 14), (-pi, pi)), 100),
        "polar coordinates: the angle alone is a Bessel function",
        lambda: log(math.fsum(exp(2 * (n * log(10) - lgamma(n + 1)))
                              for n in range(120))) - 20,
        "at every radius I0(k) exp(-k)", tolerance=1e-4)


parabola(.05)
parabola(.005)
triple(.05)
plane_ridge(10, .01)
plane_ridge(40, .1)
spiral()


# ---- signs and corners -------------------------------------------------------

def corners(d):
    y = [round(1 + .3 * i, 1) for i in range(d)]

    def one(v, rule):
        return rule(lambda x: normal(x, 0, 2) + normal(v, x * x, .2), -6, 6)
    add(CORNERS, "squares-%d" % d, """
data { int D; vector[D] y; }
parameters { vector[D] x; }
model { x ~ normal(0, 2); y ~ normal(x .* x, .2); }
""", {"D": d, "y": y}, lambda: sum(one(v, log_gauss) for v in y),
        "2^d corners; quadrature on each axis",
        lambda: sum(one(v, log_trapezoid) for v in y), "trapezoid rule",
        quick=d == 3)


def factor(d):
    y = [round(1.5 * (-1) ** i + .2 * i, 1) for i in range(d)]

    def f(t):
        return normal(t) + sum(normal(v, 0, math.hypot(t, .3)) for v in y)

    def numeric(t):
        return normal(t) + sum(log_trapezoid(
            lambda l: normal(l) + normal(v, l * t, .3), -9, 9, 300)
            for v in y)
    add(CORNERS, "factor-%d" % d, """
data { int D; vector[D] y; }
parameters { real f; vector[D] l; }
model { f ~ normal(0, 1); l ~ normal(0, 1); y ~ normal(l * f, .3); }
""", {"D": d, "y": y}, lambda: log_gauss(f, -9, 9, 400),
        "loadings integrated, quadrature over the factor",
        lambda: log_trapezoid(numeric, -9, 9, 600), "trapezoid rule over both",
        tolerance=1e-5)


def lopsided(d):
    """Two signs, of unlike widths and weights."""
    def part(m, s, w):
        return log(w) + d * normal(m, 0, math.hypot(s, 3))
    parts = ((2, .3, .5), (-2, 1.0, .5))

    def numeric(m, s, w):
        return log(w) + d * log_trapezoid(
            lambda x: normal(x, 0, 3) + normal(x, m, s), m - 12 * s,
            m + 12 * s)
    add(CORNERS, "lopsided-%d" % d, """
data { int D; }
parameters { vector[D] x; }
model {
  x ~ normal(0, 3);
  target += log_mix(.5, normal_lpdf(x | 2, .3), normal_lpdf(x | -2, 1)); // @likelihood
}
""", {"D": d}, lambda: log_sum(part(*p) for p in parts),
        "two normal convolutions", lambda: log_sum(
            numeric(*p) for p in parts), "trapezoid rule")


def alternating():
    # modes at all sign patterns of even parity
    d, s = 4, .4
    signs = [z for z in product((-1, 1), repeat=d) if math.prod(z) > 0]
    add(CORNERS, "even-parity", """
data { int K; int D; array[K] vector[D] m; }
parameters { vector[D] x; }
model {
  vector[K] t;
  for (k in 1:K) t[k] = normal_lpdf(x | 2 * m[k], .4);
  target += log_sum_exp(t); // @likelihood
  x ~ normal(0, 2);
}
""", {"K": len(signs), "D": d, "m": [list(z) for z in signs]},
        lambda: log(len(signs)) + d * normal(2, 0, math.hypot(2, s)),
        "eight equal normals", lambda: log(len(signs)) + d * log_trapezoid(
            lambda x: normal(x, 0, 2) + normal(x, 2, s), -3, 7),
        "trapezoid rule")


corners(3)
corners(8)
factor(3)
factor(6)
lopsided(4)
lopsided(8)
alternating()


# ---- unlike parts ------------------------------------------------------------

def parts(name, d, stan, logs, low=-10.0, high=10.0, cuts=()):
    """A flat box; parts of the likelihood that factor over axes. logs: weight
    and the log density of one axis."""
    edges = [low, *cuts, high]

    def one(f, rule):
        return log_sum(rule(f, a, b) for a, b in zip(edges, edges[1:]))

    def over(rule):
        return log_sum(log(w) + d * (one(f, rule) - log(high - low))
                       for w, f in logs)
    add(PARTS, name, """
data { int D; real low; real high; }
parameters { vector<lower=low, upper=high>[D] x; }
model { target += log_mix(%g, %s, %s); // @likelihood
}
""" % (logs[0][0], *stan), {"D": d, "low": low, "high": high},
        lambda: over(lambda f, a, b: log_gauss(f, a, b, 1500)),
        "axis by axis", lambda: over(
            lambda f, a, b: log_gauss(f, a, b, 4001, 4)),
        "another rule", tolerance=1e-5)


parts("laplace-and-normal", 3,
      ("double_exponential_lpdf(x | -4, .2)", "normal_lpdf(x | 4, 1)"),
      [(.5, lambda x: -abs(x + 4) / .2 - log(.4)),
       (.5, lambda x: normal(x, 4, 1))], cuts=(-4.0,))
parts("student-and-normal", 4,
      ("student_t_lpdf(x | 3, -3, .5)", "normal_lpdf(x | 4, .5)"),
      [(.3, lambda x: student(x, 3, -3, .5)),
       (.7, lambda x: normal(x, 4, .5))], cuts=(-3.0, 4.0))
parts("cauchy-and-spike", 2,
      ("cauchy_lpdf(x | 0, 1)", "normal_lpdf(x | 5, .03)"),
      [(.6, cauchy), (.4, lambda x: normal(x, 5, .03))],
      cuts=(4.6, 5.0, 5.4))
parts("logistic-apart", 6,
      ("logistic_lpdf(x | -3, .3)", "logistic_lpdf(x | 3, .3)"),
      [(.2, lambda x: -abs(x + 3) / .3 - log(.3)
        - 2 * math.log1p(exp(-abs(x + 3) / .3))),
       (.8, lambda x: -abs(x - 3) / .3 - log(.3)
        - 2 * math.log1p(exp(-abs(x - 3) / .3)))], cuts=(-3.0, 3.0))


def three_scales(d):
    made = ((.2, -4, .05), (.5, 0, .5), (.3, 5, 2.0))
    add(PARTS, "three-scales-%d" % d, """
data { int D; array[3] real w; array[3] real m; array[3] real s; }
parameters { vector[D] x; }
model {
  array[3] real t;
  x ~ student_t(5, 0, 4);
  for (k in 1:3) t[k] = log(w[k]) + normal_lpdf(x | m[k], s[k]);
  target += log_sum_exp(t); // @likelihood
}
""", {"D": d, "w": [p[0] for p in made], "m": [p[1] for p in made],
       "s": [p[2] for p in made]}, lambda: log_sum(
        log(w) + d * log_gauss(lambda x: student(x, 5, 0, 4) + normal(
            x, m, s), m - 12 * s, m + 12 * s) for w, m, s in made),
        "axis by axis", lambda: log_sum(
            log(w) + d * log_trapezoid(lambda x: student(x, 5, 0, 4) + normal(
                x, m, s), m - 12 * s, m + 12 * s) for w, m, s in made),
        "trapezoid rule", quick=d == 1)


three_scales(1)
three_scales(2)


def wide_inside():
    # a broad hill with a narrow pit of high likelihood off its middle, d = 3
    def over(rule):
        return log_sum(log(w) + 3 * rule(
            lambda x: normal(x, 0, 5) + normal(x, m, s), m - 12 * s,
            m + 12 * s) for w, m, s in ((.5, 0, 2), (.5, 1, .1)))
    add(PARTS, "off-middle", """
data { int D; }
parameters { vector[D] x; }
model {
  x ~ normal(0, 5);
  target += log_mix(.5, normal_lpdf(x | 0, 2), normal_lpdf(x | 1, .1)); // @likelihood
}
""", {"D": 3}, lambda: over(log_gauss), "axis by axis",
        lambda: over(log_trapezoid), "trapezoid rule")


wide_inside()


# ---- steps -------------------------------------------------------------------

def inside_count(d):
    p = cdf(1) - cdf(-1)
    add(STEPS, "inside-count-%d" % d, """
data { int D; }
parameters { vector[D] x; }
model {
  x ~ normal(0, 1);
  for (i in 1:D) {
    if (abs(x[i]) < 1) {
      target += log(.01); // @likelihood
    } else {
      target += log(.99); // @likelihood
    }
  }
}
""", {"D": d}, lambda: d * log(.01 * p + .99 * (1 - p)),
        "one coin for each axis", lambda: log_sum(
            log_choose(d, k) + k * log(.01 * p) + (d - k) * log(.99 * (1 - p))
            for k in range(d + 1)), "a sum over how many are inside")


def floor_counts():
    k = [1, 4, 2]
    add(STEPS, "floor-rate", """
data { int N; array[N] int k; }
parameters { real<lower=0, upper=12> x; }
model { for (i in 1:N) k[i] ~ poisson(1 + floor(x)); }
""", {"N": 3, "k": k}, lambda: log_sum(sum(
        poisson(v, 1 + j) for v in k) for j in range(12)) - log(12),
        "a sum over the steps", lambda: log_sum(log_gauss(
            lambda x: sum(poisson(v, 1 + math.floor(x)) for v in k), j, j + 1,
            1) for j in range(12)) - log(12), "quadrature on each step",
        quick=True)


def tilted_steps():
    add(STEPS, "tilted-steps", """
data { real h; }
parameters { vector<lower=0, upper=4>[2] x; }
model { target += h * floor(x[1] + x[2]) - x[1]; // @likelihood
}
""", {"h": 1.5}, lambda: log_sum(log_gauss(
        lambda a: -a + log_sum(log(
            max(min(4, j + 1 - a) - max(0, j - a), 1e-300)) + 1.5 * j
            for j in range(8)), i, i + 1, 40) for i in range(4)) - log(16),
        "one axis by hand", lambda: log_sum(
            log_gauss(lambda a: -a + log_sum(log(max(
                min(4, math.floor(a) + m + 1 - a) - max(
                    0, math.floor(a) + m - a), 1e-300))
                + 1.5 * (math.floor(a) + m) for m in range(-4, 6)),
                i, i + 1, 100, 4) for i in range(4)) - log(16),
        "another rule")


inside_count(6)
inside_count(20)
floor_counts()
tilted_steps()


# ---- heavy axes --------------------------------------------------------------

def cauchy_sum(d):
    y, g = 12.0, .5
    add(TAILS, "cauchy-sum-%d" % d, """
data { int D; real y; real g; }
parameters { vector[D] x; }
model { x ~ cauchy(0, 1); y ~ cauchy(sum(x), g); }
""", {"D": d, "y": y, "g": g}, lambda: cauchy(y, 0, d + g),
        "sums of Cauchy variables are Cauchy", lambda: log_gauss(
            lambda u: log(math.cosh(u)) + cauchy(math.sinh(u), 0, d)
            + cauchy(y, math.sinh(u), g), -18, 18, 3000),
        "quadrature over the sum", tolerance=1e-4, quick=d == 2)


def scale_mixture(d):
    y = [round(2 * e, 2) for e in noise(40 + d, d)]
    cov = [[1.25 if i == j else 0.0 for j in range(d)] for i in range(d)]

    def numeric(u):
        v = exp(u)
        return u + inv_gamma(v, 2, 2) + sum(
            normal(x, 0, sqrt(1.25 * v)) for x in y)
    add(TAILS, "scale-mixture-%d" % d, """
data { int D; vector[D] y; }
parameters { real<lower=0> v; vector[D] x; }
model { v ~ inv_gamma(2, 2); x ~ normal(0, sqrt(v)); y ~ normal(x, .5 * sqrt(v)); }
""", {"D": d, "y": y}, lambda: multi_student(y, 4, cov),
        "a multivariate t", lambda: log_gauss(numeric, -12, 25),
        "quadrature over log v")


cauchy_sum(2)
cauchy_sum(5)
scale_mixture(5)
scale_mixture(20)


# ---- counts and switches -----------------------------------------------------

def open_count():
    y, s = [6.2, 6.9, 6.4], .4
    add(COUNTS, "open-count", """
data { int N; vector[N] y; }
parameters { int<lower=0> n; }
model { n ~ poisson(4); y ~ normal(n, .4); }
""", {"N": 3, "y": y}, lambda: log_sum(poisson(n, 4) + sum(
        normal(v, n, s) for v in y) for n in range(80)), "a sum over n",
        lambda: log(math.fsum(exp(-4) * 4 ** n / math.factorial(n) * math.prod(
            exp(normal(v, n, s)) for v in y) for n in range(60))),
        "the same in plain numbers")


def which_model():
    y = [.4, 1.9, -.2, 1.1, .9]
    n = len(y)

    def shifted():
        return multi_normal(y, [0.0] * n, [[9.0 + (i == j) for j in range(n)]
                                           for i in range(n)])

    def by_hand():
        return log_trapezoid(lambda m: normal(m, 0, 3) + sum(
            normal(v, m) for v in y), -30, 30)
    add(COUNTS, "which-model", """
data { int N; vector[N] y; }
parameters { int<lower=0, upper=1> m; real mu; }
model {
  m ~ bernoulli(.3);
  mu ~ normal(0, 3);
  if (m == 1) y ~ normal(mu, 1);
  else y ~ normal(0, 1.5);
}
""", {"N": n, "y": y}, lambda: log_sum((
        log(.3) + shifted(), log(.7) + sum(normal(v, 0, 1.5) for v in y))),
        "two models, summed", lambda: log_sum((
            log(.3) + by_hand(), log(.7) + sum(
                normal(v, 0, 1.5) for v in y))), "trapezoid rule")


def two_lines():
    x = [1.0, 2.0, 3.0, 1.5, 2.5, 3.5, .5]
    y = [1.1, 2.2, 2.9, -1.4, -2.6, 3.4, -.4]
    n = len(x)

    def part(rows):
        prec = sum(a * a for a, _ in rows) / .25 + 1 / 4
        lin = sum(a * b for a, b in rows) / .25
        return (-len(rows) * (log(.5) + .5 * log(2 * pi)) - .5 * log(4 * prec)
                - .5 * (sum(b * b for _, b in rows) / .25 - lin * lin / prec))

    def closed():
        return log_sum(-n * log(2) + part(
            [p for p, k in zip(zip(x, y), z) if k]) + part(
                [p for p, k in zip(zip(x, y), z) if not k])
            for z in product((0, 1), repeat=n))

    def f(a, b):
        return normal(a, 0, 2) + normal(b, 0, 2) + sum(log_sum(
            (normal(v, a * u, .5), normal(v, b * u, .5))) - log(2)
            for u, v in zip(x, y))
    add(COUNTS, "two-lines", """
data { int N; vector[N] x; vector[N] y; }
parameters { array[N] int<lower=1, upper=2> z; vector[2] b; }
model { b ~ normal(0, 2); y ~ normal(b[z] .* x, .5); }
""", {"N": n, "x": x, "y": y}, closed, "sum over allocations",
        lambda: log_trapezoid2(f, ((-9, 9), (-9, 9)), 400),
        "labels summed, trapezoid rule", tolerance=1e-5)


def far_integer():
    y = [711.3, 712.9, 710.4]
    add(COUNTS, "far-integer", """
data { int N; vector[N] y; }
parameters { int<lower=1, upper=5000> k; }
model { y ~ normal(k, 1); }
""", {"N": 3, "y": y}, lambda: log_sum(sum(normal(v, k) for v in y)
                                       for k in range(1, 5001)) - log(5000),
        "a sum over k", lambda: log_sum(sum(normal(v, k) for v in y)
                                        for k in range(690, 733)) - log(5000),
        "the terms that matter")


def clock():
    y = 17.2
    add(COUNTS, "clock", """
data { real y; }
parameters { int<lower=0, upper=399> k; }
model { y ~ normal(k % 50, .5); }
""", {"y": y}, lambda: log_sum(normal(y, k % 50, .5) for k in range(400))
        - log(400), "a sum over k", lambda: log_sum(
            normal(y, j, .5) for j in range(50)) - log(50),
        "every remainder equally often", quick=True)


def factors():
    add(COUNTS, "two-factors", """
data { real y; }
parameters { int<lower=1, upper=40> a; int<lower=1, upper=40> b; }
model { y ~ normal(a * b, .7); }
""", {"y": 360.0}, lambda: log_sum(normal(360, a * b, .7) for a in range(
        1, 41) for b in range(1, 41)) - 2 * log(40), "a sum over both",
        lambda: log_sum(log(c) + normal(360, v, .7) for v, c in (
            (v, sum(1 for a in range(1, 41) if v % a == 0 and v // a <= 40))
            for v in range(330, 391)) if c) - 2 * log(40),
        "a sum over the products")


def count_and_size():
    y, s = 4.1, .5

    def given(n):
        return poisson(n, 3) + normal(y, n, math.hypot(n * .5, s))
    add(COUNTS, "count-and-size", """
data { real y; }
parameters { int<lower=0, upper=30> n; real x; }
model { n ~ poisson(3); x ~ normal(1, .5); y ~ normal(n * x, .5); }
""", {"y": y}, lambda: log_sum(map(given, range(31))) - log_sum(
        poisson(n, 3) for n in range(31)), "a sum over n",
        lambda: log_sum(poisson(n, 3) + log_trapezoid(
            lambda x: normal(x, 1, .5) + normal(y, n * x, s), -6, 8)
            for n in range(31)), "trapezoid rule over x")


def prior_modes_hierarchy():
    y = [3.2, 4.4, 2.9]

    def part(m):
        return multi_normal(y, [m] * 3, [[.25 + (1 + .25 if i == j else 0)
                                          for j in range(3)]
                                         for i in range(3)])
    add(COUNTS, "group-prior-modes", """
data { int J; vector[J] y; }
parameters { real mu; vector[J] t; }
model {
  target += log_mix(.3, normal_lpdf(mu | -4, .5), normal_lpdf(mu | 4, .5));
  t ~ normal(mu, 1);
  y ~ normal(t, .5);
}
""", {"J": 3, "y": y}, lambda: log_sum((log(.3) + part(-4.0),
                                        log(.7) + part(4.0))),
        "two multivariate normals", lambda: log_sum(log(w) + log_trapezoid(
            lambda u: normal(u, m, .5) + sum(normal(
                v, u, sqrt(1.25)) for v in y), m - 7, m + 7)
            for w, m in ((.3, -4), (.7, 4))), "trapezoid rule over mu")


def trials():
    k = [4, 7, 5]

    def given(n):
        return -log(40) + sum(binomial(v, n, .3) for v in k)
    add(COUNTS, "trials", """
data { int N; array[N] int k; }
parameters { int<lower=1, upper=40> n; }
model { k ~ binomial(n, .3); }
""", {"N": 3, "k": k}, lambda: log_sum(map(given, range(7, 41))),
        "a sum over n", lambda: log(math.fsum(math.prod(
            math.comb(n, v) * .3 ** v * .7 ** (n - v) for v in k)
            for n in range(7, 41)) / 40), "the same in plain numbers")


for make in (open_count, which_model, two_lines, far_integer, clock, factors,
             count_and_size, prior_modes_hierarchy, trials):
    make()


# ---- where nothing climbs to the top -------------------------------------------

def wall():
    # along u = x[1] + x[2]; x[1] given u is normal(u / 2, sqrt(1/2))
    def f(u):
        return normal(u, 0, sqrt(2)) + 1.5 * u + 9 / 4 - 1000 * max(0, u - 1)

    def squares():  # exp(a u) N(u; 0, 2) = exp(a^2) N(u; 2 a, 2)
        below = 9 / 4 + 9 / 4 + log(cdf(1, 3, sqrt(2)))
        a = 1.5 - 1000
        z = (2 * a - 1) / sqrt(2)  # far below: Mills' ratio of the upper tail
        mills = log(-1 / z + 1 / z ** 3 - 3 / z ** 5) - .5 * log(2 * pi)
        above = 9 / 4 + 1000 + a * a - z * z / 2 + mills
        return log_sum([below, above])
    add(STEPS, "wall", """
parameters { vector[2] x; }
model {
  x ~ normal(0, 1);
  target += -1000 * fmax(0, x[1] + x[2] - 1) + 3 * x[1]; // @likelihood
}
""", {}, lambda: log_sum([log_gauss(f, -16, 1), log_gauss(f, 1, 1.1, 400)]),
        "quadrature over the sum", squares, "squares completed",
        tolerance=1e-4)


def signs(d, y):
    def of(k):
        return binomial(y, 20, (k + .5) / (d + 1))
    add(STEPS, "signs-%d" % d, """
data { int D; int y; }
parameters { vector[D] x; }
model {
  int k = 0;
  x ~ normal(0, 1);
  for (i in 1:D) k += x[i] > 0;
  y ~ binomial(20, (k + .5) / (D + 1.0));
}
""", {"D": d, "y": y}, lambda: log_sum(
        log_choose(d, k) - d * log(2) + of(k) for k in range(d + 1)),
        "a sum over the number of positive ones",
        lambda: log_sum(of(sum(s)) for s in product((0, 1), repeat=d))
        - d * log(2), "a sum over all signs")


wall()
signs(10, 18)
