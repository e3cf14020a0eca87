# What can be asked besides a run: hypotheses on its parameters, the evidence of
# fits made elsewhere, whether a model is calibrated, and what a program is.

text_of_model <- function(model) {
  if (length(model) > 1) model <- paste(model, collapse = "\n")
  if (!is_code(model) && !file.exists(model))
    stop("no model ", model, "; text of a program has at least one brace")
  model
}

# What the library needs to open a model with its data.
model_arguments <- function(model, data, include_path) {
  model <- text_of_model(model)
  json <- data_text(data)
  list(code = if (is_code(model)) model, path = if (!is_code(model)) model,
       data = if (is.null(json)) "{}" else json,
       include_path = joined(include_path))
}

test_hypothesis <- function(run, null, seed = 1) {
  if (is.character(run)) run <- load_run(run)
  arguments <- attr(run, "model")
  state <- new.env()
  if (is.null(arguments)) {
    paths <- .Call(r_paths, run$folder)
    if (paths[1] == "")
      stop("the run was made with functions or a command, which are not there ",
           "any more")
    arguments <- model_arguments(paths[1], if (paths[2] != "") paths[2], NULL)
  } else if (!is.null(arguments$functions))
    arguments$call <- caller(arguments$functions, arguments$layout,
                             arguments$vectorised, state)
  found <- tryCatch(.Call(r_test, arguments, run$folder, as.character(null),
                          as.numeric(seed)),
                    error = function(e)
                      stop(if (is.null(state$error)) e else state$error))
  found <- lapply(found, structure, class = "tempera_answer")
  if (length(null) == 1) found[[1]] else found
}

fit_evidence <- function(model, data = NULL, draws, search = FALSE, seed = 1,
                         include_path = NULL, progress = interactive()) {
  files <- unlist(lapply(draws, function(x) {
    found <- sort(Sys.glob(x))
    if (length(found)) found else x
  }))
  arguments <- model_arguments(model, data, include_path)
  found <- .Call(r_evidence, arguments, files, as.numeric(seed), NULL)
  run <- NULL
  if (search) {
    run <- sample_model(model, data, seed = seed, include_path = include_path,
                        progress = progress)
    found <- .Call(r_evidence, arguments, files, as.numeric(seed), run$folder)
  }
  found$search <- run
  found$method <- "tempera"
  structure(found, class = c("tempera_answer", "bridge"))
}

print.tempera_answer <- function(x, ...) {
  cat(x$text, sep = "\n")
  invisible(x)
}

calibrate <- function(model, data, runs = 200, ..., seed = NULL, threads = 0,
                      simulate = NULL, output = NULL,
                      progress = interactive()) {
  code <- function(each) {
    each <- text_of_model(each)
    if (is_code(each)) each else paste(readLines(each), collapse = "\n")
  }
  folder <- if (is.null(output)) tempfile("tempera-") else output
  dir.create(folder, recursive = TRUE, showWarnings = FALSE)
  folder <- normalizePath(folder)
  words <- option_words(list(...))
  found <- .Call(r_calibrate, list(
    codes = vapply(as.list(model), code, ""),
    simulate = if (!is.null(simulate)) code(simulate),
    data = data_text(data), folder = folder, runs = as.numeric(runs),
    threads = as.numeric(threads),
    seed = if (is.null(seed)) -1 else as.numeric(seed),
    option_names = words$names, option_values = words$values,
    progress = isTRUE(progress)))
  all <- from_json(found[2])
  table <- data.frame(variable = vapply(all$parameters, function(p) p$name, ""),
                      p = vapply(all$parameters, function(p) p$p, 0))
  ranks <- lapply(all$parameters, function(p) p$ranks)
  names(ranks) <- table$variable
  structure(list(calibrated = all$calibrated, done = all$done,
                 failed = all$failed, p = table, ranks = ranks,
                 models = all$models, verdict = all$verdict, folder = folder,
                 text = found[1]), class = "tempera_answer")
}

check_model <- function(model, data = NULL, gradient = FALSE, cost = FALSE,
                        include_path = NULL) {
  model <- text_of_model(model)
  program <- is_code(model) || endsWith(model, ".stan")
  if (program && is.null(data) && (gradient || cost))
    stop("gradient and cost need the data (list() for a program without)")
  if (cost && !program) stop("cost is for Stan programs")
  text <- if (program)
    .Call(r_program, if (is_code(model)) model, if (!is_code(model)) model,
          joined(include_path), NULL)
  if (program && is.null(data))
    return(structure(list(text = text, sound = TRUE), class = "tempera_answer"))
  found <- .Call(r_check, model_arguments(model, data, include_path), program,
                 gradient, cost)
  parts <- c(text, found$texts)
  structure(list(text = paste(parts[parts != ""], collapse = "\n"),
                 sound = found$sound), class = "tempera_answer")
}

compile_model <- function(model, output = NULL, include_path = NULL) {
  model <- text_of_model(model)
  .Call(r_program, if (is_code(model)) model, if (!is_code(model)) model,
        joined(include_path), if (is.null(output)) "" else output)
}
