/* tape.c - the tape's memory, failures, and the table given to programs. */
#include "language/runtime/rows.h"
#include "language/runtime/storage.h"

#include "base/context.h"
#include "base/locale.h"
#include "base/text.h"
#include "numeric/vector_exp.h"

#include <gsl/gsl_cdf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- memory ------------------------------------------------------------- */

typedef struct chunk {
  struct chunk *next;
  size_t size, taken; /* taken: once there is a newer one */
  char bytes[];
} chunk;

enum { FIRST_CHUNK = 1 << 16, ALIGNMENT = 32 };

/* Where the memory of a chunk begins. How much there is does not depend on
 * where the heap put it: how much is used is a number that runs decide by. */
static char *first_of(const chunk *c) {
  uintptr_t p = (uintptr_t)c->bytes + ALIGNMENT - 1;
  return (char *)(p & ~(uintptr_t)(ALIGNMENT - 1));
}

static void use_chunk(tm_tape *tape, chunk *c) {
  tape->at = first_of(c);
  tape->end = tape->at + c->size - ALIGNMENT;
}

void tm_tape_start(tm_tape *tape, tm_guard *guard) {
  *tape = (tm_tape){.runtime = &tm_the_runtime, .inside = guard};
}

/* Chunks are kept newest (and largest) first; a reset goes on with the
 * newest alone, so that a steady evaluation ends up in one chunk. */
void tm_tape_reset(tm_tape *tape) {
  chunk *c = tape->chunks;
  tape->last = NULL;
  tape->log_density = tape->shortfall = tape->cut = 0;
  tape->place = NULL;
  tape->scored = 0;
  tape->sink = 0;
  tape->given_back = 0;
  if (!c)
    return;
  while (c->next) {
    chunk *old = c->next;
    c->next = old->next;
    tm_heap_free(old);
  }
  use_chunk(tape, c);
}

void tm_tape_free(tm_tape *tape) {
  for (chunk *c = tape->chunks, *next; c; c = next) {
    next = c->next;
    tm_heap_free(c);
  }
  tape->chunks = NULL;
  tape->at = tape->end = NULL;
  tm_desks_free(tape->desks);
  tape->desks = NULL;
}

tm_tape_mark tm_tape_here(const tm_tape *tape) {
  return (tm_tape_mark){tape->at, tape->last, tape->chunks};
}

size_t tm_tape_used(const tm_tape *tape) {
  const chunk *c = tape->chunks;
  size_t used = tape->given_back;
  if (c)
    used += (size_t)(tape->at - first_of(c));
  for (c = c ? c->next : NULL; c; c = c->next)
    used += c->size;
  return used;
}

size_t tm_tape_taken(const tm_tape *tape) {
  const chunk *c = tape->chunks;
  size_t taken = tape->given_back;
  if (c)
    taken += (size_t)(tape->at - first_of(c));
  for (c = c ? c->next : NULL; c; c = c->next)
    taken += c->taken;
  return taken;
}

void tm_tape_back_to(tm_tape *tape, tm_tape_mark mark) {
  tape->last = mark.last;
  const chunk *c = tape->chunks;
  if (c)
    tape->given_back +=
        (size_t)(tape->at - (c == mark.chunks ? mark.at : first_of(c)));
  if (tape->chunks == mark.chunks)
    tape->at = mark.at;
  else
    use_chunk(tape, tape->chunks); /* holds nothing from before */
}

static void *more(tm_tape *tape, size_t size) {
  chunk *before = tape->chunks;
  size_t wanted = before ? 2 * before->size : FIRST_CHUNK;
  if (wanted < 2 * size + 64)
    wanted = 2 * size + 64;
  chunk *c = tm_heap_alloc(1, sizeof *c + wanted);
  if (!c)
    tm_runtime_fail(tape, "", "out of memory");
  if (before)
    before->taken = (size_t)(tape->at - first_of(before));
  c->size = wanted;
  c->next = before;
  tape->chunks = c;
  use_chunk(tape, c);
  return tm_take_blank(tape, size);
}

/* ---- failures ----------------------------------------------------------- */

_Noreturn static void leave(tm_tape *tape, tm_outcome outcome) {
  tm_guard *guard = tape->inside;
  guard->outcome = outcome;
  longjmp(guard->place, 1);
}

_Noreturn void tm_runtime_leave(tm_tape *tape, tm_outcome outcome,
                                const char *message) {
  tm_guard *guard = tape->inside;
  memcpy(guard->message, message, sizeof guard->message);
  leave(tape, outcome);
}

_Noreturn static void fail_with(tm_tape *tape, const char *place,
                                const char *format, va_list arguments) {
  tm_guard *guard = tape->inside;
  if (!place[0] && tape->place)
    place = tape->place;
  int used = place[0] ? snprintf(guard->message, sizeof guard->message,
                                 "line %s: ", place)
                      : 0;
  tm_vsnprintf(guard->message + used, sizeof guard->message - (size_t)used,
               format, arguments);
  leave(tape, TM_FAILED);
}

_Noreturn void tm_runtime_fail(tm_tape *tape, const char *place,
                               const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fail_with(tape, place, format, arguments);
}

_Noreturn void tm_runtime_reject(tm_tape *tape, const char *format, ...) {
  tm_guard *guard = tape->inside;
  int used = 0;
  va_list arguments;
  if (tape->place && strncmp(format, "line ", 5) != 0)
    used = snprintf(guard->message, sizeof guard->message,
                    "line %s: ", tape->place);
  va_start(arguments, format);
  tm_vsnprintf(guard->message + used, sizeof guard->message - (size_t)used,
               format, arguments);
  va_end(arguments);
  leave(tape, TM_REJECTED);
}

/* [[1,2],[3,4]], rows inside, up to `left` numbers; of pairs, the last index
 * is that of (re,im). */
static const double *add_rows(tm_text *text, const tm_tensor *t, int level,
                              const double *v, int *left, bool pairs) {
  bool pair = pairs && level + 1 == t->rank;
  tm_text_add(text, pair ? "(" : "[");
  for (int i = 0; i < t->dim[level]; i++) {
    if (*left <= 0 && !pair) {
      tm_text_add(text, i ? ",..." : "...");
      break;
    }
    tm_text_add(text, i ? "," : "");
    if (level + 1 < t->rank) {
      v = add_rows(text, t, level + 1, v, left, pairs);
    } else {
      tm_text_number(text, *v++);
      --*left;
    }
  }
  tm_text_add(text, pair ? ")" : "]");
  return v;
}

static void add_any(tm_text *text, const tm_any *a) {
  if (a->tag == TM_TAG_TEXT) {
    tm_text_add(text, a->u.s);
  } else if (a->tag == TM_TAG_INT) {
    tm_text_printf(text, "%ld", a->u.i);
  } else if (a->tag == TM_TAG_REAL) {
    tm_text_number(text, a->u.r.v);
  } else {
    enum { MOST = 100 };
    int left = MOST;
    add_rows(text, &a->u.t, 0, a->u.t.v, &left, a->tag == TM_TAG_PAIRS);
  }
}

/* print needs a printer or, when the tape is to show it, is a message: that is
 * what its program asks for. reject (1) keeps its words, fatal_error (2) ends
 * the run with them. */
static void message(tm_tape *tape, const char *place, int reject,
                    const tm_any *arguments, int count) {
  const tm_printer *printer = &((tm_guard *)tape->inside)->printer;
  if (!reject && !printer->print && !tape->showing)
    return;
  tm_text text = {0};
  for (int i = 0; i < count; i++)
    add_any(&text, &arguments[i]);
  if (!reject) {
    tm_text_add(&text, "\n");
    if (!text.failed && printer->print)
      printer->print(printer->context, text.data, text.length);
    else if (!text.failed)
      tm_message(tm_context(), text.data, text.length);
    tm_text_clear(&text);
    return;
  }
  char copy[300];
  snprintf(copy, sizeof copy, "%s", text.data ? text.data : "rejected");
  tm_text_clear(&text);
  if (reject > 1)
    tm_runtime_fail(tape, place, "%s", copy);
  tm_runtime_reject(tape, "line %s: %s", place, copy);
}

void tm_sweep(tm_tape *tape, const tm_node *stop) {
  for (tm_node *node = tape->last; node != stop; node = node->before) {
    if (node->back)
      node->back(node);
    else
      tm_linear_back((tm_linear *)node);
  }
}

/* ---- special functions -------------------------------------------------- */

double tm_lgamma(double x) {
  int sign;
  return lgamma_r(x, &sign);
}

/* Recurrence up to 8, then the asymptotic series. */
double tm_digamma(double x) {
  if (x <= 0) {
    if (x == floor(x))
      return NAN;
    return tm_digamma(1 - x) - M_PI / tan(M_PI * x);
  }
  double shift = 0;
  for (; x < 8; x++)
    shift -= 1 / x;
  double r = 1 / (x * x);
  double series =
      r *
      (1.0 / 12 -
       r * (1.0 / 120 -
            r * (1.0 / 252 -
                 r * (1.0 / 240 - r * (1.0 / 132 - r * (691.0 / 32760 -
                                                        r * (1.0 / 12)))))));
  return shift + log(x) - 0.5 / x - series;
}

double tm_trigamma(double x) {
  if (x <= 0) {
    if (x == floor(x))
      return NAN;
    double s = sin(M_PI * x);
    return M_PI * M_PI / (s * s) - tm_trigamma(1 - x);
  }
  double shift = 0;
  for (; x < 8; x++)
    shift += 1 / (x * x);
  double r = 1 / (x * x);
  double series =
      r * (1.0 / 6 -
           r * (1.0 / 30 -
                r * (1.0 / 42 -
                     r * (1.0 / 30 - r * (5.0 / 66 - r * 691.0 / 2730)))));
  return shift + 1 / x + 0.5 * r + series / x;
}

double tm_inv_phi(double p) {
  if (!(p >= 0 && p <= 1))
    return NAN;
  return p == 0 ? -INFINITY : p == 1 ? INFINITY : gsl_cdf_ugaussian_Pinv(p);
}

/* ---- finding functions -------------------------------------------------- */

static tm_any missing(tm_tape *tape, const tm_any *arguments, int count) {
  (void)arguments, (void)count;
  tm_runtime_fail(tape, "",
                  "this program was built for another version of "
                  "the library; compile it again");
}

static tm_fn find(const char *name, const char *signature) {
  static const tm_function_entry *const tables[] = {
      tm_elementwise_functions, tm_map_functions, tm_fixed_functions,
      tm_density_functions,     tm_cdf_functions, tm_rng_functions,
      tm_complex_functions,     tm_complex_shapes};
  for (size_t k = 0; k < sizeof tables / sizeof *tables; k++)
    for (const tm_function_entry *e = tables[k]; e->name; e++)
      if (!strcmp(e->name, name) && !strcmp(e->signature, signature))
        return e->function;
  return missing;
}

const tm_runtime tm_the_runtime = {.find = find,
                                   .kernel = tm_density_kernel,
                                   .more = more,
                                   .fail = tm_runtime_fail,
                                   .message = message,
                                   .gather = tm_gather,
                                   .scatter = tm_scatter,
                                   .fill = tm_fill,
                                   .assign = tm_assign,
                                   .stack = tm_stack,
                                   .check = tm_check_value,
                                   .read = tm_binding_read,
                                   .parameter = tm_binding_parameter,
                                   .dependent = tm_binding_dependent,
                                   .duplicate = tm_storage_duplicate,
                                   .declare = tm_storage_declare,
                                   .unpack = tm_storage_unpack,
                                   .pack = tm_storage_pack,
                                   .improper = tm_binding_improper,
                                   .refuse_rows = tm_binding_refuse_rows,
                                   .conditional = tm_binding_conditional,
                                   .piece = tm_sites_piece,
                                   .reads = tm_sites_reads,
                                   .announce = tm_binding_announce,
                                   .output = tm_binding_output,
                                   .enough = tm_binding_enough,
                                   .ode = tm_solve_ode,
                                   .apply = tm_apply,
                                   .points = tm_points,
                                   .point_each = tm_point_each,
                                   .draw_each = tm_draw_each,
                                   .replica = tm_binding_replica,
                                   .rows_plan = tm_rows_plan,
                                   .rows_vector = tm_rows_vector,
                                   .rows_matrix = tm_rows_matrix,
                                   .rows_row = tm_rows_row,
                                   .rows_ready = tm_rows_ready,
                                   .rows_sum = tm_rows_sum,
                                   .slices = tm_slices_sum,
                                   .powers = tm_powers_sum,
                                   .powers_value = tm_powers_value,
                                   .exps = tm_vector_exp,
                                   .not_simplex = tm_check_simplex,
                                   .log_rise = tm_log_rise,
                                   .digamma_rise = tm_digamma_rise,
                                   .lgamma = tm_lgamma,
                                   .digamma = tm_digamma,
                                   .trigamma = tm_trigamma,
                                   .inv_phi = tm_inv_phi};
