/* evidence_table.h - the rows of Tables 2 and 3: an estimate of log Z over
 * replicates beside the published and the exact value. */
#ifndef TM_REPRODUCE_EVIDENCE_TABLE_H
#define TM_REPRODUCE_EVIDENCE_TABLE_H

#include "reproduce/paper.h"

/* What the value should be, and what was printed; NaN where there is none. */
typedef struct tm_reference {
  double exact, exact_se;
  double published, published_sd;
} tm_reference;

json_t *tm_evidence_sheet(const char *name, const char *title);
void tm_evidence_row(json_t *sheet, const char *label,
                     const tm_reference *reference, const tm_replicated *spread,
                     const char *remark);
/* Only what was published: no run of ours. */
void tm_evidence_published(json_t *sheet, const char *label,
                           const tm_reference *reference, const char *remark);

#endif
