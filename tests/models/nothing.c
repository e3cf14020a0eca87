/* nothing.c - a shared library that is no model: it lacks the symbol. */
int tests_models_nothing(void);
int tests_models_nothing(void) { return 0; }
