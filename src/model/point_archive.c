/* point_archive.c - points and evaluators' counts: kept in an archive, and
 * gathered from one evaluator into another. */
#include "base/archive.h"
#include "model/model.h"

#include <string.h>

void tm_point_archive(const tempera_model *model, tm_point *point,
                      tm_archive *archive) {
  tm_archive_doubles(archive, point->theta, model->size);
  tm_archive_doubles(archive, point->u, model->dimension);
  tm_archive_doubles(archive, point->block_jacobian, model->block_count);
  tm_archive_double(archive, &point->log_likelihood);
  tm_archive_double(archive, &point->log_prior);
  tm_archive_double(archive, &point->log_jacobian);
}

void tm_evaluator_collect(tm_evaluator *to, tm_evaluator *from) {
  to->likelihood_evaluations += from->likelihood_evaluations;
  to->gradient_evaluations += from->gradient_evaluations;
  to->prior_draws += from->prior_draws;
  to->changes += from->changes;
  to->term_calls += from->term_calls;
  to->part += from->part;
  to->seconds += from->seconds;
  to->answers += from->answers;
  if (!to->rejected)
    memcpy(to->rejected_at, from->rejected_at, TM_AT_SIZE);
  to->rejected += from->rejected;
  from->likelihood_evaluations = from->gradient_evaluations = 0;
  from->prior_draws = from->changes = from->term_calls = 0;
  from->answers = from->rejected = from->in_a_row = 0;
  from->part = from->seconds = 0;
}

void tm_evaluator_archive(tm_evaluator *evaluator, tm_archive *archive) {
  tm_archive_u64(archive, &evaluator->likelihood_evaluations);
  tm_archive_u64(archive, &evaluator->gradient_evaluations);
  tm_archive_u64(archive, &evaluator->prior_draws);
  tm_archive_u64(archive, &evaluator->changes);
  tm_archive_u64(archive, &evaluator->term_calls);
  tm_archive_double(archive, &evaluator->part);
  tm_archive_double(archive, &evaluator->seconds);
  tm_archive_u64(archive, &evaluator->answers);
  tm_archive_u64(archive, &evaluator->rejected);
  tm_archive_u64(archive, &evaluator->in_a_row);
  tm_archive_text(archive, evaluator->rejected_at,
                  sizeof evaluator->rejected_at);
}

/* Statuses and kinds of failure are few. */
enum { MOST_WORDS = 64 };

void tm_evaluator_archive_failure(tm_evaluator *evaluator,
                                  tm_archive *archive) {
  tm_evaluator *e = evaluator;
  uint64_t line = (uint64_t)e->error.line, column = (uint64_t)e->error.column;
  TM_ARCHIVE_ENUM(archive, e->status, MOST_WORDS);
  TM_ARCHIVE_ENUM(archive, e->failure, MOST_WORDS);
  tm_archive_u64(archive, &line);
  tm_archive_u64(archive, &column);
  tm_archive_text(archive, e->error.message, sizeof e->error.message);
  e->error.line = (int)line;
  e->error.column = (int)column;
}
