/* fuzz_folder.h - a run's folder, one file of which is any bytes. */
#ifndef TM_FUZZ_FOLDER_H
#define TM_FUZZ_FOLDER_H

#include "tempera.h"

#include <stdio.h>
#include <stdlib.h>

static char folder[] = "/tmp/tempera-fuzz-XXXXXX";

static void put(const char *name, const void *bytes, size_t size) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
    abort();
}

static void make_folder(void) {
  static int made;
  if (!made && !mkdtemp(folder))
    abort();
  made = 1;
}

#define PUT_TEXT(name, text) put(name, text, sizeof(text) - 1)
#define SUMMARY                                                                \
  "{\"evidence\": {}, \"chains\": 2, \"method\": \"pt-stwnc\", "                 \
  "\"parameters\": [{\"name\": \"x\"}], \"complete\": false}"
#define CONFIG                                                                 \
  "{\"chains\": 2, \"method\": \"pt-stwnc\", \"thin\": 1, \"tau_min\": 0, "        \
  "\"save_warmup\": false}"
#define ROWS                                                                   \
  "# c\nlp__,tau__,log_likelihood__,log_prior__,x\n# Adaptation terminated\n"    \
  "1,1,-1,-2,3\n2,0.5,-2,-2,4\n3,0.25,-3,-2,5\n4,0,-4,-2,6\n5,1,-1,-1,1\n"

/* Everything that reads a folder without its model. */
static void read_folder(void) {
  tempera_summary *summary = NULL;
  tempera_draws *draws = NULL;
  tempera_error error = {0};
  char *text = NULL, *model = NULL, *data = NULL;
  if (tempera_summary_read(folder, &summary, &error) == TEMPERA_OK &&
      tempera_summary_text(summary, false, &text, &error) == TEMPERA_OK)
    tempera_text_free(text);
  text = NULL;
  if (summary && tempera_summary_json(summary, &text, &error) == TEMPERA_OK)
    tempera_text_free(text);
  tempera_summary_free(summary);
  if (tempera_draws_read(folder, &draws, &error) == TEMPERA_OK)
    tempera_draws_free(draws);
  (void)!tempera_run_check(folder, &error);
  (void)!tempera_run_report(folder, "/dev/null", &error);
  if (tempera_run_paths(folder, &model, &data, &error) == TEMPERA_OK) {
    tempera_text_free(model);
    tempera_text_free(data);
  }
}

#endif
