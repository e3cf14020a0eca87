# rstan.R - what rstan needs to compile a program and for one gradient.
#
#   Rscript rstan.R PROGRAM.stan DATA.R
#
# Prints "rstan COMPILE GRADIENT" in seconds. Gradients are counted as leapfrog
# steps of static Hamiltonian Monte Carlo with long trajectories: the rest of a
# step is a few additions per parameter, and R is not in the loop.
if (!suppressMessages(requireNamespace("rstan", quietly = TRUE)))
  quit(status = 3)
arguments <- commandArgs(trailingOnly = TRUE)
rstan::rstan_options(auto_write = FALSE, boost_lib = "/usr/include")
data <- rstan::read_rdump(arguments[2])

# Of processor time, the compiler's included.
seconds <- sum(suppressWarnings(system.time(
  model <- rstan::stan_model(arguments[1], verbose = FALSE)))[-3])

steps <- function(length, draws) {
  fit <- suppressWarnings(rstan::sampling(
    model, data = data, algorithm = "HMC", chains = 1, warmup = 0,
    iter = draws, refresh = 0, seed = 1, init = 0,
    control = list(adapt_engaged = FALSE, metric = "unit_e", stepsize = 1e-6,
                   int_time = 1e-6 * (length + 0.5))))
  rstan::get_elapsed_time(fit)[1, "sample"] / (length * draws)
}

# As many steps as take about half a second; the best of five.
once <- steps(100, 20)
draws <- max(10, ceiling(0.5 / (once * 1000)))
best <- min(replicate(5, steps(1000, draws)))
cat("rstan", seconds, best, "\n")
