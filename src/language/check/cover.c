/* cover.c - improper priors, element by element: an unbounded parameter
 * needs a prior statement for each of its elements.
 *
 * Sizes are not known before data are read, so elements are kept as ranges
 * from a whole number to a whole number or to "the end". */
#include "language/check/split.h"
#include "language/check/term.h"

#include <string.h>

enum { MOST_RANGES = 64, THE_END = -1 };

typedef struct range {
  int64_t from, to; /* THE_END: up to the declared size */
} range;

typedef struct coverage {
  range ranges[MOST_RANGES];
  size_t count;
  bool all;
} coverage;

/* The real and the imaginary parts; of reals both are the same. */
enum { PARTS = 2 };

typedef struct coverer {
  tm_split *split;
  coverage (*parameters)[PARTS]; /* what is being filled: all, or ... */
  bool sure;                     /* ... only what no condition leaves out */
  const tm_statement *loops[64];
  size_t loop_count;
} coverer;

/* Is this the declared size of dimension k (or a name for it)? */
static bool is_size(const tm_variable *v, size_t k, const tm_expression *e) {
  if (tm_same_text(v->sizes[k], e))
    return true;
  if (e->kind != TM_E_CALL || e->part_count < 1 ||
      e->parts[0]->kind != TM_E_NAME || e->parts[0]->variable != v)
    return false;
  return k == 0 && (!strcmp(e->text, "size") || !strcmp(e->text, "rows") ||
                    !strcmp(e->text, "num_elements"));
}

static const tm_statement *loop_of(const coverer *c, const tm_expression *e) {
  if (e->kind != TM_E_NAME)
    return NULL;
  for (size_t i = c->loop_count; i-- > 0;)
    if (c->loops[i]->variable == e->variable)
      return c->loops[i];
  return NULL;
}

/* The elements that from:to mean in dimension k; false when not known. */
static bool range_of(const tm_variable *v, size_t k, const tm_expression *from,
                     const tm_expression *to, range *r) {
  *r = (range){1, THE_END};
  if (from && from->kind != TM_E_INT)
    return false;
  if (from)
    r->from = from->whole;
  if (!to || is_size(v, k, to))
    return true;
  r->to = to->whole;
  return to->kind == TM_E_INT;
}

static bool index_range(const coverer *c, const tm_variable *v, size_t k,
                        const tm_index *index, range *r) {
  if (index->kind != TM_INDEX_ONE)
    return range_of(v, k, index->from, index->to, r);
  if (index->from->kind == TM_E_INT) {
    *r = (range){index->from->whole, index->from->whole};
    return true;
  }
  const tm_statement *loop = loop_of(c, index->from);
  return loop && loop->kind == TM_S_FOR &&
         range_of(v, k, loop->lower, loop->upper, r);
}

static void add_range(coverage *g, range r) {
  for (size_t i = 0; i < g->count; i++)
    if (g->ranges[i].from == r.from && g->ranges[i].to == r.to)
      return;
  if (g->count < MOST_RANGES)
    g->ranges[g->count++] = r;
}

/* x[{1, 3}]: the elements by number, when it is the only index. */
static bool cover_numbers(const tm_expression *e, coverage *out) {
  const tm_expression *list = e->index_count == 1 ? e->indices[0].from : NULL;
  if (!list || e->indices[0].to || list->kind != TM_E_ARRAY)
    return false;
  for (size_t i = 0; i < list->part_count; i++)
    if (list->parts[i]->kind == TM_E_INT)
      add_range(out, (range){list->parts[i]->whole, list->parts[i]->whole});
  return true;
}

static bool is_everything(range r) { return r.from == 1 && r.to == THE_END; }

/* Only one dimension may be less than whole. */
static void cover_indexed(coverer *c, const tm_expression *e, coverage *out,
                          const tm_variable *v) {
  range partial = {1, THE_END};
  if (cover_numbers(e, out))
    return;
  for (size_t k = 0; k < e->index_count; k++) {
    range r;
    if (k >= v->size_count || !index_range(c, v, k, &e->indices[k], &r))
      return;
    if (is_everything(r))
      continue;
    if (k > 0 || !is_everything(partial))
      return;
    partial = r;
  }
  if (is_everything(partial))
    out->all = true;
  else
    add_range(out, partial);
}

static bool in_mask(const tm_dependence *d, size_t k) {
  return d->mask[k / 64] >> (k % 64) & 1;
}

static size_t mask_size(const tm_dependence *d) {
  size_t n = 0;
  for (int i = 0; i < TM_MASK_WORDS; i++)
    n += (size_t)__builtin_popcountll(d->mask[i]);
  return n;
}

/* The one parameter inside e, with its indices, when it is plain to see. */
static const tm_expression *parameter_in(const tm_expression *e,
                                         const tm_variable *v) {
  const tm_expression *root = tm_root(e);
  if (root->kind == TM_E_NAME && root->variable == v)
    return e;
  for (size_t i = 0; i < e->part_count; i++) {
    const tm_expression *found = parameter_in(e->parts[i], v);
    if (found)
      return found;
  }
  return NULL;
}

/* Which part of v e speaks of, as bits: get_imag(v) says nothing of the real
 * one. */
static unsigned parts_in(const tm_expression *e, const tm_variable *v) {
  const tm_expression *root = tm_root(e);
  if (root->kind == TM_E_NAME)
    return root->variable == v ? 3 : 0;
  unsigned found = 0, seen = 3;
  if (e->kind == TM_E_CALL && e->builtin && tm_is_complex(e->parts[0]->type))
    seen = !strcmp(e->text, "get_real")   ? 1
           : !strcmp(e->text, "get_imag") ? 2
                                          : 3;
  for (size_t i = 0; i < e->part_count; i++)
    found |= parts_in(e->parts[i], v);
  return found & seen;
}

/* How far the ranges join up from 1 on; THE_END: all the way. */
static int64_t ranges_reach(const coverage *g) {
  int64_t reached = 0;
  for (bool more = true; more;) {
    more = false;
    for (size_t i = 0; i < g->count; i++) {
      if (g->ranges[i].from > reached + 1)
        continue;
      if (g->ranges[i].to == THE_END)
        return THE_END;
      if (g->ranges[i].to > reached) {
        reached = g->ranges[i].to;
        more = true;
      }
    }
  }
  return reached;
}

/* A size that is a number decides at once; for others, whose value only the
 * data know, `covered_to` is left to be compared with it. */
static void judge(const coverage *g, tm_parameter_info *info) {
  const tm_variable *v = info->variable;
  int64_t reached = ranges_reach(g);
  bool known = v->size_count == 0 || v->sizes[0]->kind == TM_E_INT;
  int64_t size = known && v->size_count ? v->sizes[0]->whole : INT64_MAX;
  bool all = g->all || reached == THE_END || reached >= size;
  info->cover = all ? TM_COVER_ALL : g->count ? TM_COVER_SOME : TM_COVER_NONE;
  info->covered_to = all || known ? 0 : reached;
}

/* No better than the worse of both parts. */
static void judge_parts(const coverage g[PARTS], tm_parameter_info *info) {
  tm_parameter_info other = *info;
  judge(&g[0], info);
  judge(&g[1], &other);
  if (other.cover < info->cover ||
      (other.cover == info->cover && other.covered_to < info->covered_to)) {
    info->cover = other.cover;
    info->covered_to = other.covered_to;
  }
}

static bool is_covered(const coverer *c, size_t k) {
  tm_parameter_info info = c->split->parameters[k];
  judge_parts(c->parameters[k], &info);
  return info.cover == TM_COVER_ALL || info.flat_is_proper;
}

/* Of parameter k, what an outcome names of it. */
static void cover_named(coverer *c, const tm_expression *outcome, size_t k,
                        bool raw) {
  const tm_variable *v = c->split->parameters[k].variable;
  const tm_expression *named = parameter_in(outcome, v);
  unsigned parts = named && tm_is_complex(v->type) ? parts_in(outcome, v) : 3;
  for (int i = 0; i < PARTS; i++) {
    if (!(parts >> i & 1))
      continue;
    if (named && named->kind == TM_E_INDEX && !raw)
      cover_indexed(c, named, &c->parameters[k][i], v);
    else
      c->parameters[k][i].all = true;
  }
}

/* Does e only stretch its values, whatever the parameters are? */
static bool is_scale(const coverer *c, const tm_expression *e) {
  return tm_is_scalar(e->type) && !tm_depends(c->split, e).parameters;
}

/* Is e a sum in which v stands alone, or stretched: x - m, 2 * x / s - m? */
static bool is_summand(const coverer *c, const tm_expression *e,
                       const tm_variable *v) {
  const tm_expression *root = tm_root(e), *const *parts = (void *)e->parts;
  const tm_variable *name = root->kind == TM_E_NAME ? root->variable : NULL;
  if (name == v)
    return true;
  if (name && e == root && name->initial &&
      name->block == TM_BLOCK_TRANSFORMED_PARAMETERS)
    return is_summand(c, name->initial, v);
  if (e->kind == TM_E_UNARY && e->text[0] == '-')
    return is_summand(c, parts[0], v);
  if (tm_is_sum(e)) {
    const tm_expression *a = parameter_in(parts[0], v),
                        *b = parameter_in(parts[1], v);
    return !(a && b && tm_same_text(a, b)) && /* x - x * m is no sum */
           (is_summand(c, parts[0], v) || is_summand(c, parts[1], v));
  }
  if (e->kind != TM_E_BINARY || e->text[1])
    return false;
  if (e->text[0] == '*' && is_scale(c, parts[0]))
    return is_summand(c, parts[1], v);
  return (e->text[0] == '*' || e->text[0] == '/') && is_scale(c, parts[1]) &&
         is_summand(c, parts[0], v);
}

/* An outcome of one parameter covers what it names of it. One that mixes
 * several covers the one among them that nothing else covers, if it is a
 * summand: x - m ~ normal(0, 1) is a law of x for every m. */
static void cover_outcome(coverer *c, const tm_expression *outcome, bool raw) {
  tm_dependence d = tm_depends(c->split, outcome);
  bool mixes = mask_size(&d) > 1 && d.mixed && !raw;
  size_t bare = 0, which = 0;
  for (size_t k = 0; k < c->split->parameter_count; k++) {
    if (!in_mask(&d, k))
      continue;
    if (!mixes)
      cover_named(c, outcome, k, raw);
    else if (!is_covered(c, k)) {
      bare++;
      which = k;
    }
  }
  if (bare == 1 && is_summand(c, outcome, c->split->parameters[which].variable))
    cover_named(c, outcome, which, false);
}

/* Every density in a prior term covers its outcome; a term without any covers
 * whatever it names. */
static bool cover_densities(coverer *c, const tm_expression *e) {
  bool found = tm_is_density(e);
  if (!found && e->kind == TM_E_CALL && e->function &&
      tm_function_scores(c->split, e)) {
    cover_outcome(c, e, true);
    return true;
  }
  if (found && tm_outcome_part(c->split, e->parts[0], NULL) == TM_PART_PRIOR)
    cover_outcome(c, e->parts[0], false);
  for (size_t i = 0; !tm_is_density(e) && i < e->part_count; i++)
    found = cover_densities(c, e->parts[i]) || found;
  return found;
}

static void cover_term(coverer *c, const tm_expression *e) {
  const tm_variable *v = tm_summand(e);
  if (v && tm_gathers(c->split, v))
    return; /* its terms are seen where they are gathered */
  if (!cover_densities(c, e) && !tm_scores(c->split, e))
    cover_outcome(c, e, true);
}

/* Values of variables that reach the target in another way than by adding. */
static void cover_scored(coverer *c, const tm_variable *v,
                         const tm_expression *value) {
  const tm_gathering *g = &c->split->gathering[v->index];
  if (value && g->feeds && g->scores == TM_PART_PRIOR)
    (void)cover_densities(c, value);
}

static void cover_statement(coverer *c, const tm_statement *s) {
  if (s->instead && !c->sure) /* copies: whether of all, the data know */
    cover_outcome(c, s->kind == TM_S_TILDE ? s->left : s->value->parts[0],
                  false);
  if (s->instead)
    return;
  if (s->kind == TM_S_TILDE && s->part == TM_PART_PRIOR)
    cover_outcome(c, s->left, false);
  for (size_t i = 0; i < s->term_count; i++)
    if (s->terms[i].part & TM_PART_PRIOR)
      cover_term(c, s->terms[i].value);
  if (s->kind == TM_S_TARGET && !s->term_count && s->part == TM_PART_PRIOR)
    cover_term(c, s->value); /* marked */
  if (s->kind == TM_S_CALL && s->part == TM_PART_PRIOR)
    cover_outcome(c, s->value, true);
  if (s->raises && s->part == TM_PART_PRIOR) /* real x = f_lp(mu); */
    cover_outcome(c, s->kind == TM_S_DECLARE ? s->variable->initial : s->value,
                  true);
  if (s->kind == TM_S_DECLARE && !s->term_count)
    cover_scored(c, s->variable, s->variable->initial);
  if (s->kind == TM_S_ASSIGN && !s->term_count)
    cover_scored(c, tm_root(s->left)->variable, s->value);
}

static void walk(coverer *c, tm_statement **body, size_t count) {
  for (size_t i = 0; i < count; i++) {
    tm_statement *s = body[i];
    bool loop = s->kind == TM_S_FOR && c->loop_count < 64;
    if (c->sure && s->kind == TM_S_IF)
      continue;
    cover_statement(c, s);
    if (loop)
      c->loops[c->loop_count++] = s;
    walk(c, s->body, s->body_count);
    if (s->otherwise)
      walk(c, &s->otherwise, 1);
    c->loop_count -= loop;
  }
}

bool tm_surely_improper(const tm_parameter_info *info) {
  return info->cover != TM_COVER_ALL && !info->flat_is_proper &&
         info->covered_to == 0;
}

static size_t covered_count(const coverer *c) {
  size_t n = 0;
  for (size_t k = 0; k < c->split->parameter_count; k++)
    n += is_covered(c, k);
  return n;
}

static void walk_program(coverer *c) {
  static const tm_block_kind blocks[] = {TM_BLOCK_TRANSFORMED_PARAMETERS,
                                         TM_BLOCK_MODEL};
  for (size_t i = 0; i < 2; i++) {
    const tm_block_node *b = &c->split->program->blocks[blocks[i]];
    walk(c, b->statements, b->count);
  }
}

/* Again while more is covered: what covers one parameter may then cover
 * another. */
static bool cover_all(coverer *c) {
  c->parameters =
      (coverage(*)[PARTS])TM_NEW(c->split->program->source.arena, coverage,
                                 PARTS * (c->split->parameter_count + 1));
  if (!c->parameters)
    return false;
  for (size_t before = SIZE_MAX; before != covered_count(c);) {
    before = covered_count(c);
    walk_program(c);
  }
  return true;
}

tempera_status tm_cover_parameters(tm_split *split) {
  coverer all = {.split = split}, sure = {.split = split, .sure = true};
  if (!cover_all(&all) || !cover_all(&sure))
    return tm_fail_memory(split->program->source.error);
  split->proper = true;
  for (size_t k = 0; k < split->parameter_count; k++) {
    tm_parameter_info *info = &split->parameters[k], certain = *info;
    judge_parts(all.parameters[k], info);
    judge_parts(sure.parameters[k], &certain);
    info->conditional = !info->flat_is_proper && certain.cover < info->cover;
    if (tm_surely_improper(info))
      split->proper = false;
  }
  return TEMPERA_OK;
}
