# rstan.R - rstan and bridgesampling on one program, for peers.py.
#
#   Rscript rstan.R PROGRAM.stan DATA.json CACHE.rds SEED
#
# 4 x (1000 + 1000) at defaults, then bridge_sampler at its defaults. Prints a line of
# JSON. The compiled model is kept in CACHE.rds. Seconds are processor time. `y ~ d(m)`
# is written out as target += d_lpdf(y | m), with which the constants are kept that
# log Z needs.
absent <- Filter(function(p) !suppressMessages(requireNamespace(p, quietly = TRUE)),
                 c("rstan", "bridgesampling", "jsonlite"))
if (length(absent)) {
  cat(sprintf('{"absent": "%s"}\n', paste(absent, collapse = ", ")))
  quit(status = 0)
}
suppressMessages(library(rstan))
given <- commandArgs(trailingOnly = TRUE)
rstan_options(boost_lib = "/usr/include")
seconds <- function(t) sum(t[c(1, 2, 4, 5)], na.rm = TRUE)
compile <- NA
whole <- function(lines) {
  form <- "^(\\s*(?:for \\([^)]*\\)\\s*)?)(\\S.*?) ~ (\\w+)\\((.*)\\)( T\\[0, \\])?;(.*)$"
  sapply(lines, function(line) {
    p <- regmatches(line, regexec(form, line, perl = TRUE))[[1]]
    if (!length(p)) return(line)
    kind <- if (grepl("bernoulli|poisson|binomial", p[4])) "lpmf" else "lpdf"
    cut <- if (nzchar(p[6])) sprintf(" - %s_lccdf(0 | %s)", p[4], p[5]) else ""
    sprintf("%starget += %s_%s(%s | %s)%s;%s", p[2], p[4], kind, p[3], p[5], cut, p[7])
  }, USE.NAMES = FALSE)
}
if (file.exists(given[3])) {
  model <- readRDS(given[3])
} else {
  compile <- seconds(suppressWarnings(system.time(
    model <- stan_model(model_code = paste(whole(readLines(given[1])), collapse = "\n"),
                        verbose = FALSE))))
  saveRDS(model, given[3])
}
data <- jsonlite::fromJSON(given[2])
took <- seconds(system.time(fit <- suppressWarnings(sampling(
  model, data = data, chains = 4, cores = 1, refresh = 0,
  seed = as.integer(given[4])))))
steps <- sum(sapply(get_sampler_params(fit, inc_warmup = TRUE),
                    function(x) sum(x[, "n_leapfrog__"])))
keep <- setdiff(names(fit@par_dims), "lp__")
keep <- keep[!keep %in% c("z", "theta_") ]
draws <- as.array(fit, pars = keep)
ess <- function(f) min(apply(draws, 3, function(x)
  if (length(unique(c(x))) > 1) f(matrix(x, ncol = 4)) else NA), na.rm = TRUE)
bulk <- ess(rstan::ess_bulk)
tail <- ess(rstan::ess_tail)
rhat <- max(apply(draws, 3, function(x)
  if (length(unique(c(x))) > 1) rstan::Rhat(matrix(x, ncol = 4)) else NA), na.rm = TRUE)
bridge <- NULL
bridge_seconds <- seconds(system.time(bridge <- tryCatch(
  suppressWarnings(bridgesampling::bridge_sampler(fit, silent = TRUE)),
  error = function(e) NULL)))
sampling_seconds <- sum(get_elapsed_time(fit))
cat(jsonlite::toJSON(auto_unbox = TRUE, digits = 10, na = "null", list(
  compile = compile, seconds = took, bridge_seconds = bridge_seconds,
  gradients = steps, microseconds = 1e6 * sampling_seconds / steps,
  bulk = bulk, tail = tail, rhat = rhat,
  divergent = get_num_divergent(fit),
  log_z = if (is.null(bridge)) NA else bridge$logml,
  se = if (is.null(bridge)) NA else
    tryCatch(bridgesampling::error_measures(bridge)$cv, error = function(e) NA),
  memory = sum(gc()[, 6]))), "\n", sep = "")
