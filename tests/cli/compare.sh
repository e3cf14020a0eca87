# Comparing runs: Bayes factors on the same data, refusal on other data.
. "$(dirname "$0")/helpers.bash"
sample() {
  status 0 "$2" "$tempera" sample "$models/$1.so" -d "$3" --iterations 2000 \
    --seed "$4" -o "$2"
}
echo '{"y": [1.5, 0.5, 2, 1, 7]}' > other.json
echo '{"y": [1.5, 0.5, 2, 1], "calls": 1000000000}' > calls.json
sample normal first y.json 1
sample stops second calls.json 2
sample normal third other.json 3

status 0 "compare" "$tempera" compare first second
prints "compare" 'log BF vs best'
status 0 "compare --json" "$tempera" compare first second --json
cp out comparison.json
[ "$(json comparison.json '[m["run"] for m in j["models"]]')" = \
  "['first', 'second']" ] || fail "runs are named in order"
holds "Bayes factors are differences of log Z" python3 - <<'PYTHON'
import json
c = json.load(open("comparison.json"))
a, b = c["models"]
assert abs(c["log_bayes_factors"][0][1] - (a["log_z"] - b["log_z"])) < 1e-12
assert abs(a["probability"] + b["probability"] - 1) < 1e-12
# One model under two names: the evidences agree within their errors.
error = (a["se"] ** 2 + b["se"] ** 2) ** 0.5
assert abs(a["log_z"] - b["log_z"]) < 4 * error
PYTHON
status 1 "other data" "$tempera" compare first third
says "other data" 'different data'
status 1 "no such run" "$tempera" compare first absent
says "no such run" 'absent/summary\.json'
finish
