/* predictions_files.c - see predictions_files.h.
 *
 * loo.csv: a row for each term of the likelihood that was left out. predictive.csv: first the
 * data as observed (chain__ 0), then replicated data; draw__ counts from 1
 * among the rows used. prior.csv: draws from the prior, with replicated data
 * where they could be drawn. Elements are column-major, as in all files of
 * Stan's kind. */
#include "folder/predictions_files.h"

#include "base/file.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static tempera_status put(const char *folder, const char *name, tm_text *text,
                          tempera_error *error) {
  char *path = tm_path_join(folder, name);
  tempera_status status =
      !path || text->failed
          ? tm_fail_memory(error)
          : tm_file_replace(path, text->data, text->length, error);
  tm_text_clear(text);
  tm_heap_free(path);
  return status;
}

static void drop(const char *folder, const char *name) {
  char *path = tm_path_join(folder, name);
  if (path)
    remove(path);
  tm_heap_free(path);
}

static tempera_status write_loo(const char *folder, const tempera_loo *loo,
                                tempera_error *error) {
  tm_text text = {0};
  tm_text_add(&text, "term__,elpd_loo,pareto_k\n");
  for (size_t i = 0; i < loo->used; i++) {
    tm_text_printf(&text, "%zu,", (loo->term ? loo->term[i] : i) + 1);
    tm_text_number(&text, loo->pointwise[i]);
    tm_text_add(&text, ",");
    tm_text_number(&text, loo->pareto_k[i]);
    tm_text_add(&text, "\n");
  }
  return put(folder, "loo.csv", &text, error);
}

/* The k-th element column-major: its place row-major, and its indices. */
static size_t place_of(const tm_replica *r, size_t k, size_t *index) {
  size_t place = 0;
  for (int i = 0; i < r->rank; i++) {
    size_t n = r->dim[i] > 0 ? (size_t)r->dim[i] : 1;
    index[i] = k % n;
    k /= n;
  }
  for (int i = 0; i < r->rank; i++)
    place = place * (size_t)r->dim[i] + index[i];
  return place;
}

/* Of those that are kept of variable v, the k-th: their order is row-major. */
static int kept_index(const tempera_predictions *p, size_t v, size_t k,
                      size_t *index) {
  const tm_replica *r = &p->shape[v];
  size_t place = p->place[p->replicas.each[v].first + k];
  for (int i = r->rank - 1; i >= 0; i--) {
    size_t n = r->dim[i] > 0 ? (size_t)r->dim[i] : 1;
    index[i] = place % n;
    place /= n;
  }
  return r->rank;
}

static void add_names(tm_text *text, const tempera_predictions *p) {
  size_t index[TM_REPLICA_RANK];
  for (size_t v = 0; v < p->replicas.count; v++) {
    const tm_replica *r = &p->replicas.each[v];
    for (size_t k = 0; k < r->count; k++) {
      int rank = r->rank;
      if (p->place)
        rank = kept_index(p, v, k, index);
      else
        place_of(r, k, index);
      tm_text_printf(text, ",%s_rep", r->name);
      for (int i = 0; i < rank; i++)
        tm_text_printf(text, ".%zu", index[i] + 1);
    }
  }
}

static void add_values(tm_text *text, const tempera_predictions *p,
                       const double *values) {
  size_t index[TM_REPLICA_RANK];
  for (size_t v = 0; v < p->replicas.count; v++) {
    const tm_replica *r = &p->replicas.each[v];
    for (size_t k = 0; k < r->count; k++) {
      tm_text_add(text, ",");
      tm_text_number(text,
                     values ? values[r->first + place_of(r, k, index)] : NAN);
    }
  }
}

static tempera_status write_predictive(const char *folder,
                                       const tempera_predictions *p,
                                       tempera_error *error) {
  tm_text text = {0};
  tm_text_add(&text, "chain__,draw__");
  add_names(&text, p);
  tm_text_add(&text, "\n0,0");
  add_values(&text, p, p->replicas.observed);
  if (p->pit) {
    tm_text_add(&text, "\n-1,0");
    add_values(&text, p, p->pit);
  }
  for (size_t i = 0; i < p->rows; i++) {
    tm_text_printf(&text, "\n%zu,%zu", i / p->rows_each + 1,
                   i % p->rows_each + 1);
    add_values(&text, p, p->values + i * p->size);
  }
  tm_text_add(&text, "\n");
  return put(folder, "predictive.csv", &text, error);
}

/* x[2,1] as x.2.1 */
static void add_dotted(tm_text *text, const char *name) {
  for (; *name; name++) {
    char c = *name == '[' || *name == ',' ? '.' : *name;
    if (c != ']')
      tm_text_add_bytes(text, &c, 1);
  }
}

static tempera_status write_prior(const char *folder,
                                  const tempera_model *model,
                                  const tempera_predictions *p,
                                  tempera_error *error) {
  tm_text text = {0};
  tm_text_add(&text, "draw__");
  for (size_t i = 0; i < model->size; i++) {
    tm_text_add(&text, ",");
    add_dotted(&text, model->names[i]);
  }
  add_names(&text, p);
  tm_text_add(&text, "\n");
  for (size_t i = 0; i < p->prior_rows; i++) {
    tm_text_printf(&text, "%zu", i + 1);
    for (size_t k = 0; k < model->size; k++) {
      tm_text_add(&text, ",");
      tm_text_number(&text, p->prior_theta[i * model->size + k]);
    }
    add_values(&text, p,
               p->prior_drawn[i] ? p->prior_values + i * p->size : NULL);
    tm_text_add(&text, "\n");
  }
  return put(folder, "prior.csv", &text, error);
}

tempera_status tm_predictions_write(const char *folder,
                                    const tempera_model *model,
                                    const tempera_summary *summary,
                                    tempera_error *error) {
  const tempera_predictions *p = summary->predictions;
  if (summary->loo)
    TM_TRY(write_loo(folder, summary->loo, error));
  else
    drop(folder, "loo.csv");
  if (p && p->size)
    TM_TRY(write_predictive(folder, p, error));
  else
    drop(folder, "predictive.csv");
  if (p && p->prior_rows)
    return write_prior(folder, model, p, error);
  drop(folder, "prior.csv");
  return TEMPERA_OK;
}
