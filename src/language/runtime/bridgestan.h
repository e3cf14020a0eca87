/* bridgestan.h - BridgeStan's functions over a compiled program, as the library
 * provides them; bridgestan_stubs.h gives them their public names in the
 * program's own shared library. Both texts are part of what `tempera compile`
 * builds.
 *
 * Codes are 0 or -1; then *error is a text for tm_bs_free_text. */
#ifndef TM_LANGUAGE_BRIDGESTAN_H
#define TM_LANGUAGE_BRIDGESTAN_H

#include <stdbool.h>
#include <stddef.h>

struct tm_entry;
typedef struct tm_bs tm_bs;         /* a program with data */
typedef struct tm_bs_rng tm_bs_rng; /* a random stream */
typedef void (*tm_bs_print)(const char *text, size_t size);

/* data: JSON text, a path ending in .json, or nothing. *print is where the
 * program prints, read each time; NULL is standard output. */
tm_bs *tm_bs_create(const struct tm_entry *entry, const tm_bs_print *print,
                    const char *data, unsigned seed, char **error);
void tm_bs_free(tm_bs *bs);
void tm_bs_free_text(char *text);
const char *tm_bs_name(const tm_bs *bs);
const char *tm_bs_info(const tm_bs *bs);
/* With transformed parameters, with generated quantities? */
const char *tm_bs_names(const tm_bs *bs, bool tp, bool gq);
const char *tm_bs_unconstrained_names(const tm_bs *bs);
int tm_bs_size(const tm_bs *bs, bool tp, bool gq);
int tm_bs_unconstrained_size(const tm_bs *bs);
int tm_bs_constrain(const tm_bs *bs, bool tp, bool gq, const double *u,
                    double *theta, tm_bs_rng *rng, char **error);
int tm_bs_unconstrain(const tm_bs *bs, const double *theta, double *u,
                      char **error);
int tm_bs_unconstrain_json(const tm_bs *bs, const char *json, double *u,
                           char **error);
/* The log density; gradient, Hessian and Hessian times `direction` may each be
 * NULL. Constants are never dropped. */
int tm_bs_density(const tm_bs *bs, bool jacobian, const double *u,
                  double *value, double *gradient, char **error);
int tm_bs_hessian(const tm_bs *bs, bool jacobian, const double *u,
                  double *value, double *gradient, double *hessian,
                  char **error);
int tm_bs_product(const tm_bs *bs, bool jacobian, const double *u,
                  const double *direction, double *value, double *product,
                  char **error);
tm_bs_rng *tm_bs_rng_create(unsigned seed, char **error);
void tm_bs_rng_free(tm_bs_rng *rng);

#endif
