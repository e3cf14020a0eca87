/* progress.c - how far a run is: one line that is overwritten on a terminal, a
 * line now and then elsewhere. All on standard error. */
#include "cli/cli.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PARTS = 5, PART_SIZE = 64 };
static const double TERMINAL_EVERY = 0.1, ELSEWHERE_EVERY = 5, TRIM_EVERY = 2;

cli_progress cli_progress_start(bool quiet, bool verbose) {
  return (cli_progress){.quiet = quiet,
                        .verbose = verbose,
                        .terminal = cli_terminal(STDERR_FILENO),
                        .shown_at = -1,
                        .began_at = -1,
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

/* Sweeps per second since the ridge was there. */
static double rate_of(const cli_progress *display, const tempera_progress *p) {
  double seconds = p->seconds - display->began_at;
  if (seconds > 0 && p->done > display->began_with)
    return (double)(p->done - display->began_with) / seconds;
  return p->seconds > 0 ? (double)p->done / p->seconds : 0;
}

/* Until the run ends or, where its length is automatic, looks whether it may:
 * the most that it may take would alarm people for nothing. */
static void describe_rest(const tempera_progress *p, double rate, char *part) {
  char left[32];
  duration((double)(p->next - p->done) / rate, left, sizeof left);
  snprintf(part, PART_SIZE,
           p->next < p->total ? "%s to the next check" : "%s left", left);
}

/* The first sweeps are slow, and would make a long time of a short one. */
static bool is_telling(const cli_progress *display, const tempera_progress *p,
                       double share) {
  return share >= 0.1 || p->seconds - display->began_at >= 5;
}

/* The parts of the line, "" where there is none yet. The last line has no
 * estimates: the tables that follow have them, of all draws. */
static void describe(const cli_progress *display, const tempera_progress *p,
                     char parts[PARTS][PART_SIZE]) {
  bool done = p->phase == TEMPERA_PHASE_DONE;
  double share = done ? 1 : (double)p->done / (double)p->next;
  double rate = rate_of(display, p);
  for (size_t i = 0; i < PARTS; i++)
    parts[i][0] = '\0';
  snprintf(parts[0], PART_SIZE, "%-8s %3.0f %%", phase_name(p->phase),
           100 * share);
  if (rate > 0 && p->phase != TEMPERA_PHASE_RIDGE)
    snprintf(parts[1], PART_SIZE, "%.0f it/s", rate);
  if (parts[1][0] && !done && is_telling(display, p, share))
    describe_rest(p, rate, parts[2]);
  if (!isnan(p->log_z) && !done)
    snprintf(parts[3], PART_SIZE, "log Z %.3f %s %.2g", p->log_z,
             cli_utf8() ? "\xc2\xb1" : "+-", p->se);
  if (p->phase == TEMPERA_PHASE_SAMPLING)
    snprintf(parts[4], PART_SIZE, "%zu round trips", p->round_trips);
}

/* Characters shown: all but the second byte of the plus-minus sign. */
static size_t width_of(const char *part) {
  return strlen(part) - (strstr(part, "\xc2\xb1") != NULL);
}

/* What does not fit into the terminal's width is left out, the least needed
 * first: a line that wraps could not be overwritten. */
static void drop_parts(char parts[PARTS][PART_SIZE], size_t columns) {
  static const size_t least_needed[] = {1, 4, 2, 3};
  size_t width = 0;
  for (size_t i = 0; i < PARTS; i++)
    width += parts[i][0] ? width_of(parts[i]) + (i ? 2 : 0) : 0;
  for (size_t i = 0; i < PARTS - 1 && width >= columns; i++) {
    char *part = parts[least_needed[i]];
    width -= part[0] ? width_of(part) + 2 : 0;
    part[0] = '\0';
  }
  if (width >= columns) /* ASCII: what is left is the percentage */
    parts[0][columns ? columns - 1 : 0] = '\0';
}

static void print_line(const cli_progress *display, const tempera_progress *p) {
  char parts[PARTS][PART_SIZE];
  describe(display, p, parts);
  if (display->terminal) {
    drop_parts(parts, cli_columns(STDERR_FILENO));
    fputc('\r', stderr);
  }
  for (size_t i = 0; i < PARTS; i++)
    if (parts[i][0])
      fprintf(stderr, "%s%s", i ? "  " : "", parts[i]);
  fputs(display->terminal ? "\033[K" : "\n", stderr);
}

/* Checks and searches leave holes between what is kept, which would grow with
 * the length of a run: their pages go back to the system. */
static void give_memory_back(cli_progress *display, double seconds) {
  if (seconds < display->trimmed_at + TRIM_EVERY)
    return;
  display->trimmed_at = seconds;
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

int cli_progress_show(const tempera_progress *progress, void *user) {
  cli_progress *display = user;
  give_memory_back(display, progress->seconds);
  double every = display->terminal ? TERMINAL_EVERY : ELSEWHERE_EVERY;
  double due = display->shown_at < 0 && !display->terminal
                   ? every
                   : display->shown_at + every;
  bool phase_changed = display->verbose && progress->phase != display->phase;
  if (progress->phase != TEMPERA_PHASE_RIDGE && display->began_at < 0) {
    display->began_at = progress->seconds;
    display->began_with = progress->done;
  }
  if (display->quiet || (!phase_changed && progress->seconds < due &&
                         progress->phase != TEMPERA_PHASE_DONE))
    return 0;
  if (progress->phase == TEMPERA_PHASE_DONE &&
      display->phase == TEMPERA_PHASE_DONE)
    return 0;
  display->shown_at = progress->seconds;
  display->phase = progress->phase;
  print_line(display, progress);
  return 0;
}

void cli_progress_end(const cli_progress *progress) {
  if (progress->terminal && !progress->quiet && progress->shown_at >= 0)
    fputs("\r\033[K", stderr);
}
