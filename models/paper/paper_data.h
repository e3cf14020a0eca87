/* paper_data.h - what the paper's models share: reading and checking data,
 * and the summary of a normal sample. */
#ifndef PAPER_DATA_H
#define PAPER_DATA_H

#include "tempera.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define LOG_2_PI 1.83787706640934548356

#define TRY(call)                                                              \
  do {                                                                         \
    tempera_status try_status = (call);                                        \
    if (try_status != TEMPERA_OK)                                              \
      return try_status;                                                       \
  } while (0)

__attribute__((format(printf, 2, 3))) static inline tempera_status
bad_data(tempera_error *error, const char *format, ...) {
  if (error) {
    va_list arguments;
    va_start(arguments, format);
    error->line = error->column = 0;
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
  }
  return TEMPERA_ERROR_INPUT;
}

static inline tempera_status no_memory(tempera_error *error) {
  bad_data(error, "out of memory");
  return TEMPERA_ERROR_MEMORY;
}

/* A model without data is a common slip; say so before asking for a key. */
static inline tempera_status need_data(const tempera_data *data,
                                       tempera_error *error) {
  return data ? TEMPERA_OK
              : bad_data(error, "this model needs data; give a JSON file "
                                "with -d");
}

/* An integer in lower..upper. */
static inline tempera_status read_integer(const tempera_data *data,
                                          const char *name, int64_t lower,
                                          int64_t upper, int64_t *value,
                                          tempera_error *error) {
  int64_t found;
  TRY(tempera_data_integer(data, name, &found, error));
  if (found < lower || found > upper)
    return bad_data(error, "data %s is %lld; it must be from %lld to %lld",
                    name, (long long)found, (long long)lower, (long long)upper);
  *value = found;
  return TEMPERA_OK;
}

/* `count` finite reals, owned by `data`. */
static inline tempera_status read_reals(const tempera_data *data,
                                        const char *name, size_t count,
                                        const double **values,
                                        tempera_error *error) {
  size_t found;
  TRY(tempera_data_reals(data, name, values, &found, error));
  if (found != count)
    return bad_data(error, "data %s has %zu values; n says %zu", name, found,
                    count);
  for (size_t i = 0; i < count; i++)
    if (!isfinite((*values)[i]))
      return bad_data(error, "data %s[%zu] is not a finite number", name,
                      i + 1);
  return TEMPERA_OK;
}

/* n and y. */
static inline tempera_status read_sample(const tempera_data *data,
                                         const double **y, size_t *count,
                                         tempera_error *error) {
  int64_t n = 0;
  TRY(need_data(data, error));
  TRY(read_integer(data, "n", 1, INT32_MAX, &n, error));
  TRY(read_reals(data, "y", (size_t)n, y, error));
  *count = (size_t)n;
  return TEMPERA_OK;
}

/* A sample enters a normal likelihood only through these; the squares are
 * taken about the mean, so that nothing cancels later. */
typedef struct normal_sample {
  double n, mean, squares;
} normal_sample;

static inline normal_sample summarise(const double *y, size_t count) {
  normal_sample sample = {.n = (double)count};
  for (size_t i = 0; i < count; i++)
    sample.mean += y[i] / sample.n;
  for (size_t i = 0; i < count; i++)
    sample.squares += (y[i] - sample.mean) * (y[i] - sample.mean);
  return sample;
}

/* The sample of n and y, on the heap: free it. */
static inline tempera_status take_sample(const tempera_data *data,
                                         normal_sample **sample,
                                         tempera_error *error) {
  const double *y;
  size_t count;
  TRY(read_sample(data, &y, &count, error));
  *sample = malloc(sizeof **sample);
  if (!*sample)
    return no_memory(error);
  **sample = summarise(y, count);
  return TEMPERA_OK;
}

/* sum_i (y_i - centre)^2 */
static inline double squares_about(const normal_sample *sample, double centre) {
  double shift = sample->mean - centre;
  return sample->squares + sample->n * shift * shift;
}

/* The paper's walk over mu, N(mu, 2.4^2 s2 / (n tau + s2)): the variance of
 * mu given s2 at tau, times the optimal factor for one Gaussian dimension
 * (`scale` is 2.4). It does not depend on mu, so it is symmetric. */
static inline double propose_mean(const normal_sample *sample, double tau,
                                  double scale, double mu, double sigma2,
                                  tempera_random *random) {
  double variance = sigma2 / (sample->n * tau + sigma2);
  return mu + scale * sqrt(variance) * tempera_random_normal(random);
}

/* A log-normal walk x -> x e^{scale z} has density phi(z)/(scale x') in x',
 * so log q(x|x') - log q(x'|x) = log x' - log x, the step itself. */
static inline double propose_positive(double x, double scale, double *log_ratio,
                                      tempera_random *random) {
  *log_ratio = scale * tempera_random_normal(random);
  return x * exp(*log_ratio);
}

#endif
