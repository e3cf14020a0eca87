# The guide and README: their files, commands and numbers as they stand
# (scripts/docs.py says how), and the list of what they state.
. "$(dirname "$0")/helpers.bash"
export PATH=$build_dir:$PATH
export DOCS_KEEP=$work/kept
for document in README.md docs/guide.md; do
  status 0 "$document" python3 "$source_dir/scripts/docs.py" "$build_dir" \
    --check "$source_dir/$document"
done
status 0 "every sentence has its test" python3 "$source_dir/scripts/claims.py" --check
cd kept/guide || exit 1
ls | grep -q coin-run || fail "the coin was not tossed"

# What the guide says of them.
status 0 "compare" tempera compare one-run two-run --json
cp out narrow.json
status 0 "compare" tempera compare one-wide two-wide --json
cp out wide-compare.json
holds "the Bayes factors are those of the guide" python3 -c '
import json
def factor(path):
    j = json.load(open(path))
    return j["log_bayes_factors"][1][0], j["log_bayes_factor_se"][1][0]
for path, said in (("narrow.json", 3.9), ("wide-compare.json", 1.9)):
    found, se = factor(path)
    assert abs(found - said) < 0.05 + 4 * se, (path, found, se)'
for run in one-run two-run one-wide two-wide coin-run; do
  [ "$(json $run/summary.json 'j["reliable"]')" = True ] ||
    fail "$run is not reliable"
done
holds "labels change places, and components are told apart" python3 -c '
import json
s = json.load(open("two-run/summary.json"))
star = {p["name"] for p in s["parameters"] if p.get("permuted")}
assert {"mu[1]", "mu[2]"} <= star and "sigma" not in star, star
mu = sorted(c["mean"] for c in s["components"] if c["name"].startswith("mu"))
assert 57 < mu[0] < 60 and 78 < mu[1] < 82, mu'
holds "two modes of equal weight" python3 -c '
import json
modes = json.load(open("two-run/summary.json"))["modes"]
assert len(modes) == 2
assert all(abs(m["weight"] - 0.5) < 4 * m["se"] + 0.01 for m in modes)'
finish
