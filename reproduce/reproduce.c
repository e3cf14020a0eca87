/* reproduce.c - the studies one after the other. */
#include "reproduce/paper.h"

#include "base/file.h"
#include "base/memory.h"
#include "parallel/threads.h"
#include "report/page.h"

#include <string.h>

static const tm_paper_lengths full = {.long_warmup = 15000,
                                      .long_kept = 35000,
                                      .short_warmup = 1000,
                                      .short_kept = 34000,
                                      .bimodal_replicates = 20,
                                      .galaxy_replicates = 10,
                                      .sir_replicates = 10,
                                      .timed = 4000};
static const tm_paper_lengths quick = {.long_warmup = 2000,
                                       .long_kept = 8000,
                                       .short_warmup = 1000,
                                       .short_kept = 5000,
                                       .bimodal_replicates = 4,
                                       .galaxy_replicates = 2,
                                       .sir_replicates = 2,
                                       .timed = 1000};

static const char FULL[] =
    "Tables and figures of Jonoska Stojkova & Campbell, \"Parallel Tempering "
    "via Simulated Tempering Without Normalizing Constants\", with the paper's "
    "settings and with Tempera's own, beside the published and the exact "
    "values.";
static const char QUICK[] =
    "Tables and figures of Jonoska Stojkova & Campbell, \"Parallel Tempering "
    "via Simulated Tempering Without Normalizing Constants\", beside the "
    "published and the exact values. Short runs (--quick): the full ones have "
    "smaller errors.";

static const struct {
  const char *name;
  tempera_status (*run)(tm_paper *paper, tempera_error *error);
} studies[] = {{"bimodal", tm_study_bimodal},
               {"galaxy", tm_study_galaxy},
               {"sir", tm_study_sir}};
enum { STUDIES = sizeof studies / sizeof *studies };

static bool wanted(const tm_reproduce_request *request, size_t i) {
  return strcmp(request->study, "all") == 0 ||
         strcmp(request->study, studies[i].name) == 0;
}

static tempera_status check(const tm_reproduce_request *request,
                            tempera_error *error) {
  bool known = false;
  for (size_t i = 0; i < STUDIES; i++)
    known = known || wanted(request, i);
  if (!known)
    return tm_fail(error, TEMPERA_ERROR_ARGUMENT,
                   "no study %s; there are bimodal, galaxy, sir and all",
                   request->study);
  TM_TRY(tm_folder_make(request->folder, error));
  char *path = tm_path_join(request->folder, "results.json");
  if (!path)
    return tm_fail_memory(error);
  bool taken = tm_file_exists(path);
  tm_heap_free(path);
  return taken ? tm_fail(error, TEMPERA_ERROR_INPUT,
                         "%s holds results already; choose another folder "
                         "with -o, or remove it",
                         request->folder)
               : TEMPERA_OK;
}

static tempera_status run_studies(tm_paper *paper, tempera_error *error) {
  for (size_t i = 0; i < STUDIES; i++) {
    if (!wanted(paper->request, i))
      continue;
    TM_TRY(studies[i].run(paper, error));
    TM_TRY(tm_document_write(paper, error));
  }
  return TEMPERA_OK;
}

static tempera_status as_text(const tm_paper *paper, char **text,
                              tempera_error *error) {
  tm_text out = {0};
  json_t *sheet;
  size_t i;
  json_array_foreach(paper->sheets, i, sheet)
      tm_sheet_print(sheet, paper->request->colour, &out);
  if (out.failed)
    return tm_text_clear(&out), tm_fail_memory(error);
  *text = out.data;
  return TEMPERA_OK;
}

tempera_status tm_reproduce(const tm_reproduce_request *request,
                            tm_reproduce_progress_fn progress, void *user,
                            char **text, tempera_error *error) {
  TM_TRY(check(request, error));
  tempera_status status = TEMPERA_OK;
  tm_paper paper = {.request = request,
                    .progress = progress,
                    .progress_user = user,
                    .lengths = request->quick ? quick : full,
                    .threads = tm_threads(request->threads),
                    .sheets = json_array(),
                    .figures = json_array(),
                    .page = tm_page("PT-STWNC: the paper, run again",
                                    request->quick ? QUICK : FULL)};
  TM_TRY_DONE(tm_paper_json("truth.json", &paper.truth, error));
  TM_TRY_DONE(tm_paper_json("published.json", &paper.published, error));
  TM_TRY_DONE(run_studies(&paper, error));
  TM_TRY_DONE(as_text(&paper, text, error));
done:
  json_decref(paper.truth);
  json_decref(paper.published);
  json_decref(paper.sheets);
  json_decref(paper.figures);
  json_decref(paper.page);
  return status;
}
