# Draws at chosen tau: files of their own, the same for any number of threads
# and for a run that was interrupted; in summary, JSON and config.
. "$(dirname "$0")/helpers.bash"
export TEMPERA_CHECKPOINT=0

run=("$tempera" sample "$models/normal.so" -d y.json --seed 1 --chains 2
  --warmup 800 -q)
status 0 "a run" "${run[@]}" --iterations 1500 --at-tau 0.5,0.1 --threads 1 -o one
status 0 "two threads" "${run[@]}" --iterations 1500 --at-tau 0.1,0.5 --threads 2 \
  -o two
status 0 "a short one" "${run[@]}" --iterations 500 --at-tau 0.1,0.5 -o three
status 0 "made longer" "$tempera" resume three --iterations 1500 -q
for other in two three; do
  for file in at-tau-0.1-1.csv at-tau-0.1-2.csv at-tau-0.5-1.csv at-tau-0.5-2.csv; do
    cmp -s <(grep -v '^#' one/$file) <(grep -v '^#' $other/$file) ||
      fail "$other: $file differs"
  done
  [ "$(json one/summary.json 'j["at_tau"]')" = \
    "$(json $other/summary.json 'j["at_tau"]')" ] || fail "$other: summary differs"
done
# Killed (by signal 9) once there are draws, twice on its way, and resumed:
# every file is that of the run that was never killed.
killed() { # ROWS COMMAND...: killed once it has more than so many rows
  local fewest=$1 pid
  shift
  "$@" > out 2> err < /dev/null &
  pid=$!
  for _ in $(seq 3000); do
    kill -0 $pid 2> /dev/null || break
    [ -s killed/checkpoint ] && [ -f killed/tempered-1.csv ] &&
      [ "$(rows killed/tempered-1.csv)" -gt "$fewest" ] && break
    sleep 0.02
  done
  kill -9 $pid 2> /dev/null
  wait $pid 2> /dev/null
}
long=("$tempera" sample "$models/normal.so" -d y.json --seed 3 --chains 2
  --warmup 800 -q --iterations 30000 --at-tau 0.1,0.5 --threads 1)
status 0 "not killed" "${long[@]}" -o whole
killed 100 "${long[@]}" -o killed
# Where one was being replaced, the last one is under its old name.
[ -s killed/checkpoint ] || [ -s killed/checkpoint.old ] ||
  fail "no checkpoint was left"
[ "$(json killed/summary.json 'j["complete"]' 2> /dev/null)" = True ] &&
  echo "note: the run was done before it could be killed"
killed 5000 "$tempera" resume killed -q
status 0 "resumed" "$tempera" resume killed -q
for file in whole/*.csv; do
  cmp -s <(grep -v '^#' "$file") <(grep -v '^#' "killed/${file##*/}") ||
    fail "killed: ${file##*/} differs"
done
[ "$(ls whole)" = "$(ls killed)" ] || fail "killed: other files"
cmp -s <(grep -v '"seconds' whole/summary.json) \
  <(grep -v '"seconds' killed/summary.json) || fail "killed: summary differs"
# Without it the draws of the run are the same.
status 0 "without" "${run[@]}" --iterations 1500 -o plain
for file in target-1.csv tempered-2.csv; do
  cmp -s <(grep -v '^#' one/$file) <(grep -v '^#' plain/$file) ||
    fail "$file depends on --at-tau"
done
[ "$(json one/config.json 'j["at_tau"]')" = "[0.1, 0.5]" ] || fail "config"
n=$(json one/summary.json 'j["at_tau"][0]["draws"]')
[ "$(rows one/at-tau-0.1-1.csv)" = "$n" ] && [ "$n" -gt 100 ] || fail "rows: $n"
# y ~ normal(mu, 1), mu ~ normal(0, 1), four y of sum 5: exact.
python3 - <<'PYTHON' || fail "the power posterior"
import csv, json, math
for p in json.load(open("one/summary.json"))["at_tau"]:
    v = p["parameters"][0]
    mean = p["tau"] * 5 / (1 + p["tau"] * 4)
    assert abs(v["mean"] - mean) < 4 * v["mcse"] < 0.3, (v, mean)
    rows = []
    for c in (1, 2):
        name = f"one/at-tau-{p['tau']}-{c}.csv"
        rows += csv.DictReader(l for l in open(name) if l[0] != "#")
    assert all(float(r["tau__"]) == p["tau"] for r in rows)
    assert abs(sum(float(r[v["name"]]) for r in rows) / len(rows) - v["mean"]) < 1e-6
PYTHON
status 0 "the tables again" "$tempera" summary one
prints "the tables again" '^Power posterior at tau = 0.5'
status 0 "a page" "$tempera" report one
grep -q 'Power posterior at tau = 0.5' one/report.html &&
  grep -q 'against tau' one/report.html || fail "the page lacks the section"
status 2 "beyond the path" "${run[@]}" --iterations 100 --at-tau 1.5 -o no
says "beyond the path" 'numbers from 0 to 1'
status 2 "below the path" "${run[@]}" --iterations 100 --tau-min 0.2 --at-tau 0.1 -o no
says "below the path" 'lies outside of the path'
status 2 "no path" "${run[@]}" --iterations 100 --method mh --at-tau 0.1 -o no
finish
