/* running.c - what `sample` and `resume` share: signals while a run goes on,
 * and what is shown and written when it has ended. */
#include "cli/cli.h"
#include "tempera_mpi.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static tempera_sampler *volatile running;
static volatile sig_atomic_t caught;

static void on_signal(int number) {
  caught = number;
  if (running)
    tempera_sampler_cancel(running);
}

/* The first signal ends the run in order, a second one at once. */
void cli_catch_signals(tempera_sampler *sampler) {
  struct sigaction action = {.sa_handler = on_signal,
                             .sa_flags = (int)SA_RESETHAND};
  running = sampler;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

/* ---- ranks --------------------------------------------------------------- */

void cli_ranks_be_silent(void) {
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
}

int cli_ranks_follow(tempera_sampler *sampler) {
  tempera_summary *summary = NULL;
  tempera_status status = tempera_sampler_run(sampler, NULL, NULL, NULL);
  if (status == TEMPERA_OK ||
      tempera_draws_count(tempera_sampler_draws(sampler)) > 0)
    (void)!tempera_sampler_summarise(sampler, &summary, NULL);
  tempera_summary_free(summary);
  tempera_mpi_end();
  return EXIT_DONE;
}

void cli_ranks_leave(tempera_status status) {
  if (status == TEMPERA_ERROR_IO || status == TEMPERA_ERROR_INPUT)
    return; /* the command ends all, after the message */
  tempera_mpi_end();
}

/* ---- what is shown ------------------------------------------------------- */

/* Small pictures of the draws. */
static int show_sketch(const tempera_sampler *sampler) {
  tempera_error error = {0};
  char *text = NULL;
  const tempera_text_style style = {.colour = cli_colour(),
                                    .utf8 = cli_utf8(),
                                    .columns = cli_columns(STDOUT_FILENO)};
  return tempera_draws_sketch(tempera_sampler_draws(sampler), &style, &text,
                              &error) == TEMPERA_OK
             ? cli_print(text)
             : cli_fail(NULL, &error);
}

static int show(const cli_run *r, const tempera_sampler *sampler,
                const tempera_summary *summary) {
  char *text = NULL;
  tempera_error error = {0};
  if (!summary || (r->quiet && !r->json))
    return EXIT_DONE;
  tempera_status status =
      r->json ? tempera_summary_json(summary, &text, &error)
              : tempera_summary_text(summary, cli_colour(), &text, &error);
  if (status != TEMPERA_OK)
    return cli_fail(NULL, &error);
  int code = cli_print(text);
  return r->verbose && !r->json && code == EXIT_DONE ? show_sketch(sampler)
                                                     : code;
}

/* After the tables, as that of a long run takes seconds. A run is no worse for
 * having no page: a warning is enough. */
static void write_report(const cli_run *r) {
  tempera_error error = {0};
  if (tempera_run_report(r->output, NULL, &error) == TEMPERA_OK) {
    if (!r->quiet && !r->json)
      printf("\nEverything is in %s; open %s/report.html for charts.\n",
             r->output, r->output);
  } else if (!r->quiet) {
    fprintf(stderr, "tempera: no report was written: %s\n", error.message);
  }
}

/* Without it the run is still whole, but not what was asked for. */
static int write_netcdf(const cli_run *r, const tempera_sampler *sampler,
                        const tempera_summary *summary) {
  tempera_error error = {0};
  char path[4096];
  if (!r->netcdf || !summary)
    return EXIT_DONE;
  snprintf(path, sizeof path, "%s/run.nc", r->output);
  if (tempera_netcdf_write(path, sampler, r->input->data, summary, &error) ==
      TEMPERA_OK)
    return EXIT_DONE;
  cli_fail(NULL, &error);
  fprintf(stderr, "tempera: the draws are kept as CSV in %s\n", r->output);
  return EXIT_BAD_INPUT;
}

/* What is on disk of a run that was stopped. */
static void tell_stopped(const cli_run *r, const tempera_sampler *sampler) {
  const char *how = caught == SIGINT ? "interrupted" : "terminated";
  size_t kept = tempera_draws_count(tempera_sampler_draws(sampler));
  const tempera_draws *warmup = tempera_sampler_warmup_draws(sampler);
  if (kept)
    fprintf(stderr, "tempera: %s; everything drawn so far is in %s\n", how,
            r->output);
  else if (warmup && tempera_draws_count(warmup))
    fprintf(stderr,
            "tempera: %s in warmup: %s holds warmup's draws, no others\n", how,
            r->output);
  else
    fprintf(stderr, "tempera: %s before the first draw: %s holds none\n", how,
            r->output);
}

/* What became of it: message and exit status. */
static int outcome(const cli_run *r, const tempera_sampler *sampler,
                   tempera_status status, const tempera_error *error) {
  if (status == TEMPERA_OK)
    return EXIT_DONE;
  if (status == TEMPERA_CANCELLED && caught) {
    if (!r->quiet)
      tell_stopped(r, sampler);
    return 128 + (int)caught;
  }
  cli_fail(status == TEMPERA_ERROR_MODEL ? r->input->model_path : NULL, error);
  return EXIT_BAD_INPUT;
}

int cli_finish(const cli_run *r, const tempera_sampler *sampler,
               const tempera_summary *summary, tempera_status status,
               const tempera_error *error) {
  running = NULL;
  int shown = show(r, sampler, summary);
  int written = write_netcdf(r, sampler, summary);
  if (summary && status != TEMPERA_ERROR_IO)
    write_report(r);
  int code = outcome(r, sampler, status, error);
  return code != EXIT_DONE ? code : written != EXIT_DONE ? written : shown;
}
