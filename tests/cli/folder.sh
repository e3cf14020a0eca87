# A run's folder: made where asked, refused where a run is, never half-told.
. "$(dirname "$0")/helpers.bash"
sample() { "$tempera" sample "$models/normal.so" -d y.json --seed 5 "$@"; }

status 0 "default folder" sample --iterations 300
for file in config.json summary.json target-1.csv target-4.csv \
  tempered-1.csv tempered-4.csv; do
  [ -s normal-run/$file ] || fail "normal-run/$file is missing"
done
[ "$(json normal-run/config.json 'j["seed"]')" = 5 ] || fail "seed in config"
[ "$(json normal-run/config.json 'j["iterations"]')" = 300 ] ||
  fail "iterations in config"
[ "$(json normal-run/config.json 'len(j["model_hash"])')" = 16 ] ||
  fail "hash of the model in config"

status 1 "a run is there" sample --iterations 300
says "a run is there" 'normal-run already holds a run'
status 0 "folders above are made" sample --iterations 300 -o a/b/c
[ -s a/b/c/summary.json ] || fail "a/b/c has no run"
status 1 "cannot be made" sample --iterations 300 -o /dev/null/x
says "cannot be made" 'cannot make folder /dev/null(/x)?: Not a directory'

status 0 "no seed" "$tempera" sample "$models/normal.so" -d y.json \
  --iterations 300 -o seedless
seed=$(json seedless/summary.json 'j["seed"]')
status 0 "its seed again" "$tempera" sample "$models/normal.so" -d y.json \
  --iterations 300 -o again --seed "$seed" --threads 1
for file in target-1 tempered-4; do
  diff <(grep -v '^#' seedless/$file.csv) <(grep -v '^#' again/$file.csv) \
    > /dev/null || fail "the recorded seed does not give $file.csv again"
done

status 0 "json" sample --iterations 300 -o json --json
holds "standard output is the summary" cmp out json/summary.json
status 0 "quiet" sample --iterations 300 -o quiet --quiet
[ ! -s out ] && [ ! -s err ] || fail "--quiet says something"
status 0 "summary" "$tempera" summary quiet
prints "summary" '^Verdict'
status 0 "summary --json" "$tempera" summary quiet --json
holds "summary --json is summary.json" cmp out quiet/summary.json

status 0 "time limit" sample --iterations 20000000 --thin 100 \
  --time-limit 1 -o limited
[ "$(json limited/summary.json 'j["complete"]')" = False ] ||
  fail "a run stopped by its time limit is not complete"

echo '{"mu": 1.25}' > start.json
status 0 "starts" sample --iterations 300 -o started --init start.json
[ "$(json started/config.json 'j["init_path"]')" = start.json ] ||
  fail "the starts' file is not recorded"

status 0 "all kinds of parameters" "$tempera" sample "$models/mixed.so" \
  --seed 1 --iterations 300
head -n 60 mixed-run/target-1.csv | grep -q ',s,p.1,p.2,p.3,k$' ||
  fail "columns of mixed"
status 0 "check" "$tempera" check "$models/mixed.so"
prints "check" 'mixed: 5 values, 4 unconstrained'
prints "check" 'p\[3\] +simplex, 2 unconstrained'
prints "check" 'k +integers from 1 to 5'
prints "check" '^100 of 100 draws from the prior have a finite density'
finish
