# The pages in Chromium: see page/test. Skipped without Node, the packages of
# page/ (make page) or a browser.
. "$(dirname "$0")/../cli/helpers.bash"
page=$source_dir/page
case $build_dir in *asan*) exit 77 ;; esac # once is enough, and takes long
command -v node > /dev/null && [ -d "$page/node_modules/playwright-core" ] ||
  exit 77
node --input-type=module -e "
import { findBrowser } from '$page/test/browser.js';
process.exit(findBrowser() ? 0 : 77);" || exit 77

sample() {
  local model=$1 data=$2 run=$3
  shift 3
  timeout 120 "$tempera" sample "$build_dir/models/$model.so" -q --seed 1 \
    -d "$source_dir/models/paper/$data.json" -o "$run" --iterations 1000 "$@" ||
    fail "sample $model"
}
sample bimodal2 bimodal run
sample galaxy galaxy-3 three --warmup 1000
sample galaxy galaxy-3-equal equal --warmup 1000
"$tempera" compare three equal --html comparison.html > out || fail "compare"

# As the paper's page has them: headings of many words, twelve columns and a remark.
python3 - <<'PYTHON'
import json, re
page = open("comparison.html").read()
found = re.search(r'(<script type="application/json" id="document">)(.*?)(</script>)',
                  page, re.S)
document = json.loads(found[2])
section = document["sections"][0]
section["heading"] = "Table 7. log Z of models whose names are long, beside the exact ones"
table = next(b for b in section["blocks"] if b["type"] == "table")
for name in "called reliable", "remark":
    table["columns"].append({"name": name, "title": "", "left": True})
for row in table["rows"]:
    row["cells"][0] = "K = 3, equal variances: the same draws (rb)"
    row["cells"] += ["0 of 2", "biased; profile prior, replicates pooled"]
open("wide.html", "w").write(page[:found.start(2)] + json.dumps(document) +
                             page[found.end(2):])
PYTHON

# Five thousand generated quantities.
cat > quantities.stan <<'STAN'
data { int N; vector[N] y; }
parameters { real mu; real<lower=0> s; }
model { mu ~ normal(0, 1); s ~ exponential(1); y ~ normal(mu, s); }
generated quantities {
  vector[2500] log_lik;
  vector[2500] y_rep;
  for (i in 1:2500) {
    log_lik[i] = normal_lpdf(y[1 + i % N] | mu, s);
    y_rep[i] = normal_rng(mu, s);
  }
}
STAN
echo '{"N": 5, "y": [0.3, -1, 0.7, 1.9, -0.4]}' > five.json
timeout 120 "$tempera" sample quantities.stan -d five.json -q --seed 1 --iterations 1000 \
  --warmup 300 -o quantities || fail "sample quantities"

# A model and a parameter with HTML for names.
mkdir hostile
cp run/*.json run/*.csv hostile
name='<img src=x onerror=broken=1></script><script>broken=1</script>'
python3 - "$name" <<'PYTHON'
import json, pathlib, sys
name = sys.argv[1]
path = pathlib.Path("hostile/summary.json")
summary = json.loads(path.read_text())
summary["model"] = name
summary["parameters"][0]["name"] = name
for mode in summary["modes"]:
    mode["mean"][name] = mode["mean"].pop("mu")
path.write_text(json.dumps(summary))
for path in pathlib.Path("hostile").glob("*.csv"):
    path.write_text(path.read_text().replace(",mu,", "," + name + ",", 1))
PYTHON
"$tempera" report hostile > out || fail "the hostile report"

# 200 parameters, 4 chains of 10 000 draws, as files.
python3 - <<'PYTHON'
import json, os, random
random.seed(1)
summary = json.load(open("run/summary.json"))
value = summary["parameters"][1]
names = [f"x[{k + 1}]" for k in range(200)]
summary["parameters"] = [dict(value, name=n) for n in names]
summary["modes"] = []
summary["tempering"]["ridge"] = [
    dict(r, optimum=[r["tau"]] * 200) for r in summary["tempering"]["ridge"]]
os.mkdir("large")
json.dump(summary, open("large/summary.json", "w"))
head = open("run/target-1.csv").read().split("# Adaptation")[0].splitlines()
pool = ["%.17g" % random.gauss(0, 1) for _ in range(100003)]
columns = head[-1].split(",")[:7] + [f"x.{k + 1}" for k in range(200)]
for role in "target", "tempered":
    for chain in range(4):
        with open(f"large/{role}-{chain + 1}.csv", "w") as out:
            out.write("\n".join(head[:-1] + [",".join(columns)]) + "\n")
            for i in range(10000):
                at = random.randrange(100003 - 200)
                tau = 1 if role == "target" else round(random.random(), 6)
                out.write(f"-1,1,0,0,{tau},-1,-1," +
                          ",".join(pool[at:at + 200]) + "\n")
PYTHON
"$tempera" report large > out || fail "the large report"

export RUN=$work/run/report.html HOSTILE=$work/hostile/report.html \
  LARGE=$work/large/report.html COMPARISON=$work/comparison.html \
  WIDE=$work/wide.html QUANTITIES=$work/quantities/report.html

# pages: the tests in the browser, which take half a minute.
pages() {
  timeout -k 10 300 node --test --test-force-exit "$page/test/report.test.js" \
    > node.log 2>&1
}
pages
answer=$?
# A browser that hangs says nothing of the pages: another one is asked, once.
if [ $answer -ge 124 ] || grep -qE 'timed out|Timeout [0-9]+ms' node.log; then
  cat node.log
  echo "The browser hung; once more."
  pages
  answer=$?
fi
if [ $answer -ne 0 ]; then
  cat node.log
  fail "the tests in the browser: exit status $answer"
fi
grep -E '^# (pass|fail|opened)|opened in' node.log
finish
