/* Every allocation of a whole run fails in turn, those of GSL and jansson
 * included: sampling into a folder, its summary, its page, reading it back,
 * going on from its checkpoint and comparing end with a status, without a
 * crash, a leak or a file that is silently less than it should be. A step of 1
 * (TEMPERA_EVERY=1, `make memory`) takes them all; the suite takes some
 * hundred, spread over the run. */
#include "tempera.h"

#include "cmocka_all.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- malloc and its kin, in front of the C library's ----------------------
 */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif

static long asked, fails_at, living;

#ifndef SANITIZED
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *memory);

static bool refuses(void) {
  bool now = ++asked == fails_at;
  if (now)
    errno = ENOMEM; /* as the C library has it */
  return now;
}

static void *counted(void *memory) {
  living += memory != NULL;
  return memory;
}

void *malloc(size_t size) {
  return refuses() ? NULL : counted(__libc_malloc(size));
}
void *calloc(size_t count, size_t size) {
  return refuses() ? NULL : counted(__libc_calloc(count, size));
}
void *realloc(void *memory, size_t size) {
  if (refuses())
    return NULL;
  void *moved = __libc_realloc(memory, size);
  living += !memory && moved;
  return moved;
}
void *aligned_alloc(size_t alignment, size_t size) {
  return refuses() ? NULL : counted(__libc_memalign(alignment, size));
}
void free(void *memory) {
  living -= memory != NULL;
  __libc_free(memory);
}
#endif

/* ---- the run --------------------------------------------------------------
 */

static char folder[] = "/tmp/tempera-memory-XXXXXX";

static int likelihood(const double *theta, double *value, void *user) {
  (void)user;
  *value = -8 * (fabs(theta[1]) - 1) * (fabs(theta[1]) - 1) - theta[0];
  return 0;
}

static int prior(const double *theta, double *value, void *user) {
  (void)user;
  *value = -theta[1] * theta[1] / 2 - 0.91893853320467274178 - log(3);
  return 0;
}

static int draw(tempera_random *random, double *theta, void *user) {
  (void)user;
  theta[0] = (double)tempera_random_below(random, 3);
  theta[1] = tempera_random_normal(random);
  return 0;
}

static tempera_status sample(const tempera_model *model,
                             const tempera_run_request *where,
                             tempera_error *error) {
  tempera_options o = tempera_options_default();
  tempera_sampler *sampler = NULL;
  tempera_summary *summary = NULL, *again = NULL;
  tempera_draws *draws = NULL;
  char *text = NULL;
  o.chains = 2;
  o.warmup = 120;
  o.warmup_given = true;
  o.iterations = 80;
  o.threads = 1;
  o.seed = 1;
  tempera_status status = tempera_sampler_create(model, &o, &sampler, error);
  if (status == TEMPERA_OK)
    status = tempera_run_sample(where, sampler, NULL, NULL, &summary, error);
  if (status == TEMPERA_OK)
    status = tempera_run_report(folder, NULL, error);
  if (status == TEMPERA_OK)
    status = tempera_summary_read(folder, &again, error);
  if (status == TEMPERA_OK)
    status = tempera_draws_read(folder, &draws, error);
  if (status == TEMPERA_OK)
    status = tempera_summary_text(again, false, &text, error);
  tempera_text_free(text);
  tempera_draws_free(draws);
  tempera_summary_free(again);
  tempera_summary_free(summary);
  tempera_sampler_free(sampler);
  return status;
}

/* The run goes on for twenty iterations more, from its checkpoint. */
static tempera_status lengthen(const tempera_model *model,
                               const tempera_run_request *where,
                               tempera_summary **summary,
                               tempera_error *error) {
  tempera_run *run = NULL;
  tempera_status status = tempera_run_open(where, model, 1, &run, error);
  if (status == TEMPERA_OK)
    status = tempera_sampler_lengthen(tempera_run_sampler(run), 100, error);
  if (status == TEMPERA_OK)
    status = tempera_run_resume(run, NULL, NULL, summary, error);
  tempera_run_close(run);
  return status;
}

static tempera_status go_on(const tempera_model *model,
                            const tempera_run_request *where,
                            tempera_error *error) {
  const char *const names[] = {"one", "two"};
  tempera_summary *summary = NULL;
  tempera_comparison *comparison = NULL;
  char *text = NULL;
  tempera_status status = lengthen(model, where, &summary, error);
  const tempera_summary *const both[] = {summary, summary};
  if (status == TEMPERA_OK)
    status = tempera_compare(both, names, 2, NULL, &comparison, error);
  if (status == TEMPERA_OK)
    status = tempera_comparison_json(comparison, &text, error);
  tempera_text_free(text);
  tempera_comparison_free(comparison);
  tempera_summary_free(summary);
  return status;
}

static tempera_status whole_run(tempera_error *error) {
  static const tempera_parameter parameters[] = {
      {.name = "k", .kind = TEMPERA_INTEGER, .lower = 0, .upper = 2},
      {.name = "x", .lower = -INFINITY, .upper = INFINITY}};
  const tempera_model_spec spec = {.name = "memory",
                                   .parameters = parameters,
                                   .parameter_count = 2,
                                   .log_likelihood = likelihood,
                                   .log_prior = prior,
                                   .prior_draw = draw,
                                   .prior_normalised = true};
  tempera_model *model = NULL;
  tempera_data *data = NULL;
  static const char json[] = "{\"y\": [1, 2]}";
  tempera_status status =
      tempera_data_parse(json, sizeof json - 1, &data, error);
  const tempera_run_request where = {.folder = folder, .data = data};
  if (status == TEMPERA_OK)
    status = tempera_model_create(&spec, &model, error);
  if (status == TEMPERA_OK)
    status = sample(model, &where, error);
  if (status == TEMPERA_OK)
    status = go_on(model, &where, error);
  tempera_model_free(model);
  tempera_data_free(data);
  return status;
}

/* ---- one failure ----------------------------------------------------------
 */

enum { FINE = 0, LEAKED = 3, WRONG_STATUS = 4, UNNOTICED = 5 };

static void clear_folder(void) {
  static const char *const names[] = {
      "config.json",      "summary.json",    "report.html",
      "checkpoint",       "checkpoint.old",  "checkpoint.next",
      "target-1.csv",     "target-2.csv",    "tempered-1.csv",
      "tempered-2.csv",   "reference-1.csv", "reference-2.csv",
      "checkpoint.draws", "prior.csv",       ".lock"};
  char path[256];
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    unlink(path);
  }
}

static long file_size(const char *name) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END) != 0)
    return -1;
  long size = ftell(file);
  fclose(file);
  return size;
}

/* In a process of its own. */
static int fail_once(long k, long baseline, long page) {
  tempera_error error = {0};
  clear_folder();
  asked = 0;
  fails_at = k;
  tempera_status status = whole_run(&error);
  fails_at = 0;
  if (status == TEMPERA_OK && labs(file_size("report.html") - page) > 200)
    return UNNOTICED;
  if (status != TEMPERA_OK && status != TEMPERA_ERROR_MEMORY &&
      status != TEMPERA_ERROR_IO && status != TEMPERA_ERROR_MODEL)
    return WRONG_STATUS;
  return living - baseline > 3 ? LEAKED : FINE;
}

static void every_failure_has_a_status(void **state) {
  (void)state;
  tempera_error error = {0};
  const char *every = getenv("TEMPERA_EVERY");
#ifdef SANITIZED
  skip();
#endif
  if (whole_run(&error) != TEMPERA_OK) /* it leaves what is kept for good */
    fail_msg("%s", error.message);
  clear_folder();
  long before = living;
  asked = 0;
  assert_int_equal(whole_run(&error), TEMPERA_OK);
  long total = asked, baseline = living, page = file_size("report.html");
  assert_true(total > 100 && labs(living - before) < 3);
  long step = every ? atol(every) : total / 150 + 1;
  long tried = 0, bad = 0;
  for (long k = 1; k <= total; k += step, tried++) {
    int status = 0;
    pid_t child = fork();
    if (child == 0)
      _exit(fail_once(k, baseline, page));
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == FINE)
      continue;
    bad++;
    print_message("allocation %ld of %ld: %s %d\n", k, total,
                  WIFSIGNALED(status) ? "signal" : "code",
                  WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  }
  print_message("%ld of %ld allocations failed in turn, %ld badly\n", tried,
                total, bad);
  assert_int_equal(bad, 0);
}

static int make_folder(void **state) {
  (void)state;
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
  (void)state;
  clear_folder();
  return rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_failure_has_a_status)};
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
