/* unused.c - options that were asked for and have no effect, in words: nobody
 * should take a run for something that it is not. Those that contradict the
 * method are refused instead (resolve.c). A default that was asked for by name
 * cannot be told from one that was not, and does no harm. */
#include "base/locale.h"
#include "run/run.h"
#include "run/sampler.h"

#include <stdarg.h>
#include <stdio.h>

static void __attribute__((format(printf, 2, 3)))
note(tm_notes *notes, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  tm_vsnprintf(notes->text[notes->count++], TM_NOTE_SIZE, format, arguments);
  va_end(arguments);
}

static bool moves_tau(const tempera_options *o) {
  return tm_is_pair(o) || o->method == TEMPERA_ST || o->method == TEMPERA_PAWL;
}

static bool exchanges(const tempera_options *o) {
  return o->method == TEMPERA_PT_STWNC || o->method == TEMPERA_PT ||
         o->method == TEMPERA_EE;
}

static void check_tau(const tempera_options *asked, const tempera_options *o,
                      tm_notes *notes) {
  if (asked->tau_prior != TEMPERA_PRIOR_LEARNED && !tm_is_pair(o))
    note(notes, "--tau-prior %s has no effect: method %s has no such prior.",
         tm_choice_word(TM_CHOICE_TAU_PRIOR, (int)asked->tau_prior),
         tm_method_word(o));
  if (asked->tau_move != TEMPERA_TAU_DEFAULT && !moves_tau(o))
    note(notes, "--tau-move %s has no effect: method %s does not move tau.",
         tm_choice_word(TM_CHOICE_TAU_MOVE, (int)asked->tau_move),
         tm_method_word(o));
  if (asked->tau_scale > 0 &&
      (!tm_is_pair(o) || o->tau_move != TEMPERA_TAU_TRUNCATED_NORMAL))
    note(notes,
         "--tau-scale %g has no effect: it is that of --tau-move "
         "truncated-normal.",
         asked->tau_scale);
}

/* Without jumps only the pair looks for a ridge. */
static void check_ridge(const tempera_options *asked, const tempera_options *o,
                        tm_notes *notes) {
  bool jumps = o->jumps && o->kernel == TEMPERA_KERNEL_AUTO;
  if (asked->ridge != TEMPERA_RIDGE_CONVEX && !tm_is_pair(o) && !jumps)
    note(notes,
         "--ridge %s has no effect: method %s looks for a ridge only to jump.",
         tm_choice_word(TM_CHOICE_RIDGE, (int)asked->ridge), tm_method_word(o));
}

static void check_exchange(const tempera_options *asked,
                           const tempera_options *o, tm_notes *notes) {
  if (asked->exchange >= 0 && !exchanges(o))
    note(notes, "--exchange %g has no effect: method %s exchanges nothing.",
         asked->exchange, tm_method_word(o));
}

/* The evidence while running is that of the tempered draws. */
static void check_stopping(const tempera_options *o, tm_notes *notes) {
  if (!(o->until_se > 0))
    return;
  if (o->tau_min > 0)
    note(notes,
         "--until-se %g has no effect: with --tau-min above 0 there is no "
         "evidence.",
         o->until_se);
  else if (!tm_method_of(o->method)->tempered)
    note(notes,
         "--until-se %g has no effect: method %s estimates the evidence only "
         "at the end.",
         o->until_se, tm_method_word(o));
}

/* What --paper decides instead. */
static void check_paper(const tempera_options *asked, const tempera_options *o,
                        tm_notes *notes) {
  if (!o->paper)
    return;
  if (asked->kernel != o->kernel && asked->kernel != TEMPERA_KERNEL_AUTO)
    note(notes,
         "--kernel %s has no effect: --paper uses the model's own proposals.",
         tm_choice_word(TM_CHOICE_KERNEL, (int)asked->kernel));
  if (asked->ridge != o->ridge && asked->ridge != TEMPERA_RIDGE_CONVEX)
    note(notes, "--ridge %s has no effect: that of --paper is exact.",
         tm_choice_word(TM_CHOICE_RIDGE, (int)asked->ridge));
  if (asked->tau_prior != o->tau_prior &&
      asked->tau_prior != TEMPERA_PRIOR_LEARNED)
    note(notes, "--tau-prior %s has no effect: that of --paper is profile.",
         tm_choice_word(TM_CHOICE_TAU_PRIOR, (int)asked->tau_prior));
}

tm_notes tm_options_unused(const tempera_options *asked,
                           const tempera_options *resolved) {
  tm_notes notes = {0};
  check_tau(asked, resolved, &notes);
  check_ridge(asked, resolved, &notes);
  check_exchange(asked, resolved, &notes);
  check_stopping(resolved, &notes);
  check_paper(asked, resolved, &notes);
  return notes;
}

const char *tempera_sampler_warning(const tempera_sampler *sampler, size_t i) {
  return i < sampler->unused.count ? sampler->unused.text[i] : NULL;
}
