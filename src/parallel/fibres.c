/* fibres.c - see fibres.h. Contexts are POSIX's (ucontext.h); the caller's
 * functions are always called on the caller's own stack, as interpreters that
 * watch theirs expect. */
#include "parallel/fibres.h"

#include "base/answers.h"
#include "base/memory.h"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

enum { STACK = 2 << 20 };

struct hub;
typedef struct fibre {
  struct hub *hub;
  ucontext_t place;
  void *stack;
  void *shadow;   /* what ThreadSanitizer knows it by */
  void *question; /* NULL: it can go on */
  bool over;
} fibre;

typedef struct hub {
  ucontext_t place; /* the caller's */
  void *shadow;
  fibre *fibres;
  size_t fibre_count;
  tm_piece_fn fn;
  void *context;
  size_t count, turns;
  size_t next; /* the first piece nobody has taken */
  tm_answer_fn answer;
  bool was_short;
} hub;

/* The fibre that this thread is in; NULL: none. */
static _Thread_local fibre *here;

/* ---- switching ----------------------------------------------------------- */

static void *shadow_create(void) {
#if defined(__SANITIZE_THREAD__)
  return __tsan_create_fiber(0);
#else
  return NULL;
#endif
}
static void *shadow_now(void) {
#if defined(__SANITIZE_THREAD__)
  return __tsan_get_current_fiber();
#else
  return NULL;
#endif
}
static void shadow_enter(void *shadow) {
#if defined(__SANITIZE_THREAD__)
  __tsan_switch_to_fiber(shadow, 0);
#else
  (void)shadow;
#endif
}
static void shadow_free(void *shadow) {
#if defined(__SANITIZE_THREAD__)
  __tsan_destroy_fiber(shadow);
#else
  (void)shadow;
#endif
}

static void resume(fibre *f) {
  here = f;
  shadow_enter(f->shadow);
  swapcontext(&f->hub->place, &f->place);
  here = NULL;
}

/* Back to the caller, until it is resumed. What belongs to a thread elsewhere
 * belongs to a fibre here. */
static void wait_for_answer(fibre *f) {
  bool was_short = tm_memory_watch();
  tm_answers *tape = tm_answers_now;
  shadow_enter(f->hub->shadow);
  swapcontext(&f->place, &f->hub->place);
  tm_answers_now = tape;
  (void)tm_memory_watch();
  if (was_short)
    tm_memory_note_short();
}

/* ---- a fibre's work ------------------------------------------------------ */

static void work(void) {
  fibre *f = here;
  hub *h = f->hub;
  (void)tm_memory_watch();
  while (h->next < h->count) {
    size_t piece = h->next++;
    for (size_t k = 0; k < h->turns; k++)
      h->fn(piece, h->context);
  }
  h->was_short |= tm_memory_watch();
  f->over = true;
  shadow_enter(h->shadow);
  setcontext(&h->place);
}

void tm_ask_caller(tm_answer_fn answer, void *question) {
  bool answered = false;
  if (!here) {
    answer(&question, 1, &answered);
    return;
  }
  here->hub->answer = answer;
  here->question = question;
  wait_for_answer(here);
}

/* ---- the caller ---------------------------------------------------------- */

/* Those that ask get their answers, or wait on. */
static void answer_all(hub *h) {
  void *questions[TM_MOST_QUESTIONS];
  fibre *asking[TM_MOST_QUESTIONS];
  bool answered[TM_MOST_QUESTIONS] = {0};
  size_t asked = 0;
  for (size_t i = 0; i < h->fibre_count; i++)
    if (h->fibres[i].question) {
      asking[asked] = &h->fibres[i];
      questions[asked++] = h->fibres[i].question;
    }
  if (asked)
    h->answer(questions, asked, answered);
  for (size_t i = 0; i < asked; i++)
    if (answered[i])
      asking[i]->question = NULL;
}

static void conduct(hub *h) {
  tm_answers *tape = tm_answers_now;
  for (size_t left = h->fibre_count; left > 0;) {
    for (size_t i = 0; i < h->fibre_count; i++) {
      fibre *f = &h->fibres[i];
      if (f->over || f->question)
        continue;
      resume(f);
      tm_answers_now = tape;
      left -= f->over;
    }
    answer_all(h);
  }
}

/* Its lowest page is kept from use, so that one that is too deep stops. */
static bool make_fibre(hub *h, fibre *f) {
  void *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED)
    return false;
  *f = (fibre){.hub = h, .stack = stack};
  if (mprotect(stack, (size_t)sysconf(_SC_PAGESIZE), PROT_NONE) != 0 ||
      getcontext(&f->place) != 0) {
    munmap(stack, STACK);
    return false;
  }
  f->place.uc_stack.ss_sp = stack;
  f->place.uc_stack.ss_size = STACK;
  makecontext(&f->place, work, 0);
  f->shadow = shadow_create();
  return true;
}

void tm_fibres_run(size_t count, size_t turns, size_t most, tm_piece_fn fn,
                   void *context) {
  hub h = {.fn = fn, .context = context, .count = count, .turns = turns};
  bool outer = tm_memory_watch();
  if (most > TM_MOST_QUESTIONS)
    most = TM_MOST_QUESTIONS;
  h.shadow = shadow_now();
  h.fibres = tm_heap_alloc(most, sizeof(fibre));
  while (h.fibres && h.fibre_count < most && h.fibre_count < count &&
         make_fibre(&h, &h.fibres[h.fibre_count]))
    h.fibre_count++;
  (void)tm_memory_watch(); /* fewer of them are no failure */
  conduct(&h);
  for (; h.next < count; h.next++) /* without any fibre */
    for (size_t k = 0; k < turns; k++)
      fn(h.next, context);
  for (size_t i = 0; i < h.fibre_count; i++) {
    shadow_free(h.fibres[i].shadow);
    munmap(h.fibres[i].stack, STACK);
  }
  tm_heap_free(h.fibres);
  if (h.was_short)
    tm_memory_note_short();
  (void)tm_memory_was_short(outer);
}
