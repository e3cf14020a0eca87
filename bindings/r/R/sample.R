is_code <- function(model) grepl("[{\n]", model)

# Options of the command, with underscores; values as words.
option_words <- function(options) {
  options <- Filter(Negate(is.null), options)
  words <- vapply(options, function(x) {
    word <- if (is.logical(x)) tolower(as.character(x))
            else if (is.numeric(x)) json_numbers(x)
            else as.character(x)
    paste(word, collapse = ",")
  }, "")
  list(names = gsub("_", "-", names(options)), values = unname(words))
}

new_folder <- function(output) {
  folder <- if (is.null(output)) tempfile("tempera-") else output
  if (file.exists(file.path(folder, "config.json")))
    stop(folder, " already holds a run; name another folder or remove this one")
  dir.create(folder, recursive = TRUE, showWarnings = FALSE)
  normalizePath(folder)
}

# What came from memory lies beside the draws.
write_inputs <- function(folder, model, data) {
  model_path <- data_path <- NULL
  if (!is.null(model)) {
    model_path <- if (is_code(model)) file.path(folder, "model.stan") else model
    if (is_code(model)) writeLines(model, model_path)
  }
  if (!is.null(data)) {
    data_path <- file.path(folder, "data.json")
    writeLines(data, data_path)
  }
  list(model = model_path, data = data_path)
}

raise_failure <- function(result, state, folder) {
  if (!is.null(state$error)) stop(state$error)
  if (result[1] == "ok") return(invisible())
  done <- file.exists(file.path(folder, "summary.json"))
  if (result[1] == "cancelled" && done) return(invisible())
  if (result[1] == "cancelled") stop("interrupted before the first draw")
  stop(result[2], if (done) paste0("\n(what was drawn is in ", folder, ")"),
       call. = FALSE)
}

data_text <- function(data) {
  if (is.null(data)) NULL
  else if (is.character(data)) paste(readLines(data), collapse = "\n")
  else to_json(data)
}

joined <- function(include_path)
  if (!is.null(include_path)) paste(include_path, collapse = ":")

sample_model <- function(model = NULL, data = NULL, ..., log_likelihood = NULL,
                         log_prior = NULL, parameters = NULL,
                         prior_draw = NULL, vectorised = FALSE,
                         prior_normalised = FALSE, prior_improper = FALSE,
                         name = "model", command = NULL, workers = 0,
                         batch = FALSE, eval_timeout = 0, output = NULL,
                         init = NULL, include_path = NULL, netcdf = FALSE,
                         progress = interactive()) {
  options <- list(...)
  if (is.null(options$seed))
    options$seed <- as.integer(Sys.time()) %% 1e6 * 1000 + Sys.getpid() %% 1000
  words <- option_words(options)
  json <- data_text(data)
  state <- new.env()
  call <- functions <- layout <- NULL
  if (!is.null(parameters)) parameters <- lapply(parameters, as.list)
  if (!is.null(command)) {
    if (!is.null(model) || !is.null(log_likelihood) || !is.null(log_prior))
      stop("a command, a model or functions, not several")
    if (is.null(parameters))
      stop("a command needs parameters, which names them")
  } else if (workers != 0 || batch) {
    stop("workers and batch belong to command")
  } else if (is.null(model)) {
    if (is.null(log_likelihood) || is.null(log_prior) || is.null(parameters))
      stop("a model is needed: a Stan program, or log_likelihood, log_prior ",
           "and parameters")
    if (eval_timeout != 0)
      stop("eval_timeout is not for functions, which cannot be ended from ",
           "outside; Ctrl-C ends them")
    functions <- list(log_likelihood = log_likelihood, log_prior = log_prior,
                      prior_draw = prior_draw)
    layout <- layout_of(parameters)
    call <- caller(functions, layout, vectorised, state)
  } else model <- text_of_model(model)
  folder <- new_folder(output)
  paths <- write_inputs(folder, model, json)
  described <- if (!is.null(parameters)) json_parameters(parameters)
  parameters_path <- NULL
  if (!is.null(command)) {
    parameters_path <- file.path(folder, "parameters.json")
    writeLines(described, parameters_path)
  }
  arguments <- list(
    code = if (!is.null(model) && is_code(model)) model,
    path = if (!is.null(model) && !is_code(model)) model,
    data = if (is.null(json)) "{}" else json, parameters = described,
    name = name, call = call, has_prior_draw = !is.null(prior_draw),
    vectorised = vectorised, prior_normalised = prior_normalised,
    prior_improper = prior_improper, command = command,
    workers = as.numeric(workers), batch = batch,
    eval_timeout = as.numeric(eval_timeout), parameters_path = parameters_path,
    option_names = words$names,
    option_values = words$values, folder = folder, model_path = paths$model,
    data_path = paths$data, init = if (!is.null(init)) json_value(init),
    include_path = joined(include_path),
    netcdf = if (isTRUE(netcdf)) file.path(folder, "run.nc"),
    progress = isTRUE(progress))
  result <- .Call(r_sample, arguments)
  raise_failure(result, state, folder)
  run <- load_run(folder)
  if (is.null(model)) # what only this session has: for test_hypothesis
    attr(run, "model") <- c(arguments["init" != names(arguments)],
                            list(functions = functions, layout = layout))
  run
}

# A run that was interrupted or killed goes on to the same draws as if nothing had
# happened; one that is over, to more iterations.
resume_run <- function(run, iterations = NULL, threads = NULL, model = NULL,
                       data = NULL, include_path = NULL, workers = 0,
                       eval_timeout = 0, progress = interactive()) {
  folder <- if (is.character(run)) run else run$folder
  if (!file.exists(file.path(folder, "config.json")))
    stop(folder, " holds no run")
  paths <- .Call(r_paths, folder)
  program <- .Call(r_program_of, folder)
  by_command <- is.null(model) && program$command != ""
  if (workers != 0 && !by_command) stop("workers belong to runs of a command")
  if (is.null(model) && !by_command) model <- paths[1]
  if (!by_command && model == "")
    stop("the run was made with functions, which cannot be resumed; give the ",
         "model it had")
  described <- NULL
  if (by_command) {
    file <- program$parameters
    if (!file.exists(file)) file <- file.path(folder, "parameters.json")
    described <- paste(readLines(file), collapse = "\n")
  }
  if (is.null(data) && paths[2] != "") data <- paths[2]
  words <- option_words(list(iterations = iterations, threads = threads))
  json <- data_text(data)
  result <- .Call(r_sample, list(
    path = model, data = if (is.null(json)) "{}" else json,
    option_names = words$names, option_values = words$values, folder = folder,
    model_path = model, data_path = if (paths[2] != "") paths[2],
    command = if (by_command) program$command, parameters = described,
    batch = program$batch, prior_normalised = program$prior_normalised,
    prior_improper = program$prior_improper, workers = as.numeric(workers),
    eval_timeout = as.numeric(eval_timeout),
    include_path = joined(include_path), progress = isTRUE(progress),
    resuming = TRUE))
  raise_failure(result, new.env(), folder)
  load_run(folder)
}

# NULL and NA are no bound; sizes may be several.
json_parameters <- function(parameters) {
  described <- lapply(parameters, function(p) {
    parts <- lapply(seq_along(p), function(i) {
      x <- p[[i]]
      if (is.character(x)) encodeString(x, quote = "\"")
      else if (is.null(x) || (length(x) == 1 && (is.na(x) || is.infinite(x))))
        "null"
      else if (length(x) > 1) json_array(json_numbers(x), length(x))
      else json_numbers(x)
    })
    paste0("[", paste(parts, collapse = ", "), "]")
  })
  paste0("{", paste(sprintf("\"%s\": %s", names(described), described),
                    collapse = ", "), "}")
}

load_run <- function(folder) {
  if (!file.exists(file.path(folder, "summary.json")))
    stop(folder, " holds no run")
  run <- .Call(r_summary, folder)
  run$values <- as.data.frame(run$values)
  run$estimates <- as.data.frame(run$estimates)
  run$folder <- folder
  run$niter <- run$iterations
  all <- .Call(r_draws, folder, FALSE)
  run$draws <- all[, , !dimnames(all)[[3]] %in%
                     c("tau__", "log_likelihood__", "log_prior__"),
                   drop = FALSE]
  structure(run, class = c("tempera_run", "bridge"))
}

tempered <- function(run) .Call(r_draws, run$folder, TRUE)

variable <- function(run, name) {
  names <- dimnames(run$draws)[[3]]
  found <- names == name | startsWith(names, paste0(name, "["))
  if (!any(found)) stop("no variable ", name, " in the draws")
  run$draws[, , found]
}
