/* sites.c - see sites.h. */
#include "language/load/sites.h"

#include <string.h>

enum { NUMBERS = 4 };              /* of a piece */
enum { MOST_READS = 4 * 1000000 }; /* beyond this lists are not worth it */

typedef struct tm_read {
  size_t site, piece;
} tm_read;

typedef struct tm_pieces {
  long *numbers; /* NUMBERS of each */
  long *weight;
  size_t count, capacity;
  tm_read *reads;
  size_t read_count, read_capacity;
  long common, total; /* weights */
  size_t *first;      /* by site, theta_count + 1 of them: in `lists` */
  long *lists;        /* pieces by site, NUMBERS each */
} tm_pieces;

struct tm_sites {
  size_t theta_count;
  tm_pieces parts[2];
  tm_pieces *now; /* the part last spoken of */
  bool failed;    /* no memory, or too much to say */
};

tm_sites *tm_sites_new(size_t theta_count) {
  tm_sites *made = tm_heap_alloc(1, sizeof *made);
  if (made)
    made->theta_count = theta_count;
  return made;
}

void tm_sites_free(tm_sites *sites) {
  for (int k = 0; sites && k < 2; k++) {
    tm_heap_free(sites->parts[k].numbers);
    tm_heap_free(sites->parts[k].weight);
    tm_heap_free(sites->parts[k].reads);
    tm_heap_free(sites->parts[k].first);
    tm_heap_free(sites->parts[k].lists);
  }
  tm_heap_free(sites);
}

/* Room for one more of `size` bytes; `memory` may move. */
static bool grow(void **memory, size_t count, size_t *capacity, size_t size) {
  if (count < *capacity)
    return true;
  size_t room = *capacity ? 2 * *capacity : 256;
  void *more = tm_heap_alloc(room, size);
  if (!more)
    return false;
  if (count)
    memcpy(more, *memory, count * size);
  tm_heap_free(*memory);
  *memory = more;
  *capacity = room;
  return true;
}

void tm_sites_piece(void *binding, int part, long weight, const long *numbers) {
  tm_sites *s = binding;
  tm_pieces *p = s->now = &s->parts[part];
  p->total += weight;
  if (!numbers) {
    p->common = weight;
    return;
  }
  size_t capacity = p->capacity;
  s->failed = s->failed || p->count >= MOST_READS ||
              !grow((void **)&p->weight, p->count, &capacity, sizeof(long)) ||
              !grow((void **)&p->numbers, p->count, &p->capacity,
                    NUMBERS * sizeof(long));
  if (s->failed)
    return;
  p->weight[p->count] = weight;
  memcpy(p->numbers + NUMBERS * p->count++, numbers, NUMBERS * sizeof(long));
}

static void add_read(tm_sites *s, size_t site) {
  tm_pieces *p = s->now;
  s->failed = s->failed || p->read_count >= MOST_READS ||
              !grow((void **)&p->reads, p->read_count, &p->read_capacity,
                    sizeof *p->reads);
  if (!s->failed)
    p->reads[p->read_count++] = (tm_read){site, p->count - 1};
}

/* theta's first index runs fastest. What is out of bounds is read by nobody:
 * a condition keeps the program from it, or it fails whatever it is. */
void tm_sites_reads(void *binding, long offset, int rank, const int *dim,
                    int count, const long *indices) {
  tm_sites *s = binding;
  size_t at = (size_t)offset, stride = 1, rest = 1;
  for (int i = 0; i < rank; i++) {
    if (i >= count) {
      rest *= (size_t)dim[i];
      continue;
    }
    if (indices[i] < 1 || indices[i] > dim[i])
      return;
    at += (size_t)(indices[i] - 1) * stride;
    stride *= (size_t)dim[i];
  }
  for (size_t k = 0; k < rest && !s->failed; k++)
    add_read(s, at + k * stride);
}

/* Reads, which are in the order of pieces, by site; each piece once. */
static bool sort_reads(tm_sites *s, tm_pieces *p) {
  size_t n = s->theta_count;
  p->first = tm_heap_alloc(n + 2, sizeof(size_t));
  p->lists = tm_heap_alloc(NUMBERS * p->read_count + 1, sizeof(long));
  size_t *last = tm_heap_alloc(n + 1, sizeof(size_t)); /* piece + 1 */
  if (!p->first || !p->lists || !last) {
    tm_heap_free(last);
    return false;
  }
  for (size_t i = 0; i < p->read_count; i++) {
    tm_read *r = &p->reads[i];
    if (last[r->site] == r->piece + 1)
      r->site = n; /* again */
    else
      last[r->site] = r->piece + 1;
    p->first[r->site + 1] += r->site < n;
  }
  for (size_t i = 0; i < n; i++)
    p->first[i + 1] += p->first[i];
  memcpy(last, p->first, n * sizeof *last);
  for (size_t i = 0; i < p->read_count; i++) {
    const tm_read *r = &p->reads[i];
    if (r->site < n)
      memcpy(p->lists + NUMBERS * last[r->site]++,
             p->numbers + NUMBERS * r->piece, NUMBERS * sizeof(long));
  }
  tm_heap_free(last);
  return true;
}

static double weight_of(const tm_sites *s, const bool *integer) {
  double sum = 0;
  for (int k = 0; k < 2; k++)
    for (size_t i = 0; i < s->parts[k].read_count; i++) {
      const tm_read *r = &s->parts[k].reads[i];
      if (r->site < s->theta_count && integer[r->site])
        sum += (double)s->parts[k].weight[r->piece];
    }
  return sum;
}

double tm_sites_finish(tm_sites *sites, const bool *integer) {
  tm_sites *s = sites;
  double integers = 0, common = 0, total = 0;
  for (int k = 0; k < 2; k++) {
    if (s->failed || !sort_reads(s, &s->parts[k]))
      return INFINITY;
    common += (double)s->parts[k].common;
    total += (double)s->parts[k].total;
  }
  for (size_t i = 0; i < s->theta_count; i++)
    integers += integer[i];
  double share = integers > 0 && total > 0
                     ? (common + weight_of(s, integer) / integers) / total
                     : INFINITY;
  for (int k = 0; k < 2; k++) { /* used up */
    tm_heap_free(s->parts[k].reads);
    s->parts[k].reads = NULL;
  }
  return share;
}

const long *tm_sites_of(const tm_sites *sites, int part, size_t i,
                        const long **at) {
  const tm_pieces *p = &sites->parts[part];
  *at = p->lists + NUMBERS * p->first[i];
  const long *last = p->lists + NUMBERS * p->first[i + 1];
  return last > *at || p->common ? last : NULL;
}
