/* crash.c - models that crash, exit or hang in a call: say which chain, which
 * function and which point, and leave with status 1. What was drawn is on disk
 * already (rows are written after each block), and the checkpoint with it, so
 * nothing needs to be saved here. Only what a signal handler may do is done. */
#include "cli/cli.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct {
  const char *folder; /* NULL: not sampling */
  const char *model;  /* NULL: no model is at work */
  double timeout;
  pid_t process; /* a model's own children may end as they like */
} watched;

static void really_exit(int status);

/* ---- words, without stdio ------------------------------------------------ */

typedef struct words {
  char text[1024];
  size_t used;
} words;

static void add(words *w, const char *text) {
  for (; *text && w->used < sizeof w->text - 1; text++)
    w->text[w->used++] = *text == '\033' ? '?' : *text; /* steers terminals */
}

static void add_whole(words *w, unsigned long n) {
  char digits[24];
  size_t at = sizeof digits - 1;
  digits[at] = '\0';
  do
    digits[--at] = (char)('0' + n % 10);
  while ((n /= 10) != 0);
  add(w, digits + at);
}

/* Six decimals, of a number below ten and a power of ten where they are too few
 * or too many. */
static void add_number(words *w, double x) {
  if (isnan(x)) {
    add(w, "nan");
    return;
  }
  if (x < 0)
    add(w, "-");
  x = fabs(x);
  if (isinf(x)) {
    add(w, "inf");
    return;
  }
  int power = 0;
  bool scaled = x >= 1e6 || (x > 0 && x < 1e-3);
  for (; scaled && x >= 10; x /= 10)
    power++;
  for (; scaled && x < 1; x *= 10)
    power--;
  unsigned long long parts = (unsigned long long)(x * 1e6 + 0.5);
  add_whole(w, (unsigned long)(parts / 1000000));
  add(w, ".");
  for (unsigned long long place = 100000; place; place /= 10)
    add(w, (char[]){(char)('0' + parts / place % 10), '\0'});
  if (power) {
    add(w, power < 0 ? "e-" : "e+");
    add_whole(w, (unsigned long)(power < 0 ? -power : power));
  }
}

static void add_call(words *w, const tempera_call *call) {
  add(w, " in ");
  add(w, call->function);
  if (call->chain) {
    add(w, ", chain ");
    add_whole(w, call->chain);
  }
  for (size_t i = 0; i < call->size && w->used < sizeof w->text - 200; i++) {
    add(w, i ? ", " : ", at ");
    add(w, call->names[i]);
    add(w, " = ");
    add_number(w, call->theta[i]);
  }
}

/* Say it and leave; `call` may be NULL. */
static void leave(const char *what, const tempera_call *call) {
  words w = {0};
  if (isatty(STDERR_FILENO))
    add(&w, "\n");
  add(&w, watched.model);
  add(&w, ": the model ");
  add(&w, what);
  if (call)
    add_call(&w, call);
  if (watched.folder) {
    add(&w, "; what was drawn before is in ");
    add(&w, watched.folder);
  }
  add(&w, "\n");
  ssize_t written = write(STDERR_FILENO, w.text, w.used);
  (void)written;
  really_exit(EXIT_BAD_INPUT);
}

/* ---- crashes --------------------------------------------------------------
 */

static const struct {
  int number;
  const char *what;
} SIGNALS[] = {{SIGSEGV, "crashed (SIGSEGV, a bad address)"},
               {SIGBUS, "crashed (SIGBUS, a bad address)"},
               {SIGFPE, "crashed (SIGFPE, as in division by the integer 0)"},
               {SIGILL, "crashed (SIGILL, a bad instruction)"},
               {SIGABRT, "called abort()"}};
enum { SIGNAL_COUNT = sizeof SIGNALS / sizeof *SIGNALS };

static void on_crash(int number) {
  tempera_call call;
  bool known = tempera_call_current(&call);
  for (size_t i = 0; i < SIGNAL_COUNT; i++)
    if (SIGNALS[i].number == number && watched.model &&
        (known || !watched.folder))
      leave(SIGNALS[i].what, known ? &call : NULL);
  signal(number, SIG_DFL); /* our own mistake: as it would be */
  raise(number);
}

/* ---- models that end the process -----------------------------------------
 */

static void leave_if_model(const char *what) {
  tempera_call call;
  if (watched.model && watched.process == getpid() &&
      tempera_call_current(&call))
    leave(what, &call);
}

static void on_leaving(int status, void *nothing) {
  (void)nothing;
  (void)status;
  leave_if_model("called exit()");
}

/* No handler hears of these. A library that calls them finds ours, since the
 * dynamic linker asks the program first; libc's own use does not come here, and
 * neither does a bare system call. */
static struct { void (*now)(int), (*quick)(int), (*thread)(void *); } ends;

static void find_ends(void) {
  *(void **)&ends.now = dlsym(RTLD_NEXT, "_exit");
  *(void **)&ends.quick = dlsym(RTLD_NEXT, "quick_exit");
  *(void **)&ends.thread = dlsym(RTLD_NEXT, "pthread_exit");
}

static void really_exit(int status) {
  if (!ends.now)
    find_ends();
  ends.now(status);
}

#define OURS __attribute__((visibility("default"), noreturn)) void

OURS _exit(int status) {
  leave_if_model("called _exit()");
  really_exit(status);
  __builtin_unreachable();
}

OURS _Exit(int status) {
  leave_if_model("called _Exit()");
  really_exit(status);
  __builtin_unreachable();
}

OURS quick_exit(int status) {
  leave_if_model("called quick_exit()");
  if (!ends.quick)
    find_ends();
  ends.quick(status);
  __builtin_unreachable();
}

/* A thread that is gone would leave its chain where it was. */
OURS pthread_exit(void *value) {
  leave_if_model("called pthread_exit()");
  if (!ends.thread)
    find_ends();
  ends.thread(value);
  __builtin_unreachable();
}

/* A stack for handlers, when the model has used up the main thread's; other
 * threads have theirs from the library. */
static char spare[1 << 16];

static void set_traps(void) {
  const stack_t stack = {.ss_sp = spare, .ss_size = sizeof spare};
  struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK};
  sigaltstack(&stack, NULL);
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < SIGNAL_COUNT; i++)
    sigaction(SIGNALS[i].number, &action, NULL);
  find_ends(); /* not in a handler */
  on_exit(on_leaving, NULL);
}

/* ---- calls that do not come back ------------------------------------------
 */

static void *end_silent_calls(void *nothing) {
  tempera_call call;
  double pause = fmin(watched.timeout / 8, 1);
  const struct timespec nap = {.tv_sec = (time_t)pause,
                               .tv_nsec = (long)(1e9 * fmod(pause, 1))};
  for (;;) {
    nanosleep(&nap, NULL);
    if (tempera_call_overdue(watched.timeout, &call))
      leave("took longer than --eval-timeout allows", &call);
  }
  return nothing;
}

/* Signals are for the thread that runs the command. */
static void start_watch(void *(*work)(void *)) {
  pthread_t thread;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  if (pthread_create(&thread, NULL, work, NULL) == 0)
    pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- searches that would go on for minutes ---------------------------------
 */

static struct {
  double until; /* of the process's time; 0: nothing is searched */
  const char *said;
} search;

static double time_used(void) {
  struct timespec used;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

static void *watch_search(void *nothing) {
  const struct timespec nap = {.tv_nsec = 100000000};
  double until;
  while (__atomic_load(&search.until, &until, __ATOMIC_ACQUIRE), until > 0) {
    nanosleep(&nap, NULL);
    if (time_used() < until)
      continue;
    double over = 0;
    if (__atomic_compare_exchange(&search.until, &until, &over, false,
                                  __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      leave(search.said, NULL);
  }
  return nothing;
}

void cli_watch_search(double seconds, const char *said) {
  double until = time_used() + seconds;
  search.said = said;
  __atomic_store(&search.until, &until, __ATOMIC_RELEASE);
  start_watch(watch_search);
}

/* After this nobody leaves any more. */
void cli_watch_search_end(void) {
  double over = 0;
  __atomic_store(&search.until, &over, __ATOMIC_RELEASE);
}

void cli_watch_model(const char *model, double timeout) {
  watched.model = model;
  watched.timeout = timeout;
  watched.process = getpid();
  set_traps();
  if (timeout > 0) {
    tempera_call_watch();
    start_watch(end_silent_calls);
  }
}

void cli_watch_run(const char *folder) { watched.folder = folder; }

void cli_watch_end(void) { watched.model = NULL; }
