/* progress.c - how far a run is: one line that is overwritten on a terminal, a
 * line now and then elsewhere. All on standard error. */
#include "cli/cli.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

static const double TERMINAL_EVERY = 0.1, ELSEWHERE_EVERY = 5;

cli_progress cli_progress_start(bool quiet, bool verbose) {
  return (cli_progress){.quiet = quiet,
                        .verbose = verbose,
                        .terminal = isatty(STDERR_FILENO),
                        .shown_at = -1,
                        .phase = TEMPERA_PHASE_RIDGE};
}

static const char *phase_name(tempera_phase phase) {
  static const char *const names[] = {"ridge", "warmup", "sampling", "done"};
  return names[phase];
}

/* Seconds as 42s, 3m10s or 2h05m. */
static void duration(double seconds, char *out, size_t size) {
  long s = (long)ceil(fmin(seconds, 1e8));
  if (s < 60)
    snprintf(out, size, "%lds", s);
  else if (s < 3600)
    snprintf(out, size, "%ldm%02lds", s / 60, s % 60);
  else
    snprintf(out, size, "%ldh%02ldm", s / 3600, s / 60 % 60);
}

static size_t format(const tempera_progress *p, char *out, size_t size) {
  double share = p->total ? (double)p->done / (double)p->total : 0;
  double rate = p->seconds > 0 ? (double)p->done / p->seconds : 0;
  size_t used = (size_t)snprintf(out, size, "%-8s %3.0f %%",
                                 phase_name(p->phase), 100 * share);
  if (rate > 0 && p->phase != TEMPERA_PHASE_RIDGE) {
    char left[32];
    duration((double)(p->total - p->done) / rate, left, sizeof left);
    used += (size_t)snprintf(out + used, size - used, "  %.0f it/s", rate);
    if (p->phase != TEMPERA_PHASE_DONE)
      used += (size_t)snprintf(out + used, size - used, "  %s left", left);
  }
  if (!isnan(p->log_z))
    used += (size_t)snprintf(out + used, size - used,
                             "  log Z %.3f \xc2\xb1 %.3f", p->log_z, p->se);
  if (p->phase >= TEMPERA_PHASE_SAMPLING)
    used += (size_t)snprintf(out + used, size - used, "  %zu round trips",
                             p->round_trips);
  return used;
}

void cli_progress_show(const tempera_progress *progress, void *user) {
  cli_progress *display = user;
  char line[256];
  double every = display->terminal ? TERMINAL_EVERY : ELSEWHERE_EVERY;
  double due = display->shown_at < 0 && !display->terminal
                   ? every
                   : display->shown_at + every;
  bool news = display->verbose && progress->phase != display->phase;
  if (display->quiet || (!news && progress->seconds < due &&
                         progress->phase != TEMPERA_PHASE_DONE))
    return;
  if (progress->phase == TEMPERA_PHASE_DONE &&
      display->phase == TEMPERA_PHASE_DONE)
    return;
  display->shown_at = progress->seconds;
  display->phase = progress->phase;
  format(progress, line, sizeof line);
  if (display->terminal)
    fprintf(stderr, "\r%s\033[K", line);
  else
    fprintf(stderr, "%s\n", line);
}

void cli_progress_end(const cli_progress *progress) {
  if (progress->terminal && !progress->quiet && progress->shown_at >= 0)
    fputs("\r\033[K", stderr);
}
