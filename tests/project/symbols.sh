# libtempera.so shows what tempera.h declares, and BridgeStan's; and it has a
# name with a number.
. "$(dirname "$0")/../cli/helpers.bash"
library=$build_dir/libtempera.so
nm -D --defined-only "$library" | awk '{print $3}' > symbols
grep -v '^tempera_' symbols > others
[ ! -s others ] || fail "other symbols: $(head -n 5 others | tr '\n' ' ')"
declared=$(grep -ohE '\btempera_[a-z_0-9]+\(' "$source_dir"/include/*.h |
  tr -d '(' | sort -u)
for name in $(grep -v '^tempera_bs_' symbols); do
  grep -qx "$name" <<< "$declared" || fail "$name is not in tempera.h"
done
readelf -d "$library" | grep -q 'SONAME.*libtempera\.so\.[0-9]' ||
  fail "the library has no SONAME"
finish
