/* bridgestan_stubs.h - BridgeStan's C interface, version 2.7, by which Python,
 * R, Julia and Rust clients load a model's library. Only `tempera compile` adds
 * this text. The second half is the same for R's .C. */
const int bs_major_version = 2;
const int bs_minor_version = 7;
const int bs_patch_version = 0;

static tempera_bs_print tm_print_callback;

tempera_bs *bs_model_construct(const char *data, unsigned seed, char **error) {
  return tempera_bs_create(&tempera_program_entry, &tm_print_callback, data,
                           seed, error);
}
void bs_model_destruct(tempera_bs *m) { tempera_bs_free(m); }
void bs_free_error_msg(char *text) { tempera_bs_free_text(text); }
const char *bs_name(const tempera_bs *m) { return tempera_bs_name(m); }
const char *bs_model_info(const tempera_bs *m) { return tempera_bs_info(m); }
const char *bs_param_names(const tempera_bs *m, bool tp, bool gq) {
  return tempera_bs_names(m, tp, gq);
}
const char *bs_param_unc_names(const tempera_bs *m) {
  return tempera_bs_unconstrained_names(m);
}
int bs_param_num(const tempera_bs *m, bool tp, bool gq) {
  return tempera_bs_size(m, tp, gq);
}
int bs_param_unc_num(const tempera_bs *m) {
  return tempera_bs_unconstrained_size(m);
}
int bs_param_constrain(const tempera_bs *m, bool tp, bool gq, const double *u,
                       double *theta, tempera_bs_rng *rng, char **error) {
  return tempera_bs_constrain(m, tp, gq, u, theta, rng, error);
}
int bs_param_unconstrain(const tempera_bs *m, const double *theta, double *u,
                         char **error) {
  return tempera_bs_unconstrain(m, theta, u, error);
}
int bs_param_unconstrain_json(const tempera_bs *m, const char *json, double *u,
                              char **error) {
  return tempera_bs_unconstrain_json(m, json, u, error);
}
int bs_log_density(const tempera_bs *m, bool propto, bool jacobian,
                   const double *u, double *value, char **error) {
  return tempera_bs_density(m, jacobian, u, value, 0, error);
}
int bs_log_density_gradient(const tempera_bs *m, bool propto, bool jacobian,
                            const double *u, double *value, double *gradient,
                            char **error) {
  return tempera_bs_density(m, jacobian, u, value, gradient, error);
}
int bs_log_density_hessian(const tempera_bs *m, bool propto, bool jacobian,
                           const double *u, double *value, double *gradient,
                           double *hessian, char **error) {
  return tempera_bs_hessian(m, jacobian, u, value, gradient, hessian, error);
}
int bs_log_density_hessian_vector_product(const tempera_bs *m, bool propto,
                                          bool jacobian, const double *u,
                                          const double *direction,
                                          double *value, double *product,
                                          char **error) {
  return tempera_bs_product(m, jacobian, u, direction, value, product, error);
}
tempera_bs_rng *bs_rng_construct(unsigned seed, char **error) {
  return tempera_bs_rng_create(seed, error);
}
void bs_rng_destruct(tempera_bs_rng *rng) { tempera_bs_rng_free(rng); }
int bs_set_print_callback(tempera_bs_print callback, char **error) {
  tm_print_callback = callback;
  return 0;
}

/* ---- for R -------------------------------------------------------------- */

void bs_version_R(int *major, int *minor, int *patch) {
  *major = bs_major_version;
  *minor = bs_minor_version;
  *patch = bs_patch_version;
}
void bs_model_construct_R(char **data, int *seed, tempera_bs **m, char **error,
                          void **pointer) {
  *m = bs_model_construct(*data, (unsigned)*seed, error);
  *pointer = *error;
}
void bs_model_destruct_R(tempera_bs **m) { bs_model_destruct(*m); }
void bs_free_error_msg_R(void **text) { bs_free_error_msg((char *)*text); }
void bs_name_R(tempera_bs **m, const char **out) { *out = bs_name(*m); }
void bs_model_info_R(tempera_bs **m, const char **out) {
  *out = bs_model_info(*m);
}
void bs_param_names_R(tempera_bs **m, int *tp, int *gq, const char **out) {
  *out = bs_param_names(*m, *tp != 0, *gq != 0);
}
void bs_param_unc_names_R(tempera_bs **m, const char **out) {
  *out = bs_param_unc_names(*m);
}
void bs_param_num_R(tempera_bs **m, int *tp, int *gq, int *out) {
  *out = bs_param_num(*m, *tp != 0, *gq != 0);
}
void bs_param_unc_num_R(tempera_bs **m, int *out) {
  *out = bs_param_unc_num(*m);
}
void bs_param_constrain_R(tempera_bs **m, int *tp, int *gq, const double *u,
                          double *theta, tempera_bs_rng **rng, int *code,
                          char **error, void **pointer) {
  *code = bs_param_constrain(*m, *tp != 0, *gq != 0, u, theta, *rng, error);
  *pointer = *error;
}
void bs_param_unconstrain_R(tempera_bs **m, const double *theta, double *u,
                            int *code, char **error, void **pointer) {
  *code = bs_param_unconstrain(*m, theta, u, error);
  *pointer = *error;
}
void bs_param_unconstrain_json_R(tempera_bs **m, const char **json, double *u,
                                 int *code, char **error, void **pointer) {
  *code = bs_param_unconstrain_json(*m, *json, u, error);
  *pointer = *error;
}
void bs_log_density_R(tempera_bs **m, int *propto, int *jacobian,
                      const double *u, double *value, int *code, char **error,
                      void **pointer) {
  *code = bs_log_density(*m, *propto != 0, *jacobian != 0, u, value, error);
  *pointer = *error;
}
void bs_log_density_gradient_R(tempera_bs **m, int *propto, int *jacobian,
                               const double *u, double *value, double *gradient,
                               int *code, char **error, void **pointer) {
  *code = bs_log_density_gradient(*m, *propto != 0, *jacobian != 0, u, value,
                                  gradient, error);
  *pointer = *error;
}
void bs_log_density_hessian_R(tempera_bs **m, int *propto, int *jacobian,
                              const double *u, double *value, double *gradient,
                              double *hessian, int *code, char **error,
                              void **pointer) {
  *code = bs_log_density_hessian(*m, *propto != 0, *jacobian != 0, u, value,
                                 gradient, hessian, error);
  *pointer = *error;
}
void bs_log_density_hessian_vector_product_R(tempera_bs **m, int *propto,
                                             int *jacobian, const double *u,
                                             const double *direction,
                                             double *value, double *product,
                                             int *code, char **error,
                                             void **pointer) {
  *code = bs_log_density_hessian_vector_product(
      *m, *propto != 0, *jacobian != 0, u, direction, value, product, error);
  *pointer = *error;
}
void bs_rng_construct_R(int *seed, tempera_bs_rng **rng, char **error,
                        void **pointer) {
  *rng = bs_rng_construct((unsigned)*seed, error);
  *pointer = *error;
}
void bs_rng_destruct_R(tempera_bs_rng **rng) { bs_rng_destruct(*rng); }
