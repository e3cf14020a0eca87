/* glue.c - the calls of R into libtempera. R's own functions are called by R's
 * thread alone; models that are not R's run on a thread beside it, so that R
 * hears Ctrl-C. */
#include "glue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <R_ext/Rdynload.h>

static const double PATIENCE = 3; /* seconds after Ctrl-C until it is spoken of */

/* ---- arguments ------------------------------------------------------------- */

SEXP element(SEXP list, const char *name) {
  SEXP names = Rf_getAttrib(list, R_NamesSymbol);
  for (R_xlen_t i = 0; i < Rf_xlength(list); i++)
    if (strcmp(CHAR(STRING_ELT(names, i)), name) == 0)
      return VECTOR_ELT(list, i);
  return R_NilValue;
}

const char *text_of(SEXP list, const char *name) {
  SEXP found = element(list, name);
  return Rf_isString(found) && Rf_length(found) == 1
             ? CHAR(STRING_ELT(found, 0))
             : NULL;
}

int flag_of(SEXP list, const char *name) {
  SEXP found = element(list, name);
  return Rf_isLogical(found) && Rf_length(found) == 1 && LOGICAL(found)[0] == 1;
}

/* ---- a run ------------------------------------------------------------------ */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void hear_message(const char *text, size_t length, void *user) {
  job *j = user;
  pthread_mutex_lock(&j->lock);
  char *longer = realloc(j->said, j->said_length + length + 1);
  if (longer) {
    memcpy(longer + j->said_length, text, length);
    j->said = longer;
    j->said_length += length;
    longer[j->said_length] = '\0';
  }
  pthread_mutex_unlock(&j->lock);
}

static void check_interrupt(void *unused) {
  (void)unused;
  R_CheckUserInterrupt();
}

int interrupted(void) { return !R_ToplevelExec(check_interrupt, NULL); }

/* On R's thread: print what there is, and listen for Ctrl-C. */
static void attend(job *j) {
  pthread_mutex_lock(&j->lock);
  char *said = j->said;
  tempera_progress p = j->latest;
  j->said = NULL;
  j->said_length = 0;
  pthread_mutex_unlock(&j->lock);
  if (said)
    REprintf("%s", said);
  free(said);
  if (j->show && j->heard && now() - j->shown > 0.3 && p.total) {
    REprintf("\r%3.0f %%, %.0f s, %lu round trips ",
             100.0 * (double)p.done / (double)p.total, p.seconds,
             (unsigned long)p.round_trips);
    j->shown = now();
  }
  if (interrupted()) {
    j->gave_up = j->interrupted;
    j->interrupted = 1;
    j->since = now();
    if (j->sampler)
      tempera_sampler_cancel(j->sampler);
  }
}

static int hear_progress(const tempera_progress *progress, void *user) {
  job *j = user;
  pthread_mutex_lock(&j->lock);
  j->latest = *progress;
  j->heard = 1;
  pthread_mutex_unlock(&j->lock);
  if (j->call_densities != R_NilValue)
    attend(j); /* this is R's thread */
  return j->interrupted;
}

static void begin(job *j) {
  j->status =
      tempera_sampler_create(j->model, &j->options, &j->sampler, &j->error);
  if (j->status == TEMPERA_OK)
    j->status = tempera_run_sample(&j->request, j->sampler, hear_progress, j,
                                   &j->summary, &j->error);
}

/* From its last checkpoint; its sampler is the run's. */
static void go_on(job *j) {
  tempera_run *run = NULL;
  size_t iterations = j->options.iterations;
  j->status = tempera_run_open(&j->request, j->model, j->options.threads, &run,
                               &j->error);
  if (j->status == TEMPERA_OK && iterations)
    j->status = tempera_sampler_lengthen(tempera_run_sampler(run), iterations,
                                         &j->error);
  if (j->status == TEMPERA_OK)
    j->status = tempera_run_resume(run, hear_progress, j, &j->summary,
                                   &j->error);
  tempera_run_close(run);
}

static void work(job *j) {
  const tempera_context_settings settings = {
      .message = hear_message, .message_user = j, .blas_threads = 1};
  tempera_context *context = NULL;
  const tempera_context *before = NULL;
  if (tempera_context_create(&settings, &context, NULL) == TEMPERA_OK)
    before = tempera_context_use(context);
  if (j->resuming)
    go_on(j);
  else
    begin(j);
  if (context) {
    tempera_context_use(before);
    tempera_context_free(context);
  }
}

static void *work_beside(void *user) {
  job *j = user;
  work(j);
  pthread_mutex_lock(&j->lock);
  j->done = 1;
  pthread_mutex_unlock(&j->lock);
  return NULL;
}

static void describe_call(const tempera_call *call, double limit,
                          tempera_error *error) {
  size_t used = (size_t)snprintf(
      error->message, sizeof error->message,
      "the model took longer than eval_timeout = %g s allows in %s, chain %lu",
      limit, call->function, (unsigned long)call->chain);
  for (size_t i = 0; i < call->size && used < sizeof error->message - 80; i++)
    used += (size_t)snprintf(error->message + used,
                             sizeof error->message - used, "%s %.40s = %g",
                             i ? "," : ", at", call->names[i], call->theta[i]);
}

/* Has somebody had enough of a call that does not come back? */
static int hangs(job *j) {
  tempera_call call;
  if (j->eval_timeout > 0 && tempera_call_overdue(j->eval_timeout, &call)) {
    describe_call(&call, j->eval_timeout, &j->late);
    return 1;
  }
  if (j->since > 0 && now() - j->since > PATIENCE) {
    j->since = 0;
    REprintf("\ntempera: interrupted; waiting for the model to answer "
             "(interrupt again: do not wait)\n");
  }
  if (j->gave_up)
    snprintf(j->late.message, sizeof j->late.message,
             "interrupted while the model did not answer");
  return j->gave_up;
}

/* False: the model does not come back from a call. No thread can be ended from
 * outside: it stays, with all that it uses, until R ends. */
static int run_beside(job *j) {
  pthread_t thread;
  int done = 0, late = 0;
  if (j->eval_timeout > 0)
    tempera_call_watch();
  if (pthread_create(&thread, NULL, work_beside, j) != 0) {
    work(j);
    return 1;
  }
  double pause = j->eval_timeout > 0 ? fmin(0.05, j->eval_timeout / 8) : 0.05;
  while (!done && !late) {
    const struct timespec wait = {0, (long)(1e9 * pause)};
    nanosleep(&wait, NULL);
    attend(j);
    pthread_mutex_lock(&j->lock);
    done = j->done;
    pthread_mutex_unlock(&j->lock);
    late = !done && hangs(j);
  }
  if (done)
    pthread_join(thread, NULL);
  else
    pthread_detach(thread);
  if (late && j->sampler)
    tempera_sampler_cancel(j->sampler);
  return done;
}

/* ---- functions of R --------------------------------------------------------- */

/* call(what, points): a matrix with a column per point; numbers come back, or
 * a word: "error" or "interrupt", which R keeps the details of. */
static int evaluate(job *j, const char *what, const double *theta, size_t count,
                    double *values, size_t wanted) {
  int failed = 0;
  if (j->broken)
    return -1;
  SEXP points = PROTECT(Rf_allocMatrix(REALSXP, (int)j->size, (int)count));
  memcpy(REAL(points), theta, j->size * count * sizeof(double));
  SEXP word = PROTECT(Rf_mkString(what));
  SEXP call = PROTECT(Rf_lang3(j->call_densities, word, points));
  SEXP found = PROTECT(R_tryEval(call, R_GlobalEnv, &failed));
  int fine = !failed && Rf_isReal(found) && (size_t)Rf_length(found) == wanted;
  if (fine)
    memcpy(values, REAL(found), wanted * sizeof(double));
  else if (!failed && Rf_isString(found) &&
           strcmp(CHAR(STRING_ELT(found, 0)), "interrupt") == 0 && j->sampler) {
    j->interrupted = 1;
    tempera_sampler_cancel(j->sampler);
    for (size_t i = 0; i < wanted; i++)
      values[i] = R_NegInf;
    fine = 1;
  } else
    j->broken = 1;
  UNPROTECT(4);
  return fine ? 0 : -1;
}

static int batch_likelihood(const double *theta, size_t count, double *values,
                            double *gradients, void *user) {
  (void)gradients;
  return evaluate(user, "log_likelihood", theta, count, values, count);
}
static int batch_prior(const double *theta, size_t count, double *values,
                       double *gradients, void *user) {
  (void)gradients;
  return evaluate(user, "log_prior", theta, count, values, count);
}
/* The seed of the draw comes from the run, so that runs can be repeated. */
static int draw(tempera_random *random, double *theta, void *user) {
  job *j = user;
  double seed = (double)tempera_random_below(random, 2147483647u);
  double *point = calloc(j->size, sizeof(double));
  if (!point)
    return -1;
  point[0] = seed;
  int answer = evaluate(j, "prior_draw", point, 1, theta, j->size);
  free(point);
  return answer;
}

static tempera_status open_functions(job *j, SEXP arguments) {
  const char *text = text_of(arguments, "parameters");
  size_t count = 0;
  tempera_status status =
      tempera_parameters_parse(text, strlen(text), &j->parameters, &j->error);
  if (status != TEMPERA_OK)
    return status;
  const tempera_parameter *blocks =
      tempera_parameters_blocks(j->parameters, &count);
  for (size_t b = 0; b < count; b++)
    j->size += blocks[b].size ? blocks[b].size : 1;
  const tempera_model_spec spec = {
      .name = text_of(arguments, "name"),
      .parameters = blocks,
      .parameter_count = count,
      .log_likelihood_batch = batch_likelihood,
      .log_prior_batch = batch_prior,
      .prior_draw = flag_of(arguments, "has_prior_draw") ? draw : NULL,
      .prior_normalised = flag_of(arguments, "prior_normalised"),
      .prior_improper = flag_of(arguments, "prior_improper"),
      .user = j};
  if (!flag_of(arguments, "vectorised"))
    j->options.threads = 1; /* one point at a time */
  return tempera_model_create(&spec, &j->model, &j->error);
}

/* Workers, which answer for themselves. */
static tempera_status open_command(job *j, SEXP arguments) {
  const char *text = text_of(arguments, "parameters");
  tempera_status status =
      tempera_parameters_parse(text, strlen(text), &j->parameters, &j->error);
  if (status != TEMPERA_OK)
    return status;
  const tempera_command command = {
      .command = text_of(arguments, "command"),
      .parameters = j->parameters,
      .workers = (size_t)Rf_asReal(element(arguments, "workers")),
      .timeout = Rf_asReal(element(arguments, "eval_timeout")),
      .batch = flag_of(arguments, "batch"),
      .prior_normalised = flag_of(arguments, "prior_normalised"),
      .prior_improper = flag_of(arguments, "prior_improper")};
  return tempera_command_model(&command, &j->model, &j->error);
}

/* ---- opening ---------------------------------------------------------------- */

tempera_status read_program(const char *code, const char *path,
                            const char *include_path, tempera_program **program,
                            tempera_error *error) {
  tempera_status status =
      code ? tempera_program_parse("model.stan", code, strlen(code), program,
                                   error)
           : tempera_program_read_including(path, include_path, program, error);
  const char *words;
  for (size_t i = 0; status == TEMPERA_OK &&
                     (words = tempera_program_warning(*program, i));
       i++)
    Rf_warning("%s", words);
  return status;
}

static tempera_status open_program(job *j, SEXP arguments) {
  const char *code = text_of(arguments, "code"),
             *path = text_of(arguments, "path");
  size_t length = path ? strlen(path) : 0;
  tempera_program *program = NULL;
  if (!code && (length < 5 || strcmp(path + length - 5, ".stan") != 0))
    return tempera_model_load(path, j->data, &j->model, &j->error);
  tempera_status status =
      read_program(code, path, text_of(arguments, "include_path"), &program,
                   &j->error);
  if (status == TEMPERA_OK)
    status = tempera_program_load(program, j->data, &j->model, &j->error);
  tempera_program_free(program);
  return status;
}

tempera_status set_options(job *j, SEXP arguments) {
  SEXP names = element(arguments, "option_names"),
       values = element(arguments, "option_values");
  j->options = tempera_options_default();
  for (R_xlen_t i = 0; i < Rf_xlength(names); i++) {
    tempera_status status = tempera_options_set(
        &j->options, CHAR(STRING_ELT(names, i)), CHAR(STRING_ELT(values, i)),
        &j->error);
    if (status != TEMPERA_OK)
      return status;
  }
  return TEMPERA_OK;
}

static tempera_status set_starts(job *j, SEXP arguments) {
  const char *init = text_of(arguments, "init");
  if (!init)
    return TEMPERA_OK;
  if (j->options.chains == 0)
    j->options.chains = j->options.paper ? 1 : 4;
  j->starts = calloc(j->options.chains * tempera_model_size(j->model),
                     sizeof(double));
  j->options.init = j->starts;
  return tempera_starts_parse(init, strlen(init), j->model, j->options.chains,
                              j->starts, &j->error);
}

tempera_status open_job(job *j, SEXP arguments) {
  const char *data = text_of(arguments, "data");
  tempera_status status =
      tempera_data_parse(data, strlen(data), &j->data, &j->error);
  if (status == TEMPERA_OK)
    status = set_options(j, arguments);
  if (status == TEMPERA_OK)
    status = text_of(arguments, "command")   ? open_command(j, arguments)
             : j->call_densities != R_NilValue ? open_functions(j, arguments)
                                               : open_program(j, arguments);
  if (status == TEMPERA_OK)
    status = set_starts(j, arguments);
  j->request = (tempera_run_request){
      .folder = text_of(arguments, "folder"),
      .model_path = text_of(arguments, "model_path"),
      .data_path = text_of(arguments, "data_path"),
      .data = j->data,
      .command = text_of(arguments, "command"),
      .parameters_path = text_of(arguments, "parameters_path"),
      .batch = flag_of(arguments, "batch"),
      .prior_normalised = flag_of(arguments, "prior_normalised"),
      .prior_improper = flag_of(arguments, "prior_improper")};
  if (Rf_isReal(element(arguments, "eval_timeout")) &&
      !text_of(arguments, "command"))
    j->eval_timeout = Rf_asReal(element(arguments, "eval_timeout"));
  return status;
}

void close_job(job *j) {
  tempera_summary_free(j->summary);
  tempera_sampler_free(j->sampler);
  tempera_model_free(j->model);
  tempera_parameters_free(j->parameters);
  tempera_data_free(j->data);
  free(j->starts);
  free(j->said);
  pthread_mutex_destroy(&j->lock);
}

/* c(status, message): the status is a word. */
static SEXP answer(tempera_status status, const tempera_error *error) {
  static const char *const words[] = {"ok",    "memory", "argument", "input",
                                      "model", "io",     "cancelled"};
  char message[700];
  if (error->line)
    snprintf(message, sizeof message, "line %d, column %d: %s", error->line,
             error->column, error->message);
  else
    snprintf(message, sizeof message, "%s", error->message);
  SEXP result = PROTECT(Rf_allocVector(STRSXP, 2));
  SET_STRING_ELT(result, 0, Rf_mkChar(words[status]));
  SET_STRING_ELT(result, 1, Rf_mkChar(message));
  UNPROTECT(1);
  return result;
}

/* False: its thread is left behind, and the job with it. */
static int run_job(job *j, SEXP arguments) {
  if (j->call_densities != R_NilValue)
    work(j);
  else if (!run_beside(j))
    return 0;
  attend(j);
  if (text_of(arguments, "netcdf") && j->summary && j->sampler &&
      j->status == TEMPERA_OK)
    j->status = tempera_netcdf_write(text_of(arguments, "netcdf"), j->sampler,
                                     j->data, j->summary, &j->error);
  if (j->show && j->heard)
    REprintf("\r%40s\r", "");
  return 1;
}

static SEXP r_sample(SEXP arguments) {
  job *j = calloc(1, sizeof *j);
  if (!j)
    Rf_error("out of memory");
  j->call_densities = element(arguments, "call");
  pthread_mutex_init(&j->lock, NULL);
  j->show = flag_of(arguments, "progress");
  j->resuming = flag_of(arguments, "resuming");
  j->status = open_job(j, arguments);
  if (j->status == TEMPERA_OK && !run_job(j, arguments)) {
    R_PreserveObject(arguments);
    return answer(TEMPERA_ERROR_MODEL, &j->late);
  }
  SEXP result = PROTECT(answer(j->status, &j->error));
  close_job(j);
  free(j);
  UNPROTECT(1);
  return result;
}

static const R_CallMethodDef calls[] = {{"r_sample", (DL_FUNC)&r_sample, 1},
                                        {"r_draws", (DL_FUNC)&r_draws, 2},
                                        {"r_summary", (DL_FUNC)&r_summary, 1},
                                        {"r_paths", (DL_FUNC)&r_paths, 1},
                                        {"r_program_of", (DL_FUNC)&r_program_of, 1},
                                        {"r_report", (DL_FUNC)&r_report, 2},
                                        {"r_compare", (DL_FUNC)&r_compare, 6},
                                        {"r_test", (DL_FUNC)&r_test, 4},
                                        {"r_evidence", (DL_FUNC)&r_evidence, 4},
                                        {"r_calibrate", (DL_FUNC)&r_calibrate, 1},
                                        {"r_program", (DL_FUNC)&r_program, 4},
                                        {"r_check", (DL_FUNC)&r_check, 4},
                                        {NULL, NULL, 0}};

void R_init_tempera(DllInfo *info);
void R_init_tempera(DllInfo *info) {
  R_registerRoutines(info, NULL, calls, NULL, NULL);
  R_useDynamicSymbols(info, FALSE);
}
