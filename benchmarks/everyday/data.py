"""data.py - the data of the everyday programs, simulated by Python's own random
numbers at fixed seeds (eight schools: Rubin 1981)."""
import json
import os
import random
from math import cos, erf, exp, pi, sin, sqrt


def numbers(values, digits=3):
    return [round(v, digits) for v in values]


def probit_effects():
    r = random.Random(31)
    group, x, y = [], [], []
    for g in range(31):
        effect = r.gauss(0, .4)
        for _ in range(r.randint(5, 11)):
            weight = round(r.gauss(0, 1), 2)
            p = .5 * (1 + erf((-.3 + .6 * weight + effect) / sqrt(2)))
            group.append(g + 1)
            x.append(weight)
            y.append(int(r.random() < p))
    return {"N": len(y), "G": 31, "y": y, "x": x, "group": group}


def transfection():
    r = random.Random(5)
    time = [round(.5 * i, 2) for i in range(1, 61)]
    beta, delta, product, start = .8, .12, 5, 2
    y = [0 if t < start else product / (beta - delta) *
         (exp(-delta * (t - start)) - exp(-beta * (t - start)))
         for t in time]
    return {"N": 60, "time": time, "y": numbers(v + r.gauss(0, .6) for v in y)}


def factor():
    r = random.Random(17)
    B = [[.9, 0], [.8, .08], [.7, .5], [.6, .4], [.2, .8], [.1, .7]]
    n = 143
    S = [[0] * 6 for _ in range(6)]
    for _ in range(n):
        f = [r.gauss(0, 1), r.gauss(0, 1)]
        v = [b[0] * f[0] + b[1] * f[1] + r.gauss(0, .45) for b in B]
        for i in range(6):
            for j in range(6):
                S[i][j] += v[i] * v[j]
    return {"N": n, "S": [numbers(row) for row in S]}


def schools_centred():
    return {"J": 8, "y": [28, 8, -3, 7, -1, 1, 18, 12],
            "s": [15, 10, 16, 11, 9, 11, 10, 18]}


def neal_funnel():
    r = random.Random(9)
    return {"D": 9, "y": numbers(r.gauss(0, 1.3) for _ in range(9))}


def horseshoe():
    r = random.Random(8)
    rows = [[1]]  # a Hadamard matrix: orthogonal columns, so there is a truth
    while len(rows) < 16:
        rows = ([v + v for v in rows] + [v + [-a for a in v] for v in rows])
    X = [row[1:9] for row in rows]
    beta = [2, 0, 0, -1, 0, 0, .3, 0]
    y = [sum(a * b for a, b in zip(row, beta)) + r.gauss(0, 1) for row in X]
    return {"N": 16, "P": 8, "X": X, "y": numbers(y)}


def effects_30():
    r = random.Random(30)
    group, y = [], []
    for g in range(30):
        effect = r.gauss(1, .5)
        for _ in range(5):
            group.append(g + 1)
            y.append(effect + r.gauss(0, 1))
    return {"N": 150, "G": 30, "y": numbers(y), "group": group}


def change():
    r = random.Random(12)
    y = []
    for i in range(40):
        rate, k, p = (3 if i < 23.4 else 1.2), 0, r.random()
        while p > exp(-rate):
            k, p = k + 1, p * r.random()
        y.append(k)
    return {"N": 40, "y": y}


def sinusoid():
    r = random.Random(21)
    time = numbers(sorted(r.uniform(0, 30) for _ in range(25)), 2)
    return {"N": 25, "time": time, "y": numbers(
        1.1 * cos(2 * pi * .23 * t) - .4 * sin(2 * pi * .23 * t) +
        r.gauss(0, .8) for t in time)}


def labels():
    r = random.Random(82)
    return {"N": 82, "y": numbers(
        r.gauss(-1.5, 1) if r.random() < .4 else r.gauss(1, 1)
        for _ in range(82))}


def inclusion():
    r = random.Random(10)
    X = [[round(r.gauss(0, 1), 2) for _ in range(10)] for _ in range(40)]
    b = [.8, 0, 0, -.5, 0, .3, 0, 0, 0, .2]
    return {"N": 40, "P": 10, "X": X, "y": numbers(
        sum(u * v for u, v in zip(row, b)) + r.gauss(0, 1) for row in X)}


def abundance():
    r = random.Random(24)
    y = []
    for _ in range(24):
        k, q = 0, r.random()
        while q > exp(-4):
            k, q = k + 1, q * r.random()
        y.append([sum(r.random() < .4 for _ in range(k)) for _ in range(4)])
    return {"R": 24, "V": 4, "y": y}


if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    for make in (probit_effects, transfection, factor, schools_centred,
                 neal_funnel, horseshoe, effects_30, change, sinusoid, labels, inclusion,
                 abundance):
        with open(os.path.join(here, make.__name__ + ".json"), "w") as out:
            json.dump(make(), out)
            out.write("\n")
