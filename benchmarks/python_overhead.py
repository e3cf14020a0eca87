"""What an evaluation costs when the model is a Python function: through the
library, per likelihood evaluation and in the process's own time, beside bare
calls of the same two functions with a mapping; and vectorised with 32 chains,
per point. The prior is drawn from: exploring one would be counted too."""

import time

import numpy as np

import tempera

Y = np.linspace(-1, 1, 20)


def draw(rng):
    return {"mu": rng.normal(), "s": rng.exponential()}


SCALAR = dict(prior_draw=draw, parameters={"mu": "real", "s": ("real", 0, None)},
              prior_normalised=True, seed=1, progress=False, reference=False,
              iterations=1500, warmup=1500)


def likelihood(p):
    z = (Y - p["mu"]) / p["s"]
    return -0.5 * (z @ z) - 20 * np.log(p["s"])


def prior(p):
    return -0.5 * p["mu"] ** 2 - p["s"]


def many_likelihood(p):
    z = (Y - p["mu"][:, None]) / p["s"][:, None]
    return -0.5 * (z * z).sum(axis=1) - 20 * np.log(p["s"])


def timed(function):
    began = time.process_time()
    result = function()
    return time.process_time() - began, result


def evaluations(run):
    return run.json["cost"]["likelihood_evaluations"]


def main():
    points = [{"mu": float(x), "s": 1.0 + i * 1e-6}
              for i, x in enumerate(np.linspace(-1, 1, 20000))]
    bare, _ = timed(lambda: [(prior(p), likelihood(p)) for p in points])
    bare /= len(points)
    table = {"mu": np.linspace(-1, 1, 32), "s": np.ones(32)}
    bare_many, _ = timed(lambda: [(prior(table), many_likelihood(table))
                                  for _ in range(2000)])
    bare_many /= 2000 * 32
    one, run = timed(lambda: tempera.sample(
        log_likelihood=likelihood, log_prior=prior, **SCALAR))
    one /= evaluations(run)
    many, run = timed(lambda: tempera.sample(
        log_likelihood=many_likelihood, log_prior=prior, vectorised=True,
        chains=32, **{**SCALAR, "iterations": 300, "warmup": 300}))
    many /= evaluations(run)
    print(f"a bare call of prior and likelihood      {1e6 * bare:8.2f} us")
    print(f"through the library, per evaluation      {1e6 * one:8.2f} us  "
          f"({one / bare:.2f} times)")
    print(f"bare and vectorised, 32 points, per point {1e6 * bare_many:7.2f} us")
    print(f"vectorised with 32 chains, per evaluation {1e6 * many:7.2f} us  "
          f"({many / bare:.2f} times a bare call)")


main()
