/* archive.c - see archive.h. */
#include "base/archive.h"

#include <stdio.h>
#include <string.h>

/* The head: magic, the library's version, a number that shows the byte order,
 * then the length of what follows and its checksum. */
static const char MAGIC[8] = "tempera\x1a";
enum { FORMAT = 1, VERSION_SIZE = 24, LENGTH_AT = 40, SUM_AT = 48 };
static const uint64_t ORDER = UINT64_C(0x0102030405060708) + FORMAT;

static void write_head(unsigned char *head) {
  memset(head, 0, TM_ARCHIVE_HEAD);
  memcpy(head, MAGIC, sizeof MAGIC);
  memcpy(head + 8, &ORDER, sizeof ORDER);
  snprintf((char *)head + 16, VERSION_SIZE, "%s", TEMPERA_VERSION);
}

/* By words, since checkpoints are made every few seconds. */
static uint64_t checksum(const unsigned char *bytes, size_t length) {
  uint64_t sum = length, word;
  for (size_t i = 0; i < length; i += sizeof word) {
    size_t here = length - i < sizeof word ? length - i : sizeof word;
    word = 0;
    memcpy(&word, bytes + i, here);
    sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    sum ^= sum >> 29;
  }
  return sum;
}

tm_archive tm_archive_writer(void) {
  tm_archive made = {.capacity = 4096};
  made.data = tm_heap_alloc(made.capacity, 1);
  if (made.data) {
    write_head(made.data);
    made.length = TM_ARCHIVE_HEAD;
  } else {
    made.status = TEMPERA_ERROR_MEMORY;
  }
  return made;
}

tempera_status tm_archive_seal(tm_archive *archive, tempera_error *error) {
  TM_TRY(tm_archive_end(archive, error));
  uint64_t length = archive->length - TM_ARCHIVE_HEAD;
  uint64_t sum = checksum(archive->data + TM_ARCHIVE_HEAD, (size_t)length);
  memcpy(archive->data + LENGTH_AT, &length, sizeof length);
  memcpy(archive->data + SUM_AT, &sum, sizeof sum);
  return TEMPERA_OK;
}

void tm_archive_clear(tm_archive *archive) {
  if (!archive->reading)
    tm_heap_free(archive->data);
  *archive = (tm_archive){0};
}

size_t tm_archive_length(const void *head) {
  const unsigned char *bytes = head;
  uint64_t length;
  memcpy(&length, bytes + LENGTH_AT, sizeof length);
  bool ours = memcmp(bytes, MAGIC, sizeof MAGIC) == 0;
  return ours && length < SIZE_MAX - TM_ARCHIVE_HEAD
             ? (size_t)length + TM_ARCHIVE_HEAD
             : 0;
}

static tempera_status check_head(const unsigned char *bytes, size_t length,
                                 tempera_error *error) {
  unsigned char ours[TM_ARCHIVE_HEAD];
  write_head(ours);
  if (length < TM_ARCHIVE_HEAD || memcmp(bytes, MAGIC, sizeof MAGIC) != 0)
    return tm_fail(error, TEMPERA_ERROR_INPUT, "it is not one of Tempera's");
  if (memcmp(bytes + 16, ours + 16, VERSION_SIZE) != 0)
    return tm_fail(error, TEMPERA_ERROR_INPUT,
                   "it was written by version %.*s, and this is " //
                   TEMPERA_VERSION,
                   VERSION_SIZE - 1, (const char *)bytes + 16);
  if (memcmp(bytes + 8, ours + 8, sizeof ORDER) != 0)
    return tm_fail(error, TEMPERA_ERROR_INPUT,
                   "it was written on another kind of machine");
  return TEMPERA_OK;
}

tempera_status tm_archive_open(const void *bytes, size_t length,
                               tm_archive *archive, tempera_error *error) {
  const unsigned char *data = bytes;
  uint64_t sum;
  TM_TRY(check_head(data, length, error));
  if (tm_archive_length(data) != length)
    return tm_fail(error, TEMPERA_ERROR_INPUT, "it is cut short");
  memcpy(&sum, data + SUM_AT, sizeof sum);
  if (sum != checksum(data + TM_ARCHIVE_HEAD, length - TM_ARCHIVE_HEAD))
    return tm_fail(error, TEMPERA_ERROR_INPUT,
                   "it is damaged (its checksum is wrong)");
  *archive = (tm_archive){.reading = true,
                          .data = (unsigned char *)(uintptr_t)data,
                          .length = length,
                          .at = TM_ARCHIVE_HEAD};
  return TEMPERA_OK;
}

/* ---- failures ----------------------------------------------------------- */

bool tm_archive_fine(const tm_archive *archive) {
  return archive->status == TEMPERA_OK;
}

void tm_archive_fail(tm_archive *archive, const char *problem) {
  if (archive->status != TEMPERA_OK)
    return;
  archive->status = TEMPERA_ERROR_INPUT;
  snprintf(archive->problem, sizeof archive->problem, "%s", problem);
}

tempera_status tm_archive_end(const tm_archive *archive, tempera_error *error) {
  if (archive->status == TEMPERA_ERROR_MEMORY)
    return tm_fail_memory(error);
  if (archive->status != TEMPERA_OK)
    return tm_fail(error, archive->status, "%s", archive->problem);
  if (archive->reading && archive->at != archive->length)
    return tm_fail(error, TEMPERA_ERROR_INPUT, "it holds more than it should");
  return TEMPERA_OK;
}

/* ---- bytes -------------------------------------------------------------- */

static bool make_room(tm_archive *a, size_t length) {
  if (length <= a->capacity - a->length)
    return true;
  size_t wanted = a->capacity;
  while (wanted - a->length < length)
    wanted *= 2;
  unsigned char *larger = tm_heap_resize(a->data, wanted, 1);
  if (!larger) {
    a->status = TEMPERA_ERROR_MEMORY;
    return false;
  }
  a->data = larger;
  a->capacity = wanted;
  return true;
}

static void archive_bytes(tm_archive *a, void *bytes, size_t length) {
  if (a->status != TEMPERA_OK || length == 0)
    return;
  if (!a->reading) {
    if (!make_room(a, length))
      return;
    memcpy(a->data + a->length, bytes, length);
    a->length += length;
  } else if (a->length - a->at < length) {
    tm_archive_fail(a, "it ends too early");
  } else {
    memcpy(bytes, a->data + a->at, length);
    a->at += length;
  }
}

/* ---- parts -------------------------------------------------------------- */

void tm_archive_tag(tm_archive *archive, const char *tag) {
  char name[24] = {0}, read[24];
  char problem[80];
  snprintf(name, sizeof name, "%s", tag);
  memcpy(read, name, sizeof read);
  archive_bytes(archive, read, sizeof read);
  if (memcmp(read, name, sizeof name) == 0)
    return;
  snprintf(problem, sizeof problem, "the state of %s is not where it should be",
           name);
  tm_archive_fail(archive, problem);
}

void tm_archive_double(tm_archive *archive, double *x) {
  archive_bytes(archive, x, sizeof *x);
}

void tm_archive_u64(tm_archive *archive, uint64_t *x) {
  archive_bytes(archive, x, sizeof *x);
}

void tm_archive_unsigned(tm_archive *archive, unsigned *x) {
  archive_bytes(archive, x, sizeof *x);
}

/* Any byte but 0 and 1 in a bool is undefined behaviour. */
void tm_archive_bool(tm_archive *archive, bool *x) {
  unsigned char byte = *x;
  archive_bytes(archive, &byte, 1);
  if (byte > 1)
    tm_archive_fail(archive, "a switch is neither on nor off");
  if (tm_archive_fine(archive))
    *x = byte;
}

void tm_archive_size(tm_archive *archive, size_t *x) {
  uint64_t wide = *x;
  tm_archive_u64(archive, &wide);
  if (wide > SIZE_MAX)
    tm_archive_fail(archive, "a count is out of range");
  if (tm_archive_fine(archive))
    *x = (size_t)wide;
}

void tm_archive_count(tm_archive *archive, size_t *x, size_t most) {
  size_t read = *x;
  tm_archive_size(archive, &read);
  if (tm_archive_fine(archive) && read > most)
    tm_archive_fail(archive, "a count is larger than it can be");
  if (tm_archive_fine(archive))
    *x = read;
}

void tm_archive_index(tm_archive *archive, size_t *x, size_t below) {
  size_t read = *x;
  tm_archive_size(archive, &read);
  if (tm_archive_fine(archive) && read >= below)
    tm_archive_fail(archive, "a number points beyond what there is");
  if (tm_archive_fine(archive))
    *x = read;
}

void tm_archive_unit(tm_archive *archive, double *x) {
  double read = *x;
  tm_archive_double(archive, &read);
  if (tm_archive_fine(archive) && !(read >= 0 && read <= 1))
    tm_archive_fail(archive, "a tau is outside of [0, 1]");
  if (tm_archive_fine(archive))
    *x = read;
}

void tm_archive_doubles(tm_archive *archive, double *x, size_t count) {
  size_t same = count;
  tm_archive_size(archive, &same);
  if (tm_archive_fine(archive) && same != count)
    tm_archive_fail(archive, "an array has another length than it should");
  archive_bytes(archive, x, count * sizeof *x);
}

void tm_archive_sizes(tm_archive *archive, size_t *x, size_t count) {
  for (size_t i = 0; i < count; i++)
    tm_archive_size(archive, &x[i]);
}

void tm_archive_bools(tm_archive *archive, bool *x, size_t count) {
  for (size_t i = 0; i < count; i++)
    tm_archive_bool(archive, &x[i]);
}

void tm_archive_text(tm_archive *archive, char *text, size_t size) {
  size_t length = archive->reading ? 0 : strlen(text);
  tm_archive_count(archive, &length, size - 1);
  archive_bytes(archive, text, length);
  if (archive->reading && tm_archive_fine(archive))
    text[length] = '\0';
}

void tm_archive_grown(tm_archive *archive, double **x, size_t *count,
                      size_t most) {
  size_t n = *count;
  tm_archive_count(archive, &n, most);
  if (archive->reading && tm_archive_fine(archive)) {
    if (n > (archive->length - archive->at) / sizeof(double)) {
      tm_archive_fail(archive, "an array is longer than the file");
      return;
    }
    double *fresh = tm_heap_alloc(n + 1, sizeof(double));
    if (!fresh) {
      archive->status = TEMPERA_ERROR_MEMORY;
      return;
    }
    tm_heap_free(*x);
    *x = fresh;
    *count = n;
  }
  archive_bytes(archive, *x, n * sizeof(double));
}

void tm_archive_random(tm_archive *archive, tempera_random *stream) {
  size_t used = stream->used;
  archive_bytes(archive, stream->key, sizeof stream->key);
  archive_bytes(archive, stream->counter, sizeof stream->counter);
  archive_bytes(archive, stream->word, sizeof stream->word);
  tm_archive_index(archive, &used, TM_RANDOM_WORDS + 1);
  stream->used = (unsigned)used;
}
