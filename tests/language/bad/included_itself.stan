#include "included_itself.stan"
