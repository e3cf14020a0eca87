#!/usr/bin/env python3
"""How often `tempera test` is wrong about a point without a word (misses), and
how often it warns for nothing (false alarms): posteriors that are mixtures of
normals, a funnel and integers, whose densities are known, points from the
middle of a mode to far outside of all, several seeds.

    savage_dickey.py TEMPERA [--seeds N]

A log Bayes factor is wrong where it is off by more than four of its errors and
0.1; it may be so with a warning, and not without. A warning where it is right is
a false alarm. Where hardly any draw has something to say of a point there is no
number."""
import argparse, json, math, os, subprocess, sys, tempfile
import numpy as np

PROGRAM = """data { int d; int m; array[m] vector[d] c; array[m] matrix[d, d] L;
  vector[m] w; real s; int<lower=0, upper=0> y; }
parameters { vector[d] x; }
model {
  vector[m] part;
  x ~ normal(0, s);
  for (k in 1:m) part[k] = log(w[k]) + multi_normal_cholesky_lpdf(x | c[k], L[k]);
  target += log_sum_exp(part) * (1 + y); // @likelihood
}
"""
FUNNEL = """data { int d; vector[d] y; }
parameters { real t; vector[d] x; }
model { t ~ normal(0, 2); x ~ normal(0, exp(t)); y ~ normal(x, 1); }
"""
INTEGER = """data { int n; vector[n] y; }
parameters { int<lower=0, upper=3> k; real a; real b; }
model { a ~ normal(0, 1); b ~ normal(0, 1); y ~ normal(a + 2 * k + 0.5 * b, 0.3); }
"""


def log_normal(x, mean, v):
    x, mean, v = np.atleast_1d(x), np.atleast_1d(mean), np.atleast_2d(v)
    z = x - mean
    return -0.5 * (len(x) * math.log(2 * math.pi) + np.linalg.slogdet(v)[1]
                   + z @ np.linalg.solve(v, z))


def total(values):
    most = max(values)
    return most + math.log(sum(math.exp(v - most) for v in values))


class Mixture:
    def __init__(self, name, centres, covariances, weights, s=3.0):
        self.name, self.s = name, s
        self.c = [np.array(c, float) for c in centres]
        self.v = [np.array(v, float) for v in covariances]
        self.w = weights
        d = len(self.c[0])
        self.program = PROGRAM
        self.data = {"d": d, "m": len(self.c), "w": list(weights), "s": s,
                     "y": 0, "c": [list(c) for c in self.c],
                     "L": [np.linalg.cholesky(v).tolist() for v in self.v]}
        # the posterior is a mixture of normals too
        self.parts = []
        prior = np.eye(d) * s * s
        for c, v, w in zip(self.c, self.v, weights):
            p = np.linalg.inv(np.linalg.inv(v) + np.eye(d) / s / s)
            self.parts.append((math.log(w) + log_normal(c, 0 * c, v + prior),
                               p @ np.linalg.solve(v, c), p))

    def nulls(self):
        """By x[1] alone at so many sds of the first mode; by two at once."""
        _, m, v = self.parts[0]
        sd = math.sqrt(v[0, 0])
        for z in (0, 1, 2, 3, 4, 6):
            yield [0], [m[0] + z * sd]
        if len(self.parts) > 1:
            other = self.parts[1][1]
            yield [0], [other[0]]
            yield [0], [(m[0] + other[0]) / 2]
        if len(m) > 1:
            for z in (0, 1.5, 3):
                yield [0, 1], [m[0] + z * sd, m[1]]

    def exact(self, which, at):
        at = np.array(at)
        pick = np.ix_(which, which)
        all_ = total([p[0] for p in self.parts])
        posterior = total([p[0] + log_normal(at, p[1][which], p[2][pick])
                           for p in self.parts]) - all_
        return posterior - log_normal(at, 0 * at, np.eye(len(at)) * self.s ** 2)

    def text(self, which, at):
        return ", ".join(f"x[{i + 1}] = {a!r}" for i, a in
                         zip(which, map(float, at)))


class Funnel:
    name, program = "funnel", FUNNEL
    data = {"d": 5, "y": [0.3, -0.8, 1.1, 0.1, -0.4]}
    grid = np.linspace(-14, 10, 48001)

    def nulls(self):
        for t in (-4, -2, -1, 0, 1, 2):
            yield [0], [t]

    def log_f(self, t):
        v = 1 + np.exp(2 * t)
        return -t * t / 8 - 2.5 * np.log(v) - \
            sum(y * y for y in self.data["y"]) / 2 / v

    def exact(self, which, at):
        f = self.log_f(self.grid)
        step = self.grid[1] - self.grid[0]
        log_z = math.log(np.exp(f).sum() * step)
        t = at[0]
        return float(self.log_f(np.array(t)) - log_z) - \
            log_normal(t, 0, 4.0)

    def text(self, which, at):
        return f"t = {float(at[0])!r}"


class Integer:
    name, program = "integer", INTEGER
    data = {"n": 4, "y": [1.9, 2.2, 2.6, 1.7]}

    def parts(self):
        y, v = np.array(self.data["y"]), 0.09
        for k in range(4):
            # y - 2k = a + b/2 + noise, a and b standard normals
            m = np.array([[1, 0.5]] * 4)
            cov = m @ m.T + v * np.eye(4)
            precision = m.T @ m / v + np.eye(2)
            p = np.linalg.inv(precision)
            yield log_normal(y - 2 * k, np.zeros(4), cov), \
                p @ m.T @ (y - 2 * k) / v, p

    def nulls(self):
        for a in (-2, -1, 0, 0.5, 1.5, 3):
            yield [0], [a]
        yield [0, 1], [0.0, 0.0]
        yield [0, 1], [1.5, 0.5]

    def exact(self, which, at):
        parts = list(self.parts())
        pick = np.ix_(which, which)
        posterior = total([p[0] + log_normal(at, p[1][which], p[2][pick])
                           for p in parts]) - total([p[0] for p in parts])
        return posterior - log_normal(at, [0] * len(at), np.eye(len(at)))

    def text(self, which, at):
        return ", ".join(f"{'ab'[i]} = {float(a)!r}" for i, a in zip(which, at))


def correlated(d, rho, scale):
    v = np.full((d, d), rho) + (1 - rho) * np.eye(d)
    return v * scale * scale


PROBLEMS = [
    Mixture("normal-1", [[0.5]], [[[0.04]]], [1]),
    Mixture("normal-5", [[0.5] * 5], [correlated(5, 0, 0.2)], [1]),
    Mixture("correlated-2", [[0.5] * 2], [correlated(2, 0.99, 0.5)], [1]),
    Mixture("correlated-5", [[0.5] * 5], [correlated(5, 0.95, 0.5)], [1]),
    Mixture("ridge-2", [[0.5] * 2], [correlated(2, 0.9999, 0.5)], [1]),
    Mixture("modes-1", [[-1], [2]], [[[0.04]], [[0.09]]], [0.7, 0.3]),
    Mixture("modes-3", [[-1] * 3, [2] * 3],
            [correlated(3, 0.9, 0.3), correlated(3, -0.3, 0.2)], [0.3, 0.7]),
    Mixture("uneven-3", [[-1] * 3, [2] * 3],
            [correlated(3, 0.9, 0.5), correlated(3, 0, 0.1)], [0.98, 0.02]),
    Mixture("wide-narrow", [[0.0] * 2, [0.0] * 2],
            [correlated(2, 0, 0.02), correlated(2, 0, 1)], [0.5, 0.5]),
    Funnel(), Integer(),
]


def run(tempera, problem, seed, folder):
    base = os.path.join(folder, problem.name)
    open(base + ".stan", "w").write(problem.program)
    json.dump(problem.data, open(base + ".json", "w"))
    out = f"{base}-{seed}"
    subprocess.run([tempera, "sample", base + ".stan", "-d", base + ".json",
                    "--seed", str(seed), "--iterations", "2000", "--threads",
                    "1", "--quiet", "-o", out], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    reliable = json.load(open(out + "/summary.json"))["reliable"]
    for which, at in problem.nulls():
        made = subprocess.run([tempera, "test", out, "--null",
                               problem.text(which, at), "--json"],
                              stdout=subprocess.PIPE, check=True).stdout
        yield problem.exact(which, at), json.loads(made), reliable


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tempera")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only")
    parser.add_argument("--verbose", action="store_true")
    asked = parser.parse_args()
    tempera = os.path.abspath(asked.tempera)
    sums = [0] * 6
    with tempfile.TemporaryDirectory() as folder:
        for p in PROBLEMS:
            if asked.only and p.name not in asked.only.split(","):
                continue
            counts = [0] * 6  # asked, number, wrong, missed, warned, false
            for seed in range(1, asked.seeds + 1):
                for exact, t, reliable in run(tempera, p, seed, folder):
                    x, se, warned = t["log_bf"], t["se"], bool(t["warning"])
                    has = x is not None
                    wrong = has and abs(x - exact) > max(0.1, 4 * se)
                    for i, yes in enumerate((True, has, wrong,
                                             wrong and not warned,
                                             has and warned,
                                             has and warned and not wrong)):
                        counts[i] += yes
                    if asked.verbose:
                        print("  %-40s exact %9.4f found %s se %s k %s %s%s" % (
                            t["null"], exact, x, se, t["pareto_k"],
                            "MISSED " if wrong and not warned else
                            "wrong " if wrong else
                            "false alarm " if warned and has else "",
                            t["warning"] or ""), flush=True)
            print("%-14s %4d asked, %4d numbers, wrong %3d, of which without a "
                  "warning %3d; warned %3d, of which for nothing %3d" % (
                      p.name, *counts), flush=True)
            sums = [a + b for a, b in zip(sums, counts)]
    print("%-14s %4d asked, %4d numbers, wrong %3d, of which without a warning "
          "%3d; warned %3d, of which for nothing %3d" % ("all", *sums))


sys.exit(main())
