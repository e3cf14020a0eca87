/* threads.c - see threads.h. Threads live as long as one call: pieces are
 * blocks of sweeps or whole summaries, beside which a thread costs nothing. */
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

/* What the threads of a call share. */
typedef struct crew {
  pthread_mutex_t lock;
  const tempera_context *setting; /* the caller's */
  tm_piece_fn fn;
  void *context;
  void *(*work)(void *);
  size_t count;
  size_t next;             /* the first piece nobody has taken */
  size_t left[MOST_TURNS]; /* turns of each piece */
  bool taken[MOST_TURNS];  /* a thread has its turn at it */
} crew;

/* A thread that begins takes over the caller's context. */
static void begin_work(crew *c) {
  tm_context_inherit(c->setting);
  inside = true;
}

/* A started thread. Handlers of signals get a stack of their own (a model may
 * have used up the thread's), which lies at the bottom of that. */
static void *start(void *of) {
  char spare[1 << 14];
  const stack_t given = {.ss_sp = spare, .ss_size = sizeof spare};
  const stack_t none = {.ss_flags = SS_DISABLE};
  crew *c = of;
  sigaltstack(&given, NULL);
  c->work(c);
  sigaltstack(&none, NULL);
  return NULL;
}

/* ---- a piece once -------------------------------------------------------- */

static void *do_pieces(void *of) {
  crew *c = of;
  begin_work(c);
  for (;;) {
    pthread_mutex_lock(&c->lock);
    size_t i = c->next < c->count ? c->next++ : c->count;
    pthread_mutex_unlock(&c->lock);
    if (i == c->count)
      break;
    c->fn(i, c->context);
  }
  inside = false;
  return NULL;
}

/* The caller works too, so that all is done even when no thread can be had. */
static void work_together(crew *c, int threads, void *(*work)(void *)) {
  pthread_t others[MOST_THREADS];
  size_t started = 0,
         wanted = c->count < (size_t)threads ? c->count : (size_t)threads;
  c->setting = tm_context();
  c->work = work;
  pthread_mutex_init(&c->lock, NULL);
  while (started + 1 < wanted && started < MOST_THREADS &&
         pthread_create(&others[started], NULL, start, c) == 0)
    started++;
  work(c);
  for (size_t i = 0; i < started; i++)
    pthread_join(others[i], NULL);
  pthread_mutex_destroy(&c->lock);
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
  bool alone = count < 2 || abs(threads) < 2 || in_order();
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

static void *do_turns(void *of) {
  crew *c = of;
  begin_work(c);
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
  inside = false;
  return NULL;
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
