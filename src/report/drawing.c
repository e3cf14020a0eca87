/* drawing.c - figures as SVG without a browser: the charts of the page run in
 * Duktape, a small JavaScript engine. ECharts needs no document to make SVG
 * text, only a few names that every host has. */
#include "base/file.h"
#include "base/memory.h"
#include "report/assets.h"
#include "report/figure.h"

#include <duktape.h>
#include <string.h>

struct tm_drawing {
  duk_context *engine;
};

static const char host[] =
    "var globalThis = this;"
    "function setTimeout() { return 0; }"
    "function clearTimeout() {}"
    "var console = {log: clearTimeout, warn: clearTimeout,"
    "               error: clearTimeout};";

static tempera_status fail_script(duk_context *engine, tempera_error *error) {
  return tm_fail(error, TEMPERA_ERROR_INPUT, "a figure cannot be drawn: %s",
                 duk_safe_to_string(engine, -1));
}

static tempera_status run(duk_context *engine, const char *text, size_t length,
                          tempera_error *error) {
  if (duk_peval_lstring_noresult(engine, text, length) == 0)
    return TEMPERA_OK;
  duk_peval_lstring(engine, text, length); /* again, for the message */
  tempera_status status = fail_script(engine, error);
  duk_pop(engine);
  return status;
}

tempera_status tm_drawing_open(tm_drawing **drawing, tempera_error *error) {
  tm_drawing *made = tm_heap_alloc(1, sizeof *made);
  if (!made)
    return tm_fail_memory(error);
  made->engine = duk_create_heap_default();
  tm_asset script = tm_asset_script();
  tempera_status status = made->engine ? TEMPERA_OK : tm_fail_memory(error);
  if (status == TEMPERA_OK)
    status = run(made->engine, host, sizeof host - 1, error);
  if (status == TEMPERA_OK)
    status = run(made->engine, script.text, script.length, error);
  if (status == TEMPERA_OK)
    *drawing = made;
  else
    tm_drawing_close(made);
  return status;
}

void tm_drawing_close(tm_drawing *drawing) {
  if (!drawing)
    return;
  if (drawing->engine)
    duk_destroy_heap(drawing->engine);
  tm_heap_free(drawing);
}

tempera_status tm_drawing_svg(tm_drawing *drawing, const json_t *figure,
                              int width, int height, char **text,
                              tempera_error *error) {
  duk_context *engine = drawing->engine;
  char *json = json_dumps(figure, JSON_COMPACT | JSON_REAL_PRECISION(15));
  if (!json)
    return tm_fail_memory(error);
  duk_get_global_string(engine, "temperaSvg");
  duk_push_string(engine, json);
  duk_push_int(engine, width);
  duk_push_int(engine, height);
  free(json);
  tempera_status status = TEMPERA_OK;
  if (duk_pcall(engine, 3) != DUK_EXEC_SUCCESS) {
    status = fail_script(engine, error);
  } else {
    char *made = tm_heap_text(duk_get_string(engine, -1));
    status = made ? TEMPERA_OK : tm_fail_memory(error);
    *text = made ? made : *text;
  }
  duk_pop(engine);
  return status;
}
