# rstan.R - what rstan needs to compile a program and for one gradient.
#
#   Rscript rstan.R PROGRAM.stan DATA.R
#
# Prints "rstan COMPILE GRADIENT" in seconds of processor time, the compiler's
# included. Gradients are counted as leapfrog steps of its sampler, which does
# little else: steps are made small, so that trajectories are long. The best of
# four chains, each of about half a second.
if (!suppressMessages(requireNamespace("rstan", quietly = TRUE)))
  quit(status = 3)
arguments <- commandArgs(trailingOnly = TRUE)
rstan::rstan_options(auto_write = FALSE, boost_lib = "/usr/include")
data <- rstan::read_rdump(arguments[2])

seconds <- sum(suppressWarnings(system.time(
  model <- rstan::stan_model(arguments[1], verbose = FALSE)))[-3])

sampled <- function(draws) {
  fit <- suppressWarnings(rstan::sampling(
    model, data = data, chains = 1, warmup = 300, iter = 300 + draws,
    refresh = 0, control = list(adapt_delta = 0.99)))
  steps <- rstan::get_sampler_params(fit, inc_warmup = FALSE)[[1]]
  c(seconds = unname(rstan::get_elapsed_time(fit)[1, "sample"]),
    steps = sum(steps[, "n_leapfrog__"]))
}

pilot <- sampled(50)
draws <- min(5000, max(50, ceiling(50 * 0.5 / pilot["seconds"])))
runs <- replicate(4, sampled(draws))
cat("rstan", seconds, min(runs["seconds", ] / runs["steps", ]), "\n")
