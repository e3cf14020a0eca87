/* worker.h - a program that computes densities: points go to its standard
 * input, one per line, and for each a line with the log likelihood and the log
 * prior comes back. */
#ifndef TM_MODEL_WORKER_H
#define TM_MODEL_WORKER_H

#include "base/text.h"

#include <sys/types.h>

enum { TM_LAST_WORDS = 300, TM_WHY = 480 };

/* What all workers of a model share. */
typedef struct tm_workplace {
  const char *command; /* for sh -c */
  const char *names;   /* of the values, for TEMPERA_NAMES */
  size_t size;         /* values of a point */
  double timeout;      /* seconds to wait for an answer; 0: for ever */
  bool batch;          /* an empty line ends the points that go together */
} tm_workplace;

typedef struct tm_worker {
  pid_t child; /* 0: not started */
  size_t number;
  int to, from, words;      /* its standard input, output and error */
  size_t expected;          /* answers that are due */
  size_t first;             /* the point that the next of them is for */
  double since;             /* when the oldest of them was asked for */
  bool spoken_of; /* it has answered, or the user has heard that it does not */
  tm_text heard;            /* of its output, not yet a whole line */
  char last[TM_LAST_WORDS]; /* the end of what it said on standard error */
  size_t last_length;
} tm_worker;

/* False with the reason in `why`. */
bool tm_worker_start(tm_worker *worker, size_t number,
                     const tm_workplace *place, char *why);
/* Its input ends, which it should take for its own end. */
void tm_worker_dismiss(tm_worker *worker);
/* End it: by the end of its input, and by force if that is not enough. */
void tm_worker_end(tm_worker *worker);
/* Points first .. first+count-1 of theta are the worker's now. */
bool tm_worker_ask(tm_worker *worker, const tm_workplace *place,
                   const double *theta, size_t first, size_t count, char *why);
/* Wait until some worker says something; take the answers that are there. */
bool tm_workers_hear(tm_worker *workers, size_t count,
                     const tm_workplace *place, double *likelihood,
                     double *prior, char *why);

#endif
