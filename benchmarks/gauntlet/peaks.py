"""peaks.py - likelihoods by their shape: mixtures of normals (spikes, unequal
modes, many modes), the classics of nested sampling, rings and bananas,
plateaus."""
import math
import random
from itertools import combinations_with_replacement, product
from math import exp, inf, log, pi, sqrt

from exact import (cdf, log_gauss, log_gauss2, log_sphere, log_sum,
                   log_trapezoid, log_trapezoid2, normal)
from problem import add, noise

# ---- mixtures of normals -----------------------------------------------------

MIXTURE = """
data {
  int D; int K; vector[K] w; array[K] vector[D] m; vector[K] s; real S;
}
parameters { vector%s[D] x; }
model {
  vector[K] t;
  %s
  for (k in 1:K) t[k] = log(w[k]) + normal_lpdf(x | m[k], s[k]);
  target += log_sum_exp(t); // @likelihood
}
"""
IN_BOX = MIXTURE % ("<lower=-S, upper=S>", "")
IN_NORMAL = MIXTURE % ("", "x ~ normal(0, S);")


def one_axis(m, s, S, box):
    if box:
        return log((cdf(S, abs(m), s) - cdf(-S, abs(m), s)) / (2 * S))
    return normal(m, 0, math.hypot(s, S))


def one_axis_numeric(m, s, S, box):
    low, high = max(m - 12 * s, -S if box else -inf), min(m + 12 * s,
                                                          S if box else inf)
    prior = (lambda x: -log(2 * S)) if box else (lambda x: normal(x, 0, S))
    return log_gauss(lambda x: normal(x, m, s) + prior(x), low, high, 60)


def mixture(kind, name, d, parts, S, box=False, quick=False):
    """parts: (weight, mean or means, sd)."""
    parts = [(w, list(m) if isinstance(m, (list, tuple)) else [m] * d, s)
             for w, m, s in parts]

    def over(axis):
        seen = {}

        def value(m, s):
            if (m, s) not in seen:
                seen[m, s] = axis(m, s, S, box)
            return seen[m, s]
        return log_sum(log(w) + sum(value(m, s) for m in means)
                       for w, means, s in parts)
    add(kind, name, IN_BOX if box else IN_NORMAL,
        {"D": d, "K": len(parts), "w": [p[0] for p in parts],
         "m": [p[1] for p in parts], "s": [p[2] for p in parts], "S": S},
        lambda: over(one_axis),
        "normals against a %s prior, axis by axis" %
        ("flat" if box else "normal"),
        lambda: over(one_axis_numeric), "quadrature on each axis", quick=quick)


SPIKES = "spikes"
for d, s in ((1, .001), (2, .01), (5, .05), (10, .1), (20, .1)):
    mixture(SPIKES, "spike-concentric-%d" % d, d,
            [(.5, 0, s), (.5, 0, 1)], 5, quick=d == 1)
for d, s in ((2, .02), (5, .1), (10, .2)):
    mixture(SPIKES, "spike-aside-%d" % d, d, [(.5, 3, s), (.5, 0, 1)], 5)
for d in (5, 10, 20):
    mixture(SPIKES, "phase-%d" % d, d,
            [(100, .03, .01), (1, 0, .1)], .5, box=True)
mixture(SPIKES, "needle-3", 3, [(.1, 2, .001), (.9, 0, 1)], 5)

# The same off every line through the broad part's middle: real needles.
source = random.Random(11)
for d, s in ((2, .05), (3, .1), (5, .1)):
    mixture(SPIKES, "needle-anywhere-%d" % d, d,
            [(.5, [round(source.uniform(-6, 6), 1) for _ in range(d)], s),
             (.5, 0, 1)], 5)

# Within the bulk of a broad part, one needle on the shoulder of another.
mixture(SPIKES, "three-nested-4", 4,
        [(.3, 0, 1), (.4, [.5, -.3, .2, .1], .1),
         (.3, [-.6, .4, .1, -.5], .03)], 3)

UNEQUAL = "unequal modes"
mixture(UNEQUAL, "unequal-1", 1, [(.3, -5, 1), (.7, 5, .1)], 10, quick=True)
for d in (2, 5, 10, 20):
    mixture(UNEQUAL, "unequal-%d" % d, d, [(.2, -3, 1), (.8, 3, .5)], 10)
mixture(UNEQUAL, "unequal-three", 3,
        [(.6, -4, .1), (.3, 0, .5), (.1, 4, 1)], 10)
mixture(UNEQUAL, "unequal-weights-30", 30, [(.1, -1, .5), (.9, 1, .5)], 2)
source = random.Random(15)
mixture(UNEQUAL, "off-lines-15", 15,
        [(w, [round(.5 * source.gauss(0, 1), 2) for _ in range(15)], sd)
         for w, sd in ((.9, .2), (.1, .1))], 1)
mixture(UNEQUAL, "unequal-minor", 4, [(.97, 0, 1), (.03, 6, 1)], 10)

MANY = "many modes"
mixture(MANY, "grid-25", 2, [(.04, p, .1) for p in
                             product((-4, -2, 0, 2, 4), repeat=2)], 5,
        quick=True)
source = random.Random(7)
mixture(MANY, "random-20", 2,
        [(.05, [round(source.uniform(-5, 5), 2) for _ in range(2)], .1)
         for _ in range(20)], 6, box=True)
mixture(MANY, "random-100", 2,
        [(.01, [round(source.uniform(-9, 9), 2) for _ in range(2)], .2)
         for _ in range(100)], 10, box=True)
mixture(MANY, "random-50-5", 5,
        [(round(source.uniform(.01, .03), 4),
          [round(source.gauss(0, 3), 2) for _ in range(5)], .5)
         for _ in range(50)], 5)


def folded(d):
    y = [round(1 + .1 * i, 1) for i in range(d)]
    s, S = .2, 2.0
    v = s * s * S * S / (s * s + S * S)

    def closed(t):
        return (log(2) + normal(t, 0, math.hypot(s, S))
                + log(cdf(v * t / s ** 2 / sqrt(v))))

    def numeric(t):
        return log_trapezoid(lambda x: normal(t, abs(x), s) + normal(x, 0, S),
                             -8, 8, 8000)
    add(MANY, "folded-%d" % d, """
data { int D; vector[D] y; }
parameters { vector[D] x; }
model { x ~ normal(0, 2); y ~ normal(abs(x), .2); }
""", {"D": d, "y": y}, lambda: sum(map(closed, y)),
        "2^d modes; each axis twice a half-normal integral",
        lambda: sum(map(numeric, y)), "quadrature on each axis")


for d in (5, 10, 15):
    folded(d)


def bessel0(k):
    return math.fsum(exp(2 * (n * log(k / 2) - math.lgamma(n + 1)))
                     for n in range(80))


def cosines(d, k, waves):
    add(MANY, "cosines-%d" % d, """
data { int D; real k; int waves; }
parameters { vector<lower=-pi(), upper=pi()>[D] x; }
model { target += k * sum(cos(waves * x)); // @likelihood
}
""", {"D": d, "k": k, "waves": waves}, lambda: d * log(bessel0(k)),
        "(waves)^d modes; Z = I0(k)^d by its series",
        lambda: d * (log_trapezoid(lambda x: k * math.cos(waves * x), -pi, pi)
                     - log(2 * pi)), "trapezoid rule")


cosines(2, 8, 5)
cosines(3, 6, 5)


def normal_labels(n, K):
    """A mixture of K normals with unknown means: sum over allocations."""
    y = [round(3 * (i % K) + .8 * e, 2) for i, e in enumerate(noise(n, n))]

    def closed():
        terms = []
        for z in product(range(K), repeat=n):
            term = -n * log(K)
            for k in range(K):
                part = [v for v, label in zip(y, z) if label == k]
                total, square = sum(part), sum(v * v for v in part)
                prec = len(part) + 1 / 25
                term += (-.5 * len(part) * log(2 * pi) - .5 * log(25 * prec)
                         - .5 * (square - total * total / prec))
            terms.append(term)
        return log_sum(terms)

    def numeric():
        nodes = [-22 + .4 * (i + .5) for i in range(110)]
        table = [[exp(normal(v, m)) / K for v in y] for m in nodes]
        weight = [normal(m, 0, 5) + log(.4) for m in nodes]
        terms = []
        for picks in combinations_with_replacement(range(110), K):
            lik = math.prod(sum(table[p][i] for p in picks) for i in range(n))
            orders = math.factorial(K) / math.prod(
                math.factorial(picks.count(p)) for p in set(picks))
            if lik > 0:
                terms.append(log(lik * orders)
                             + sum(weight[p] for p in picks))
        return log_sum(terms)
    add(MANY, "mixture-%d" % K, """
data { int N; int K; vector[N] y; }
parameters { vector[K] mu; }
model {
  mu ~ normal(0, 5);
  for (i in 1:N) {
    vector[K] t;
    for (k in 1:K) t[k] = normal_lpdf(y[i] | mu[k], 1) - log(K);
    target += log_sum_exp(t);
  }
}
""", {"N": n, "K": K, "y": y}, closed,
        "sum over all K^n allocations, each conjugate", numeric,
        "midpoint rule over the means", tolerance=1e-5)


normal_labels(10, 2)
normal_labels(8, 3)

# ---- classics of nested sampling ---------------------------------------------
CLASSIC = "classics"


def shells(d, r=2.0, w=.1, c=3.5):
    """Two thin shells; the radial integral is a Gaussian moment."""
    def closed():
        moment, p = [1.0, r], d - 1
        for k in range(2, p + 1):
            moment.append(r * moment[-1] + (k - 1) * w * w * moment[-2])
        return log(2) + log_sphere(d) + log(moment[p]) - d * log(12)

    def numeric():
        return (log(2) + log_sphere(d) - d * log(12) +
                log_trapezoid(lambda t: normal(t, r, w) + (d - 1) * log(t),
                              r - 15 * w, r + 15 * w))
    add(CLASSIC, "shells-%d" % d, """
data { int D; real r; real w; real c; }
parameters { vector<lower=-6, upper=6>[D] x; }
model {
  vector[D] a = rep_vector(0, D);
  a[1] = c;
  target += log_sum_exp(normal_lpdf(distance(x, a) | r, w),
                        normal_lpdf(distance(x, -a) | r, w)); // @likelihood
}
""", {"D": d, "r": r, "w": w, "c": c}, closed,
        "area of the sphere times a Gaussian moment", numeric,
        "radial quadrature", quick=d == 2)


for d in (2, 5, 10):
    shells(d)


def eggbox(name, side):
    def f(x, y):
        return (2 + math.cos(x / 2) * math.cos(y / 2)) ** 5
    box = ((0, side), (0, side))
    add(CLASSIC, name, """
data { real side; }
parameters { vector<lower=0, upper=side>[2] x; }
model { target += (2 + cos(x[1] / 2) * cos(x[2] / 2)) ^ 5; // @likelihood
}
""", {"side": side}, lambda: log_gauss2(f, box, 100) - 2 * log(side),
        "quadrature in both coordinates",
        lambda: log_trapezoid2(f, box, 600) - 2 * log(side),
        "trapezoid rule", tolerance=1e-4)


eggbox("eggbox", 10 * pi)
eggbox("eggbox-small", 4 * pi)


def loggamma(d):
    """Beaujean and Caldwell's: half of the axes skewed, two bimodal."""
    s = 1 / 30

    def skew(x, m):
        z = (x - m) / s
        return z - exp(z) - log(s)

    def closed():
        def skewed(m):
            return math.exp(-exp(-m / s)) - math.exp(-exp((1 - m) / s))

        def plain(m):
            return cdf(1, m, s) - cdf(0, m, s)
        total = log(.5 * skewed(1 / 3) + .5 * skewed(2 / 3))
        total += log(.5 * plain(1 / 3) + .5 * plain(2 / 3))
        for i in range(3, d + 1):
            total += log(skewed(2 / 3) if i <= (d + 2) / 2 else plain(2 / 3))
        return total

    def numeric():
        def half(f):
            return lambda x: log_sum((log(.5) + f(x, 1 / 3),
                                      log(.5) + f(x, 2 / 3)))

        def plain(x, m):
            return normal(x, m, s)
        axes = [half(skew), half(plain)] + [
            (lambda x: skew(x, 2 / 3)) if i <= (d + 2) / 2 else
            (lambda x: plain(x, 2 / 3)) for i in range(3, d + 1)]
        return sum(log_gauss(f, 0, 1) for f in axes)
    add(CLASSIC, "loggamma-%d" % d, """
functions {
  real skew(real x, real m, real s) {
    return (x - m) / s - exp((x - m) / s) - log(s);
  }
}
data { int D; real s; }
parameters { vector<lower=0, upper=1>[D] x; }
model {
  target += log_mix(.5, skew(x[1], 1.0 / 3, s), skew(x[1], 2.0 / 3, s)); // @likelihood
  target += log_mix(.5, normal_lpdf(x[2] | 1.0 / 3, s), normal_lpdf(x[2] | 2.0 / 3, s)); // @likelihood
  for (i in 3:D) {
    if (2 * i <= D + 2) {
      target += skew(x[i], 2.0 / 3, s); // @likelihood
    } else {
      target += normal_lpdf(x[i] | 2.0 / 3, s); // @likelihood
    }
  }
}
""", {"D": d, "s": s}, closed, "distribution functions, axis by axis", numeric,
        "quadrature on each axis", tolerance=1e-5)


for d in (2, 5, 10):
    loggamma(d)


def rosenbrock(d):
    def closed():
        # The last coordinate by erf, the others by quadrature.
        s = sqrt(.005)

        def last(x):
            return (log(cdf(5, x * x, s) - cdf(-5, x * x, s))
                    + .5 * log(pi / 100) - (1 - x) ** 2)
        if d == 2:
            return log_gauss(last, -2.4, 2.4, 400) - 2 * log(10)

        def middle(x):
            low = max(x * x - 1, -5)
            high = min(x * x + 1, 2.4)
            if low >= high:
                return -inf
            return -(1 - x) ** 2 + log_gauss(
                lambda y: last(y) - 100 * (y - x * x) ** 2, low, high, 30, 6)
        return log_gauss(middle, -1.9, 1.9, 60) - 3 * log(10)

    def numeric():
        # Shear y = x^2 + t, trapezoid rule in all coordinates.
        def tail(x, depth):
            ts = [-.6 + .02 * i for i in range(61)]
            terms = []
            for t in ts:
                y = x * x + t
                if abs(y) >= 5:
                    continue
                f = -100 * t * t
                if depth > 1:
                    f += tail(y, depth - 1)
                terms.append(f)
            return log_sum(terms) + log(.02) - (1 - x) ** 2
        return log_trapezoid(lambda x: tail(x, d - 1), -2.4, 2.4,
                             600) - d * log(10)
    add(CLASSIC, "rosenbrock-%d" % d, """
data { int D; }
parameters { vector<lower=-5, upper=5>[D] x; }
model {
  for (i in 1:D - 1) {
    target += -100 * (x[i + 1] - x[i]^2)^2 - (1 - x[i])^2; // @likelihood
  }
}
""", {"D": d}, closed, "the last coordinate by erf, the others by quadrature",
        numeric, "sheared coordinates, trapezoid rule", tolerance=2e-3)


rosenbrock(2)
rosenbrock(3)


def himmelblau():
    def f(x, y):
        return -(x * x + y - 11) ** 2 - (x + y * y - 7) ** 2
    box = ((-5, 5), (-5, 5))
    add(CLASSIC, "himmelblau", """
data { real a; real b; }
parameters { vector<lower=-5, upper=5>[2] x; }
model { target += -(x[1]^2 + x[2] - a)^2 - (x[1] + x[2]^2 - b)^2; // @likelihood
}
""", {"a": 11, "b": 7}, lambda: log_gauss2(f, box, 50) - log(100),
        "quadrature in both coordinates",
        lambda: log_trapezoid2(f, box, 500) - log(100), "trapezoid rule",
        tolerance=1e-5)


himmelblau()

# ---- rings and bananas -------------------------------------------------------
RING = "rings and bananas"


def ring(d, r, w):
    """x ~ normal, its length observed: radial integral."""
    def f(t):
        return (normal(r, t, w) + log_sphere(d) + (d - 1) * log(t)
                + d * normal(0) - t * t / 2)
    add(RING, "ring-%d" % d, """
data { int D; real r; real w; }
parameters { vector[D] x; }
model { x ~ normal(0, 1); r ~ normal(sqrt(dot_self(x)), w); }
""", {"D": d, "r": r, "w": w},
        lambda: log_gauss(f, max(1e-9, r - 12 * w), r + 12 * w, 100),
        "radial integral of the chi density", lambda: log_trapezoid(
            f, max(1e-9, r - 12 * w), r + 12 * w), "trapezoid rule",
        quick=d == 2)


ring(2, 3.0, .05)
ring(3, 4.0, .02)
ring(8, 5.0, .1)


def banana(d):
    """A twist of a normal keeps volume: the bent coordinate by erf."""
    b, wide = .1, 20

    def over(f, integral):
        rest = (d - 2) * log((cdf(wide) - cdf(-wide)) / (2 * wide))
        return integral(f, -wide, wide) + rest - 2 * log(2 * wide)

    def closed(x):
        m = 100 * b - b * x * x
        return normal(x, 0, 4) + log(max(cdf(wide, m) - cdf(-wide, m), 1e-300))
    add(RING, "banana-%d" % d, """
data { int D; real b; }
parameters { vector<lower=-20, upper=20>[D] x; }
model {
  target += normal_lpdf(x[1] | 0, 4); // @likelihood
  target += normal_lpdf(x[2] + b * x[1]^2 - 100 * b | 0, 1); // @likelihood
  target += normal_lpdf(x[3:D] | 0, 1); // @likelihood
}
""", {"D": d, "b": b}, lambda: over(closed, log_gauss),
        "a twisted normal in a box; the bent coordinate by erf",
        lambda: over(
            lambda x: normal(x, 0, 4) + log_trapezoid(
                lambda y: normal(y + b * x * x - 100 * b), -wide, wide, 400),
            lambda f, low, high: log_trapezoid(f, low, high, 400)),
        "trapezoid rule in the two bent coordinates", tolerance=1e-5)


for d in (2, 5, 10):
    banana(d)


def twice_bent():
    def f(x, y):
        t = (1 - x) ** 2 + 100 * (y - x * x) ** 2
        if t == 0:
            return -inf
        return normal(log(30), log(t), .3) + normal(x) + normal(y)
    box = ((-4, 4), (-4, 8))
    add(RING, "double-banana", """
data { real y; }
parameters { vector[2] x; }
model {
  x ~ normal(0, 1);
  y ~ normal(log((1 - x[1])^2 + 100 * (x[2] - x[1]^2)^2), .3);
}
""", {"y": log(30)}, lambda: log_gauss2(f, box, 80),
        "quadrature in both coordinates",
        lambda: log_trapezoid2(f, box, 1000), "trapezoid rule",
        tolerance=1e-4)


def hyperbola():
    s, y = .05, 1.5

    def inner(a):
        return normal(a) + normal(y, 0, math.hypot(a, s))

    def sheared():
        # b = (y + s t) / a: the ridge straightened, a > 0 twice
        def f(u):
            a = exp(u)
            return normal(a) + log_trapezoid(
                lambda t: normal(t) + normal((y + s * t) / a), -8, 8, 100)
        return log(2) + log_trapezoid(f, -6, 3, 1500)
    add(RING, "hyperbola", """
data { real y; real s; }
parameters { real a; real b; }
model { a ~ normal(0, 1); b ~ normal(0, 1); y ~ normal(a * b, s); }
""", {"y": y, "s": s}, lambda: log_gauss(inner, -10, 10, 1000),
        "one factor integrated, quadrature over the other", sheared,
        "straightened coordinates", tolerance=1e-5)


twice_bent()
hyperbola()

# ---- plateaus ----------------------------------------------------------------
PLATEAU = "plateaus"


def cake(name, d, steps):
    """Nested cubes: log L rises by h inside |x| < r, in the cube (-1, 1)^d."""
    def closed():
        volumes = [1.0] + [r ** d for r, _ in steps] + [0.0]
        heights, total = 0.0, [log(1 - volumes[1])]
        for i, (_, h) in enumerate(steps):
            heights += h
            if volumes[i + 1] > volumes[i + 2]:
                total.append(heights + log(volumes[i + 1] - volumes[i + 2]))
        return log_sum(total)

    def numeric():
        # By the distribution of max|x|, with density d r^(d-1).
        edges = [0.0] + sorted(r for r, _ in steps) + [1.0]
        return log_sum(
            log_gauss(lambda t: log(d) + (d - 1) * log(t)
                      + sum(h for r, h in steps if t < r), a, b, 20)
            for a, b in zip(edges, edges[1:]))
    add(PLATEAU, name, """
data { int D; int K; vector[K] r; vector[K] h; }
parameters { vector<lower=-1, upper=1>[D] x; }
model {
  real far = max(abs(x));
  for (k in 1:K) {
    if (far < r[k]) {
      target += h[k]; // @likelihood
    }
  }
}
""", {"D": d, "K": len(steps), "r": [s[0] for s in steps],
       "h": [s[1] for s in steps]}, closed,
        "volumes of nested cubes times heights", numeric,
        "integral over the density of max|x|")


cake("top-hat-1", 1, [(.01, 8)])
cake("top-hat-2", 2, [(.05, 10)])
cake("top-hat-6", 6, [(.3, 10)])
cake("cake-3", 3, [(.8, 2), (.4, 3), (.2, 4), (.1, 4)])
cake("cake-10", 10, [(.9, 2), (.7, 3), (.5, 4), (.4, 4)])


def staircase():
    add(PLATEAU, "staircase", """
data { real h; }
parameters { real<lower=0, upper=20> x; vector[4] idle; }
model { idle ~ normal(0, 1); target += h * floor(x); // @likelihood
}
""", {"h": 1.0}, lambda: log((math.expm1(20)) / math.expm1(1) / 20),
        "a geometric series", lambda: log_sum(
            log_gauss(lambda x: math.floor(x), k, k + 1, 1)
            for k in range(20)) - log(20), "quadrature on each step")


staircase()


def idle_axes():
    add(PLATEAU, "idle-axes", """
data { real y; }
parameters { vector[20] x; }
model { x ~ normal(0, 1); y ~ normal(x[1], .1); }
""", {"y": 1.2}, lambda: normal(1.2, 0, sqrt(1.01)),
        "one axis matters, a normal convolution", lambda: log_trapezoid(
            lambda x: normal(x) + normal(1.2, x, .1), -8, 8), "trapezoid rule",
        quick=True)


idle_axes()
