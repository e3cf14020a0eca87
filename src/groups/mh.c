/* mh.c - see mh.h. */
#include "groups/mh.h"

typedef struct mh {
  tm_group group;
  tm_point point;
  tempera_random stream;
} mh;

static void sweep(tm_group *group) {
  mh *chain = (mh *)group;
  tm_row *row = group->rows[TEMPERA_TARGET];
  tm_group_mutate(group, &chain->stream, &chain->point, 1, row);
  tm_row_fill(row, &chain->point, 1);
}

static void archive(tm_group *group, tm_archive *archive) {
  mh *chain = (mh *)group;
  tm_point_archive(group->model, &chain->point, archive);
  tm_archive_random(archive, &chain->stream);
}

static const tm_group_type MH = {.sweep = sweep, .archive = archive};

tempera_status tm_mh_create(const tempera_model *model, tempera_kernel kernel,
                            uint64_t seed, uint32_t chain, const double *start,
                            tm_group **group, tempera_error *error) {
  tm_group *made = NULL;
  TM_TRY(tm_group_create(&MH, sizeof(mh), model, kernel, chain, &made, error));
  mh *self = (mh *)made;
  self->stream = tm_random(seed, chain, TM_PURPOSE_TARGET);
  tempera_status status = tm_group_set_width(made, TEMPERA_TARGET, 1, error);
  if (status == TEMPERA_OK)
    status = tm_group_point(made, start, &self->point, error);
  if (status != TEMPERA_OK)
    tm_group_free(made);
  else
    *group = made;
  return status;
}
