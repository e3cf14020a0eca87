/* value_groups.h - the elements of one container, which stand beside each other
 * in a summary: theta[1] .. theta[8]. Long ones, and those that are made to be
 * read by programs (log_lik, y_rep), are shown folded. */
#ifndef TM_REPORT_VALUE_GROUPS_H
#define TM_REPORT_VALUE_GROUPS_H

#include "base/status.h"

typedef struct tm_value_group {
  const tempera_value_summary *values; /* the first */
  size_t count;
  int name_length; /* of the container's name, in that of the first */
} tm_value_group;

/* The group that begins at values[from]; `count` values in all. */
tm_value_group tm_value_group_at(const tempera_value_summary *values,
                                 size_t count, size_t from);
/* Better one line than a row for each element? `rows`: of the whole table. */
bool tm_value_group_folds(const tm_value_group *group, size_t rows);

/* What one line says of many: ends of the means, and the worst of the rest. */
typedef struct tm_value_extremes {
  double lowest_mean, highest_mean, least_ess, greatest_rhat;
} tm_value_extremes;
tm_value_extremes tm_value_group_extremes(const tm_value_group *group);

#endif
