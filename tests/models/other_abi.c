/* other_abi.c - a model built for another interface. */
#include "tempera.h"

#undef TEMPERA_MODEL_ABI
#define TEMPERA_MODEL_ABI 999
TEMPERA_DECLARE_MODEL;

tempera_status tempera_model_open(const tempera_data *data,
                                  tempera_model **model, tempera_error *error) {
  (void)data, (void)model, (void)error;
  return TEMPERA_OK;
}
