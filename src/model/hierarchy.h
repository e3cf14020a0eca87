/* hierarchy.h - families: coordinates x that lie about m with a scale that is a
 * parameter too, as alpha ~ normal(mu, sigma) or theta ~ normal(X b, 1 /
 * sqrt(tau)). Whether there are such is asked of the prior, here and nowhere
 * else: its slopes propose members and what they lie about, and a family is
 * taken if the prior, moved along with its scale, changes by a factor of the
 * scale alone.
 *
 * Where data say little the scale and the deviations x - m are a funnel, in
 * which only moves of both together get about (kernels/rescale.c). These are
 * right for any family, however it was found. */
#ifndef TM_MODEL_HIERARCHY_H
#define TM_MODEL_HIERARCHY_H

#include "model/model.h"

/* One scale's. m[i] = shift[i] + the sum over k < centres of weight[i x centres
 * + k] x theta[centre[k]]; x and the scale's coordinate are those of u. */
typedef struct tm_family {
  size_t scale;    /* in u */
  tm_block bounds; /* of it alone */
  double power;    /* the scale is its value, or if free e^u, to this */
  size_t count, *member;
  size_t centres, *centre;
  double *shift, *weight;
  size_t *mover; /* the centres in u; or the dimension: not to be moved */
} tm_family;

typedef struct tm_hierarchy {
  size_t count;
  tm_family *families;
} tm_hierarchy;

/* Families of the prior; none without gradients. Integers are as in theta.
 * Everything comes from the arena. */
TEMPERA_CHECKED tempera_status tm_hierarchy_find(const tempera_model *model,
                                                 const double *theta,
                                                 tm_arena *arena,
                                                 tm_hierarchy *hierarchy,
                                                 tempera_error *error);

/* u with the scale's coordinate moved by so much and the members' deviations
 * scaled with it, from a point that has theta; gives the log of the volume's
 * gain. */
double tm_family_rescale(const tm_family *family, const tempera_model *model,
                         const tm_point *from, double step, double *u);
/* u with a centre that may be moved, and what lies about it, moved by so much:
 * no gain. */
void tm_family_shift(const tm_family *family, const tempera_model *model,
                     size_t centre, const tm_point *from, double step,
                     double *u);

#endif
