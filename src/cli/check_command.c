/* check_command.c - `tempera check`: load a model, show its parameters and what
 * it offers, and look at it at a few points. */
#include "cli/cli.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { POINTS = 100, INCLUDE = 1000, GRADIENT, COST };

static const char help[] =
    "usage: tempera check MODEL [-d DATA.json]\n"
    "\n"
    "Load a model, show its parameters and which callbacks it has, and\n"
    "evaluate it at a few points. Of a Stan program, first show each\n"
    "statement's part, prior or likelihood; without data, only that.\n"
    "\n"
    "  -d, --data FILE          data, CmdStan JSON\n"
    "      --include-path P     folders for #include, separated by ':'\n"
    "      --gradient           compare gradients with differences\n"
    "      --cost               what an evaluation of a program costs, and "
    "why\n"
    "  -h, --help\n";

static const struct option long_options[] = {
    {"data", required_argument, NULL, 'd'},
    {"include-path", required_argument, NULL, INCLUDE},
    {"gradient", no_argument, NULL, GRADIENT},
    {"cost", no_argument, NULL, COST},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0}};

static void print_support(const tempera_parameter *p) {
  if (p->transform == TEMPERA_SIMPLEX) {
    printf("simplex");
    return;
  }
  printf("%s ", p->kind == TEMPERA_INTEGER ? "integers" : "reals");
  if (isinf(p->lower) && isinf(p->upper))
    printf("without bounds");
  else if (isinf(p->upper))
    printf("from %g", p->lower);
  else if (isinf(p->lower))
    printf("up to %g", p->upper);
  else
    printf("from %g to %g", p->lower, p->upper);
}

static void print_parameters(const tempera_model *model) {
  const tempera_model_spec *spec = tempera_model_spec_of(model);
  printf("model %s: %zu values, %zu unconstrained coordinates\n\n", spec->name,
         tempera_model_size(model), tempera_model_unconstrained_size(model));
  printf("parameters\n");
  for (size_t i = 0; i < spec->parameter_count; i++) {
    const tempera_parameter *p = &spec->parameters[i];
    char name[128];
    if (p->size)
      snprintf(name, sizeof name, "%s[%zu]", p->name, p->size);
    else
      snprintf(name, sizeof name, "%s", p->name);
    printf("  %-16s ", name);
    print_support(p);
    printf(", %zu unconstrained\n", cli_free_size(p));
  }
}

static void print_callback(const char *name, bool there, const char *use) {
  printf("  %-26s %-4s %s\n", name, there ? "yes" : "no", use);
}

static void print_callbacks(const tempera_model_spec *s) {
  printf("\ncallbacks\n");
  print_callback("log_likelihood", true, "tempered");
  print_callback("log_prior", true,
                 s->prior_normalised ? "normalised, never tempered"
                                     : "never tempered");
  print_callback("log_likelihood_gradient", s->log_likelihood_gradient,
                 "for faster optimisation");
  print_callback("log_prior_gradient", s->log_prior_gradient,
                 "for faster optimisation");
  print_callback("prior_draw", s->prior_draw, "for starts and renewal");
  print_callback("optimum", s->optimum, "for the ridge");
  print_callback("gibbs", s->gibbs_count > 0, "exact conditional draws");
  print_callback("recipe", s->recipe, "for --paper and --kernel model");
  print_callback("clone", s->clone, "one copy of its data per chain");
}

/* What is known of a program's prior with these data, and what follows. */
static void print_prior(const tempera_model_spec *s) {
  printf("\nprior\n");
  if (s->prior_improper)
    printf("  improper: there is no evidence\n");
  else if (s->prior_normalised)
    printf("  drawn from exactly; the log of its integral is %.6g\n",
           s->prior_log_integral);
  else if (s->prior_draw)
    printf("  drawn from exactly; its integral is estimated\n");
  else
    printf("  explored by a run of its own, which also estimates its "
           "integral\n");
  if (s->no_likelihood)
    printf("  nothing is likelihood with these data: there is no evidence\n");
}

/* Why the density is zero at a point, where the model can tell. */
static void print_reason(const tempera_model *model, const double *theta) {
  const tempera_model_spec *s = tempera_model_spec_of(model);
  double value;
  if (!s->reason || (s->log_prior(theta, &value, s->user) == 0 &&
                     s->log_likelihood(theta, &value, s->user) == 0))
    return;
  printf("at the first of them: %s\n", s->reason(s->user));
}

static int print_points(const tempera_model *model, const char *path) {
  tempera_error error = {0};
  double likelihood[POINTS], prior[POINTS];
  bool draws = tempera_model_spec_of(model)->prior_draw != NULL;
  double *theta = calloc(POINTS * tempera_model_size(model), sizeof(double));
  if (!theta)
    return fputs("tempera: out of memory\n", stderr), EXIT_BAD_INPUT;
  tempera_status status =
      tempera_model_probe(model, 1, POINTS, theta, likelihood, prior, &error);
  if (status != TEMPERA_OK) {
    free(theta);
    return cli_fail(path, &error);
  }
  int good = 0, prior_zero = 0, none = 0;
  double lowest = INFINITY, highest = -INFINITY;
  for (size_t i = 0; i < POINTS; i++) {
    prior_zero += !isfinite(prior[i]);
    none += isnan(likelihood[i]);
    if (!isfinite(prior[i]) || !isfinite(likelihood[i]))
      continue;
    good++;
    lowest = fmin(lowest, likelihood[i]);
    highest = fmax(highest, likelihood[i]);
  }
  printf("\n%d of %d %s have a finite density", good, POINTS,
         draws ? "draws from the prior" : "random points");
  if (good)
    printf(" (log likelihood from %g to %g)", lowest, highest);
  printf("\n");
  if (none)
    printf("at %d the density is not a number, or infinite: runs reject such "
           "points and count them\n",
           none);
  if (prior_zero)
    printf("%d have prior density zero%s\n", prior_zero,
           draws ? ": draws and density of the prior disagree" : "");
  if (!good) {
    print_reason(model, theta);
    printf("no start was found among them: give one with --init\n");
  }
  free(theta);
  return good ? EXIT_DONE : EXIT_BAD_INPUT;
}

/* A program is described before any data: what is declared, and each
 * statement's part, prior or likelihood, with the reason. */
static int describe(const cli_input *input) {
  const char *path = input->model_path;
  tempera_error error = {0};
  tempera_program *program = NULL;
  char *text = NULL;
  tempera_status status = tempera_program_read_including(
      path, input->include_path, &program, &error);
  const char *warning;
  if (status == TEMPERA_OK) {
    for (size_t i = 0; (warning = tempera_program_warning(program, i)); i++)
      fprintf(stderr, "%s:%s\n", path, warning);
    status = tempera_program_describe(program, &text, &error);
  }
  tempera_program_free(program);
  return status == TEMPERA_OK ? cli_print(text) : cli_fail(path, &error);
}

/* What its statements cost with these data. */
static int print_cost(const cli_input *input) {
  const char *path = input->model_path;
  tempera_error error = {0};
  tempera_program *program = NULL;
  tempera_data *data = NULL;
  char *text = NULL;
  tempera_status status = tempera_program_read_including(
      path, input->include_path, &program, &error);
  if (status == TEMPERA_OK)
    status = tempera_data_read(input->data_path, &data, &error);
  if (status == TEMPERA_OK)
    status = tempera_program_cost(program, data, &text, &error);
  tempera_program_free(program);
  tempera_data_free(data);
  if (status != TEMPERA_OK)
    return cli_fail(path, &error);
  printf("\n");
  return cli_print(text);
}

static int check(cli_input *input, bool gradient, bool cost) {
  if (cli_is_program(input->model_path)) {
    input->quiet = true; /* warnings are said once */
    int described = describe(input);
    if (described != EXIT_DONE || !input->data_path)
      return described;
    printf("\n");
  }
  int code = cli_load(input);
  if (code == EXIT_DONE) {
    print_parameters(input->model);
    if (cli_is_program(input->model_path))
      print_prior(tempera_model_spec_of(input->model));
    else
      print_callbacks(tempera_model_spec_of(input->model));
    code = print_points(input->model, input->model_path);
    if (code == EXIT_DONE && gradient)
      code = cli_check_gradient(input->model, input->model_path);
    if (code == EXIT_DONE && cost)
      code = print_cost(input);
  }
  cli_unload(input);
  return code;
}

int cli_check(int argc, char **argv) {
  int code;
  bool gradient = false, cost = false;
  cli_input input = {0};
  opterr = 0;
  while ((code = getopt_long(argc, argv, ":d:h", long_options, NULL)) != -1) {
    if (code == 'h')
      return fputs(help, stdout), EXIT_DONE;
    if (code == GRADIENT || code == COST) {
      *(code == COST ? &cost : &gradient) = true;
      continue;
    }
    if (code != 'd' && code != INCLUDE)
      return cli_bad_option("check", code, argv, long_options);
    *(code == 'd' ? &input.data_path : &input.include_path) = optarg;
  }
  if (optind + 1 != argc)
    return cli_usage("check", "give one model");
  input.model_path = argv[optind];
  if (cost && (!cli_is_program(input.model_path) || !input.data_path))
    return cli_usage("check",
                     "--cost is for a Stan program with its data (-d)");
  return check(&input, gradient, cost);
}
