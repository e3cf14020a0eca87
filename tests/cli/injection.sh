# Nothing that a program, its name or its data say reaches a shell or the C
# compiler as anything but data.
. "$(dirname "$0")/helpers.bash"
export XDG_CACHE_HOME=$work/cache
mkdir inside && cd inside || exit 1

program='parameters { real<lower=0> x; }
model { x ~ normal(0, 1); print("\", x);
  print("); system(touch pwned); //"); }
generated quantities {
  real system = 1; real abort = 2; real main = 3; real asm = 4;
  if (x < 0) reject("%n%s ??/", x, "*/ #include <pwned.h> \\", "`touch pwned`");
}'
plain='parameters { real x; } model { x ~ normal(0, 1); }'
data='{"$(touch pwned)": 1, "a\"; system(\"touch pwned\"); \"": [1]}'
printf '%s' "$data" > '$(touch pwned).json'

sample() { "$tempera" sample --iterations 20 --warmup 20 --chains 1 --seed 1 \
  --quiet -o run "$@"; }
for name in '$(touch pwned)' '`touch pwned`' 'a; touch pwned' "a' touch pwned '" \
  'a" -include "pwned' '-fplugin=pwned' '@pwned' 'a,-rpath,b' 'a
touch pwned'; do
  printf '%s' "$plain" > "./$name.stan"
  status 0 "named $name" sample -d '$(touch pwned).json' "./$name.stan"
  rm -rf run
  status 0 "compiled as $name" "$tempera" compile "./$name.stan" -o "$name.so"
  status 0 "loaded as $name" sample "./$name.so"
  rm -rf run
done
printf '%s' "$program" > words.stan
status 0 "words and strings that look like C" sample words.stan
holds "their quantities" grep -q 'x,system,abort,main,asm$' run/target-1.csv
cd "$work" || exit 1
[ -z "$(find . -name 'pwned*')" ] || fail "something was run: $(find . -name 'pwned*')"
finish
