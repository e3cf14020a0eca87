/* bridgestan.h - BridgeStan's functions over a compiled program, as the library
 * provides them; bridgestan_stubs.h gives them their public names in the
 * program's own shared library. Both texts are part of what `tempera compile`
 * builds.
 *
 * Codes are 0 or -1; then *error is a text for tempera_bs_free_text. */
#ifndef TM_LANGUAGE_BRIDGESTAN_H
#define TM_LANGUAGE_BRIDGESTAN_H

#include <stdbool.h>
#include <stddef.h>

struct tm_entry;
typedef struct tempera_bs tempera_bs;         /* a program with data */
typedef struct tempera_bs_rng tempera_bs_rng; /* a random stream */
typedef void (*tempera_bs_print)(const char *text, size_t size);

/* data: JSON text, a path ending in .json, or nothing. *print is where the
 * program prints, read each time; NULL is standard output. */
tempera_bs *tempera_bs_create(const struct tm_entry *entry,
                              const tempera_bs_print *print, const char *data,
                              unsigned seed, char **error);
void tempera_bs_free(tempera_bs *bs);
void tempera_bs_free_text(char *text);
const char *tempera_bs_name(const tempera_bs *bs);
const char *tempera_bs_info(const tempera_bs *bs);
/* With transformed parameters, with generated quantities? */
const char *tempera_bs_names(const tempera_bs *bs, bool tp, bool gq);
const char *tempera_bs_unconstrained_names(const tempera_bs *bs);
int tempera_bs_size(const tempera_bs *bs, bool tp, bool gq);
int tempera_bs_unconstrained_size(const tempera_bs *bs);
int tempera_bs_constrain(const tempera_bs *bs, bool tp, bool gq,
                         const double *u, double *theta, tempera_bs_rng *rng,
                         char **error);
int tempera_bs_unconstrain(const tempera_bs *bs, const double *theta, double *u,
                           char **error);
int tempera_bs_unconstrain_json(const tempera_bs *bs, const char *json,
                                double *u, char **error);
/* The log density; gradient, Hessian and Hessian times `direction` may each be
 * NULL. Constants are never dropped. */
int tempera_bs_density(const tempera_bs *bs, bool jacobian, const double *u,
                       double *value, double *gradient, char **error);
int tempera_bs_hessian(const tempera_bs *bs, bool jacobian, const double *u,
                       double *value, double *gradient, double *hessian,
                       char **error);
int tempera_bs_product(const tempera_bs *bs, bool jacobian, const double *u,
                       const double *direction, double *value, double *product,
                       char **error);
tempera_bs_rng *tempera_bs_rng_create(unsigned seed, char **error);
void tempera_bs_rng_free(tempera_bs_rng *rng);

#endif
