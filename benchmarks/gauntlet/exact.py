"""exact.py - integrals in logarithms, a few densities and small matrices, with
Python's own library only: what the gauntlet's truths are computed with, each
in two ways. `log_gauss` and `log_trapezoid` share no nodes."""
import math
from functools import lru_cache
from math import exp, inf, lgamma, log, pi, sqrt

LOG_2PI = log(2 * pi)


def log_sum(values):
    values = list(values)
    top = max(values, default=-inf)
    if top == -inf:
        return -inf
    return top + log(math.fsum(exp(v - top) for v in values))


@lru_cache
def legendre(order):
    """Nodes and weights on (-1, 1), by Newton's method on P_n."""
    rule = []
    for i in range(order):
        x = math.cos(pi * (i + 0.75) / (order + 0.5))
        for _ in range(100):
            p, q = 1.0, 0.0
            for k in range(1, order + 1):
                p, q = ((2 * k - 1) * x * p - (k - 1) * q) / k, p
            slope = order * (x * p - q) / (x * x - 1)
            step = p / slope
            x -= step
            if abs(step) < 1e-15:
                break
        rule.append((x, 2 / ((1 - x * x) * slope * slope)))
    return rule


def log_gauss(f, low, high, panels=200, order=8):
    """log of the integral of exp(f) by Gauss-Legendre on equal panels."""
    half = (high - low) / panels / 2
    return log(half) + log_sum(
        f(low + half * (2 * p + 1 + x)) + log(w)
        for p in range(panels) for x, w in legendre(order))


def log_trapezoid(f, low, high, intervals=4000):
    """The same by the trapezoid rule: good for smooth functions that vanish,
    or repeat, at both ends."""
    step = (high - low) / intervals
    return log(step) + log_sum(
        f(low + step * i) - (log(2) if i in (0, intervals) else 0)
        for i in range(intervals + 1))


def log_gauss2(f, box, panels=40, order=6):
    (a, b), (c, d) = box
    return log_gauss(
        lambda x: log_gauss(lambda y: f(x, y), c, d, panels, order),
        a, b, panels, order)


def log_trapezoid2(f, box, intervals=400):
    (a, b), (c, d) = box
    return log_trapezoid(
        lambda x: log_trapezoid(lambda y: f(x, y), c, d, intervals),
        a, b, intervals)


# ---- densities ---------------------------------------------------------------

def normal(x, mean=0.0, sd=1.0):
    z = (x - mean) / sd
    return -0.5 * z * z - log(sd) - 0.5 * LOG_2PI


def cdf(x, mean=0.0, sd=1.0):
    return 0.5 * math.erfc(-(x - mean) / sd / sqrt(2))


def student(x, nu, mean=0.0, sd=1.0):
    z = (x - mean) / sd
    return (lgamma((nu + 1) / 2) - lgamma(nu / 2) - 0.5 * log(nu * pi)
            - log(sd) - (nu + 1) / 2 * math.log1p(z * z / nu))


def cauchy(x, mean=0.0, sd=1.0):
    return student(x, 1, mean, sd)


def gamma(x, shape, rate):
    return (shape * log(rate) - lgamma(shape) + (shape - 1) * log(x)
            - rate * x)


def inv_gamma(x, shape, scale):
    return (shape * log(scale) - lgamma(shape) - (shape + 1) * log(x)
            - scale / x)


def log_beta(a, b):
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def beta(x, a, b):
    return (a - 1) * log(x) + (b - 1) * math.log1p(-x) - log_beta(a, b)


def log_choose(n, k):
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def binomial(k, n, p):
    if p in (0, 1):
        return 0.0 if k == n * p else -inf
    return log_choose(n, k) + k * log(p) + (n - k) * math.log1p(-p)


def poisson(k, rate):
    return k * log(rate) - rate - lgamma(k + 1)


def log_sphere(d):
    """The area of the unit sphere in d dimensions."""
    return log(2) + d / 2 * log(pi) - lgamma(d / 2)


# ---- matrices, as lists of rows ----------------------------------------------

def cholesky(a):
    n = len(a)
    low = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            s = a[i][j] - math.fsum(low[i][k] * low[j][k] for k in range(j))
            low[i][j] = sqrt(s) if i == j else s / low[j][j]
    return low


def forward(low, b):
    x = []
    for i, row in enumerate(low):
        x.append((b[i] - math.fsum(row[k] * x[k] for k in range(i))) / row[i])
    return x


def log_det(low):
    return 2 * math.fsum(log(row[i]) for i, row in enumerate(low))


def square(low, b):
    """b' A^-1 b, A = low low'."""
    return math.fsum(v * v for v in forward(low, b))


def multi_normal(y, mean, covariance):
    low = cholesky(covariance)
    return -0.5 * (len(y) * LOG_2PI + log_det(low)
                   + square(low, [a - b for a, b in zip(y, mean)]))


def multi_student(y, nu, covariance):
    """Centred at zero."""
    low, n = cholesky(covariance), len(y)
    return (lgamma((nu + n) / 2) - lgamma(nu / 2) - n / 2 * log(nu * pi)
            - log_det(low) / 2
            - (nu + n) / 2 * math.log1p(square(low, y) / nu))


def gram(x, diagonal, scale=1.0):
    """diagonal * I + scale * x x'."""
    return [[scale * math.fsum(p * q for p, q in zip(a, b))
             + (diagonal if i == j else 0) for j, b in enumerate(x)]
            for i, a in enumerate(x)]


def transpose(x):
    return [list(column) for column in zip(*x)]
