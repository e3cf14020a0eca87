parameters { real a; }
#include "included_error.txt"
