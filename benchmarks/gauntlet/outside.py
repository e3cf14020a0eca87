"""outside.py - problems that an outside party thought of, of the kinds that
people fit: mixtures with exchangeable components, integers that nobody saw,
likelihoods with several answers, data on all scales."""
import itertools
import math
from collections import defaultdict
from math import cos, exp, lgamma, log, pi, sqrt

from exact import (LOG_2PI, beta, binomial, cauchy, cdf, cholesky, gamma, gram,
                   inv_gamma, log_beta, log_choose, log_det, log_gauss,
                   log_gauss2, log_sum, log_trapezoid, log_trapezoid2,
                   multi_normal, normal, poisson, square)
from problem import add, noise

MIXTURES, LATENT = "mixtures", "latent integers"
ANSWERS, SCALES = "several answers", "scales"


def chosen(where, what):
    return tuple(x for x, k in zip(what, where) if k)


def dirichlet_terms(counts, a):
    """log of the integral of prod p^n under a symmetric Dirichlet."""
    k, n = len(counts), sum(counts)
    return (lgamma(k * a) - lgamma(k * a + n)
            + sum(lgamma(a + m) - lgamma(a) for m in counts))


def normal_group(v, sd, noise_sd):
    """y_i ~ normal(mu, noise_sd), mu ~ normal(0, sd): completing the square."""
    a, b = len(v) / noise_sd**2 + 1 / sd**2, sum(v) / noise_sd**2
    return (-.5 * len(v) * log(2 * pi * noise_sd**2)
            - .5 * sum(x * x for x in v) / noise_sd**2
            - .5 * log(sd * sd * a) + .5 * b * b / a)


def normal_group_as_one(v, sd, noise_sd):
    """The same as a multivariate normal."""
    return multi_normal(v, [0.0] * len(v), gram(
        [[sd]] * len(v), noise_sd**2)) if v else 0.0


# ---- mixtures ----------------------------------------------------------------

def poisson_mixture(name, y, K, a, b, alpha, quick=False):
    n = len(y)

    def rest(sizes, sums):
        return dirichlet_terms(sizes, alpha) + sum(
            a * log(b) - lgamma(a) + lgamma(a + s) - (a + s) * log(b + m)
            for m, s in zip(sizes, sums))

    def allocations():
        return log_sum(rest(
            [z.count(k) for k in range(K)],
            [sum(v for v, k in zip(y, z) if k == j) for j in range(K)])
            for z in itertools.product(range(K), repeat=n)) - factorials

    def by_state():
        state = {((0, 0),) * K: 1}
        for v in y:
            after = defaultdict(int)
            for s, ways in state.items():
                for j in range(K):
                    after[s[:j] + ((s[j][0] + 1, s[j][1] + v),)
                          + s[j + 1:]] += ways
            state = after
        return log_sum(log(ways) + rest(*zip(*s))
                       for s, ways in state.items()) - factorials
    factorials = sum(lgamma(v + 1) for v in y)
    add(MIXTURES, name, """
data { int N; int K; array[N] int y; }
parameters { simplex[K] theta; vector<lower=0>[K] lambda; }
model {
  theta ~ dirichlet(rep_vector(%g, K));
  lambda ~ gamma(%g, %g);
  for (n in 1:N) {
    vector[K] lps = log(theta);
    for (k in 1:K) lps[k] += poisson_lpmf(y[n] | lambda[k]);
    target += log_sum_exp(lps);
  }
}
""" % (alpha, a, b), {"N": n, "K": K, "y": y}, allocations,
        "sum over allocations", by_state,
        "dynamic programming over sizes and sums", quick=quick)


def topics():
    docs, a = [[1, 1, 2, 1], [3, 3, 2, 3], [1, 3, 3, 1]], .5
    words = [(d, w - 1) for d, line in enumerate(docs) for w in line]

    def allocations():
        return log_sum(
            sum(dirichlet_terms([sum(q == d and k == j for (q, _), k in
                                     zip(words, z)) for j in range(2)], a)
                for d in range(3)) +
            sum(dirichlet_terms([sum(w == v and k == j for (_, w), k in
                                     zip(words, z)) for v in range(3)], a)
                for j in range(2))
            for z in itertools.product(range(2), repeat=len(words)))

    def urn():
        state = {((0,) * 6, (0,) * 6): 1.0}
        for d, w in words:
            after = defaultdict(float)
            for (of_doc, of_word), p in state.items():
                for k in range(2):
                    share = ((a + of_doc[2 * d + k])
                             / (2 * a + sum(of_doc[2 * d:2 * d + 2]))
                             * (a + of_word[3 * k + w])
                             / (3 * a + sum(of_word[3 * k:3 * k + 3])))
                    one, two = list(of_doc), list(of_word)
                    one[2 * d + k] += 1
                    two[3 * k + w] += 1
                    after[tuple(one), tuple(two)] += p * share
            state = after
        return log(sum(state.values()))
    add(MIXTURES, "topics", """
data { int D; int V; int K; int N; array[N] int w; array[N] int doc; }
parameters { array[D] simplex[K] theta; array[K] simplex[V] phi; }
model {
  for (d in 1:D) theta[d] ~ dirichlet(rep_vector(0.5, K));
  for (k in 1:K) phi[k] ~ dirichlet(rep_vector(0.5, V));
  for (n in 1:N) {
    vector[K] g;
    for (k in 1:K) g[k] = log(theta[doc[n], k]) + log(phi[k, w[n]]);
    target += log_sum_exp(g); // @likelihood
  }
}
""", {"D": 3, "V": 3, "K": 2, "N": len(words), "w": [w + 1 for _, w in words],
      "doc": [d + 1 for d, _ in words]}, allocations, "sum over allocations",
        urn, "Polya's urns, word by word", quick=True)


def sticks():
    y, K = [-4.0, -3.5, .2, .5, 4.8, 5.5], 5

    def over(group):
        known = {}

        def part(z, k):
            v = chosen([j == k for j in z], y)
            if v not in known:
                known[v] = group(v, 6, .5) if v else 0.0
            return known[v]
        return log_sum(
            sum(log_beta(1 + z.count(k), 1 + sum(j > k for j in z))
                for k in range(K - 1)) + sum(part(z, k) for k in range(K))
            for z in itertools.product(range(K), repeat=len(y)))
    add(MIXTURES, "sticks", """
data { int N; int K; vector[N] y; }
parameters { vector<lower=0, upper=1>[K - 1] v; vector[K] mu; }
transformed parameters {
  vector[K] w;
  real rest = 1;
  for (k in 1:(K - 1)) { w[k] = rest * v[k]; rest *= 1 - v[k]; }
  w[K] = rest;
}
model {
  v ~ beta(1, 1);
  mu ~ normal(0, 6);
  for (n in 1:N) {
    vector[K] lp;
    for (k in 1:K) lp[k] = log(w[k]) + normal_lpdf(y[n] | mu[k], 0.5);
    target += log_sum_exp(lp);
  }
}
""", {"N": len(y), "K": K, "y": y}, lambda: over(normal_group),
        "sum over allocations to broken sticks",
        lambda: over(normal_group_as_one), "multivariate normal groups")


def spikes_at_data():
    """A component on one datum has an unbounded density, which is integrable:
    half of the posterior is there."""
    y = [-3.1, -2.2, .4, 1.0, 2.9, 4.2]

    def group(v, rule):
        m, mean = len(v), sum(v) / len(v)
        ss = sum((x - mean) ** 2 for x in v)
        return rule(lambda u: u - log(10) - m / 2 * LOG_2PI - m * u
                    - ss / 2 * exp(-2 * u) + .5 * log(2 * pi / m) + u
                    + normal(mean, 0, sqrt(100 + exp(2 * u) / m)), -40,
                    log(10))

    def over(rule):
        known = {}

        def part(v):
            if v not in known:
                known[v] = group(v, rule) if v else 0.0
            return known[v]
        return log_sum(part(chosen(z, y)) + part(chosen([not k for k in z], y))
                       for z in itertools.product((0, 1), repeat=len(y))
                       ) - len(y) * log(2)
    add(MIXTURES, "spikes-at-data", """
data { int N; vector[N] y; }
parameters { vector[2] mu; vector<lower=0, upper=10>[2] sigma; }
model {
  mu ~ normal(0, 10);
  for (n in 1:N)
    target += log_mix(0.5, normal_lpdf(y[n] | mu[1], sigma[1]),
                      normal_lpdf(y[n] | mu[2], sigma[2]));
}
""", {"N": len(y), "y": y}, lambda: over(lambda f, a, b: log_gauss(
            f, a, b, 400)), "allocations, quadrature over log sigma",
        lambda: over(lambda f, a, b: log_trapezoid(f, a, b, 40000)),
        "trapezoid rule", tolerance=1e-3)


def raters():
    y = [[1, 1, 1], [0, 0, 1], [1, 0, 1], [0, 0, 0], [1, 1, 1],
         [0, 1, 0], [1, 1, 0], [0, 0, 0], [1, 1, 1], [0, 0, 0]]

    def exactly(right, wrong):
        return log_beta(4 + right, 2 + wrong) - log_beta(4, 2)

    def numeric(right, wrong):
        return log_gauss(lambda p: beta(p, 4, 2) + right * log(p)
                         + wrong * math.log1p(-p), 0, 1, 8, 8)

    def over(rule):
        known = {}

        def part(counts):
            if counts not in known:
                known[counts] = rule(*counts)
            return known[counts]
        return log_sum(
            log_beta(2 + sum(z), 2 + len(y) - sum(z)) - log_beta(2, 2) + sum(
                part((sum(r[j] == k for r, q in zip(y, z) if q == k),
                      sum(r[j] != k for r, q in zip(y, z) if q == k)))
                for j in range(3) for k in (0, 1))
            for z in itertools.product((0, 1), repeat=len(y)))
    add(MIXTURES, "raters", """
data { int N; int J; array[N,J] int y; }
parameters {
  real<lower=0, upper=1> w;
  matrix<lower=0, upper=1>[2,J] right;
}
model {
  w ~ beta(2, 2);
  to_vector(right) ~ beta(4, 2);
  for (n in 1:N) {
    real one = log(w);
    real zero = log1m(w);
    for (j in 1:J) {
      one += bernoulli_lpmf(y[n, j] | right[1, j]);
      zero += bernoulli_lpmf(y[n, j] | 1 - right[2, j]);
    }
    target += log_sum_exp(one, zero);
  }
}
""", {"N": len(y), "J": 3, "y": y}, lambda: over(exactly),
        "sum over what is true of the items", lambda: over(numeric),
        "quadrature over each rater's share")


def hidden_chain_free():
    y = [.2, -.5, 3.1, 2.7, 3.3, .1, .4, 2.9]

    def over(group):
        def one(path, s):
            pairs = list(zip(path, path[1:]))
            stay = sum(a == b == s for a, b in pairs)
            go = sum(a == s != b for a, b in pairs)
            v = chosen([k == s for k in path], y)
            return log_beta(1 + stay, 1 + go) + (group(v, 5, 1) if v else 0)
        return log_sum(one(p, 0) + one(p, 1) - log(2)
                       for p in itertools.product((0, 1), repeat=len(y)))
    add(MIXTURES, "hidden-chain-free", """
data { int T; vector[T] y; }
parameters { vector[2] mu; vector<lower=0, upper=1>[2] stay; }
model {
  vector[2] lp;
  mu ~ normal(0, 5);
  for (k in 1:2) lp[k] = log(0.5) + normal_lpdf(y[1] | mu[k], 1);
  for (t in 2:T) {
    vector[2] next;
    for (k in 1:2)
      next[k] = log_sum_exp(lp[k] + log(stay[k]),
                            lp[3 - k] + log1m(stay[3 - k]))
                + normal_lpdf(y[t] | mu[k], 1);
    lp = next;
  }
  target += log_sum_exp(lp);
}
""", {"T": len(y), "y": y}, lambda: over(normal_group),
        "sum over all paths", lambda: over(normal_group_as_one),
        "multivariate normal groups")


poisson_mixture("poisson-three", [0, 1, 1, 6, 7, 20, 23, 25], 3, 2, .3, 1)
poisson_mixture("poisson-four-far", [1, 0, 30, 28, 90, 101, 300], 4, 1, .01, 1)
poisson_mixture("poisson-empty", [4, 5, 3, 6, 4], 4, 2, .3, .5)
for make in (topics, sticks, spikes_at_data, raters, hidden_chain_free):
    make()


# ---- latent integers ---------------------------------------------------------

def latent_counts():
    """Bounds cut the numbers' Poisson by a factor that varies: the prior's
    integral is not 1, and it has no draws."""
    y, top = [[3, 5], [0, 1], [7, 4]], 40

    def given(lam, p):
        return sum(log_sum(poisson(n, lam) + sum(binomial(k, n, p) for k in c)
                           for n in range(max(c), top + 1)) for c in y)

    def f(u, v):
        p = 1 / (1 + exp(-v))
        return (gamma(exp(u), 2, .3) + u + beta(p, 2, 2) + log(p * (1 - p))
                + given(exp(u), p))

    def prior(rule):
        return rule(lambda u: gamma(exp(u), 2, .3) + u + 3 * log_sum(
            poisson(n, exp(u)) for n in range(top + 1)), -15, 5, 200)
    box = ((-2, 4.6), (-6, 6))
    add(LATENT, "latent-counts", """
data { int S; int T; array[S,T] int y; }
parameters {
  array[S] int<lower=0, upper=40> N;
  real<lower=0> lambda;
  real<lower=0, upper=1> p;
}
model {
  lambda ~ gamma(2, 0.3);
  p ~ beta(2, 2);
  N ~ poisson(lambda);
  for (s in 1:S) y[s] ~ binomial(N[s], p);
}
""", {"S": 3, "T": 2, "y": y}, lambda: log_gauss2(f, box, 14, 6)
        - prior(log_gauss), "the numbers summed, quadrature over both rates",
        lambda: log_trapezoid2(f, box, 80) - prior(log_trapezoid),
        "trapezoid rule", tolerance=2e-3)


def trials_and_share():
    k, top = [16, 18, 22, 25, 27], 200
    n = range(max(k), top + 1)
    add(LATENT, "trials-and-share", """
data { int M; array[M] int k; int top; }
parameters { int<lower=0, upper=top> N; real<lower=0, upper=1> p; }
model { k ~ binomial(N, p); }
""", {"M": 5, "k": k, "top": top}, lambda: log_sum(
            sum(log_choose(m, v) for v in k)
            + log_beta(1 + sum(k), 1 + 5 * m - sum(k)) for m in n)
        - log(top + 1), "beta-binomial, summed",
        lambda: log_sum(log_gauss(lambda p: sum(
            binomial(v, m, p) for v in k), 0, 1, 120, 6) for m in n)
        - log(top + 1), "quadrature over p", tolerance=1e-4)


def four_visits():
    caught, marked, top = [30, 22, 17, 24], [0, 17, 12, 20], 400
    before = [sum(caught[:t]) - sum(marked[:t]) for t in range(4)]

    def exactly(n, a, b, m):
        return (log_choose(m, b) + log_choose(n - m, a - b)
                + log_beta(1 + a, 1 + n - a))

    def numeric(n, a, b, m):
        return log_gauss(lambda p: binomial(b, m, p)
                         + binomial(a - b, n - m, p), 0, 1, 30, 6)

    def over(rule):
        least = max(m + a - b for a, b, m in zip(caught, marked, before))
        return log_sum(sum(rule(n, *v) for v in zip(caught, marked, before))
                       for n in range(least, top + 1)) - log(top + 1)
    add(LATENT, "four-visits", """
data { int T; array[T] int caught; array[T] int marked; int top; }
transformed data {
  array[T] int M;
  M[1] = 0;
  for (t in 2:T) M[t] = M[t-1] + caught[t-1] - marked[t-1];
}
parameters {
  int<lower=0, upper=top> N;
  vector<lower=0, upper=1>[T] p;
}
model {
  for (t in 1:T) {
    if (N - M[t] < caught[t] - marked[t]) reject("too few");
    marked[t] ~ binomial(M[t], p[t]);
    target += binomial_lpmf(caught[t] - marked[t] | N - M[t], p[t]);
  }
}
""", {"T": 4, "caught": caught, "marked": marked, "top": top},
        lambda: over(exactly), "beta-binomial, summed over the population",
        lambda: over(numeric), "quadrature over each share", tolerance=1e-4)


def potts(R, C, J):
    def by_rows():
        rows = list(itertools.product(range(3), repeat=C))
        inside = [J * sum(a == b for a, b in zip(r, r[1:])) for r in rows]
        v = inside[:]
        for _ in range(R - 1):
            v = [i + log_sum(v[k] + J * sum(a == b for a, b in zip(r, s))
                             for k, s in enumerate(rows))
                 for r, i in zip(rows, inside)]
        return log_sum(v) - R * C * log(3)

    def by_sites():
        state = {(): 0.0}
        for r, c in itertools.product(range(R), range(C)):
            after = defaultdict(list)
            for front, w in state.items():
                for s in range(3):
                    like = (c > 0 and front[-1] == s) + (
                        r > 0 and front[0] == s)
                    after[(front + (s,))[-C:]].append(w + J * like)
            state = {k: log_sum(w) for k, w in after.items()}
        return log_sum(state.values()) - R * C * log(3)
    add(LATENT, "potts-%d" % R, """
data { int R; int C; real J; }
parameters { array[R, C] int<lower=1, upper=3> z; }
model {
  for (r in 1:R) for (c in 1:C) {
    if (c < C) target += J * (z[r, c] == z[r, c + 1]); // @likelihood
    if (r < R) target += J * (z[r, c] == z[r + 1, c]); // @likelihood
  }
}
""", {"R": R, "C": C, "J": J}, by_rows, "transfer matrix, row by row",
        by_sites, "transfer matrix, site by site")


def queens(n):
    found = sum(all(abs(p[i] - p[j]) != j - i for j in range(n)
                    for i in range(j)) for p in itertools.permutations(range(n)))
    add(LATENT, "queens-%d" % n, """
data { int N; }
parameters { array[N] int<lower=1, upper=N> q; }
model {
  for (i in 1:(N - 1)) for (j in (i + 1):N)
    if (q[i] == q[j] || abs(q[i] - q[j]) == j - i)
      target += negative_infinity(); // @likelihood
}
""", {"N": n}, lambda: log(found) - n * log(n), "permutations, one by one",
        lambda: log({5: 10, 6: 4}[n]) - n * log(n), "known: 10 of 5, 4 of 6",
        quick=n == 6)


def positive_groups():
    """The bound cuts the groups' normal by a factor that varies."""
    y = [.3, 1.2, .8, 2.5]

    def hyper(m, u):
        return normal(m, 1, 1) + log(2) + normal(exp(u)) + u

    def whole(m, u):
        s, total = exp(u), hyper(m, u)
        v = s * s + .25
        for x in y:
            total += normal(x, m, sqrt(v)) + log(max(1e-300, cdf(
                (m * .25 + x * s * s) / v / (s * .5 / sqrt(v)))))
        return total

    def prior(m, u):
        return hyper(m, u) + 4 * log(max(cdf(m / exp(u)), 1e-300))
    box = ((-3, 8), (-9, 2))
    add(LATENT, "positive-groups", """
data { int J; vector[J] y; }
parameters { real mu; real<lower=0> tau; vector<lower=0>[J] theta; }
model {
  mu ~ normal(1, 1);
  tau ~ normal(0, 1);
  theta ~ normal(mu, tau);
  y ~ normal(theta, 0.5);
}
""", {"J": 4, "y": y}, lambda: log_gauss2(whole, box, 40)
        - log_gauss2(prior, box, 40),
        "groups integrated, quadrature over their mean and spread",
        lambda: log_trapezoid2(whole, box, 500)
        - log_trapezoid2(prior, box, 500), "trapezoid rule", tolerance=1e-3)


positive_groups()
for make in (latent_counts, trials_and_share, four_visits):
    make()
queens(6)
potts(4, 4, 1.0)


# ---- several answers ---------------------------------------------------------

def two_decays():
    t = [.3, .7, 1.2, 2.0, 3.0, 4.5, 6.0]
    y, s = [3.7, 2.55, 1.75, 1.2, .8, .5, .31], .1

    def squares(u, v):
        x = [[2 * exp(-exp(u) * w), 2 * exp(-exp(v) * w)] for w in t]
        a = [[sum(r[i] * r[j] for r in x) / s**2 + (i == j) for j in range(2)]
             for i in range(2)]
        b = [sum(r[i] * w for r, w in zip(x, y)) / s**2 for i in range(2)]
        low = cholesky(a)
        return (-3.5 * log(2 * pi * s * s) - .5 * sum(w * w for w in y) / s**2
                - .5 * log_det(low) + .5 * square(low, b))

    def whole(u, v):
        return multi_normal(y, [0.0] * 7, gram(
            [[2 * exp(-exp(k) * w) for k in (u, v)] for w in t], s * s))

    def f(u, v, rest):
        return (gamma(exp(u), 1.5, 1) + u + gamma(exp(v), 1.5, 1) + v
                + rest(u, v))
    box = ((-10, 3), (-10, 3))
    add(ANSWERS, "two-decays", """
data { int N; vector[N] t; vector[N] y; }
parameters { vector[2] A; vector<lower=0>[2] k; }
model {
  A ~ normal(0, 2);
  k ~ gamma(1.5, 1);
  y ~ normal(A[1] * exp(-k[1] * t) + A[2] * exp(-k[2] * t), 0.1);
}
""", {"N": 7, "t": t, "y": y}, lambda: log_gauss2(
            lambda u, v: f(u, v, squares), box, 90, 5),
        "heights integrated, quadrature over both rates",
        lambda: log_trapezoid2(lambda u, v: f(u, v, whole), box, 330),
        "multivariate normal, trapezoid rule", tolerance=5e-3)


def aliases():
    n, s, top = 10, .5, 13.0
    t = [float(i) for i in range(1, n + 1)]
    y = [round(1.5 * cos(.9 * v) + .8 * math.sin(.9 * v) + s * e, 3)
         for v, e in zip(t, noise(4, n))]

    def rows(f):
        return [[cos(f * v), math.sin(f * v)] for v in t]

    def whole(f):
        return multi_normal(y, [0.0] * n, gram(rows(f), s * s, 4))

    def squares(f):
        x = rows(f)
        a = [[sum(r[i] * r[j] for r in x) / s**2 + (i == j) / 4
              for j in range(2)] for i in range(2)]
        b = [sum(r[i] * w for r, w in zip(x, y)) / s**2 for i in range(2)]
        low = cholesky(a)
        return (-n / 2 * log(2 * pi * s * s) - .5 * sum(w * w for w in y)
                / s**2 - log(4) - .5 * log_det(low) + .5 * square(low, b))
    add(ANSWERS, "aliases", """
data { int N; vector[N] t; vector[N] y; real top; }
parameters { real<lower=0, upper=top> f; real a; real b; }
model {
  a ~ normal(0, 2);
  b ~ normal(0, 2);
  y ~ normal(a * cos(f * t) + b * sin(f * t), 0.5);
}
""", {"N": n, "t": t, "y": y, "top": top}, lambda: log_gauss(
            whole, 0, top, 800, 5) - log(top),
        "both heights integrated, quadrature over the frequency",
        lambda: log_gauss(squares, 0, top, 1300, 8) - log(top),
        "completing the square, finer")


def circle_ends():
    y = [3.0, -3.05, 3.1, -2.9, 2.8]
    known = {}

    def log_bessel(k):
        if k not in known:
            known[k] = k + log_gauss(lambda t: k * (cos(t) - 1), 0, pi, 60
                                     ) - log(pi)
        return known[k]

    def f(u, m):
        k = exp(u)
        return (-log(2 * pi) + gamma(k, 2, .2) + u - 5 * log(2 * pi)
                + sum(k * cos(v - m) for v in y) - 5 * log_bessel(k))
    box = ((-6, 5), (-pi, pi))
    add(ANSWERS, "circle-ends", """
data { int N; vector[N] y; }
parameters { real<lower=-pi(), upper=pi()> mu; real<lower=0> kappa; }
model { kappa ~ gamma(2, 0.2); y ~ von_mises(mu, kappa); }
""", {"N": 5, "y": y}, lambda: log_gauss2(f, box, 30, 6),
        "quadrature; the mode lies across the bounds",
        lambda: log_trapezoid2(f, box, 300), "trapezoid rule", tolerance=1e-3)


def corr_two_signs():
    b, k = 1.5, 12.0  # one correlation of a uniform 3 x 3 matrix
    add(ANSWERS, "corr-two-signs", """
data { real k; }
parameters { corr_matrix[3] R; }
model { R ~ lkj_corr(1); target += k * square(R[1, 2]); // @likelihood
}
""", {"k": k}, lambda: log_gauss(lambda u: beta(u, b, b)
                                 + k * (2 * u - 1) ** 2, 0, 1, 2000, 8),
        "the correlation's marginal is a beta, quadrature",
        lambda: log_trapezoid(lambda v: k * math.tanh(v / 2) ** 2 + (b) * (
            -v - 2 * math.log1p(exp(-v))) - log_beta(b, b), -40, 40, 8000),
        "trapezoid rule over its logit", tolerance=1e-4)


def corr_above():
    low = .9  # r = cos(t) has the density 2 / pi sin(t)^2 in t
    add(ANSWERS, "corr-above", """
data { real low; }
parameters { corr_matrix[3] R; }
model {
  R ~ lkj_corr(1);
  if (R[1, 2] < low) target += negative_infinity(); // @likelihood
}
""", {"low": low}, lambda: log((math.acos(low) - low * sqrt(1 - low * low))
                               / pi), "a segment of a disc",
        lambda: log_gauss(lambda u: beta(u, 1.5, 1.5), .95, 1, 2000),
        "the correlation's marginal is a beta, quadrature", tolerance=1e-4)


def simplex_corners():
    w = [.2, .3, .1, .4]
    a = [(30, 1, 1, 1, 1), (1, 1, 60, 1, 1), (5,) * 5, (1, 1, 1, 1, 200)]

    def sticks_of(c):
        return sum(log_gauss(lambda p: beta(p, c[i], sum(c[i + 1:])), 0, 1,
                             200, 8) for i in range(4))
    add(ANSWERS, "simplex-corners", """
data { int M; int K; vector[M] w; array[M] vector[K] a; }
parameters { simplex[K] p; }
model {
  vector[M] lp;
  for (m in 1:M) lp[m] = log(w[m]) + dirichlet_lpdf(p | a[m]);
  target += log_sum_exp(lp); // @likelihood
}
""", {"M": 4, "K": 5, "w": w, "a": a}, lambda: lgamma(5),
        "Dirichlet densities against the flat prior", lambda: lgamma(5)
        + log_sum(log(p) + sticks_of(c) for p, c in zip(w, a)),
        "stick by stick")


def spin_ring(d, k):
    def bessel(n):
        return sum(cos(n * t) * exp(k * cos(t)) for t in (
            2 * pi * i / 400 for i in range(400))) / 400

    def matrix():
        n = 200
        row = [exp(k * cos(2 * pi * i / n)) / n for i in range(n)]
        return log(sum(sum(r * cos(2 * pi * i * m / n) for i, r in
                           enumerate(row)) ** d for m in range(n)))
    add(ANSWERS, "spin-ring-%d" % d, """
data { int D; real k; }
parameters { vector<lower=-pi(), upper=pi()>[D] a; }
model {
  for (d in 1:D)
    target += k * cos(a[d] - a[d == D ? 1 : d + 1]); // @likelihood
}
""", {"D": d, "k": k}, lambda: log(sum(bessel(n) ** d for n in range(-40, 41))),
        "Bessel functions, over windings", matrix, "transfer matrix")


def two_phases():
    def f(a, b):
        return (-2 * log(2 * pi) + normal(1.2, cos(a) + cos(b), .05)
                + normal(.3, math.sin(a) * math.sin(b), .05))
    box = ((-pi, pi), (-pi, pi))
    add(ANSWERS, "two-phases", """
data { real c; real s; }
parameters { array[2] real<lower=-pi(), upper=pi()> a; }
model {
  c ~ normal(cos(a[1]) + cos(a[2]), 0.05);
  s ~ normal(sin(a[1]) * sin(a[2]), 0.05);
}
""", {"c": 1.2, "s": .3}, lambda: log_gauss2(f, box, 120, 5), "quadrature",
        lambda: log_trapezoid2(f, box, 700), "trapezoid rule", tolerance=1e-3)


for make in (two_decays, aliases, circle_ends, corr_two_signs, corr_above,
             simplex_corners, two_phases):
    make()
spin_ring(6, 4.0)


# ---- scales ------------------------------------------------------------------

def huge_counts():
    x = [-1.0, -.5, 0, .5, 1.0]
    k = [99123, 121500, 148233, 181902, 221777]

    def f(a, b):
        return normal(a, 0, 10) + normal(b) + sum(
            poisson(c, exp(a + b * u)) for u, c in zip(x, k))
    box = ((11.88, 11.93), (.38, .425))
    add(SCALES, "huge-counts", """
data { int N; vector[N] x; array[N] int k; }
parameters { real a; real b; }
model {
  a ~ normal(0, 10);
  b ~ normal(0, 1);
  k ~ poisson_log(a + b * x);
}
""", {"N": 5, "x": x, "k": k}, lambda: log_gauss2(f, box, 30, 6), "quadrature",
        lambda: log_trapezoid2(f, box, 200), "trapezoid rule", tolerance=1e-4)


def scale_1e8():
    y = [1e8 + v for v in (1203.0, -410, 88, 990, 1520, -77)]
    mean = sum(y) / 6
    ss = sum((v - mean) ** 2 for v in y)

    def f(u):
        return (log(2) + cauchy(exp(u), 0, 1e7) + u - 3 * LOG_2PI - 6 * u
                - ss / 2 * exp(-2 * u) + .5 * log(2 * pi / 6) + u
                + normal(mean, 0, math.hypot(1e9, exp(u) / sqrt(6))))
    add(SCALES, "scale-1e8", """
data { int N; vector[N] y; }
parameters { real mu; real<lower=0> sigma; }
model {
  mu ~ normal(0, 1e9);
  sigma ~ cauchy(0, 1e7);
  y ~ normal(mu, sigma);
}
""", {"N": 6, "y": y}, lambda: log_gauss(f, 2, 30, 600),
        "the mean integrated, quadrature over log sigma",
        lambda: log_trapezoid(f, 2, 30, 8000), "trapezoid rule", quick=True)


def raw_prior_far():
    y = 1e5 + 700.0
    add(SCALES, "raw-prior-far", """
data { real y; }
parameters { real x; }
model {
  target += log_sum_exp(log(0.5) - 0.5 * square((x - 1e5) / 1e3) - log(1e3),
                        log(0.5) - 0.5 * square((x + 2e5) / 5e3) - log(5e3)); // @prior
  y ~ normal(x, 2e3);
}
""", {"y": y}, lambda: log(.5) + normal(y, 1e5, sqrt(5) * 1e3),
        "a normal convolution; the other mode is 150 sds away",
        lambda: log_gauss(lambda x: log(.5) + normal(x, 1e5, 1e3)
                          + normal(y, x, 2e3), 9e4, 1.1e5, 400), "quadrature")


def slab_each():
    y, wide, narrow = [.3, -2.5, 2.0, .1, 3.0], 5, 1e-3

    def numeric(v, s):
        return log_trapezoid(lambda u: normal(u) + normal(v, s * u), -9, 9)
    add(SCALES, "slab-each-5", """
data { int D; vector[D] y; }
parameters { vector[D] x; }
model {
  for (d in 1:D)
    target += log_mix(0.5, normal_lpdf(x[d] | 0, 0.001),
                      normal_lpdf(x[d] | 0, 5));
  y ~ normal(x, 1);
}
""", {"D": 5, "y": y}, lambda: sum(log_sum(
            (normal(v, 0, math.hypot(1, narrow)),
             normal(v, 0, math.hypot(1, wide)))) - log(2) for v in y),
        "normal convolutions", lambda: sum(log_sum(
            (numeric(v, narrow), numeric(v, wide))) - log(2) for v in y),
        "trapezoid rule")


def separated():
    x = [-2.0, -1.2, -.7, .4, 1.1, 2.5]

    def logit(e):
        return -math.log1p(exp(-e)) if e > -30 else e

    def f(u, v):
        a, b = 2.5 * math.sinh(u), 2.5 * math.sinh(v)
        return (cauchy(a, 0, 2.5) + cauchy(b, 0, 2.5)
                + 2 * log(2.5) + log(math.cosh(u)) + log(math.cosh(v))
                + sum(logit((a + b * w) * (1 if w > 0 else -1)) for w in x))
    box = ((-18, 18), (-18, 18))
    add(SCALES, "separated-cauchy", """
data { int N; vector[N] x; array[N] int y; }
parameters { real a; real b; }
model {
  a ~ cauchy(0, 2.5);
  b ~ cauchy(0, 2.5);
  y ~ bernoulli_logit(a + b * x);
}
""", {"N": 6, "x": x, "y": [0, 0, 0, 1, 1, 1]}, lambda: log_gauss2(
            f, box, 50, 6), "quadrature over asinh of both",
        lambda: log_trapezoid2(f, box, 300), "trapezoid rule", tolerance=1e-3)


def one_shift():
    """A jump there and back: no single change explains it."""
    y = [.1, -.2, .3, 5.0, 5.2, 4.9, .2, -.1, .0, .3, 5.1]

    def conjugate(groups):
        n, b, total = len(y), 1.0, 0.0
        for g in groups:
            m, mean = len(g), sum(g) / len(g)
            b += (.5 * sum((v - mean) ** 2 for v in g)
                  + .05 * m * mean**2 / (.1 + m))
            total += .5 * log(.1 / (.1 + m))
        return (total + lgamma(2 + n / 2) - (2 + n / 2) * log(b)
                - n / 2 * LOG_2PI)

    def numeric(groups):
        return log_gauss(lambda u: inv_gamma(exp(u), 2, 1) + u + sum(
            normal_group(g, sqrt(10 * exp(u)), exp(u / 2)) for g in groups),
            -8, 6, 60)

    def over(rule):
        return log_sum(rule([y[:k], y[k:]]) for k in range(1, len(y))
                       ) - log(len(y) - 1)
    add(SCALES, "shift-two-places", """
data { int T; vector[T] y; }
parameters { int<lower=1, upper=T-1> tau; vector[2] mu; real<lower=0> v; }
model {
  v ~ inv_gamma(2, 1);
  mu ~ normal(0, sqrt(v / 0.1));
  for (t in 1:T) y[t] ~ normal(mu[t <= tau ? 1 : 2], sqrt(v));
}
""", {"T": len(y), "y": y}, lambda: over(conjugate),
        "normal and inverse gamma are conjugate", lambda: over(numeric),
        "quadrature over log v")


for make in (huge_counts, scale_1e8, raw_prior_far, slab_each, separated,
             one_shift):
    make()
