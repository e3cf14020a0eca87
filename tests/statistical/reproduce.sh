# `tempera reproduce all --quick` end to end: every table and figure is there,
# and the numbers agree with the exact ones within their errors.
#   reproduce.sh SOURCE BUILD
set -eu
tempera=$2/tempera
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

"$tempera" reproduce all --quick --quiet -o out > tables.txt

if "$tempera" reproduce bimodal --quick -o out 2> message.txt; then
  echo "results were overwritten"
  exit 1
fi
grep -q 'holds results already' message.txt
status=0
"$tempera" reproduce bimodle 2> message.txt || status=$?
[ "$status" -eq 2 ]
grep -q 'bimodal, galaxy, sir and all' message.txt

python3 - <<'PYTHON'
import csv, json, math, os, xml.dom.minidom

def no_constant(name):
    raise ValueError("results.json holds " + name)

results = json.load(open("out/results.json"), parse_constant=no_constant)
tables = {}
for table in results["tables"]:
    keys = [column["key"] for column in table["columns"]]
    assert all(len(row) == len(keys) for row in table["rows"]), table["name"]
    tables[table["name"]] = [dict(zip(keys, row)) for row in table["rows"]]
    with open(f"out/{table['name']}.csv") as file:
        lines = list(csv.reader(file))
    assert lines[0] == keys and len(lines) == len(table["rows"]) + 1
assert list(tables) == ["table1", "table2", "table3", "table4", "sir",
                        "sir_evidence", "sir_time"], list(tables)

# The short runs have few replicates, so their own stated errors count too.
def agrees(found, exact, *errors):
    error = max(e for e in errors if e is not None)
    return abs(found - exact) <= 5 * error + 1e-12

def row(table, start):
    return next(r for r in tables[table]
                if next(iter(r.values())).startswith(start))

for r in tables["table1"]:
    assert agrees(r["paper_mean"], r["exact"], r["paper_mcse"]), r
    assert agrees(r["default_mean"], r["exact"], r["default_mcse"]), r
assert abs(row("table1", "sigma^2")["exact"] - 1.19508) < 1e-4

analytic = row("table2", "published analytic")
assert abs(analytic["published_error"] + math.log(2)) < 1e-3
for start in ("PT-STWNC (ti-paper)", "ti-paper, replicates pooled"):
    assert 0.35 < row("table2", start)["error"] < 0.65, start
for start in ("the same draws (ti)", "the same draws (rb)",
              "TI-PT-B, T = 30", "TI-PT-NB, T = 100", "Tempera's defaults"):
    r = row("table2", start)
    assert agrees(r["log_z"], r["exact"], r["sd"], r["se"]), r

# Galaxy's references are long runs, with errors of their own.
reference_se = {-239.751: .005, -226.822: .011, -226.780: .014, -226.620: .005,
                -226.863: .0061}
assert len(tables["table3"]) == 25 and len(tables["table4"]) == 10
for r in tables["table3"]:
    if r["method"].endswith("Tempera's defaults"):
        both = math.hypot(r["se"], reference_se[r["exact"]])
        assert agrees(r["log_z"], r["exact"], both), r
for r in tables["table4"]:
    assert abs(r["log_bf"] - r["exact"]) < 0.15, r

for r in tables["sir"]:
    if r["exact"] is not None:
        assert agrees(r["default"], r["exact"], r["default_mcse"]), r
r = row("sir_evidence", "Tempera's defaults")
assert agrees(r["log_z"], r["exact"], r["se"]), r
times = [r["pt_chains"] for r in tables["sir_time"]]
assert all(t > 0 for t in times) and times[3] > times[1], times

figures = [figure["file"] for figure in results["figures"]]
assert len(figures) == len(set(figures)) and len(figures) >= 24, figures
for file in figures:
    picture = xml.dom.minidom.parse(os.path.join("out", file))
    assert picture.getElementsByTagName("path"), file
page = open("out/index.html").read()
for word in ("Table 1", "Table 4", "Figure 7", "log 2"):
    assert word in page, word
assert "src=\"http" not in page and len(page) < 10e6
PYTHON
grep -q 'Table 2' tables.txt
