"""truth.py - log evidence and a few means of the everyday programs by quadrature
and by importance sampling, apart from Tempera. Needs numpy and scipy.

    python3 truth.py > truth.json
"""
import json
import os
import sys

import numpy as np
from numpy.polynomial.hermite import hermgauss
from numpy.polynomial.legendre import leggauss
from scipy import optimize, special, stats
from scipy.special import gammaln, log_ndtr, logsumexp

HERE = os.path.dirname(os.path.abspath(__file__))


def data(name):
    with open(os.path.join(HERE, name + ".json")) as f:
        return {k: np.array(v) for k, v in json.load(f).items()}


def grid(low, high, panels, order=8):
    """Nodes and log weights of Gauss-Legendre on equal panels."""
    x, w = leggauss(order)
    half = (high - low) / panels / 2
    centre = low + half * (2 * np.arange(panels) + 1)
    return ((centre[:, None] + half * x).ravel(),
            np.log(np.tile(half * w, panels)))


def change():
    d = data("change")
    y, n = d["y"], int(d["N"])
    # Given `at` the rates' posterior is a sum over the split of the one count
    # that the change falls into.
    total = []
    x, w = grid(0, n, n, 16)
    for at, lw in zip(x, w):
        k = int(at)
        b = at - k
        left, right, m = y[:k].sum(), y[k + 1:].sum(), y[k]
        i = np.arange(m + 1)
        terms = (gammaln(m + 1) - gammaln(i + 1) - gammaln(m - i + 1)
                 + special.xlogy(i, b) + special.xlogy(m - i, 1 - b))
        for count, time in ((left + i, k + b), (right + m - i, n - k - b)):
            terms = terms + gammaln(2 + count) - (2 + count) * np.log(1 + time)
        total.append(lw + logsumexp(terms))
    return logsumexp(total) - np.log(n) - gammaln(y + 1).sum()


def gaussian(y, cov):
    return stats.multivariate_normal(np.zeros(len(y)), cov).logpdf(y)


def sinusoid():
    d = data("sinusoid")
    t, y, n = d["time"], d["y"], int(d["N"])
    f, wf = grid(.05, .5, 300, 6)
    s, ws = grid(np.log(1e-2), np.log(20), 60, 6)
    out = []
    for freq, lw in zip(f, wf):
        A = np.stack([np.cos(2 * np.pi * freq * t),
                      np.sin(2 * np.pi * freq * t)], 1)
        v, U = np.linalg.eigh(A @ A.T)
        p2 = (U.T @ y) ** 2
        sd = np.exp(s)
        var = 4 * np.maximum(v, 0)[:, None] + sd ** 2
        ll = -.5 * (np.log(2 * np.pi * var) + p2[:, None] / var).sum(0)
        out.append(lw + logsumexp(ll - sd + s + ws))
    return logsumexp(out) - np.log(.45)


def schools_centred():
    d = data("schools_centred")
    y, s = d["y"], d["s"]
    u, w = grid(-12, np.log(5e4), 400, 6)
    tau = np.exp(u)
    # mu integrated: y ~ N(0, diag(s^2 + tau^2) + 25)
    out = [gaussian(y, np.diag(s ** 2. + t * t) + 25) for t in tau]
    prior = np.log(2 / (np.pi * 5 * (1 + (tau / 5) ** 2)))
    return logsumexp(np.array(out) + prior + u + w)


def neal_funnel():
    y = data("neal_funnel")["y"]
    v, w = grid(-40, 40, 400)
    var = np.exp(v)[:, None] + 1
    ll = -.5 * (np.log(2 * np.pi * var) + y ** 2 / var).sum(1)
    return logsumexp(ll + stats.norm(0, 3).logpdf(v) + w)


def horseshoe():
    d = data("horseshoe")
    X, y, n = d["X"], d["y"], int(d["N"])
    assert np.allclose(X.T @ X, n * np.eye(X.shape[1]))
    b = X.T @ y / n
    rest = -.5 * ((y - X @ b) ** 2).sum() - .5 * n * np.log(2 * np.pi)
    u, wu = grid(-30, 30, 200, 6)  # log lambda
    lam = np.exp(u)
    plam = np.log(2 / np.pi) - np.log1p(lam ** 2) + u + wu
    q, wq = grid(-25, 25, 200, 6)
    out = []
    for lt, lw in zip(q, wq):
        var = (lam * np.exp(lt)) ** 2 + 1 / n
        each = [logsumexp(plam - .5 * np.log(var * n) - .5 * v * v / var)
                for v in b]
        prior = np.log(2 / (np.pi * .5)) - np.log1p(np.exp(2 * lt) / .25) + lt
        out.append(lw + prior + sum(each))
    return rest + logsumexp(out)


def effects_30():
    d = data("effects_30")
    y, g = d["y"], d["group"] - 1
    G, m = int(d["G"]), 5
    mean = np.array([y[g == k].mean() for k in range(G)])
    within = sum(((y[g == k] - mean[k]) ** 2).sum() for k in range(G))
    t, wt = grid(-16, 3, 80, 6)
    s, ws = grid(-2, 2, 60, 6)
    T, S = np.meshgrid(np.exp(t), np.exp(s), indexing="ij")
    v = T ** 2 + S ** 2 / m  # of a group's mean given mu
    # mu ~ N(0, 25): the mean of means and what is around it
    bar, ss = mean.mean(), ((mean - mean.mean()) ** 2).sum()
    ll = (-.5 * G * (m - 1) * np.log(2 * np.pi * S ** 2) - .5 * within / S ** 2
          - .5 * G * np.log(m) - .5 * (G - 1) * np.log(2 * np.pi * v)
          - .5 * ss / v - .5 * np.log(G)
          + stats.norm.logpdf(bar, 0, np.sqrt(25 + v / G)))
    return logsumexp(ll - T - S + t[:, None] + s + wt[:, None] + ws)


def labels():
    y = data("labels")["y"]
    m, w = grid(-6, 6, 60, 8)
    part = [np.log(p) + stats.norm.logpdf(y[:, None], m, 1) for p in (.4, .6)]
    ll = sum(np.logaddexp(part[0][i][:, None], part[1][i]) for i in range(82))
    prior = stats.norm.logpdf(m, 0, 3) + w
    return logsumexp(ll + prior[:, None] + prior)


def inclusion():
    d = data("inclusion")
    X, y, n = d["X"], d["y"], int(d["N"])
    out = []
    for g in range(1 << 10):
        use = [j for j in range(10) if g >> j & 1]
        out.append(gaussian(y, np.eye(n) + X[:, use] @ X[:, use].T)
                   + len(use) * np.log(.3) + (10 - len(use)) * np.log(.7))
    return logsumexp(out)


def abundance():
    y = data("abundance")["y"]
    rate, wr = grid(1e-9, 40, 60, 8)
    p, wp = grid(0, 1, 40, 8)
    n = np.arange(0, 150)
    total = 0
    pois = stats.poisson.logpmf(n[:, None], rate)  # n x rate
    for row in y:
        b = sum(stats.binom.logpmf(k, n[:, None], p) for k in row)  # n x p
        top = b.max()
        total = total + np.log(np.exp(pois.T) @ np.exp(b - top)) + top
    prior = stats.gamma.logpdf(rate, 2, scale=2) + wr
    return logsumexp(total + prior[:, None] + wp)


# ---- importance sampling: a mixture of t's about optima, refitted to its draws


class Ts:
    def __init__(self, means, covs, weights, nu=5):
        self.parts = [stats.multivariate_t(m, c, nu)
                      for m, c in zip(means, covs)]
        self.weights = np.array(weights) / np.sum(weights)

    def draw(self, n, rng):
        counts = rng.multinomial(n, self.weights)
        return np.concatenate([p.rvs(k, random_state=rng).reshape(k, -1)
                               for p, k in zip(self.parts, counts) if k])

    def log(self, x):
        return logsumexp([np.log(w) + p.logpdf(x)
                          for w, p in zip(self.weights, self.parts)], axis=0)


def importance(f, start, rng, draws=400000, rounds=6, mirrors=None):
    """log of the integral of exp(f) over R^d; f takes rows. mirrors: maps that
    leave f as it is."""
    one = lambda x: -f(x[None])[0]
    best = min((optimize.minimize(one, s, method="Nelder-Mead", options={
        "maxiter": 40000, "maxfev": 40000, "xatol": 1e-6, "fatol": 1e-8,
        "adaptive": True}) for s in start), key=lambda r: r.fun)
    m, d = best.x, len(best.x)
    cov = np.eye(d) * .02
    for r in range(rounds):
        n = draws if r + 1 == rounds else draws // 5
        q = Ts([m], [cov], [1])
        x = q.draw(n, rng)
        w = f(x) - q.log(x)
        z = logsumexp(w) - np.log(n)
        p = np.exp(w - logsumexp(w))
        if r + 1 < rounds:
            flat = np.minimum(p, 20 / n)
            flat /= flat.sum()
            m = flat @ x
            cov = (x - m).T @ ((x - m) * flat[:, None]) + 1e-9 * np.eye(d)
    se = np.std(np.exp(w - z)) / np.sqrt(n)
    return z, se, 1 / (p ** 2).sum(), x, p


def probit_effects():
    d = data("probit_effects")
    y, x, g = d["y"], d["x"], d["group"] - 1
    sign = 2 * y - 1
    e, we = hermgauss(40)
    e, we = np.sqrt(2) * e, np.log(we) - .5 * np.log(np.pi)
    members = [np.flatnonzero(g == k) for k in range(int(d["G"]))]

    def f(rows):
        out = np.empty(len(rows))
        for r, (a, b, lv) in enumerate(rows):
            v = np.exp(lv)
            eta = a + b * x
            lp = log_ndtr(sign[:, None] * (eta[:, None] + np.sqrt(v) * e))
            ll = sum(logsumexp(lp[m].sum(0) + we) for m in members)
            out[r] = (ll + stats.norm.logpdf([a, b], 0, np.sqrt(10)).sum()
                      - 2 * np.log1p(v) + lv)
        return out
    rng = np.random.default_rng(1)
    z, se, ess, _, _ = importance(f, [np.array([0, .5, -1.])], rng,
                                  draws=6000, rounds=5)
    return z, se


def transfection():
    d = data("transfection")
    t, y = d["time"], d["y"]
    low = np.array([-2, -5, -5, -5, -2.])
    high = np.array([1, 5, 5, 5, 2.])

    def f(rows):
        inside = ((rows > low) & (rows < high)).all(1)
        p = 10 ** np.clip(rows, low, high)
        since = np.maximum(t - p[:, :1], 0)
        b, dl = p[:, 2:3], p[:, 3:4]
        gap = np.where(np.abs(b - dl) < 1e-12, 1e-12, b - dl)
        mean = np.where(since > 0, p[:, 1:2] * (
            np.exp(-dl * since) - np.exp(-b * since)) / gap, 0)
        s = p[:, 4]
        ll = (-.5 * len(t) * np.log(2 * np.pi * s ** 2)
              - .5 * ((y - mean) ** 2).sum(1) / s ** 2)
        half = inside & (rows[:, 2] > rows[:, 3])  # the other half is alike
        return np.where(half, ll - np.log(high - low).sum(), -np.inf)
    rng = np.random.default_rng(2)
    start = [np.array([np.log10(2), np.log10(5), np.log10(.8), np.log10(.12),
                       np.log10(.6)])]
    z, se, ess, x, p = importance(f, start, rng)
    return z + np.log(2), se


def factor():
    d = data("factor")
    n, S = int(d["N"]), d["S"]

    def f(rows):
        k = len(rows)
        B = np.zeros((k, 6, 2))
        B[:, 0, 0] = rows[:, 0]
        B[:, 1:, 0] = rows[:, 1:6]
        B[:, 1, 1] = rows[:, 6]
        B[:, 2:, 1] = rows[:, 7:11]
        v = np.exp(rows[:, 11:])
        V = B @ B.transpose(0, 2, 1) + v[:, :, None] * np.eye(6)
        _, logdet = np.linalg.slogdet(V)
        tr = np.trace(np.linalg.solve(V, np.broadcast_to(S, V.shape)),
                      axis1=1, axis2=2)
        ll = -.5 * n * (6 * np.log(2 * np.pi) + logdet) - .5 * tr
        lp = stats.norm.logpdf(rows[:, :11]).sum(1)
        a, b = 1.1, .05
        lp += (a * np.log(b) - gammaln(a) - (a + 1) * rows[:, 11:]
               - b / v + rows[:, 11:]).sum(1)
        # first > 0; second of either sign, its mirror image being the same
        return np.where(rows[:, 0] > 0, ll + lp + np.log(2), -np.inf)
    rng = np.random.default_rng(3)
    start = [np.concatenate([[.9, .8, .7, .6, .2, .1], [.08, .5, .4, .8, .7],
                             np.full(6, np.log(.2))])]
    z, se, ess, x, p = importance(f, start, rng, rounds=12)
    # Twice the normal on half of the line is the normal on all of it, where the
    # proposal has covered one of two mirror images.
    negative = float(p[x[:, 6] < 0].sum())
    return z + np.log(2), se, min(negative, 1 - negative)


if __name__ == "__main__":
    names = sys.argv[1:] or ["change", "sinusoid", "schools_centred",
                             "neal_funnel", "horseshoe", "effects_30",
                             "labels", "inclusion", "abundance",
                             "probit_effects", "transfection", "factor"]
    for name in names:
        print(name, globals()[name](), flush=True)
