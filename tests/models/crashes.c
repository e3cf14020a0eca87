/* crashes.c - works for a while, then misbehaves: data `calls` says when, `how`
 * in which way. */
#include "normal.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_long calls_left;
static int64_t how;

/* Libraries may do so before and after all else. */
__attribute__((constructor)) static void come(void) {
  if (getenv("CRASHES_COMING"))
    exit(0);
}

__attribute__((destructor)) static void go(void) {
  if (getenv("CRASHES_GOING"))
    exit(0);
}

static int deep(volatile int *above) {
  volatile int here[4096] = {*above + 1};
  if (here[0] < 0)
    return 0;
  return deep(here) + here[1];
}

/* Models may have helpers of their own, which end as they like. */
static void ask_a_child(void) {
  pid_t child = fork();
  if (child == 0)
    _exit(0);
  int status = 1;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
    abort();
}

static void misbehave(void) {
  volatile int zero = 0;
  /* A page that may not be written to; a null pointer is the sanitizers'. */
  volatile int *volatile nowhere =
      mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  switch (how) {
  case 0:
    *nowhere = 1;
    break;
  case 1:
    raise(SIGFPE); /* not every processor traps 1 / 0 */
    break;
  case 2:
    abort();
  case 3:
    exit(0);
  case 4:
    for (;;)
      pause();
  case 5:
    exit(deep(&zero));
  case 10:
    _exit(0);
  case 11:
    _Exit(0);
  case 12:
    quick_exit(0);
  case 13:
    pthread_exit(NULL);
  default:
    break;
  }
}

static int likelihood(const double *theta, double *value, void *user) {
  long left = atomic_fetch_sub(&calls_left, 1);
  if (left <= 0 && (how < 6 || (how >= 10 && how < 14)))
    misbehave();
  if (how == 14 && left % 5000 == 0)
    ask_a_child();
  int answer = normal_likelihood(theta, value, user);
  if (how == 6 && theta[0] > 3) /* rare */
    *value = NAN;
  if (how == 7 && left <= 0) /* always, from now on */
    *value = INFINITY;
  return answer;
}

tempera_status tempera_model_open(const tempera_data *data,
                                  tempera_model **model, tempera_error *error) {
  int64_t calls = 0;
  tempera_status status = tempera_data_integer(data, "calls", &calls, error);
  if (status == TEMPERA_OK)
    status = tempera_data_integer(data, "how", &how, error);
  if (status != TEMPERA_OK)
    return status;
  atomic_store(&calls_left, (long)calls);
  if (how == 8)
    abort();
  if (how == 9)
    exit(0);
  return normal_open(data, "crashes", likelihood, normal_prior, normal_draw,
                     model, error);
}
