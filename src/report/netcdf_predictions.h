/* netcdf_predictions.h - groups of run.nc that the library makes by itself:
 * prior, prior_predictive, posterior_predictive and the terms of the
 * likelihood. */
#ifndef TM_REPORT_NETCDF_PREDICTIONS_H
#define TM_REPORT_NETCDF_PREDICTIONS_H

#include "estimate/predictions.h"
#include "report/netcdf_writer.h"
#include "run/sampler.h"

/* Draws from the prior, and data drawn at them; and, unless the program has
 * predictions of its own, data drawn at posterior draws. Variables have the
 * names of the data. */
void tm_netcdf_predictions(tm_netcdf_writer *w, const tempera_sampler *sampler,
                           const tempera_predictions *predictions,
                           bool program_predicts);
/* columns[chain * terms + i][row]: term i at every target draw. NULL where the
 * model has none, or they are more than 2^23 numbers. */
double **tm_netcdf_terms(tm_netcdf_writer *w, const tempera_sampler *sampler,
                         size_t *terms);

#endif
