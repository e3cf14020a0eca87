# Data as CmdStan JSON. A vector of one number is a number unless it has a `dim`
# (as.array(3)), as in rstan.

json_numbers <- function(x) {
  text <- formatC(x, digits = 17, format = "g", width = 1)
  if (is.integer(x) || is.logical(x)) text <- as.character(as.integer(x))
  else {
    # the shortest that reads back as the same number
    short <- formatC(x, digits = 15, format = "g", width = 1)
    same <- suppressWarnings(as.numeric(short)) == x
    text[same %in% TRUE] <- short[same %in% TRUE]
  }
  if (anyNA(x) && !all(is.nan(x[is.na(x)])))
    stop("data must not be NA")
  text[is.nan(x)] <- "NaN"
  text[!is.na(x) & x == Inf] <- "Infinity"
  text[!is.na(x) & x == -Inf] <- "-Infinity"
  text
}

json_array <- function(text, dims) {
  if (length(dims) == 1)
    return(paste0("[", paste(text, collapse = ", "), "]"))
  rows <- matrix(text, nrow = dims[1])
  paste0("[", paste(vapply(seq_len(dims[1]), function(i)
    json_array(rows[i, ], dims[-1]), ""), collapse = ", "), "]")
}

json_value <- function(x) {
  if (is.data.frame(x)) x <- as.matrix(x)
  if (is.factor(x)) x <- as.integer(x)
  if (is.null(x)) return("null")
  if (is.character(x) && length(x) == 1) return(encodeString(x, quote = "\""))
  if (is.list(x)) {
    parts <- if (is.null(names(x))) vapply(x, json_value, "")
             else vapply(names(x), function(name) named_value(name, x[[name]]),
                         "")
    if (is.null(names(x)))
      return(paste0("[", paste(parts, collapse = ", "), "]"))
    return(paste0("{", paste(sprintf("\"%s\": %s", names(x), parts),
                             collapse = ", "), "}"))
  }
  if (!is.numeric(x) && !is.logical(x))
    stop("data must be numbers, arrays of them or lists, not ", class(x)[1])
  text <- json_numbers(as.vector(x))
  if (is.null(dim(x)) && length(x) == 1) return(text)
  json_array(text, if (is.null(dim(x))) length(x) else dim(x))
}

named_value <- function(name, x)
  tryCatch(json_value(x), error = function(e)
    stop(name, ": ", conditionMessage(e), call. = FALSE))

to_json <- function(data) {
  data <- as.list(unclass(data))
  if (length(data) == 0) return("{}")
  if (is.null(names(data)) || any(names(data) == ""))
    stop("data must be a list with names")
  json_value(data)
}

# JSON as the library writes it: objects are lists with names, arrays of numbers
# are vectors, null is NA.
from_json <- function(text) {
  tokens <- regmatches(text, gregexpr(
    "\"([^\"\\\\]|\\\\.)*\"|[][{}:,]|[^][{}:,\"[:space:]]+", text))[[1]]
  at <- 0
  following <- function() tokens[at <<- at + 1]
  string <- function(token)
    gsub("\\\\(.)", "\\1", substr(token, 2, nchar(token) - 1))
  value <- function(token) {
    if (token == "{" || token == "[") return(several(token == "{"))
    if (startsWith(token, "\"")) return(string(token))
    switch(token, true = TRUE, false = FALSE, null = NA, as.numeric(token))
  }
  several <- function(object) {
    found <- list()
    while (!(token <- following()) %in% c("}", "]")) {
      if (token == ",") next
      if (object) {
        following() # the colon
        found[[string(token)]] <- value(following())
      } else found[[length(found) + 1]] <- value(token)
    }
    plain <- length(found) > 0 && !object &&
      all(vapply(found, function(x) is.atomic(x) && length(x) == 1, NA))
    if (plain) unlist(found) else found
  }
  value(following())
}
