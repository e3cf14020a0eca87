# jags.R - JAGS on one of the problems of problems.py, for peers.py.
#
#   Rscript jags.R PROBLEM DATA.json SEED
#
# 4 chains: 1000 sweeps to adapt, 1000 to burn in, 5000 kept. bridgesampling where
# the log posterior is written below, as its users must. Prints a line of JSON.
# Effective sizes are rstan's where it is there, as for the other tools.
absent <- Filter(function(p) !suppressMessages(requireNamespace(p, quietly = TRUE)),
                 c("rjags", "jsonlite", "rstan", "bridgesampling"))
if (length(absent)) {
  cat(sprintf('{"absent": "%s"}\n', paste(absent, collapse = ", ")))
  quit(status = 0)
}
suppressMessages(library(rjags))
suppressMessages(load.module("glm")) # or logistic regressions take minutes
given <- commandArgs(trailingOnly = TRUE)
data <- jsonlite::fromJSON(given[2])
seconds <- function(t) sum(t[c(1, 2, 4, 5)], na.rm = TRUE)
n <- function(x, m, s) dnorm(x, m, s, log = TRUE)

problems <- list(
  bimodal = list(
    model = "model { mu ~ dnorm(0, 1)
      for (i in 1:n) { y[i] ~ dnorm(abs(mu), 1) } }",
    keep = "mu", lower = c(mu = -Inf),
    log_posterior = function(p, data) n(p["mu"], 0, 1) + sum(n(data$y, abs(p["mu"]), 1))),
  schools = list(
    model = "model { mu ~ dnorm(0, 0.04) ; tau ~ dt(0, 0.04, 1) T(0, )
      for (j in 1:J) { eta[j] ~ dnorm(0, 1)
        y[j] ~ dnorm(mu + tau * eta[j], pow(s[j], -2)) } }",
    drop = "sigma", keep = c("mu", "tau", "eta"),
    lower = c(mu = -Inf, tau = 0, setNames(rep(-Inf, 8), sprintf("eta[%d]", 1:8))),
    log_posterior = function(p, data) {
      eta <- p[sprintf("eta[%d]", 1:8)]
      n(p["mu"], 0, 5) + dcauchy(p["tau"], 0, 5, log = TRUE) + sum(n(eta, 0, 1)) +
        sum(n(data$y, p["mu"] + p["tau"] * eta, data$s))
    }),
  `schools-centred` = list(
    model = "model { mu ~ dnorm(0, 0.04) ; tau ~ dt(0, 0.04, 1) T(0, )
      for (j in 1:J) { theta[j] ~ dnorm(mu, pow(tau, -2))
        y[j] ~ dnorm(theta[j], pow(s[j], -2)) } }",
    drop = "sigma", keep = c("mu", "tau", "theta"),
    lower = c(mu = -Inf, tau = 0, setNames(rep(-Inf, 8), sprintf("theta[%d]", 1:8))),
    log_posterior = function(p, data) {
      theta <- p[sprintf("theta[%d]", 1:8)]
      n(p["mu"], 0, 5) + log(2) + dcauchy(p["tau"], 0, 5, log = TRUE) +
        sum(n(theta, p["mu"], p["tau"])) + sum(n(data$y, theta, data$s))
    }),
  logistic = list(
    model = "model { alpha ~ dnorm(0, 0.16)
      for (k in 1:K) { beta[k] ~ dnorm(0, 1) }
      for (i in 1:N) { logit(q[i]) <- alpha + inprod(x[i, ], beta)
        y[i] ~ dbern(q[i]) } }",
    keep = c("alpha", "beta")),
  radon = list(
    model = "model { mu_beta ~ dnorm(0, 0.01)
      for (k in 1:2) { gamma[k] ~ dnorm(0, 0.01) }
      sigma_alpha ~ dnorm(0, 1) T(0, ) ; sigma_beta ~ dnorm(0, 1) T(0, )
      sigma_y ~ dnorm(0, 1) T(0, )
      for (j in 1:J) { beta[j] ~ dnorm(mu_beta, pow(sigma_beta, -2))
        alpha[j] ~ dnorm(gamma[1] + gamma[2] * uranium[j], pow(sigma_alpha, -2)) }
      for (i in 1:N) { log_radon[i] ~ dnorm(alpha[county[i]] +
        beta[county[i]] * floor_measure[i], pow(sigma_y, -2)) } }",
    keep = c("alpha", "beta", "gamma", "mu_beta", "sigma_alpha", "sigma_beta",
             "sigma_y")),
  `item-response` = list(
    model = "model { sigma_a ~ dnorm(0, 1) T(0, ) ; sigma_b ~ dnorm(0, 1) T(0, )
      mu_b ~ dnorm(0, 0.25)
      for (j in 1:J) { theta[j] ~ dnorm(0, 1) }
      for (i in 1:I) { a[i] ~ dlnorm(0, pow(sigma_a, -2))
        b[i] ~ dnorm(mu_b, pow(sigma_b, -2))
        for (j in 1:J) { logit(q[i, j]) <- a[i] * (theta[j] - b[i])
          y[i, j] ~ dbern(q[i, j]) } } }",
    keep = c("theta", "a", "b", "sigma_a", "mu_b", "sigma_b")),
  garch = list(
    model = "model { mu ~ dnorm(0, 0.04) ; alpha0 ~ dnorm(0, 0.25) T(0, )
      alpha1 ~ dunif(0, 1) ; beta1 ~ dunif(0, 1)
      v[1] <- sigma1 * sigma1
      for (t in 2:T) { v[t] <- alpha0 + alpha1 * pow(y[t - 1] - mu, 2) +
        beta1 * v[t - 1] }
      for (t in 1:T) { y[t] ~ dnorm(mu, 1 / v[t]) } }",
    keep = c("mu", "alpha0", "alpha1", "beta1")),
  `gaussian-100` = list(
    model = "model { for (i in 1:D) { x[i] ~ dnorm(0, 1) ; y[i] ~ dnorm(x[i], 4) } }",
    keep = "x", lower = setNames(rep(-Inf, 100), sprintf("x[%d]", 1:100)),
    log_posterior = function(p, data) sum(n(p, 0, 1)) + sum(n(data$y, p, 0.5))))

one <- problems[[given[1]]]
set.seed(as.integer(given[3]))
inits <- lapply(1:4, function(k) list(.RNG.name = "base::Mersenne-Twister",
                                      .RNG.seed = 10L * as.integer(given[3]) + k))
took <- seconds(system.time({
  model <- jags.model(textConnection(one$model), data[setdiff(names(data), one$drop)],
                      inits, n.chains = 4, n.adapt = 1000, quiet = TRUE)
  update(model, 1000, progress.bar = "none")
  draws <- coda.samples(model, one$keep, 5000, progress.bar = "none")
}))
all <- simplify2array(lapply(draws, as.matrix)) # draws, parameters, chains
ess <- function(f) min(apply(all, 2, f))
bridge <- NULL
bridge_seconds <- if (is.null(one$log_posterior)) NA else
  seconds(system.time(bridge <- tryCatch(suppressWarnings(
    bridgesampling::bridge_sampler(
      draws, data = data, log_posterior = one$log_posterior, lb = one$lower,
      ub = setNames(rep(Inf, length(one$lower)), names(one$lower)),
      silent = TRUE)), error = function(e) NULL)))
cat(jsonlite::toJSON(auto_unbox = TRUE, digits = 10, na = "null", list(
  seconds = took, bridge_seconds = bridge_seconds,
  bulk = ess(rstan::ess_bulk), tail = ess(rstan::ess_tail),
  rhat = max(apply(all, 2, rstan::Rhat)),
  log_z = if (is.null(bridge)) NA else bridge$logml,
  se = if (is.null(bridge)) NA else
    tryCatch(bridgesampling::error_measures(bridge)$cv, error = function(e) NA),
  memory = sum(gc()[, 6]))), "\n", sep = "")
