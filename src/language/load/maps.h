/* maps.h - the constraining maps of Stan's special types, one block each. */
#ifndef TM_LANGUAGE_MAPS_H
#define TM_LANGUAGE_MAPS_H

#include "base/status.h"
#include "language/read/ast.h"

/* The map of one value of this type (rows x columns, columns 1 for vectors);
 * false when the type has none. */
bool tm_map_of(tm_constraint constraint, size_t rows, size_t columns,
               double offset, double multiplier, tempera_map *map);
bool tm_matrix_map_of(tm_constraint constraint, size_t rows, size_t columns,
                      tempera_map *map);
bool tm_lines_map_of(tm_constraint constraint, size_t rows, size_t columns,
                     tempera_map *map);
/* size values that sum to zero from size - 1 coordinates, by an orthonormal
 * map, and back; the latter may be done in place. */
void tm_zero_sum(size_t size, const double *u, double *x);
void tm_zero_sum_back(size_t size, const double *x, double *u);
bool tm_zero_sum_inside(size_t size, const double *x);
bool tm_map_is_sphere(const tempera_map *map);
bool tm_map_finite(const tempera_map *m, const double *x);

/* An array of such values, which must outlive its map; false when its
 * elements are too large. */
typedef struct tm_array_map {
  tempera_map each;
  size_t count;          /* elements, last index fastest in u */
  const size_t *element; /* where the first value of each lies in theta */
  int depth;             /* indices of the array */
} tm_array_map;
bool tm_array_map_of(const tm_array_map *array, tempera_map *map);
/* The array behind such a map; NULL for other maps. */
const tm_array_map *tm_map_array(const tempera_map *map);

#endif
