/* value_groups.c - see value_groups.h. */
#include "report/value_groups.h"

#include <math.h>
#include <string.h>

/* A table of so many rows is shown whole; in longer ones, containers of more
 * than LONG_GROUP elements are folded. */
enum { SHORT_TABLE = 20, LONG_GROUP = 10 };

static size_t base_length(const char *name) {
  return name ? strcspn(name, "[") : 0;
}

tm_value_group tm_value_group_at(const tempera_value_summary *values,
                                 size_t count, size_t from) {
  tm_value_group group = {&values[from], 1, 0};
  size_t length = base_length(values[from].name);
  group.name_length = (int)length;
  if (!values[from].name || values[from].name[length] != '[')
    return group;
  while (from + group.count < count) {
    const char *name = values[from + group.count].name;
    if (base_length(name) != length ||
        strncmp(name, values[from].name, length) != 0)
      break;
    group.count++;
  }
  return group;
}

/* Pointwise likelihoods and replicated data, by the names that Stan's users and
 * tools give them. */
static bool is_for_programs(const tm_value_group *group) {
  static const char *const endings[] = {"log_lik", "_rep", "_pred", "_sim",
                                        "_tilde"};
  const char *name = group->values->name;
  size_t length = (size_t)group->name_length;
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
    size_t n = strlen(endings[i]);
    if (length >= n && strncmp(name + length - n, endings[i], n) == 0)
      return true;
  }
  return false;
}

bool tm_value_group_folds(const tm_value_group *group, size_t rows) {
  if (group->count < 2 || !group->values->name)
    return false;
  return is_for_programs(group) ||
         (rows > SHORT_TABLE && group->count > LONG_GROUP);
}

tm_value_extremes tm_value_group_extremes(const tm_value_group *group) {
  tm_value_extremes e = {NAN, NAN, NAN, NAN};
  for (size_t i = 0; i < group->count; i++) {
    const tempera_value_summary *v = &group->values[i];
    e.lowest_mean = fmin(e.lowest_mean, v->mean);
    e.highest_mean = fmax(e.highest_mean, v->mean);
    e.least_ess = fmin(e.least_ess, fmin(v->ess_bulk, v->ess_tail));
    e.greatest_rhat = fmax(e.greatest_rhat, v->rhat);
  }
  return e;
}
