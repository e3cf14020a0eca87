/* worker.c - see worker.h. All workers of a model are served by one thread,
 * with poll: a worker that is slow does not hold up what others say, one that
 * dies or says nonsense is quoted. */
#include "model/worker.h"

#include "base/context.h"
#include "base/locale.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  MOST_WORKERS = 256,
  LONGEST_LINE = 4096,
  GRACE = 1000,     /* ms */
  FIRST_ANSWER = 10 /* s, until its user is asked about it */
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- failing ---------------------------------------------------------------
 */

/* What it said on standard error, as far as it is there. */
static void hear_words(tm_worker *w) {
  char text[512];
  ssize_t got;
  while (w->words >= 0 && (got = read(w->words, text, sizeof text)) > 0) {
    size_t length = (size_t)got;
    tm_message(tm_context(), text, length);
    for (size_t i = 0; i < length; i++) {
      if (w->last_length == TM_LAST_WORDS - 1)
        memmove(w->last, w->last + 1, --w->last_length);
      w->last[w->last_length++] = text[i];
    }
    w->last[w->last_length] = '\0';
  }
}

/* Its last line, or what there is of it, on one line. */
static const char *last_words(tm_worker *w) {
  hear_words(w);
  while (w->last_length && strchr(" \n\r\t", w->last[w->last_length - 1]))
    w->last[--w->last_length] = '\0';
  for (char *c = w->last; *c; c++)
    if ((unsigned char)*c < ' ')
      *c = ' ';
  return w->last_length > 160 ? w->last + w->last_length - 160 : w->last;
}

static bool complain(tm_worker *w, char *why, const char *what) {
  const char *words = last_words(w);
  snprintf(why, TM_WHY, "worker %zu %s%s%s", w->number, what,
           *words ? "; its last words: " : "", words);
  return false;
}

/* How it ended, once its output has. */
static bool complain_of_death(tm_worker *w, char *why) {
  char what[96] = "closed its output";
  int status = 0;
  for (int waited = 0; waited < GRACE; waited += 10) {
    if (waitpid(w->child, &status, WNOHANG) == w->child) {
      w->child = 0;
      if (WIFEXITED(status))
        snprintf(what, sizeof what, "ended with exit status %d%s",
                 WEXITSTATUS(status),
                 WEXITSTATUS(status) == 127 ? " (command not found?)" : "");
      else
        snprintf(what, sizeof what, "was killed by signal %d (%s)",
                 WTERMSIG(status), strsignal(WTERMSIG(status)));
      break;
    }
    usleep(10000);
  }
  return complain(w, why, what);
}

/* ---- starting and ending ---------------------------------------------------
 */

typedef struct pipes {
  int in[2], out[2], err[2];
} pipes;

static void close_pair(const int *pair) {
  for (int i = 0; i < 2; i++)
    if (pair[i] >= 0)
      close(pair[i]);
}

static bool open_pipes(pipes *p) {
  *p = (pipes){{-1, -1}, {-1, -1}, {-1, -1}};
  if (pipe2(p->in, O_CLOEXEC) == 0 && pipe2(p->out, O_CLOEXEC) == 0 &&
      pipe2(p->err, O_CLOEXEC) == 0)
    return true;
  close_pair(p->in);
  close_pair(p->out);
  close_pair(p->err);
  return false;
}

/* The caller's environment, and two variables of ours. */
static char **make_environment(size_t number, const char *names, tm_text *own) {
  size_t count = 0;
  while (environ[count])
    count++;
  char **made = tm_heap_alloc(count + 3, sizeof(char *));
  tm_text_printf(own, "TEMPERA_WORKER=%zu", number);
  tm_text_add_bytes(own, "", 1); /* two strings in one text */
  size_t second = own->length;
  tm_text_printf(own, "TEMPERA_NAMES=%s", names);
  if (!made || own->failed) {
    tm_heap_free(made);
    return NULL;
  }
  size_t used = 0;
  for (size_t i = 0; i < count; i++)
    if (strncmp(environ[i], "TEMPERA_WORKER=", 15) != 0 &&
        strncmp(environ[i], "TEMPERA_NAMES=", 14) != 0)
      made[used++] = environ[i];
  made[used++] = own->data;
  made[used] = own->data + second;
  return made;
}

/* A group of its own: Ctrl-C is for us to hear, and what it starts ends with
 * it. */
static int spawn(const tm_workplace *place, const pipes *p, char **environment,
                 pid_t *child) {
  char *const arguments[] = {(char *)"sh", (char *)"-c",
                             (char *)(uintptr_t)place->command, NULL};
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none, usual;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, p->in[0], 0);
  posix_spawn_file_actions_adddup2(&actions, p->out[1], 1);
  posix_spawn_file_actions_adddup2(&actions, p->err[1], 2);
  posix_spawnattr_init(&attributes);
  sigemptyset(&none);
  sigfillset(&usual);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP |
                                            POSIX_SPAWN_SETSIGMASK |
                                            POSIX_SPAWN_SETSIGDEF);
  int failed = posix_spawn(child, "/bin/sh", &actions, &attributes, arguments,
                           environment);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return failed;
}

bool tm_worker_start(tm_worker *worker, size_t number,
                     const tm_workplace *place, char *why) {
  pipes p;
  tm_text own = {0};
  *worker = (tm_worker){.number = number, .to = -1, .from = -1, .words = -1};
  if (!open_pipes(&p)) {
    snprintf(why, TM_WHY, "no pipe for worker %zu: %s", number,
             strerror(errno));
    return false;
  }
  char **environment = make_environment(number, place->names, &own);
  int failed =
      environment ? spawn(place, &p, environment, &worker->child) : ENOMEM;
  tm_heap_free(environment);
  tm_text_clear(&own);
  close(p.in[0]);
  close(p.out[1]);
  close(p.err[1]);
  worker->to = p.in[1];
  worker->from = p.out[0];
  worker->words = p.err[0];
  fcntl(worker->to, F_SETFL, O_NONBLOCK);
  fcntl(worker->from, F_SETFL, O_NONBLOCK);
  fcntl(worker->words, F_SETFL, O_NONBLOCK);
  if (!failed)
    return true;
  snprintf(why, TM_WHY, "worker %zu could not be started: %s", number,
           strerror(failed));
  worker->child = 0;
  return false;
}

void tm_worker_dismiss(tm_worker *worker) {
  if (worker->to >= 0)
    close(worker->to);
  worker->to = -1;
}

void tm_worker_end(tm_worker *worker) {
  tm_worker_dismiss(worker);
  for (int waited = 0; worker->child && waited < 3 * GRACE; waited += 10) {
    if (waited == GRACE || waited == 2 * GRACE)
      kill(-worker->child, waited == GRACE ? SIGTERM : SIGKILL);
    if (waitpid(worker->child, NULL, WNOHANG) != 0)
      worker->child = 0;
    else
      usleep(10000);
  }
  if (worker->from >= 0)
    close(worker->from);
  if (worker->words >= 0)
    close(worker->words);
  tm_text_clear(&worker->heard);
  *worker = (tm_worker){.to = -1, .from = -1, .words = -1};
}

/* ---- asking ----------------------------------------------------------------
 */

/* write(2) that fails with EPIPE instead of ending the process. */
static ssize_t write_quietly(int file, const char *text, size_t length) {
  sigset_t broken, before, pending;
  sigemptyset(&broken);
  sigaddset(&broken, SIGPIPE);
  sigpending(&pending);
  bool was = sigismember(&pending, SIGPIPE) == 1;
  pthread_sigmask(SIG_BLOCK, &broken, &before);
  ssize_t written = write(file, text, length);
  int problem = errno;
  if (written < 0 && problem == EPIPE && !was)
    sigtimedwait(&broken, NULL, &(struct timespec){0});
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = problem;
  return written;
}

static int milliseconds_left(const tm_worker *w, const tm_workplace *place) {
  double left = w->since + place->timeout - now();
  return left <= 0 ? 0 : left > 1e6 ? 1000000000 : (int)(1e3 * left) + 1;
}

static bool complain_of_silence(tm_worker *w, const tm_workplace *place,
                                char *why) {
  char what[96];
  tm_snprintf(what, sizeof what, "has not answered for %.6g seconds",
              place->timeout);
  complain(w, why, what);
  if (w->child)
    kill(-w->child, SIGKILL);
  return false;
}

/* All of the text, while its answers and words are let pile up: a pipe holds
 * 64 KiB, and a worker that answers as it reads must not wait for us. */
static bool drain(tm_worker *w, char *why);

static bool send_all(tm_worker *w, const tm_workplace *place, const char *text,
                     size_t length, char *why) {
  while (length > 0) {
    ssize_t sent = write_quietly(w->to, text, length);
    if (sent > 0) {
      text += sent;
      length -= (size_t)sent;
      continue;
    }
    if (sent < 0 && errno != EAGAIN && errno != EINTR)
      return complain_of_death(w, why);
    struct pollfd wait[] = {
        {w->to, POLLOUT, 0}, {w->from, POLLIN, 0}, {w->words, POLLIN, 0}};
    int left = place->timeout > 0 ? milliseconds_left(w, place) : -1;
    if (poll(wait, 3, left) == 0)
      return complain_of_silence(w, place, why);
    if ((wait[1].revents | wait[2].revents) && !drain(w, why))
      return false;
  }
  return true;
}

bool tm_worker_ask(tm_worker *worker, const tm_workplace *place,
                   const double *theta, size_t first, size_t count, char *why) {
  tm_text text = {0};
  for (size_t i = first; i < first + count; i++)
    for (size_t j = 0; j < place->size; j++) {
      tm_text_number(&text, theta[i * place->size + j]);
      tm_text_add(&text, j + 1 < place->size ? " " : "\n");
    }
  if (place->batch)
    tm_text_add(&text, "\n");
  worker->first = first;
  worker->expected = count;
  worker->since = now();
  bool fine =
      !text.failed && send_all(worker, place, text.data, text.length, why);
  if (text.failed)
    snprintf(why, TM_WHY, "out of memory");
  tm_text_clear(&text);
  return fine;
}

/* ---- hearing ---------------------------------------------------------------
 */

/* A number, with the words for infinity that languages have. */
static bool read_number(const char **text, double *value) {
  char *end = NULL;
  while (**text == ' ' || **text == '\t' || **text == ',')
    (*text)++;
  *value = tm_strtod(*text, &end);
  bool fine = end != *text && (*end == '\0' || strchr(" \t,\r", *end));
  *text = end;
  return fine;
}

static bool read_answer(tm_worker *w, const char *line, double *likelihood,
                        double *prior, char *why) {
  char what[256];
  const char *at = line;
  bool fine = read_number(&at, likelihood) && read_number(&at, prior);
  while (fine && (*at == ' ' || *at == '\t' || *at == '\r'))
    at++;
  if (fine && *at == '\0')
    return true;
  snprintf(what, sizeof what,
           "answered \"%.80s\", where the log likelihood and the log prior, "
           "two numbers, were due",
           line);
  return complain(w, why, what);
}

/* What its output has, into `heard`. */
static bool drain(tm_worker *w, char *why) {
  char text[4096];
  hear_words(w);
  for (;;) {
    ssize_t got = read(w->from, text, sizeof text);
    if (got > 0)
      tm_text_add_bytes(&w->heard, text, (size_t)got);
    else if (got == 0)
      return complain_of_death(w, why);
    else if (errno != EINTR)
      break;
    if (w->heard.failed)
      return complain(w, why, "said more than there is memory for");
  }
  if (errno != EAGAIN)
    return complain(w, why, strerror(errno));
  return true;
}

/* The whole lines of `heard` are answers. */
static bool take_lines(tm_worker *w, double *likelihood, double *prior,
                       char *why) {
  size_t used = 0;
  char *end;
  while (w->heard.length > used &&
         (end = memchr(w->heard.data + used, '\n', w->heard.length - used))) {
    *end = '\0';
    const char *line = w->heard.data + used;
    if (w->expected == 0)
      return complain(w, why, "answered more often than it was asked");
    if (!read_answer(w, line, &likelihood[w->first], &prior[w->first], why))
      return false;
    w->first++;
    w->expected--;
    w->spoken_of = true;
    w->since = now();
    used = (size_t)(end - w->heard.data) + 1;
  }
  w->heard.length -= used;
  memmove(w->heard.data, w->heard.data + used, w->heard.length);
  if (w->heard.length > LONGEST_LINE)
    return complain(w, why, "answered with a line that has no end");
  return true;
}

/* The usual fault of a new worker: its input or output waits in a buffer. */
static void speak_of_silence(tm_worker *w) {
  char text[300];
  int length = snprintf(
      text, sizeof text,
      "tempera: worker %zu has not answered its first point for %d s. Does it "
      "flush its output after each line, and read its input line by line? "
      "(mawk: -W interactive; python: flush=True)\n",
      w->number, FIRST_ANSWER);
  tm_message(tm_context(), text, (size_t)length);
  w->spoken_of = true;
}

static bool is_due(const tm_worker *w) {
  return w->expected && !w->spoken_of && now() - w->since >= FIRST_ANSWER;
}

/* Milliseconds until the first of them has been silent for too long; -1: no
 * limit. */
static int patience(const tm_worker *workers, size_t count,
                    const tm_workplace *place) {
  int least = -1;
  for (size_t i = 0; i < count; i++) {
    const tm_worker *w = &workers[i];
    int left = -1;
    if (w->expected && place->timeout > 0)
      left = milliseconds_left(w, place);
    else if (w->expected && !w->spoken_of)
      left = 1000 * FIRST_ANSWER;
    if (left >= 0)
      least = least < 0 || left < least ? left : least;
  }
  return least;
}

static bool one_answers(tm_worker *w, const struct pollfd *files,
                        const tm_workplace *place, double *likelihood,
                        double *prior, char *why) {
  if (files[1].revents)
    hear_words(w);
  if (files[1].revents & (POLLHUP | POLLERR) && !(files[1].revents & POLLIN)) {
    close(w->words);
    w->words = -1;
  }
  /* What was heard while asking is there already. */
  bool said = w->heard.length && memchr(w->heard.data, '\n', w->heard.length);
  if (files[0].revents && !drain(w, why))
    return false;
  if ((files[0].revents || said) && !take_lines(w, likelihood, prior, why))
    return false;
  if (is_due(w))
    speak_of_silence(w);
  if (w->expected && place->timeout > 0 && milliseconds_left(w, place) == 0)
    return complain_of_silence(w, place, why);
  return true;
}

bool tm_workers_hear(tm_worker *workers, size_t count,
                     const tm_workplace *place, double *likelihood,
                     double *prior, char *why) {
  struct pollfd files[2 * MOST_WORKERS];
  int wait = patience(workers, count, place);
  for (size_t i = 0; i < count; i++) {
    tm_worker *w = &workers[i];
    files[2 * i] = (struct pollfd){w->expected ? w->from : -1, POLLIN, 0};
    files[2 * i + 1] = (struct pollfd){w->words, POLLIN, 0};
    if (w->expected && w->heard.length &&
        memchr(w->heard.data, '\n', w->heard.length))
      wait = 0;
  }
  if (poll(files, 2 * count, wait) < 0 && errno != EINTR) {
    snprintf(why, TM_WHY, "waiting for workers: %s", strerror(errno));
    return false;
  }
  for (size_t i = 0; i < count; i++)
    if (!one_answers(&workers[i], &files[2 * i], place, likelihood, prior, why))
      return false;
  return true;
}
