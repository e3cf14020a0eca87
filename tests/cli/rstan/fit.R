# fit.R - how the files here were made, by rstan 2.21 itself. A model with two
# modes, mu and -mu of unequal mass. With weak data its chains go to and fro,
# with strong ones they stay where they began: in both modes, or in one.
library(rstan)
rstan_options(boost_lib = "/usr/include")
program <- stan_model("two.stan")
weak <- list(n = 3, y = c(0.9, 0.2, 0.7))
strong <- list(n = 8, y = c(1.3, 1.1, 0.9, 1.2, 1.4, 1.0, 1.6, 0.8))
fit <- function(name, data, starts) print(sampling(
  program, data, chains = length(starts), cores = 1, iter = 450, warmup = 200,
  init = lapply(starts, function(mu) list(mu = mu, sigma = 0.3)), seed = 20,
  sample_file = name, refresh = 0))
fit("mixed.csv", weak, c(1, -1, 1, -1))
fit("stuck.csv", strong, c(1, -1))
fit("one.csv", strong, c(1, 1))

# Eight schools.
print(sampling(stan_model("schools.stan"), list(J = 8,
  y = c(28, 8, -3, 7, -1, 1, 18, 12), sigma = c(15, 10, 16, 11, 9, 11, 10, 18)),
  chains = 2, cores = 1, iter = 500, warmup = 150, seed = 20,
  sample_file = "schools.csv", refresh = 0))
