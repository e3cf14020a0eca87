/* pawl.c - see pawl.h. */
#include "groups/pawl.h"

#include <math.h>
#include <string.h>

/* How often bins are looked at, in sweeps; and on how many visits. */
enum { LOOK_EVERY = 10, FEWEST_VISITS = 20 };
static const double SMALLER_HALF = 0.25;

/* Places are the bins, after the atom where there is one. */
static size_t atoms(const tm_pawl *pawl) {
  return pawl->bins.log_atom > -INFINITY;
}

static size_t places(const tm_pawl *pawl) {
  return pawl->bins.count + atoms(pawl);
}

static void forget(tm_pawl *pawl) {
  pawl->visits.bins = places(pawl);
  tm_wang_landau_forget(&pawl->visits);
  for (size_t p = 0; p < places(pawl); p++) {
    pawl->left[p] = 0;
    pawl->sum[p] = 0;
  }
}

static void count_walkers(tm_pawl *pawl) {
  memset(pawl->here, 0, places(pawl) * sizeof(size_t));
  for (size_t m = 0; m < pawl->settings.walkers; m++) {
    double tau = pawl->walkers[m].tau;
    if (atoms(pawl) && tau == 0) {
      pawl->here[0]++;
      continue;
    }
    size_t b = tm_tau_bins_find(&pawl->bins, tau);
    double middle = (pawl->bins.edge[b] + pawl->bins.edge[b + 1]) / 2;
    pawl->here[b + atoms(pawl)]++;
    pawl->left[b + atoms(pawl)] += tau < middle;
    pawl->sum[b + atoms(pawl)] += pawl->walkers[m].point.log_likelihood;
  }
}

static void visit(tm_pawl *pawl) {
  count_walkers(pawl);
  for (size_t p = 0; p < places(pawl); p++) {
    double rise = tm_wang_landau_visit(&pawl->visits, p, pawl->here[p],
                                       pawl->settings.walkers);
    if (p < atoms(pawl))
      pawl->bins.log_atom -= rise;
    else
      pawl->bins.log_density[p - atoms(pawl)] -= rise;
  }
}

static bool is_skewed(const tm_pawl *pawl, size_t b) {
  size_t p = b + atoms(pawl);
  double all = (double)pawl->visits.visits[p], left = (double)pawl->left[p];
  return all >= FEWEST_VISITS && fmin(left, all - left) < SMALLER_HALF * all;
}

static double slope_of(const tm_pawl *pawl, size_t b) {
  size_t p = b + atoms(pawl);
  return pawl->sum[p] / (double)pawl->visits.visits[p];
}

/* From the last bin down, so that halving moves no bin still to be seen. Says
 * whether there was any to halve. */
static bool split(tm_pawl *pawl) {
  bool any = false;
  for (size_t b = pawl->bins.count; b-- > 0;)
    if (pawl->bins.count < TM_PAWL_BINS && is_skewed(pawl, b))
      any = tm_tau_bins_split(&pawl->bins, b, slope_of(pawl, b)) || any;
  if (any)
    forget(pawl);
  return any;
}

static void learn(tm_pawl *pawl) {
  visit(pawl);
  if (pawl->group.done % LOOK_EVERY == 0) {
    bool changed = pawl->visits.flats == 0 && split(pawl);
    if (!changed && tm_wang_landau_settle(&pawl->visits))
      forget(pawl);
    tm_tau_bins_centre(&pawl->bins);
  }
  tm_tau_bins_tabulate(&pawl->bins, &pawl->prior);
}

static void sweep(tm_group *group) {
  tm_pawl *pawl = (tm_pawl *)group;
  for (size_t m = 0; m < pawl->settings.walkers; m++) {
    tm_walker *walker = &pawl->walkers[m];
    tm_row *row = &group->rows[TEMPERA_TEMPERED][m];
    tm_group_mutate(group, &pawl->theta_stream, &walker->point, walker->tau,
                    row);
    row->extra[TM_TAU_ACCEPT] = tm_tau_move(&pawl->mover, &group->evaluator,
                                            walker->point.log_likelihood,
                                            &walker->tau, &pawl->tau_stream);
    row->extra[TM_WALKER] = (double)m;
    tm_row_fill(row, &walker->point, walker->tau);
  }
  if (pawl->learning)
    learn(pawl);
}

/* After the bins, whose number the counts have. */
static void archive_places(tm_pawl *pawl, tm_archive *archive) {
  size_t n = places(pawl);
  tm_wang_landau_archive(&pawl->visits, TM_PAWL_CAPACITY + 1, archive);
  tm_archive_sizes(archive, pawl->left, n);
  tm_archive_doubles(archive, pawl->sum, n);
  if (tm_archive_fine(archive) && pawl->bins.count && pawl->visits.bins != n)
    tm_archive_fail(archive, "visits are of other bins");
}

static void archive(tm_group *group, tm_archive *archive) {
  tm_pawl *pawl = (tm_pawl *)group;
  bool begun = pawl->bins.count > 0;
  for (size_t m = 0; m < pawl->settings.walkers; m++) {
    tm_point_archive(group->model, &pawl->walkers[m].point, archive);
    tm_archive_unit(archive, &pawl->walkers[m].tau);
  }
  tm_tau_bins_archive(&pawl->bins, archive);
  tm_archive_bool(archive, &pawl->learning);
  archive_places(pawl, archive);
  tm_tau_mover_archive(&pawl->mover, archive);
  tm_archive_random(archive, &pawl->theta_stream);
  tm_archive_random(archive, &pawl->tau_stream);
  if (begun && pawl->bins.count == 0)
    tm_archive_fail(archive, "there are no bins of tau");
  if (archive->reading && begun && tm_archive_fine(archive))
    tm_tau_bins_tabulate(&pawl->bins, &pawl->prior);
}

static const tm_group_type PAWL = {.sweep = sweep, .archive = archive};

static tempera_status fill(tm_pawl *pawl, const double *start, double start_tau,
                           tempera_error *error) {
  size_t walkers = pawl->settings.walkers, most = TM_PAWL_CAPACITY + 1;
  tm_arena *arena = pawl->group.arena;
  pawl->walkers = TM_NEW(arena, tm_walker, walkers);
  pawl->here = TM_NEW(arena, size_t, most);
  pawl->left = TM_NEW(arena, size_t, most);
  pawl->sum = TM_NEW(arena, double, most);
  pawl->mover = (tm_tau_mover){.kind = TEMPERA_TAU_GIBBS,
                               .prior = &pawl->prior,
                               .work = TM_NEW(arena, double, 4 * most)};
  if (!pawl->walkers || !pawl->here || !pawl->left || !pawl->sum ||
      !pawl->mover.work)
    return tm_fail_memory(error);
  TM_TRY(tm_tau_bins_create(arena, TM_PAWL_CAPACITY, &pawl->bins, error));
  TM_TRY(tm_wang_landau_create(arena, most, &pawl->visits, error));
  TM_TRY(tm_group_set_width(&pawl->group, TEMPERA_TEMPERED, walkers, error));
  for (size_t m = 0; m < walkers; m++) {
    pawl->walkers[m].tau = start_tau;
    TM_TRY(tm_group_point(&pawl->group, start, &pawl->walkers[m].point, error));
  }
  return TEMPERA_OK;
}

tempera_status tm_pawl_create(const tempera_model *model,
                              const tm_pawl_settings *settings, uint64_t seed,
                              uint32_t chain, const double *start,
                              double start_tau, tm_pawl **pawl,
                              tempera_error *error) {
  tm_group *group = NULL;
  TM_TRY(tm_group_create(&PAWL, sizeof(tm_pawl), model, settings->kernel, chain,
                         &group, error));
  tm_pawl *made = (tm_pawl *)group;
  made->settings = *settings;
  made->learning = true;
  made->theta_stream = tm_random(seed, chain, TM_PURPOSE_TEMPERED);
  made->tau_stream = tm_random(seed, chain, TM_PURPOSE_TAU);
  tempera_status status = fill(made, start, start_tau, error);
  if (status != TEMPERA_OK)
    tm_group_free(group);
  else
    *pawl = made;
  return status;
}

void tm_pawl_set_bins(tm_pawl *pawl, const tm_tau_bins *bins) {
  tm_tau_bins_copy(bins, &pawl->bins);
  tm_tau_bins_tabulate(&pawl->bins, &pawl->prior);
  forget(pawl);
}
