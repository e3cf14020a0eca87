#!/usr/bin/env python3
"""nested.py - what a nested sampler of 500 live points would make of the
gauntlet's narrow peaks, by simulation; prints the table of docs/methods.md.

Two normals against a normal or flat prior: above a log likelihood l the prior's
mass is that of two balls, exactly (noncentral chi-square, or volumes), which
are apart from where it matters on. A live point that replaces the lowest lies
in the peak's ball with that ball's share. *Perfect*: new points are exact draws
above l, wherever they are. *Local*: they come from where live points are, as
those of ellipsoids and walks do: the peak is met anew only while it lies in the
ball of the broad part, widened by 6 % in radius, and later in proportion to
the live points it holds. A run ends when what the
live points can still add is below a hundredth of what it has."""
import math
import random
from math import exp, inf, lgamma, log, pi, sqrt

import peaks  # noqa: F401
from problem import PROBLEMS

LIVE, RUNS, MANY, WIDER = 500, 50, 100, 1.06


def log_gamma_p(a, x):
    """log of the regularised lower incomplete gamma function."""
    if x <= 0:
        return -inf
    if x > a + 40 + 12 * sqrt(a):
        return 0.0
    term, total, k = 1.0, 1.0, a
    while term > 1e-17 * total:
        k += 1
        term *= x / k
        total += term
    return min(0.0, a * log(x) - x - lgamma(a + 1) + log(total))


def log_ball(d, far, r, S, box):
    """log prior mass of the ball of radius r at distance `far` from 0."""
    if r <= 0:
        return -inf
    if box:
        return min(0.0, d / 2 * log(pi) - lgamma(d / 2 + 1) + d * log(r / 2 / S))
    half, x = (far / S) ** 2 / 2, (r / S) ** 2 / 2
    terms = [log_gamma_p(d / 2 + j, x) - half + (
        j * log(half) - lgamma(j + 1) if half else (0 if j == 0 else -inf))
        for j in range(int(half + 12 * sqrt(half + 1)) + 20)]
    top = max(terms)
    return top + log(sum(exp(t - top) for t in terms))


class Part:
    def __init__(self, data, k):
        self.d, self.S = data["D"], data["S"]
        self.mean, self.s = data["m"][k], data["s"][k]
        self.far = math.hypot(*self.mean)
        self.top = log(data["w"][k]) - self.d * log(self.s * sqrt(2 * pi))

    def radius(self, level):
        return self.s * sqrt(2 * max(0.0, self.top - level))

    def log_mass(self, level, box):
        return log_ball(self.d, self.far, self.radius(level), self.S, box)


def split_level(narrow, broad):
    """Of the broad part where the narrow one stands: the peak's basin, in which
    it exceeds the broad part, is about the ball above this level."""
    apart = math.dist(narrow.mean, broad.mean)
    return broad.top - (apart / broad.s) ** 2 / 2


def ladder(narrow, broad, box):
    """By level: log mass of the broad part, of the peak's basin, and whether the
    peak lies where the broad part's live points are."""
    apart, split = math.dist(narrow.mean, broad.mean), split_level(narrow, broad)
    steps, level = [], broad.top - 2000.0
    while level < broad.top - 1e-6:
        steps.append((broad.log_mass(level, box),
                      narrow.log_mass(max(level, split), box),
                      apart < WIDER * broad.radius(level), level))
        level += max(1e-6, .01 * (broad.top - level))
    return steps


def simulate(steps, top, local, source):
    """Does the peak hold live points when the run ends, or MANY before?"""
    log_x, log_z, k, peak = 0.0, -inf, 0, []
    for i in range(10 ** 6):
        if i >= LIVE:
            log_x -= source.expovariate(LIVE)
        while k + 1 < len(steps) and steps[k][0] > log_x:
            k += 1
        basin, near, level = steps[k][1:]
        before = len(peak)
        peak = [v for v in peak if v <= basin]
        share = (len(peak) / LIVE if local and not near else
                 1 / (1 + exp(min(700, max(log_x, -1e9) - basin))))
        for _ in range(1 + before - len(peak)):
            if source.random() < share:
                peak.append(basin + log(1 - source.random()))
        add = level + log_x - log(LIVE)
        log_z = (max(log_z, add) + math.log1p(exp(-abs(log_z - add)))
                 if log_z > -inf else add)
        if len(peak) >= MANY or k + 1 == len(steps) or \
                (i > LIVE and top + log_x < log_z - log(100)):
            break
    return bool(peak)


# ---- two peaks on one broad part --------------------------------------------

def ladder_of_all(peaks, broad, box):
    """By level: log mass of all, and of each peak's basin, with whether it lies
    where the broad part's live points are."""
    tops = [broad.top] + [p.top for p in peaks]
    splits = [split_level(p, broad) for p in peaks]
    steps, level = [], broad.top - 2000.0
    while level < max(tops) - 1e-6:
        basins = [p.log_mass(max(level, split), box)
                  for p, split in zip(peaks, splits)]
        near = [math.dist(p.mean, broad.mean) < WIDER * broad.radius(level)
                for p in peaks]
        whole = [broad.log_mass(level, box)] + basins
        top = max(whole)
        steps.append((top + log(sum(exp(v - top) for v in whole)), basins,
                      near, level))
        level += max(1e-6, .01 * min((t - level for t in tops if t > level),
                                     default=1))
    return steps


def simulate_all(steps, tops, local, source):
    """Which peaks hold live points when the run ends, or held MANY before?"""
    log_x, log_z, k = 0.0, -inf, 0
    live, met = [[] for _ in tops[1:]], [False for _ in tops[1:]]
    for i in range(10 ** 6):
        if i >= LIVE:
            log_x -= source.expovariate(LIVE)
        while k + 1 < len(steps) and steps[k][0] > log_x:
            k += 1
        whole, basins, near, level = steps[k]
        before = sum(map(len, live))
        live = [[v for v in p if v <= b] for p, b in zip(live, basins)]
        shares = [len(p) / LIVE if local and not n else exp(b - whole)
                  for p, b, n in zip(live, basins, near)]
        for _ in range(1 + before - sum(map(len, live))):
            u = source.random()
            for p, b, share in zip(live, basins, shares):
                if u < share:
                    p.append(b + log(1 - source.random()))
                    break
                u -= share
        met = [m or len(p) >= MANY for m, p in zip(met, live)]
        add = level + log_x - log(LIVE)
        log_z = (max(log_z, add) + math.log1p(exp(-abs(log_z - add)))
                 if log_z > -inf else add)
        top = max([tops[0]] + [t for t, m in zip(tops[1:], met) if m])
        if all(met) or k + 1 == len(steps) or (
                i > LIVE and top + log_x < log_z - log(100)):
            break
    return [m or bool(p) for m, p in zip(met, live)]


def several(p):
    """A line for each peak of a problem that has more than one."""
    parts = sorted((Part(p.data, k) for k in range(p.data["K"])),
                   key=lambda part: -part.s)
    broad, peaks = parts[0], parts[1:]
    steps, source = ladder_of_all(peaks, broad, False), random.Random(5)
    runs = [[simulate_all(steps, [q.top for q in parts], local, source)
             for _ in range(RUNS)] for local in (False, True)]
    for k, peak in enumerate(peaks):
        print("| %s, sd %g | %.0e | %d of %d | %d of %d |" % (
            p.name, peak.s, exp(steps[0][1][k]), sum(r[k] for r in runs[0]),
            RUNS, sum(r[k] for r in runs[1]), RUNS), flush=True)


def main():
    print("| problem | the basin's share of the prior | perfect | local |\n"
          "|---|---|---|---|")
    for p in PROBLEMS:
        if p.name == "three-nested-4":
            several(p)
        if p.kind not in ("spikes", "unequal modes") or p.data["K"] != 2 or \
                "concentric" in p.name:
            continue
        box = "lower" in p.program.split("parameters")[1].split("}")[0]
        a, b = (Part(p.data, k) for k in (0, 1))
        narrow, broad = (a, b) if a.s < b.s else (b, a)
        if narrow.s == broad.s:
            continue
        steps, source = ladder(narrow, broad, box), random.Random(5)
        found = [sum(simulate(steps, broad.top, local, source)
                     for _ in range(RUNS)) for local in (False, True)]
        print("| %s | %.0e | %d of %d | %d of %d |" % (
            p.name, exp(steps[0][1]), found[0], RUNS, found[1], RUNS),
            flush=True)


if __name__ == "__main__":
    main()
