# The gallery's pages: programs, data and commands as they stand, and the values
# written there; on the optimised build alone.
. "$(dirname "$0")/../cli/helpers.bash"
case $build_dir in *asan*|*tsan*) exit 77 ;; esac
export DOCS_KEEP=$work/kept
pages=$(ls "$source_dir"/docs/gallery/*.md)
for page in $pages; do
  status 0 "$(basename "$page")" python3 "$source_dir/scripts/docs.py" \
    "$build_dir" --check "$page"
done
# Whatever is written: known values within four errors, verdicts, and both modes
# of the factor model.
holds "the answers" python3 - <<'PYTHON'
import json, math
def run(name):
    return json.load(open(f"kept/{name}/summary.json"))
known = {"coal/none": (-205.99028, 0), "coal/one": (-175.08027, 0),
         "sir/sir": (-343.989, .002), "galaxy/three": (-226.780, .014),
         "galaxy/four": (-226.620, .015), "exchange/one": (-1014.273, .003)}
for name, (value, error) in known.items():
    s = run(name)
    e = s["evidence"]
    assert s["reliable"], (name, s["verdict"])
    assert abs(e["log_z"] - value) < 4 * math.hypot(e["se"], error), (name, e)
a, b = run("turtles/without")["evidence"], run("turtles/with")["evidence"]
assert abs(a["log_z"] - b["log_z"] - math.log(1.273)) < 4 * math.hypot(
    a["se"], b["se"]) + .002, (a, b)
two = run("exchange/two")
first, second = two["modes"]
assert abs(second["weight"] - .22) < 4 * second["se"] + .01, second
# Published: the first mode's share.
se = two["evidence"]["se"] + first["se"] / first["weight"]
assert abs(two["evidence"]["log_z"] + math.log(first["weight"]) + 903.451
           ) < 4 * se + .005, two["evidence"]
PYTHON
for name in coal exchange galaxy sir turtles; do
  [ -s "$source_dir/docs/gallery/$name.md" ] || fail "there is no $name.md"
  grep -q "^!\[.*($name.png)" "$source_dir/docs/gallery/$name.md" &&
    [ -s "$source_dir/docs/gallery/$name.png" ] || fail "$name has no picture"
done
finish
