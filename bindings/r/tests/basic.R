# Facts about the package, against exact answers.
library(tempera)
y <- c(1.5, 0.5, 2, 1)
exact <- local({
  v <- diag(4) + 4
  -0.5 * sum(y * solve(v, y)) - 0.5 * as.numeric(determinant(2 * pi * v)$modulus)
})
near <- function(run) stopifnot(abs(run$logml - exact) < 4 * run$se)
stan <- "data { int n; vector[n] y; } parameters { real mu; }
model { mu ~ normal(0, 2); y ~ normal(mu, 1); }
generated quantities { real twice = 2 * mu; }"
short <- function(...) sample_model(..., seed = 3, iterations = 100,
                                    warmup = 100)

# A program.
a <- short(stan, list(n = 4L, y = y))
near(a)
stopifnot(identical(dimnames(a$draws)[[3]], c("mu", "twice")),
          all(a$draws[, , "twice"] == 2 * a$draws[, , "mu"]),
          identical(dim(a$draws), c(100L, 4L, 2L)),
          inherits(a, "bridge"), is.data.frame(summary(a)),
          "tau__" %in% dimnames(tempered(a))[[3]])
invisible(capture.output(print(a)))
stopifnot(file.exists(report(a, open = FALSE)))
stopifnot(identical(load_run(a$folder)$logml, a$logml))

# Half a run, resumed, is the whole.
half <- sample_model(stan, list(n = 4L, y = y), seed = 3, iterations = 50,
                     warmup = 100)
whole <- resume_run(half, iterations = 100)
stopifnot(identical(whole$draws, a$draws), identical(whole$logml, a$logml))

# Functions, one point and many at a time: the same draws.
like <- function(p) sum(dnorm(y, p$mu, 1, log = TRUE))
prior <- function(p) dnorm(p$mu, 0, 2, log = TRUE)
f <- function(...) short(reference = FALSE, parameters = list(mu = "real"), log_prior = prior,
                         prior_normalised = TRUE, data = list(y = y), ...)
b <- f(log_likelihood = like)
near(b)
most <- 0
d <- f(log_likelihood = function(p) {
  most <<- max(most, length(p$mu))
  vapply(p$mu, function(mu) like(list(mu = mu)), 0)
}, vectorised = TRUE)
stopifnot(identical(b$draws, d$draws), identical(b$logml, d$logml), most == 4)
e <- f(log_likelihood = like, method = "mh",
       prior_draw = function() list(mu = rnorm(1, 0, 2)))
stopifnot(abs(mean(e$draws) - 20 / 17) < 0.3)

# Every kind of parameter.
seen <- NULL
k <- short(method = "mh", parameters = list(x = "real", s = list("real", 0, NULL),
                             k = list("int", 0, 20), p = list("simplex", 3),
                             b = list("real", NA, NA, 5),
                             m = list("real", 0, 1, c(2, 3))),
           log_likelihood = function(p) 0,
           log_prior = function(p) {
             seen <<- p
             dnorm(p$x, p$k, 1, log = TRUE) - p$s - sum(p$b^2)
           })
stopifnot(identical(dim(seen$m), c(2L, 3L)), length(seen$b) == 5,
          abs(sum(seen$p) - 1) < 1e-9, all(variable(k, "s") > 0),
          dim(variable(k, "b"))[3] == 5)

# Errors arrive as they are.
fails <- function(pattern, code) {
  words <- tryCatch({ code; "nothing" }, error = conditionMessage)
  if (!grepl(pattern, words)) stop("wanted ", pattern, ", got ", words)
}
calls <- 0
fails("the tank is empty", f(log_likelihood = function(p) {
  calls <<- calls + 1
  if (calls > 1000) stop("the tank is empty")
  like(p)
}))
fails("must return 1 number", f(log_likelihood = function(p) "much"))
fails("line 1, column", short("parameters { real x }"))
fails("lack", short(stan, list(n = 4L)))
fails("colour", sample_model(stan, list(n = 4L, y = y), colour = "red"))
fails("already holds a run", short(stan, list(n = 4L, y = y),
                                   output = a$folder))
fails("no model", sample_model("nowhere.stan"))
fails("holds no run", resume_run("nowhere"))
fails("made with functions", resume_run(b))
fails("must not be NA", short(stan, list(n = 4L, y = c(1, NA))))

# Comparing.
found <- compare(program = a, functions = b)
stopifnot(abs(found$log_bayes_factors["program", "functions"] -
                (a$logml - b$logml)) < 1e-12,
          abs(sum(found$probability) - 1) < 1e-12)

if (requireNamespace("posterior", quietly = TRUE)) {
  draws <- posterior::as_draws(a)
  stopifnot(posterior::is_draws_array(draws),
            posterior::nchains(draws) == 4,
            abs(as.numeric(posterior::summarise_draws(draws)$mean[1]) -
                  summary(a)$mean[1]) < 1e-12)
  stopifnot(posterior::is_draws_df(posterior::as_draws_df(a)))
} else cat("posterior is not here\n")
if (requireNamespace("bridgesampling", quietly = TRUE)) {
  stopifnot(identical(bridgesampling::logml(a), a$logml))
  bf <- bridgesampling::bf(a, b, log = TRUE)
  stopifnot(abs(bf$bf - (a$logml - b$logml)) < 1e-12)
  stopifnot(abs(sum(bridgesampling::post_prob(as_bridge(a), b)) - 1) < 1e-12)
} else cat("bridgesampling is not here\n")

# What brms makes: log Z of a regression, given sigma a Gaussian integral.
if (requireNamespace("brms", quietly = TRUE)) {
  priors <- c(brms::set_prior("normal(0, 5)", class = "b"),
              brms::set_prior("normal(0, 50)", class = "Intercept"),
              brms::set_prior("exponential(0.1)", class = "sigma"))
  fit <- from_brms(dist ~ speed, datasets::cars, priors, seed = 1)
  dist <- datasets::cars$dist
  x <- datasets::cars$speed - mean(datasets::cars$speed)
  given <- function(sigma) vapply(sigma, function(s) {
    root <- chol(s^2 * diag(50) + 2500 + 25 * outer(x, x))
    -0.5 * sum(backsolve(root, dist, transpose = TRUE)^2) -
      sum(log(diag(root))) - 25 * log(2 * pi) + dexp(s, 0.1, log = TRUE)
  }, 0)
  top <- given(15)
  log_z <- top + log(integrate(function(s) exp(given(s) - top), 1, 100,
                               rel.tol = 1e-8)$value)
  stopifnot(fit$reliable, abs(fit$logml - log_z) < 4 * fit$se)
} else cat("brms is not here\n")
cat("all facts hold\n")
