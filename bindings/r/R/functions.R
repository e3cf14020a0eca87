# Functions of R as a model: from numbers in a row to a list by name, and back.

# Where each parameter's values lie: first, last, sizes, and the places of its
# values in R's order. The last index runs fastest in the library, the first in R.
layout_of <- function(parameters) {
  place <- 0
  lapply(setNames(names(parameters), names(parameters)), function(name) {
    p <- parameters[[name]]
    simplex <- identical(p[[1]], "simplex")
    at <- if (simplex) 2 else 4
    size <- if (length(p) >= at) unlist(p[[at]]) else NULL
    first <- place + 1
    place <<- place + (if (is.null(size)) 1 else prod(size))
    order <- if (length(size) < 2) first:place else
      as.vector(aperm(array(first:place, rev(size)), rev(seq_along(size))))
    list(first = first, last = place, size = size,
         order = order)
  })
}

flat <- function(value, size) {
  if (length(size) < 2) return(as.numeric(value))
  as.numeric(aperm(array(value, size), rev(seq_along(size))))
}

# Asked for every point: nothing is worked out here that layout_of() knows.
point_of <- function(values, layout)
  lapply(layout, function(p) {
    part <- values[p$order]
    if (length(p$size) > 1) dim(part) <- p$size
    part
  })

# Many points: a vector for a number, a matrix with a row per point for others.
points_of <- function(values, layout)
  lapply(layout, function(p) {
    part <- values[p$first:p$last, , drop = FALSE]
    if (is.null(p$size)) as.vector(part) else t(part)
  })

number <- function(value, count, what) {
  if (!is.numeric(value) || length(value) != count)
    stop(what, " must return ", count, " number", if (count > 1) "s",
         ", not ", paste(utils::head(deparse(value), 1), collapse = ""))
  as.numeric(value)
}

draw_prior <- function(prior_draw, layout, seed) {
  old <- if (exists(".Random.seed", globalenv()))
    get(".Random.seed", globalenv())
  on.exit(if (!is.null(old)) assign(".Random.seed", old, globalenv()))
  set.seed(seed)
  found <- prior_draw()
  unlist(lapply(names(layout), function(name) {
    if (is.null(found[[name]])) stop("prior_draw gave no value for ", name)
    flat(found[[name]], layout[[name]]$size)
  }))
}

# What the library calls. An error or Ctrl-C is kept in `state`.
caller <- function(functions, layout, vectorised, state) {
  ask <- function(what, values) {
    if (what == "prior_draw")
      return(draw_prior(functions$prior_draw, layout, values[1, 1]))
    f <- functions[[what]]
    if (vectorised)
      return(number(f(points_of(values, layout)), ncol(values), what))
    vapply(seq_len(ncol(values)), function(i)
      number(f(point_of(values[, i], layout)), 1, what), 0)
  }
  function(what, values)
    tryCatch(ask(what, values),
             error = function(e) {
               state$error <- e
               "error"
             },
             interrupt = function(e) "interrupt")
}
