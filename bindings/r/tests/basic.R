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

powers <- short(stan, list(n = 4L, y = y), at_tau = c(0.5, 0.25))
stopifnot(file.exists(file.path(powers$folder, c("at-tau-0.5-1.csv",
                                                 "at-tau-0.25-4.csv"))))

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
asked <- integer()
d <- f(log_likelihood = function(p) {
  asked <<- c(asked, length(p$mu))
  vapply(p$mu, function(mu) like(list(mu = mu)), 0)
}, vectorised = TRUE)
stopifnot(identical(b$draws, d$draws), identical(b$logml, d$logml),
          4 %in% asked) # chains; the bridge has more at once
e <- f(log_likelihood = like, method = "mh",
       prior_draw = function() list(mu = rnorm(1, 0, 2)))
stopifnot(abs(mean(e$draws) - 20 / 17) < 0.3)

# Every kind of parameter.
seen <- NULL
k <- short(method = "mh", reference = FALSE, parameters = list(x = "real", s = list("real", 0, NULL),
                             k = list("int", 0, 3), p = list("simplex", 3),
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
fails("no value zz", plot(a, "zz"))
fails("no model", sample_model("nowhere.stan"))
fails("holds no run", resume_run("nowhere"))
fails("made with functions", resume_run(b))
fails("must not be NA", short(stan, list(n = 4L, y = c(1, NA))))

# Comparing.
found <- compare(program = a, functions = b)
stopifnot(abs(found$log_bayes_factors["program", "functions"] -
                (a$logml - b$logml)) < 1e-12,
          abs(sum(found$probability) - 1) < 1e-12)

fractional <- compare(a, f(log_likelihood = like, observations = 4),
                      fraction = 0.25, html = page <- tempfile())
log_z <- function(tau) {
  v <- 1 / 4 + tau * 4
  -tau * 2 * log(2 * pi) - log(2) - log(v) / 2 - tau * sum(y^2) / 2 +
    (tau * sum(y))^2 / (2 * v)
}
stopifnot(fractional$kind == "fractional", file.exists(page),
          all(abs(fractional$log_z - log_z(1) + log_z(0.25)) <
                4 * fractional$se))
fails("y: data must not be NA", short(stan, list(n = 2L, y = c(1, NA))))
fails("proper", compare(a, b, by = "fractional"))
fails("choose one of", compare(a, b, by = "magic"))

# Hypotheses, of a program and of functions: Savage-Dickey and odds, exactly.
v <- 1 / (1 / 4 + 4)
m <- v * sum(y)
point <- dnorm(0, m, sqrt(v), log = TRUE) - dnorm(0, 0, 2, log = TRUE)
odds <- qlogis(pnorm(0.5, m, sqrt(v))) - qlogis(pnorm(0.5, 0, 2))
h <- f(log_likelihood = like, prior_draw = function() list(mu = rnorm(1, 0, 2)))
for (run in list(sample_model(stan, list(n = 4L, y = y), seed = 3,
                              iterations = 400, warmup = 300), h)) {
  two <- test_hypothesis(run, c("mu = 0", "mu < 0.5"))
  stopifnot(two[[1]]$kind == "savage-dickey", two[[2]]$kind == "odds",
            abs(two[[1]]$log_bf - point) < 4 * two[[1]]$se,
            abs(two[[2]]$log_bf - odds) < 4 * two[[2]]$se)
}
invisible(capture.output(print(two[[1]])))
fails("nu", test_hypothesis(a, "nu = 0"))
fails("functions", test_hypothesis(h$folder, "mu = 0"))

# A fit made elsewhere: of CSV files.
fit <- fit_evidence(stan, list(n = 4L, y = y),
                    file.path(a$folder, "target-*.csv"))
stopifnot(abs(fit$logml - exact) < 4 * fit$se + 1e-3, inherits(fit, "bridge"),
          grepl("made elsewhere", fit$text))
fails("nowhere", fit_evidence(stan, list(n = 4L, y = y), "nowhere.csv"))

# Calibration.
program <- "data { int N; vector[N] y; } parameters { real mu; }
model { mu ~ normal(0, 1); y ~ normal(mu, 1); }"
sizes <- list(N = 4L, y = rep(0, 4))
place <- tempfile()
some <- calibrate(program, sizes, 4, iterations = 100, chains = 2, seed = 1,
                  output = place)
all <- calibrate(program, sizes, 12, iterations = 100, chains = 2, seed = 1,
                 output = place)
stopifnot(all$calibrated, all$done == 12, "mu" %in% all$p$variable,
          identical(all$ranks$mu[1:4], some$ranks$mu),
          file.exists(file.path(place, "report.html")))
fails("another folder", calibrate(program, sizes, 12, iterations = 100,
                                  chains = 3, seed = 1, output = place))
wrong <- calibrate(sub("(0, 1)", "(3, 1)", program, fixed = TRUE), sizes, 12,
                   iterations = 100, chains = 2, seed = 1, simulate = program)
stopifnot(!wrong$calibrated)

# Programs by themselves, and any program as the model.
checked <- check_model(stan, list(n = 4L, y = y), gradient = TRUE, cost = TRUE)
stopifnot(checked$sound, grepl("100 of 100 draws", checked$text),
          grepl("log prior: 5 slopes agree", checked$text),
          grepl("cost of an evaluation", checked$text))
fails("need the data", check_model(stan, gradient = TRUE))
stopifnot(grepl("likelihood", check_model(stan)$text), check_model(stan)$sound,
          file.exists(compile_model(stan, tempfile(fileext = ".so"))))
fails("line 1, column", check_model("parameters { real x }"))
script <- tempfile(fileext = ".R")
writeLines("y <- c(1.5, 0.5, 2, 1)
input <- file('stdin', 'r')
while (length(line <- readLines(input, 1))) {
  mu <- as.numeric(line)
  cat(sprintf('%.17g %.17g\n', sum(dnorm(y, mu, 1, log = TRUE)),
              dnorm(mu, 0, 2, log = TRUE)))
}", script)
worker <- short(command = paste(file.path(R.home("bin"), "Rscript"), script),
                parameters = list(mu = "real"), workers = 2,
                prior_normalised = TRUE, eval_timeout = 60)
near(worker)
as_asked <- function(...)
  sample_model(command = paste(file.path(R.home("bin"), "Rscript"), script),
               parameters = list(mu = "real"), workers = 1, seed = 2,
               prior_normalised = TRUE, warmup = 40, ...)
whole <- as_asked(iterations = 60)
longer <- resume_run(as_asked(iterations = 30), iterations = 60)
stopifnot(identical(whole$draws, longer$draws), whole$logml == longer$logml)
fails("not for functions", f(log_likelihood = like, eval_timeout = 1))
stopifnot(short(stan, list(n = 4L, y = y), eval_timeout = 60)$logml ==
            short(stan, list(n = 4L, y = y))$logml)
fails("the tank is empty", short(command = "echo the tank is empty >&2; exit 3",
                                 parameters = list(mu = "real")))
fails("belong to command", short(stan, list(n = 4L, y = y), workers = 2))

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
  empty <- brms::brm(dist ~ speed, data = datasets::cars, prior = priors,
                     empty = TRUE)
  brief <- function(...) from_brms(..., seed = 1, iterations = 100, warmup = 100)
  stopifnot(identical(brief(empty)$logml,
                      brief(dist ~ speed, datasets::cars, priors)$logml))
} else cat("brms is not here\n")
cat("all facts hold\n")
