"""problems.py - the problems of peers.py: a program, data by fixed rules, and log Z
where it is known. Programs are written so that rstan 2.21 reads them too."""
import json
import math
import os
import random

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "..", "..")


def logit(x):
    return 1 / (1 + math.exp(-x))


def logistic():
    r, n, k = random.Random(1), 500, 25
    beta = [r.gauss(0, .5) for _ in range(k)]
    x = [[r.gauss(0, 1) for _ in range(k)] for _ in range(n)]
    y = [int(r.random() < logit(sum(a * b for a, b in zip(row, beta))))
         for row in x]
    return {"N": n, "K": k, "x": x, "y": y}


def item_response():
    r, i, j = random.Random(2), 20, 100
    a = [math.exp(r.gauss(0, .5)) for _ in range(i)]
    b = [r.gauss(0, 1) for _ in range(i)]
    theta = [r.gauss(0, 1) for _ in range(j)]
    return {"I": i, "J": j,
            "y": [[int(r.random() < logit(a[k] * (t - b[k]))) for t in theta]
                  for k in range(i)]}


def radon():
    r, n, j = random.Random(3), 919, 85
    county = sorted(r.randrange(j) for _ in range(n))
    uranium = [r.gauss(0, .4) for _ in range(j)]
    alpha = [1.4 + .7 * u + r.gauss(0, .2) for u in uranium]
    ground = [int(r.random() < .17) for _ in range(n)]
    return {"N": n, "J": j, "county": [c + 1 for c in county],
            "floor_measure": ground, "uranium": uranium,
            "log_radon": [alpha[c] - .6 * f + r.gauss(0, .7)
                          for c, f in zip(county, ground)]}


def gaussian_process():
    r, n = random.Random(4), 50
    x = [-2 + 4 * (i + .5) / n for i in range(n)]
    return {"N": n, "x": x, "y": [math.sin(2 * v) + .3 * r.gauss(0, 1)
                                  for v in x]}


def markov():
    r, state, y = random.Random(5), 0, []
    for _ in range(100):
        state = state if r.random() < .8 else 1 - state
        y.append(r.gauss((3, 9)[state], 1))
    return {"N": 100, "y": y}


def garch():
    r, s, y = random.Random(6), 1.0, []
    for _ in range(200):
        y.append(r.gauss(.5, s))
        s = math.sqrt(.3 + .3 * (y[-1] - .5) ** 2 + .4 * s * s)
    return {"T": 200, "y": y, "sigma1": 1.0}


def gaussian():
    r = random.Random(7)
    return {"D": 100, "y": [r.gauss(0, math.sqrt(1.25)) for _ in range(100)]}


def lotka_volterra():
    hare = [30, 47.2, 70.2, 77.4, 36.3, 20.6, 18.1, 21.4, 22, 25.4, 27.1, 40.3,
            57, 76.6, 52.3, 19.5, 11.2, 7.6, 14.6, 16.2, 24.7]
    lynx = [4, 6.1, 9.8, 35.2, 59.4, 41.7, 19, 13, 8.3, 9.1, 7.4, 8, 12.3,
            19.5, 45.7, 51.1, 29.7, 15.8, 9.7, 10.1, 8.6]
    return {"N": 20, "ts": list(range(1, 21)), "y_init": [hare[0], lynx[0]],
            "y": [[h, l] for h, l in zip(hare[1:], lynx[1:])]}


def paper(name):
    def read():
        with open(os.path.join(TOP, "models", "paper", name)) as file:
            return json.load(file)
    return read


def schools():
    return {"J": 8, "y": [28, 8, -3, 7, -1, 1, 18, 12],
            "sigma": [15, 10, 16, 11, 9, 11, 10, 18],
            "s": [15, 10, 16, 11, 9, 11, 10, 18]}


def gaussian_truth():
    return math.fsum(-.5 * y * y / 1.25 - .5 * math.log(2 * math.pi * 1.25)
                     for y in gaussian()["y"])


# name: program, data, log Z or None, peers that can do it
PROBLEMS = {
    "bimodal": ("models/paper/bimodal.stan", paper("bimodal-1555.json"),
                -39.2012, {"rstan", "jags", "mcmcpack", "emcee"}),
    "galaxy-3": ("models/paper/galaxy.stan", paper("galaxy-3.json"),
                 -226.780, {"rstan"}),
    "galaxy-5": ("models/paper/galaxy.stan", paper("galaxy-5.json"),
                 None, {"rstan"}),
    "sir": ("models/paper/sir.stan", paper("eyam.json"), -343.989, set()),
    "schools-centred": ("benchmarks/everyday/schools_centred.stan", schools,
                        -31.31135, {"rstan", "jags"}),
    "schools": ("benchmarks/programs/eight_schools.stan", schools, None,
                {"rstan", "jags"}),
    "logistic": ("benchmarks/peers/logistic.stan", logistic, None,
                 {"rstan", "jags", "mcmcpack"}),
    "radon": ("benchmarks/programs/radon.stan", radon, None, {"rstan", "jags"}),
    "item-response": ("benchmarks/peers/item_response.stan", item_response,
                      None, {"rstan", "jags"}),
    "gaussian-process": ("benchmarks/programs/gaussian_process.stan",
                         gaussian_process, None, {"rstan"}),
    "markov": ("benchmarks/peers/markov.stan", markov, None, {"rstan"}),
    "garch": ("benchmarks/peers/garch.stan", garch, None, {"rstan", "jags"}),
    "two-modes": ("benchmarks/peers/two_modes.stan",
                  lambda: {"D": 10, "zero": [0] * 10}, -36.8888,
                  {"rstan", "emcee"}),
    "gaussian-100": ("benchmarks/peers/gaussian.stan", gaussian,
                     gaussian_truth(), {"rstan", "jags", "emcee"}),
    "lotka-volterra": ("benchmarks/peers/lotka_volterra.stan", lotka_volterra,
                       None, {"rstan"}),
}
