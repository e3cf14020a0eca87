/* threads.c - see threads.h. Threads live as long as one call: pieces are
 * blocks of sweeps or whole summaries, beside which a thread costs nothing.
 *
 * A thread that has no piece sleeps until one that has some asks for help, or
 * until all are done. Those beyond the number of pieces are started when help
 * is first asked for. */
#include "parallel/threads.h"

#include "base/answers.h"
#include "base/context.h"
#include "parallel/fibres.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

int tm_threads(int requested) {
  if (requested > 0)
    return requested;
  cpu_set_t set;
  int cores = sched_getaffinity(0, sizeof set, &set) == 0
                  ? CPU_COUNT(&set)
                  : (int)sysconf(_SC_NPROCESSORS_ONLN);
  return cores > 0 ? cores : 1;
}

enum { MOST_THREADS = 256, MOST_TURNS = 256 };

/* Does this thread work on a piece? Then what it calls runs in order. */
static _Thread_local bool inside;

/* What a thread asks the others' help for; on its stack. */
typedef struct errand {
  tm_piece_fn fn;
  void *context;
  size_t count, next, done; /* the first that nobody has taken */
  struct errand *after;
} errand;

/* What the threads of a call share. */
typedef struct crew {
  pthread_mutex_t lock;
  pthread_cond_t asked, helped;
  const tempera_context *setting; /* the caller's */
  tm_piece_fn fn;
  void *context;
  void (*work)(struct crew *);
  size_t count;
  size_t next;             /* the first piece nobody has taken */
  size_t left[MOST_TURNS]; /* turns of each piece */
  bool taken[MOST_TURNS];  /* a thread has its turn at it */
  size_t most, started;    /* threads beside the caller's */
  size_t busy, idle;       /* those with pieces; those that sleep */
  errand *errands;
  pthread_t others[MOST_THREADS];
} crew;

/* Whose pieces this thread works on. */
static _Thread_local crew *here;

/* ---- help ---------------------------------------------------------------- */

/* One of an errand's pieces; the lock is held before and after. */
static void do_part(crew *c, errand *e) {
  size_t i = e->next++;
  pthread_mutex_unlock(&c->lock);
  e->fn(i, e->context);
  pthread_mutex_lock(&c->lock);
  e->done++;
}

/* With nothing of its own left, a thread does what others ask for. */
static void help_others(crew *c) {
  pthread_mutex_lock(&c->lock);
  while (c->busy > 0) {
    errand *e = c->errands;
    while (e && e->next == e->count)
      e = e->after;
    if (e) {
      do_part(c, e);
      if (e->done == e->count)
        pthread_cond_broadcast(&c->helped);
      continue;
    }
    c->idle++;
    pthread_cond_wait(&c->asked, &c->lock);
    c->idle--;
  }
  pthread_mutex_unlock(&c->lock);
}

/* Handlers of signals get a stack of their own (a model may have used up the
 * thread's), which lies at the bottom of that. */
static void *on_own_stack(crew *c, void (*work)(crew *)) {
  char spare[1 << 14];
  const stack_t given = {.ss_sp = spare, .ss_size = sizeof spare};
  const stack_t none = {.ss_flags = SS_DISABLE};
  tm_context_inherit(c->setting);
  sigaltstack(&given, NULL);
  inside = true;
  work(c);
  sigaltstack(&none, NULL);
  return NULL;
}

static void *start_helper(void *of) { return on_own_stack(of, help_others); }

/* How many can help with `wanted` pieces? The lock is held. */
static size_t call_helpers(crew *c, size_t wanted) {
  size_t helpers = c->idle;
  for (size_t i = 0; i < wanted && i < c->idle; i++)
    pthread_cond_signal(&c->asked);
  while (helpers < wanted && c->started < c->most &&
         pthread_create(&c->others[c->started], NULL, start_helper, c) == 0) {
    c->started++;
    helpers++;
  }
  return helpers;
}

void tm_parallel_within(size_t count, tm_piece_fn fn, void *context) {
  crew *c = here;
  errand own = {.fn = fn, .context = context, .count = count};
  if (c && count > 1) {
    pthread_mutex_lock(&c->lock);
    if (call_helpers(c, count - 1)) {
      own.after = c->errands;
      c->errands = &own;
      while (own.next < count)
        do_part(c, &own);
      errand **at = &c->errands;
      while (*at != &own)
        at = &(*at)->after;
      *at = own.after;
      while (own.done < count)
        pthread_cond_wait(&c->helped, &c->lock);
    }
    pthread_mutex_unlock(&c->lock);
  }
  for (; own.next < count; own.next++)
    fn(own.next, context);
}

/* ---- a crew -------------------------------------------------------------- */

/* Pieces, as long as there are some, then those of others. */
static void work_and_help(crew *c) {
  here = c;
  c->work(c);
  here = NULL;
  pthread_mutex_lock(&c->lock);
  if (--c->busy == 0)
    pthread_cond_broadcast(&c->asked);
  pthread_mutex_unlock(&c->lock);
  help_others(c);
}

static void *start(void *of) { return on_own_stack(of, work_and_help); }

/* As many threads as there are pieces begin. */
static void begin(crew *c, int threads) {
  c->setting = tm_context();
  c->most = (size_t)threads - 1 < MOST_THREADS ? (size_t)threads - 1
                                               : (size_t)MOST_THREADS;
  c->busy = 1;
  pthread_mutex_init(&c->lock, NULL);
  pthread_cond_init(&c->asked, NULL);
  pthread_cond_init(&c->helped, NULL);
  pthread_mutex_lock(&c->lock);
  while (c->started < c->most && c->started + 1 < c->count &&
         pthread_create(&c->others[c->started], NULL, start, c) == 0) {
    c->started++;
    c->busy++;
  }
  pthread_mutex_unlock(&c->lock);
}

/* Those who are joined may have started more. */
static void end(crew *c) {
  for (size_t i = 0;; i++) {
    pthread_mutex_lock(&c->lock);
    bool all = i == c->started;
    pthread_mutex_unlock(&c->lock);
    if (all)
      break;
    pthread_join(c->others[i], NULL);
  }
  pthread_mutex_destroy(&c->lock);
  pthread_cond_destroy(&c->asked);
  pthread_cond_destroy(&c->helped);
}

/* The caller works too, so that all is done even when no thread can be had.
 * Within a single piece others may be had as before. */
static void work_together(crew *c, int threads, void (*work)(crew *)) {
  crew *outer = here;
  bool was_inside = inside;
  c->work = work;
  begin(c, threads);
  inside = was_inside || c->count > 1;
  work_and_help(c);
  inside = was_inside;
  here = outer;
  end(c);
}

/* ---- a piece once -------------------------------------------------------- */

static void do_pieces(crew *c) {
  for (;;) {
    pthread_mutex_lock(&c->lock);
    size_t i = c->next < c->count ? c->next++ : c->count;
    pthread_mutex_unlock(&c->lock);
    if (i == c->count)
      break;
    c->fn(i, c->context);
  }
}

/* Within a piece that has a tape all is done in order, on that tape. */
static bool in_order(void) {
  return inside || (tm_answers_now && !tm_answers_now->turn);
}

/* Between shared pieces (parallel/ranks.h) other pieces have no tape, whichever
 * thread does them: every rank does them all. */
static tm_answers *put_tape_away(void) {
  tm_answers *tape = tm_answers_now;
  if (tape && tape->turn)
    tm_answers_now = NULL;
  return tape;
}

/* On this thread: what it calls runs in order. */
static void run_fibres(size_t count, size_t turns, int fibres, tm_piece_fn fn,
                       void *context) {
  inside = true;
  tm_fibres_run(count, turns, (size_t)fibres, fn, context);
  inside = false;
}

void tm_parallel_for(size_t count, int threads, tm_piece_fn fn, void *context) {
  bool alone = count == 0 || abs(threads) < 2 || in_order() ||
               (count == 1 && threads < 0);
  crew c = {.fn = fn, .context = context, .count = count};
  tm_answers *tape = put_tape_away();
  for (size_t i = 0; alone && i < count; i++)
    fn(i, context);
  if (!alone && threads < 0)
    run_fibres(count, 1, -threads, fn, context);
  else if (!alone)
    work_together(&c, threads, do_pieces);
  tm_answers_now = tape;
}

/* ---- pieces in turns ----------------------------------------------------- */

/* The free piece with the most turns left, so that all end together; `count`
 * when none is to be had. */
static size_t take(crew *c) {
  size_t best = c->count;
  for (size_t i = 0; i < c->count; i++)
    if (!c->taken[i] && c->left[i] &&
        (best == c->count || c->left[i] > c->left[best]))
      best = i;
  if (best < c->count) {
    c->taken[best] = true;
    c->left[best]--;
  }
  return best;
}

static void do_turns(crew *c) {
  for (size_t i = c->count;;) {
    pthread_mutex_lock(&c->lock);
    if (i < c->count)
      c->taken[i] = false;
    i = take(c);
    pthread_mutex_unlock(&c->lock);
    if (i == c->count)
      break; /* what is left is in other hands */
    c->fn(i, c->context);
  }
}

void tm_parallel_turns(size_t count, size_t turns_each, int threads,
                       tm_piece_fn fn, void *context) {
  if (count < 2 || abs(threads) < 2 || count > MOST_TURNS || in_order()) {
    for (size_t k = 0; k < turns_each; k++)
      tm_parallel_for(count, threads, fn, context);
    return;
  }
  crew c = {.fn = fn, .context = context, .count = count};
  for (size_t i = 0; i < count; i++)
    c.left[i] = turns_each;
  tm_answers *tape = put_tape_away();
  if (threads < 0)
    run_fibres(count, turns_each, -threads, fn, context);
  else
    work_together(&c, threads, do_turns);
  tm_answers_now = tape;
}
