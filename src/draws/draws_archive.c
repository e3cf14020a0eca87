/* draws_archive.c - draws as state (base/archive.h): what they are of, and
 * rows. */
#include "draws/draws.h"

enum { MOST_KNOTS = 1 << 16, MOST_WIDTH = 1 << 12 };

/* A table of `columns` columns, or fewer where there is no last; a reader keeps
 * it in the draws' memory. */
static void archive_table(tempera_draws *draws, size_t *rows,
                          const double **columns[], size_t count,
                          tm_archive *archive) {
  tm_archive_count(archive, rows, MOST_KNOTS);
  for (size_t i = 0; i < count; i++) {
    bool there = *columns[i] != NULL;
    tm_archive_bool(archive, &there);
    if (archive->reading) {
      double *fresh = there ? TM_NEW(draws->arena, double, *rows + 1) : NULL;
      if (there && !fresh && tm_archive_fine(archive))
        archive->status = TEMPERA_ERROR_MEMORY;
      *columns[i] = fresh;
    }
    if (*columns[i])
      tm_archive_doubles(archive, (double *)(uintptr_t)*columns[i], *rows);
  }
}

static void require(const void *table, size_t rows, tm_archive *archive) {
  if (rows && !table)
    tm_archive_fail(archive, "a table of tau is missing");
}

void tm_draws_archive_law(tempera_draws *draws, tm_archive *archive) {
  tm_draws_prior *prior = &draws->prior;
  tm_draws_levels *levels = &draws->levels;
  tm_draws_ridge *ridge = &draws->ridge;
  tm_archive_tag(archive, "draws");
  tm_archive_size(archive, &draws->count);
  tm_archive_count(archive, &draws->width, MOST_WIDTH);
  archive_table(draws, &prior->knots,
                (const double **[]){&prior->tau, &prior->log_prior}, 2,
                archive);
  tm_archive_double(archive, &prior->log_atom);
  tm_archive_bool(archive, &prior->steps);
  archive_table(draws, &levels->count,
                (const double **[]){&levels->tau, &levels->log_weight}, 2,
                archive);
  archive_table(draws, &ridge->knots,
                (const double **[]){&ridge->tau, &ridge->height, &ridge->idle},
                3, archive);
  tm_archive_bool(archive, &ridge->weighed);
  tm_archive_double(archive, &ridge->log_mass);
  require(prior->tau, prior->knots, archive);
  require(prior->log_prior, prior->knots, archive);
  require(levels->tau, levels->count, archive);
  require(ridge->tau, ridge->knots, archive);
  require(ridge->height, ridge->knots, archive);
}

static bool has_room(const tempera_draws *draws, size_t first, size_t last,
                     tm_archive *archive) {
  bool room = first <= last && last <= draws->capacity;
  if (!room)
    tm_archive_fail(archive, "there are more rows than there is room for");
  return room;
}

static void archive_columns(tempera_draws *draws, tempera_role role,
                            size_t chain, size_t first, size_t last,
                            tm_archive *archive) {
  size_t width = tm_draws_width(draws, role);
  for (size_t c = 0; c < draws->size + TM_COLUMNS; c++) {
    double *column = tm_draws_column(draws, role, chain, c);
    if (column)
      tm_archive_doubles(archive, column + first * width,
                         (last - first) * width);
  }
}

void tm_draws_archive_chain(tempera_draws *draws, size_t chain, size_t first,
                            size_t last, tm_archive *archive) {
  if (!has_room(draws, first, last, archive))
    return;
  for (size_t role = 0; role < 2; role++)
    if (draws->has_role[role])
      archive_columns(draws, (tempera_role)role, chain, first, last, archive);
}

void tm_draws_archive_rows(tempera_draws *draws, size_t first, size_t last,
                           tm_archive *archive) {
  if (!has_room(draws, first, last, archive))
    return;
  for (size_t role = 0; role < 2; role++)
    for (size_t chain = 0; draws->has_role[role] && chain < draws->chains;
         chain++)
      archive_columns(draws, (tempera_role)role, chain, first, last, archive);
}
