# mcmcpack.R - MCMCpack on the problems of problems.py that it has, for peers.py.
#
#   Rscript mcmcpack.R PROBLEM DATA.json SEED
#
# The logistic regression by MCMClogit, with its Laplace approximation of log Z;
# densities of few parameters by MCMCmetrop1R. 4 chains of 1000 + 5000. Prints a
# line of JSON.
absent <- Filter(function(p) !suppressMessages(requireNamespace(p, quietly = TRUE)),
                 c("MCMCpack", "jsonlite", "rstan"))
if (length(absent)) {
  cat(sprintf('{"absent": "%s"}\n', paste(absent, collapse = ", ")))
  quit(status = 0)
}
suppressMessages(library(MCMCpack))
given <- commandArgs(trailingOnly = TRUE)
data <- jsonlite::fromJSON(given[2])
seconds <- function(t) sum(t[c(1, 2, 4, 5)], na.rm = TRUE)
log_z <- NA

chain <- function(k) {
  seed <- 10L * as.integer(given[3]) + k
  if (given[1] == "bimodal")
    return(MCMCmetrop1R(function(m) dnorm(m, 0, 1, log = TRUE) +
                          sum(dnorm(data$y, abs(m), 1, log = TRUE)),
                        theta.init = c(-1, 1, -2, 2)[k], burnin = 1000, mcmc = 5000,
                        seed = seed))
  frame <- data.frame(y = data$y, data$x)
  fit <- MCMClogit(y ~ ., data = frame, b0 = 0, B0 = diag(c(0.16, rep(1, data$K))),
                   burnin = 1000, mcmc = 5000, seed = seed,
                   marginal.likelihood = "Laplace")
  log_z <<- attr(fit, "logmarglike")
  fit
}
took <- seconds(system.time(invisible(capture.output(fits <- lapply(1:4, chain)))))
all <- simplify2array(lapply(fits, function(f) matrix(f, ncol = NCOL(f))))
ess <- function(f) min(apply(all, 2, f))
cat(jsonlite::toJSON(auto_unbox = TRUE, digits = 10, na = "null", list(
  seconds = took, bulk = ess(rstan::ess_bulk), tail = ess(rstan::ess_tail),
  rhat = max(apply(all, 2, rstan::Rhat)),
  log_z = if (length(log_z)) as.numeric(log_z)[1] else NA,
  memory = sum(gc()[, 6]))), "\n", sep = "")
