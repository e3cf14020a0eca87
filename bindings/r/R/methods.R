print.tempera_run <- function(x, ...) {
  cat(x$text, sep = "\n")
  invisible(x)
}

summary.tempera_run <- function(object, ...) object$values

plot.tempera_run <- function(x, variables = NULL, ...) {
  names <- dimnames(x$draws)[[3]]
  if (is.null(variables)) variables <- utils::head(names, 6)
  if (!all(variables %in% names))
    stop("no value ", setdiff(variables, names)[1], " in the draws; there are ",
         paste(utils::head(names, 12), collapse = ", "))
  columns <- ceiling(sqrt(length(variables)))
  old <- par(mfrow = c(ceiling(length(variables) / columns), columns))
  on.exit(par(old))
  for (name in variables)
    hist(x$draws[, , name], breaks = 40, main = name, xlab = name, ...)
  invisible(x)
}

as_draws.tempera_run <- function(x, ...) posterior::as_draws_array(x$draws)
as_draws_array.tempera_run <- as_draws.tempera_run
as_draws_df.tempera_run <- function(x, ...) posterior::as_draws_df(x$draws)

as_bridge <- function(run)
  structure(list(logml = run$logml, niter = run$niter, method = "tempera",
                 se = run$se), class = "bridge")

report <- function(run, path = file.path(run$folder, "report.html"),
                   open = interactive()) {
  .Call(r_report, run$folder, path)
  if (open) browseURL(path)
  invisible(path)
}

compare <- function(..., prior_odds = NULL, by = NULL, fraction = NULL,
                    html = NULL) {
  runs <- list(...)
  folders <- vapply(runs, function(run)
    if (is.character(run)) run else run$folder, "")
  names <- names(runs)
  if (is.null(names)) names <- rep("", length(runs))
  names[names == ""] <- paste0("model", seq_along(runs))[names == ""]
  odds <- if (is.null(prior_odds)) NULL else as.numeric(prior_odds)
  if (!is.null(odds) && length(odds) != length(runs))
    stop(length(odds), " prior odds for ", length(runs), " runs")
  kinds <- c("evidence", "fractional", "wbic")
  if (is.null(by)) by <- if (is.null(fraction)) "evidence" else "fractional"
  if (!by %in% kinds)
    stop("by = \"", by, "\": choose one of ", paste(kinds, collapse = ", "))
  found <- .Call(r_compare, unname(folders), names, odds,
                 match(by, kinds) - 1L,
                 if (is.null(fraction)) 0 else as.numeric(fraction), html)
  for (part in c("log_z", "se", "probability")) names(found[[part]]) <- names
  dimnames(found$log_bayes_factors) <- list(names, names)
  found$kind <- by
  structure(found, class = "tempera_comparison")
}

print.tempera_comparison <- function(x, ...) {
  cat(x$text, sep = "\n")
  invisible(x)
}

from_brms <- function(formula, data = NULL, prior = NULL, ...,
                      family = NULL) {
  if (!requireNamespace("brms", quietly = TRUE))
    stop("from_brms needs the package brms; sample_model() takes the program ",
         "and data that make_stancode() and make_standata() write")
  if (inherits(formula, "brmsfit")) {
    code <- brms::stancode(formula)
    made <- brms::standata(formula)
  } else {
    given <- list(formula = formula, data = data, prior = prior)
    if (!is.null(family)) given$family <- family
    code <- do.call(brms::make_stancode, given)
    made <- do.call(brms::make_standata, given)
  }
  sample_model(as.character(code), unclass(made), ...)
}
