# Comparing runs: Bayes factors on the same data, refusal on other data.
. "$(dirname "$0")/helpers.bash"
sample() {
  status 0 "$2" "$tempera" sample "$models/$1.so" -d "$3" --iterations 2000 \
    --seed "$4" -o "$2"
}
echo '{"y": [1.5, 0.5, 2, 1, 7]}' > other.json
echo '{"calls": 1000000000, "y": [1.5, 0.50, 2, 1]}' > calls.json
sample normal first y.json 1
sample stops second calls.json 2
sample normal third other.json 3
status 0 "no evidence" "$tempera" sample "$models/improper.so" -d y.json \
  --iterations 500 --tau-min 0.1 --seed 4 -o improper

status 0 "compare" "$tempera" compare first second
prints "compare" 'log BF vs best'
prints "compare" 'bare mention'
prints "one model twice" 'first and second: cannot be told apart'
status 0 "compare --json" "$tempera" compare first second --json
cp out comparison.json
status 0 "compare --prior-odds" "$tempera" compare first second --json \
  --prior-odds 3:1
cp out odds.json
status 0 "odds with commas" "$tempera" compare first second --prior-odds 3,1
[ "$(json comparison.json '[m["run"] for m in j["models"]]')" = \
  "['first', 'second']" ] || fail "runs are named in order"
status 0 "compare --html" "$tempera" compare first second --html page.html
prints "the tables too" 'log BF vs best'
for words in 'Log Bayes factors, row over column' 'Posterior probabilities' \
  'Parameters side by side' 'cannot be told apart' 'Marginals'; do
  grep -q "$words" page.html || fail "the page has '$words'"
done
holds "marginals of both runs are over each other" python3 - <<'PYTHON'
import json, re
page = open("page.html").read()
found = re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page, re.S)
document = json.loads(found.group(1))
section = [s for s in document["sections"] if s["heading"] == "Marginals"][0]
figure = section["blocks"][1]["choices"][0]["figures"][0]
assert figure["title"] == "mu" and len(figure["series"]) == 2, figure["title"]
for series in figure["series"]:
    width = [b - a for a, b in zip(series["edges"], series["edges"][1:])]
    area = sum(w * y for w, y in zip(width, series["y"]))
    assert 0.98 < area < 1.001, area
PYTHON
mkdir bare && cp first/summary.json bare
status 0 "a run without draws" "$tempera" compare bare second --html bare.html
status 1 "nowhere to write" "$tempera" compare first second \
  --html absent/page.html
says "nowhere to write" 'absent/page\.html'
cat > check.py <<'PYTHON'
import json
c = json.load(open("comparison.json"))
a, b = c["models"]
assert abs(c["log_bayes_factors"][0][1] - (a["log_z"] - b["log_z"])) < 1e-12
assert abs(a["probability"] + b["probability"] - 1) < 1e-12
assert a["probability_lower"] < a["probability"] < a["probability_upper"]
# One model under two names: the evidences agree within their errors.
error = (a["se"] ** 2 + b["se"] ** 2) ** 0.5
assert abs(c["log_bayes_factor_se"][0][1] - error) < 1e-12
assert abs(a["log_z"] - b["log_z"]) < 4 * error
assert any("told apart" in w for w in c["warnings"])
o = json.load(open("odds.json"))["models"]
assert [m["prior"] for m in o] == [0.75, 0.25]
ratio = a["probability"] / b["probability"] * 3
assert abs(o[0]["probability"] / o[1]["probability"] - ratio) < 1e-9 * ratio
PYTHON
holds "Bayes factors are differences of log Z" python3 check.py
status 1 "other data" "$tempera" compare first third
says "other data" 'first and third are on different data .variable y differs'
status 1 "an improper prior" "$tempera" compare first improper
says "an improper prior" 'undefined: the prior of mu is improper.*--by fractional'
status 0 "fractional Bayes factors" "$tempera" compare first improper \
  --by fractional --json
cp out fractional.json
[ "$(json fractional.json 'j["kind"], j["tau"], j["models"][1]["se"] > 0')" = \
  "('fractional', 0.1, True)" ] || fail "the kind is named, at one b"
status 0 "fractional in words" "$tempera" compare first improper --by fractional
prints "fractional in words" "^Fractional Bayes factors .*, b = 0.1"
status 1 "a b that the path lacks" "$tempera" compare first improper \
  --fraction 0.05
says "a b that the path lacks" 'improper: .* do not cover tau from 0.05 to 1 .*--tau-min'
status 1 "no WBIC" "$tempera" compare first improper --by wbic
says "no WBIC" 'has no WBIC.*--observations'
status 2 "proper priors" "$tempera" compare first second --by fractional
says "proper priors" 'all these priors are proper'
status 2 "another kind" "$tempera" compare first second --by guess
says "another kind" 'choose one of evidence, fractional, wbic'
for fraction in 0 1 x -1 ''; do
  status 2 "fraction '$fraction'" "$tempera" compare first second \
    --fraction "$fraction"
done
status 1 "no such run" "$tempera" compare first absent
says "no such run" 'absent/summary\.json'
for odds in 1 1:2:3 1:0 1:-1 1:x 1: 1:inf ''; do
  status 2 "odds '$odds'" "$tempera" compare first second --prior-odds "$odds"
  says "odds '$odds'" 'wanted 2 positive numbers'
done
finish
