# %% [markdown]
# # Two modes, and are there two?
# Cells as editors and Jupyter (through jupytext) know them; as a script it runs
# from top to bottom.

# %% Some data
import numpy as np

import tempera

rng = np.random.default_rng(1)
y = np.concatenate([rng.normal(-2, 1, 12), rng.normal(2, 1, 12)])

# %% A mixture of two, as a Stan program
TWO = """
data { int n; vector[n] y; }
parameters { vector[2] mu; }
model {
  mu ~ normal(0, 3);
  for (i in 1:n)
    target += log_mix(0.5, normal_lpdf(y[i] | mu[1], 1), normal_lpdf(y[i] | mu[2], 1));
}
"""
data = {"n": len(y), "y": y}
two = tempera.sample(TWO, data=data, seed=1, iterations=2000)
print(two.summary())

# %% Both labellings were visited
share = (two["mu"][..., 0] < two["mu"][..., 1]).mean()
print(f"mu[1] is the smaller one in {share:.2f} of the draws")


# %% One normal, as plain Python functions
def normal(x, mean, sd):
    return -0.5 * ((x - mean) / sd) ** 2 - np.log(sd) - 0.5 * np.log(2 * np.pi)


one = tempera.sample(
    parameters={"mu": "real", "sigma": ("real", 0, None)},
    log_likelihood=lambda p: normal(y, p["mu"], p["sigma"]).sum(),
    log_prior=lambda p: normal(p["mu"], 0, 3) - p["sigma"],  # and exponential
    prior_normalised=True, data=data, seed=1, iterations=1000)
print(one.verdict)

# %% Which is it?
found = tempera.compare(one=one, two=two)
print(found)
print(f"log Bayes factor of two against one: "
      f"{found.log_bayes_factor('two', 'one'):.2f}")
