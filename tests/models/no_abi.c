/* no_abi.c - a model that does not say for which interface it was built. */
#include "tempera.h"

tempera_status tempera_model_open(const tempera_data *data,
                                  tempera_model **model, tempera_error *error);
tempera_status tempera_model_open(const tempera_data *data,
                                  tempera_model **model, tempera_error *error) {
  (void)data, (void)model, (void)error;
  return TEMPERA_OK;
}
