/* Facts about contexts: messages and memory go where the caller wants them, in
 * the library's own threads too. */
#include "failing_memory.h"
#include "whole_run.h"

#include <stdio.h>

static const char PROGRAM[] =
    "data { real y; }\n"
    "transformed data { print(\"y is \", y); }\n"
    "parameters { real mu; }\n"
    "model { mu ~ normal(0, 1); y ~ normal(mu, 1); }\n"
    "generated quantities { real z = mu + 1; }\n";

typedef struct heard {
  char text[256];
  size_t length;
} heard;

static void hear(const char *text, size_t length, void *user) {
  heard *h = user;
  size_t room = sizeof h->text - 1 - h->length;
  length = length < room ? length : room;
  memcpy(h->text + h->length, text, length);
  h->length += length;
}

static tempera_model *loaded(void) {
  tempera_program *program = NULL;
  tempera_data *data = NULL;
  tempera_model *model = NULL;
  assert_int_equal(
      tempera_program_parse("p.stan", PROGRAM, strlen(PROGRAM), &program, NULL),
      0);
  assert_int_equal(tempera_data_parse("{\"y\": 1.5}", 10, &data, NULL), 0);
  assert_int_equal(tempera_program_load(program, data, &model, NULL), 0);
  tempera_program_free(program);
  tempera_data_free(data);
  return model;
}

static void messages_go_to_the_context(void **state) {
  (void)state;
  heard h = {0};
  tempera_context *context = NULL;
  const tempera_context_settings settings = {.message = hear,
                                             .message_user = &h};
  assert_int_equal(tempera_context_create(&settings, &context, NULL), 0);
  const tempera_context *before = tempera_context_use(context);
  tempera_model_free(loaded());
  assert_ptr_equal(tempera_context_use(before), context);
  assert_string_equal(h.text, "y is 1.5\n");
  tempera_context_free(context);
}

/* Memory that is alive, over all threads. */
static atomic_long alive;

static void *counted_allocate(size_t size, void *user) {
  atomic_fetch_add((atomic_long *)user, 1);
  return malloc(size);
}
static void *counted_resize(void *memory, size_t size, void *user) {
  if (!memory)
    atomic_fetch_add((atomic_long *)user, 1);
  return realloc(memory, size);
}
static void counted_release(void *memory, void *user) {
  atomic_fetch_sub((atomic_long *)user, 1);
  free(memory);
}

static void all_memory_is_the_context_s(void **state) {
  (void)state;
  tempera_context *context = NULL;
  const tempera_context_settings settings = {.allocate = counted_allocate,
                                             .resize = counted_resize,
                                             .release = counted_release,
                                             .memory_user = &alive};
  assert_int_equal(tempera_context_create(&settings, &context, NULL), 0);
  const tempera_context *before = tempera_context_use(context);
  tempera_model *model = loaded();
  tempera_options o = tempera_options_default();
  o.iterations = 200;
  o.threads = 3;
  tempera_sampler *sampler = make_sampler(model, &o);
  tempera_summary *summary = NULL;
  assert_int_equal(tempera_sampler_run(sampler, NULL, NULL, NULL), 0);
  assert_true(atomic_load(&alive) > 20);
  assert_int_equal(tempera_sampler_summarise(sampler, &summary, NULL), 0);
  tempera_summary_free(summary);
  tempera_sampler_free(sampler);
  tempera_model_free(model);
  assert_int_equal(atomic_load(&alive), 0);
  tempera_context_use(before);
  tempera_context_free(context);
}

static void half_an_allocator_is_refused(void **state) {
  (void)state;
  tempera_context *context = NULL;
  const tempera_context_settings settings = {.allocate = heap_allocate};
  assert_int_equal(tempera_context_create(&settings, &context, NULL),
                   TEMPERA_ERROR_ARGUMENT);
  assert_null(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(messages_go_to_the_context),
      cmocka_unit_test(all_memory_is_the_context_s),
      cmocka_unit_test(half_an_allocator_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
