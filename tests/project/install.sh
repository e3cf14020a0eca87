# An installed Tempera serves C and C++ programs through pkg-config.
. "$(dirname "$0")/../cli/helpers.bash"
unset DESTDIR
cmake --install "$build_dir" --prefix "$work/prefix" > out 2> err ||
  fail "install"
for file in bin/tempera lib/libtempera.so lib/libtempera.a \
  include/tempera.h lib/pkgconfig/tempera.pc share/man/man1/tempera.1 \
  share/bash-completion/completions/tempera share/zsh/site-functions/_tempera; do
  [ -e "prefix/$file" ] || fail "prefix/$file is missing"
done
status 0 "the installed command" prefix/bin/tempera --version

cat > main.c <<'C'
#include <tempera.h>
#include <stdio.h>
int main(void) {
  tempera_data *data = NULL;
  double x = 0;
  if (tempera_data_parse("{\"x\": 2.5}", 10, &data, NULL) != TEMPERA_OK ||
      tempera_data_real(data, "x", &x, NULL) != TEMPERA_OK)
    return 1;
  tempera_data_free(data);
  printf("%g\n", x);
  return 0;
}
C
cat > main.cpp <<'CPP'
#include <tempera.h>
int main() { return tempera_options_default().until_se == 0 ? 0 : 1; }
CPP
export PKG_CONFIG_PATH=$work/prefix/lib/pkgconfig
export LD_LIBRARY_PATH=$work/prefix/lib
flags=$(pkg-config --define-variable=prefix="$work/prefix" --cflags --libs \
  tempera)
# A library built with sanitizers wants a program built so too.
grep -q 'TEMPERA_SANITIZE:BOOL=ON' "$build_dir/CMakeCache.txt" &&
  flags="$flags -fsanitize=address,undefined"
status 0 "a C program compiles" cc -std=c11 -Wall -Werror main.c -o c $flags
status 0 "a C program runs" ./c
prints "a C program runs" '^2.5$'
status 0 "a C++ program compiles" c++ -std=c++11 -Wall -Werror -pedantic \
  main.cpp -o cpp $flags
status 0 "a C++ program runs" ./cpp

# The guide's model, word for word: its evidence is 1/11.
sed -n '/^```c$/,/^```$/p' "$source_dir/docs/guide.md" | sed '/^```/d' > coin.c
status 0 "the guide's model compiles" cc -O2 -Wall -Werror -fPIC -shared \
  coin.c -o coin.so $flags -lm
echo '{"n": 10, "heads": 7}' > coin.json
status 0 "the guide's model passes the check" prefix/bin/tempera check \
  coin.so -d coin.json
status 0 "the guide's model runs" prefix/bin/tempera sample coin.so \
  -d coin.json --seed 1
holds "its evidence is 1/11" python3 -c '
import json, math
e = json.load(open("coin-run/summary.json"))["evidence"]
assert abs(e["log_z"] + math.log(11)) < 4 * e["se"] < 0.5'
finish
