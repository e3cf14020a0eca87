/* outcomes.c - see outcomes.h. */
#include "run/outcomes.h"

#include <stdlib.h>
#include <string.h>

enum { KEPT_ELEMENTS = 16000 }; /* where no terms are chosen */

void tm_find_own_terms(tm_maker *m) {
  const tempera_model_spec *spec = &m->sampler->model->spec;
  for (size_t i = 0; i < spec->quantity_count; i++) {
    const char *name = spec->quantity_names[i];
    if (strncmp(name, "log_lik", 7) || (name[7] && name[7] != '['))
      continue;
    m->own_first = m->own_count++ ? m->own_first : i;
  }
}

/* The element of a variable that a quantity NAME_rep[I,J] is; SIZE_MAX: it is
 * none. */
static size_t own_element(const tm_replica *r, const char *name) {
  size_t n = strlen(r->name), place = 0;
  if (strncmp(name, r->name, n) || strncmp(name + n, "_rep", 4))
    return SIZE_MAX;
  const char *at = name + n + 4;
  for (int i = 0; i < r->rank; i++) {
    char *end = NULL;
    if (*at != (i ? ',' : '['))
      return SIZE_MAX;
    long index = strtol(at + 1, &end, 10);
    if (index < 1 || index > r->dim[i])
      return SIZE_MAX;
    place = place * (size_t)r->dim[i] + (size_t)index - 1;
    at = end;
  }
  return strcmp(at, r->rank ? "]" : "") ? SIZE_MAX : r->first + place;
}

bool tm_find_own_data(tm_maker *m) {
  const tempera_model_spec *spec = &m->sampler->model->spec;
  const tm_replicas *all = &m->model.replicas;
  size_t *own = TM_NEW(m->arena, size_t, all->size + 1);
  if (!own)
    return false;
  for (size_t e = 0; e < all->size; e++)
    own[e] = SIZE_MAX;
  for (size_t v = 0; v < all->count; v++) {
    const tm_replica *r = &all->each[v];
    size_t found = 0;
    for (size_t i = 0; i < spec->quantity_count; i++) {
      size_t e = own_element(r, spec->quantity_names[i]);
      found += e != SIZE_MAX;
      if (e != SIZE_MAX)
        own[e] = i;
    }
    m->out->own = m->out->own || (found && found == r->count);
    for (size_t e = 0; found != r->count && e < r->count; e++)
      own[r->first + e] = SIZE_MAX;
  }
  m->own_data = m->out->own ? own : NULL;
  return true;
}

static bool is_used(const tm_maker *m, long term) {
  size_t low = 0, high = m->choice.used;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if ((long)m->choice.term[middle] < term)
      low = middle + 1;
    else
      high = middle;
  }
  return low < m->choice.used && (long)m->choice.term[low] == term;
}

/* Outcomes of the terms used; where they have none, or all are used, every
 * so-manieth. */
static bool is_kept(const tm_maker *m, size_t element) {
  size_t stride = (m->model.replicas.size + KEPT_ELEMENTS - 1) / KEPT_ELEMENTS;
  return m->choose && m->model.matched ? is_used(m, m->model.term[element])
                                       : element % stride == 0;
}

/* The variables, with the elements that are kept. */
bool tm_keep_elements(tm_maker *m) {
  tempera_predictions *out = m->out;
  const tm_replicas *all = &m->model.replicas;
  size_t n = 0;
  tm_replica *shape = TM_NEW(out->arena, tm_replica, all->count);
  m->kept = TM_NEW(m->arena, size_t, all->size);
  out->place = TM_NEW(out->arena, size_t, all->size);
  if (!shape || !m->kept || !out->place)
    return false;
  memcpy(shape, all->each, all->count * sizeof *shape);
  for (size_t v = 0; v < all->count; v++) {
    tm_replica *r = &out->replicas.each[v];
    r->first = n;
    for (size_t e = 0; e < shape[v].count; e++)
      if (is_kept(m, shape[v].first + e)) {
        out->place[n] = e;
        m->kept[n++] = shape[v].first + e;
      }
    r->rank = 1;
    r->count = n - r->first;
    r->dim[0] = (int)r->count;
  }
  out->shape = shape;
  out->size = out->replicas.size = n;
  return true;
}
