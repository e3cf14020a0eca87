/* stop.h - a question that long work asks now and then: has somebody had
 * enough? A cancelled run or a time limit that is over is heard within a
 * second only if everything that takes longer asks. */
#ifndef TM_BASE_STOP_H
#define TM_BASE_STOP_H

#include <stdbool.h>
#include <stddef.h>

/* True ends the work. due NULL: never asked. */
typedef struct tm_stop {
  bool (*due)(const void *context);
  const void *context;
} tm_stop;

/* `stop` may be NULL: nobody will. */
static inline bool tm_stop_due(const tm_stop *stop) {
  return stop && stop->due && stop->due(stop->context);
}

#endif
