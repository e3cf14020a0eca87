#include "other.stan"
