/* maps.h - the constraining maps of Stan's special types, one block each. */
#ifndef TM_LANGUAGE_MAPS_H
#define TM_LANGUAGE_MAPS_H

#include "base/status.h"
#include "language/ast.h"

/* The map of one value of this type (rows x columns, columns 1 for vectors);
 * false when the type has none. */
bool tm_map_of(tm_constraint constraint, size_t rows, size_t columns,
               double offset, double multiplier, tempera_map *map);

#endif
