/* Checkpoints whose contents lie, behind a right checksum: a sampler comes of
 * them, or a refusal, and nothing else. Its corpus is of the version at hand,
 * so it is written, not kept: into the folder that TEMPERA_SEEDS names, a
 * checkpoint of each method, in warmup and behind it. */
#include "run/sampler.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int likelihood(const double *theta, double *value, void *user) {
  (void)user;
  *value = -8 * (fabs(theta[1]) - 1) * (fabs(theta[1]) - 1) - theta[0];
  return 0;
}

static int prior(const double *theta, double *value, void *user) {
  (void)user;
  *value = -theta[1] * theta[1] / 2;
  return 0;
}

static int draw(tempera_random *random, double *theta, void *user) {
  (void)user;
  theta[0] = (double)tempera_random_below(random, 3);
  theta[1] = tempera_random_normal(random);
  return 0;
}

static tempera_model *make_model(void) {
  static const tempera_parameter parameters[] = {
      {.name = "k", .kind = TEMPERA_INTEGER, .lower = 0, .upper = 2},
      {.name = "x", .lower = -INFINITY, .upper = INFINITY}};
  const tempera_model_spec spec = {.name = "fuzz",
                                   .parameters = parameters,
                                   .parameter_count = 2,
                                   .log_likelihood = likelihood,
                                   .log_prior = prior,
                                   .prior_draw = draw};
  tempera_model *model = NULL;
  return tempera_model_create(&spec, &model, NULL) == TEMPERA_OK ? model : NULL;
}

/* Without its head, which is made anew for every input. */
static void keep_seed(tempera_sampler *sampler, const char *folder,
                      const char *method, size_t sweeps) {
  tm_archive archive = tm_archive_writer();
  char path[512];
  snprintf(path, sizeof path, "%s/%s-%zu", folder, method, sweeps);
  FILE *file = fopen(path, "wb");
  if (file && tm_sampler_write(sampler, &archive, NULL) == TEMPERA_OK)
    fwrite(archive.data + TM_ARCHIVE_HEAD, 1, archive.length - TM_ARCHIVE_HEAD,
           file);
  if (file)
    fclose(file);
  tm_archive_clear(&archive);
}

static void write_seeds(const tempera_model *model, const char *folder) {
  static const char *const methods[] = {"pt-stwnc", "pt", "st",
                                        "mh",       "ee", "pawl"};
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    tempera_options o = tempera_options_default();
    tempera_sampler *sampler = NULL;
    o.chains = 2;
    o.warmup = 40;
    o.warmup_given = true;
    o.iterations = 20;
    o.threads = 1;
    o.seed = 1;
    if (tempera_options_set(&o, "method", methods[i], NULL) != TEMPERA_OK ||
        tempera_sampler_create(model, &o, &sampler, NULL) != TEMPERA_OK)
      abort();
    for (size_t sweeps = 0; sweeps < 60; sweeps += 25) {
      keep_seed(sampler, folder, methods[i], sweeps);
      if (tempera_sampler_advance(sampler, 25, NULL) != TEMPERA_OK)
        abort();
    }
    tempera_sampler_free(sampler);
  }
}

int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  const char *folder = getenv("TEMPERA_SEEDS");
  (void)argc;
  (void)argv;
  tempera_model *model = folder ? make_model() : NULL;
  if (model)
    write_seeds(model, folder);
  tempera_model_free(model);
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static tempera_model *model;
  tempera_sampler *sampler = NULL;
  tm_archive writer = tm_archive_writer(), reader;
  if (!model)
    model = make_model();
  writer.data = tm_heap_resize(writer.data, TM_ARCHIVE_HEAD + size + 1, 1);
  memcpy(writer.data + TM_ARCHIVE_HEAD, data, size);
  writer.length = TM_ARCHIVE_HEAD + size;
  if (tm_archive_seal(&writer, NULL) == TEMPERA_OK &&
      tm_archive_open(writer.data, writer.length, &reader, NULL) ==
          TEMPERA_OK &&
      tm_sampler_read(model, &reader, 1, &sampler, NULL) == TEMPERA_OK)
    tempera_sampler_free(sampler);
  tm_archive_clear(&writer);
  return 0;
}
