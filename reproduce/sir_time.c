/* sir_time.c - what an iteration costs: the paper needed the time of 50
 * parallel-tempering chains for the optimiser at every proposal of tau. */
#include "reproduce/sir_study.h"

#include <math.h>
#include <time.h>

enum { WARMUP = 100 };

/* One thread's own time, so that a busy machine does not count. */
static double thread_seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

typedef struct timing {
  double setup, iteration; /* seconds */
} timing;

static tempera_status time_sampler(tempera_sampler *sampler, size_t iterations,
                                   timing *t, tempera_error *error) {
  double start = thread_seconds();
  /* The ridge is built, and looked at again when warmup ends. */
  TM_TRY(tempera_sampler_advance(sampler, WARMUP + 1, error));
  double built = thread_seconds();
  TM_TRY(tempera_sampler_advance(sampler, iterations, error));
  t->setup = built - start;
  t->iteration = (thread_seconds() - built) / (double)iterations;
  return TEMPERA_OK;
}

static tempera_status time_method(const tm_paper *paper,
                                  const tempera_model *model,
                                  const char *const *words, size_t iterations,
                                  timing *t, tempera_error *error) {
  tm_batch batch = {.model = model};
  tempera_sampler *sampler = NULL;
  TM_TRY(tm_batch_options(paper, TM_LENGTH_SHORT, words, &batch, error));
  batch.options.seed = paper->request->seed;
  batch.options.threads = 1;
  batch.options.warmup = WARMUP;
  batch.options.chains = 1;
  batch.options.init = tempera_model_spec_of(model)->recipe->start;
  batch.options.iterations = iterations + 1;
  TM_TRY(tempera_sampler_create(model, &batch.options, &sampler, error));
  tempera_status status = time_sampler(sampler, iterations, t, error);
  tempera_sampler_free(sampler);
  return status;
}

enum { PT, CONVEX, SPLINE, EXACT, TIMED };

/* All with the paper's proposals and start, as what a solution of the
 * equations costs depends on where; --paper itself means the exact ridge. */
#define PAIR(ridge_word)                                                       \
  {                                                                            \
    "tau-prior", "profile", "ridge", ridge_word, "kernel", "model",            \
        "tau-move", "truncated-normal", "exchange", "0.125", NULL              \
  }

static const struct {
  const char *label;
  const char *words[11];
  size_t share; /* of the iterations: fewer where they are slow */
  const char *remark;
} methods[TIMED] = {
    [PT] = {"PT, 5 chains",
            {"method", "pt", "levels", "5", "paper", "true", NULL},
            1,
            ""},
    [CONVEX] = {"PT-STWNC, ridge convex", PAIR("convex"), 1,
                "the default: certified, about 15 optima for each I(0)"},
    [SPLINE] = {"PT-STWNC, ridge spline", PAIR("spline"), 1,
                "the paper's acceleration; its set-up took under a minute"},
    [EXACT] = {"PT-STWNC, ridge exact", PAIR("exact"), 4,
               "as printed: the optimiser at every proposal"}};

tempera_status tm_sir_times(tm_paper *paper, const tempera_model *model,
                            tempera_error *error) {
  timing times[TIMED];
  for (int i = 0; i < TIMED; i++) {
    if (paper->progress)
      paper->progress("SIR: time per iteration", (size_t)i, TIMED, NAN,
                      paper->progress_user);
    TM_TRY(time_method(paper, model, methods[i].words,
                       paper->lengths.timed / methods[i].share, &times[i],
                       error));
  }
  json_t *sheet = tm_sheet_create("sir_time", "SIR: the time of an iteration");
  tm_sheet_column(sheet, "method", "method", TM_SHEET_TEXT);
  tm_sheet_column(sheet, "setup_seconds", "set-up, s", 2);
  tm_sheet_column(sheet, "iteration_microseconds", "iteration, us", 0);
  tm_sheet_column(sheet, "pt_chains", "PT chains of the same time", 1);
  tm_sheet_column(sheet, "remark", "remark", TM_SHEET_TEXT);
  double chain = times[PT].iteration / 5;
  for (int i = 0; i < TIMED; i++) {
    json_t *row = tm_sheet_row(sheet, methods[i].label);
    tm_sheet_number(row, times[i].setup);
    tm_sheet_number(row, 1e6 * times[i].iteration);
    tm_sheet_number(row, times[i].iteration / chain);
    tm_sheet_words(row, methods[i].remark);
  }
  tm_sheet_note(sheet, "Published: an iteration of PT-STWNC with the optimiser "
                       "took the time of about 50 PT chains. One thread, its "
                       "CPU time.");
  tm_document_sheet(paper, sheet);
  return TEMPERA_OK;
}
