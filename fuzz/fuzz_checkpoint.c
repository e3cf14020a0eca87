/* Checkpoints whose contents lie, behind a right checksum: a sampler comes of
 * them, or a refusal, and nothing else. */
#include "run/sampler.h"

#include <math.h>
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
