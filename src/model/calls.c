/* calls.c - see calls.h. */
#include "model/calls.h"

#include "model/model.h"

#include <pthread.h>
#include <time.h>

_Thread_local tm_call *tm_calling __attribute__((tls_model("initial-exec")));

/* The process's: what hangs is not known to any one sampler. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static tm_call *first;
static atomic_bool watching;

void tempera_call_watch(void) { atomic_store(&watching, true); }

static void add(tm_call *call) {
  pthread_mutex_lock(&lock);
  call->next = first;
  if (first)
    first->previous = call;
  first = call;
  call->listed = true;
  pthread_mutex_unlock(&lock);
}

tm_call *tm_call_create(const tempera_model *model, tm_arena *arena) {
  tm_call *call = TM_NEW(arena, tm_call, 1);
  if (!call)
    return NULL;
  call->model = model;
  if (atomic_load(&watching))
    add(call);
  return call;
}

void tm_call_release(tm_call *call) {
  if (!call || !call->listed)
    return;
  pthread_mutex_lock(&lock);
  if (call->previous)
    call->previous->next = call->next;
  else
    first = call->next;
  if (call->next)
    call->next->previous = call->previous;
  call->listed = false;
  pthread_mutex_unlock(&lock);
}

/* False: it is in no call. */
static bool describe(const tm_call *call, tempera_call *out) {
  const double *theta =
      atomic_load_explicit(&call->theta, memory_order_relaxed);
  if (!theta)
    return false;
  *out = (tempera_call){
      .model = call->model ? call->model->spec.name : NULL,
      .function = atomic_load_explicit(&call->function, memory_order_relaxed),
      .chain = atomic_load_explicit(&call->chain, memory_order_relaxed),
      .size = call->model ? call->model->size : 0,
      .names = call->model ? (const char *const *)call->model->names : NULL,
      .theta = theta};
  return true;
}

bool tempera_call_current(tempera_call *call) {
  return tm_calling && describe(tm_calling, call);
}

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The serial tells whether it is the call that was seen last time. */
static bool is_overdue(tm_call *c, double now, double seconds) {
  uint64_t serial = atomic_load_explicit(&c->serial, memory_order_relaxed);
  bool inside = atomic_load_explicit(&c->theta, memory_order_relaxed);
  if (!inside || serial != c->seen) {
    c->seen = inside ? serial : 0;
    c->since = now;
    return false;
  }
  return now - c->since >= seconds;
}

bool tempera_call_overdue(double seconds, tempera_call *call) {
  double now = seconds_now();
  bool found = false;
  pthread_mutex_lock(&lock);
  for (tm_call *c = first; c && !found; c = c->next)
    found = is_overdue(c, now, seconds) && describe(c, call);
  pthread_mutex_unlock(&lock);
  return found;
}
