/* archive.h - state as bytes: one serialiser for checkpoints and messages.
 *
 * A part has one function, tm_NAME_archive(part, archive), that writes its
 * state when the archive is a writer and replaces it when the archive is a
 * reader: so that the two cannot part ways. What a part can rebuild
 * (workspaces, caches that change no result and no count, pointers) is left
 * out. A part that is read must have been created as the one that was written
 * was.
 *
 * Failures stick: after the first, reading leaves everything as it is, and
 * tm_archive_end tells. Readers trust nothing: a number that is used as a size
 * or an index goes through tm_archive_count or tm_archive_index.
 *
 * An archive is of one machine kind (byte order, IEEE doubles) and of one
 * version of the library; its head says which, and has a checksum. */
#ifndef TM_BASE_ARCHIVE_H
#define TM_BASE_ARCHIVE_H

#include "base/memory.h"
#include "base/random.h"

typedef struct tm_archive {
  bool reading;
  unsigned char *data; /* a writer's own, a reader's borrowed */
  size_t length, capacity, at;
  tempera_status status;
  char problem[160]; /* in words */
} tm_archive;

/* An empty one, to be written. Free with tm_archive_clear. */
tm_archive tm_archive_writer(void);
/* After everything is written: complete the head. data and length are then what
 * tm_archive_open takes. */
TEMPERA_CHECKED tempera_status tm_archive_seal(tm_archive *archive,
                                               tempera_error *error);
/* Read these bytes, which must outlive the archive. Refuses what is not an
 * archive, is cut, damaged, or of another version. */
TEMPERA_CHECKED tempera_status tm_archive_open(const void *bytes, size_t length,
                                               tm_archive *archive,
                                               tempera_error *error);
void tm_archive_clear(tm_archive *archive);
/* How long the archive is that begins with this head; 0: it is none. */
enum { TM_ARCHIVE_HEAD = 64 };
size_t tm_archive_length(const void *head);

/* The first failure so far; in reading, also that something is left over. */
TEMPERA_CHECKED tempera_status tm_archive_end(const tm_archive *archive,
                                              tempera_error *error);
bool tm_archive_fine(const tm_archive *archive);
/* Note a failure of the caller's own finding ("more levels than there is room
 * for"). */
void tm_archive_fail(tm_archive *archive, const char *problem);

/* A name between parts: what is read must have the same at this place. */
void tm_archive_tag(tm_archive *archive, const char *tag);

void tm_archive_double(tm_archive *archive, double *x);
void tm_archive_u64(tm_archive *archive, uint64_t *x);
void tm_archive_unsigned(tm_archive *archive, unsigned *x);
void tm_archive_bool(tm_archive *archive, bool *x);
/* Any size, such as a count of sweeps. */
void tm_archive_size(tm_archive *archive, size_t *x);
/* A size that memory or a loop depends on: refused above `most`. */
void tm_archive_count(tm_archive *archive, size_t *x, size_t most);
/* A place in an array: refused from `below` on. */
void tm_archive_index(tm_archive *archive, size_t *x, size_t below);
/* A probability or tau: refused outside [0, 1]. */
void tm_archive_unit(tm_archive *archive, double *x);
/* An enumeration: refused from `below` on. */
#define TM_ARCHIVE_ENUM(archive, x, below)                                     \
  do {                                                                         \
    size_t tm_archived_ = (size_t)(x);                                         \
    tm_archive_index(archive, &tm_archived_, below);                           \
    (x) = tm_archived_;                                                        \
  } while (0)

/* Arrays that have so many entries already. */
void tm_archive_doubles(tm_archive *archive, double *x, size_t count);
void tm_archive_sizes(tm_archive *archive, size_t *x, size_t count);
void tm_archive_bools(tm_archive *archive, bool *x, size_t count);
/* A text in room for `size` bytes. */
void tm_archive_text(tm_archive *archive, char *text, size_t size);
/* An array of *count entries: allocated on the heap when read (what *x was is
 * freed), refused above `most`. */
void tm_archive_grown(tm_archive *archive, double **x, size_t *count,
                      size_t most);

void tm_archive_random(tm_archive *archive, tempera_random *stream);

#endif
