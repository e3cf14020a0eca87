# `summary` shows a run again: tables, JSON, and CSV with every number in full.
. "$(dirname "$0")/helpers.bash"

cat > two.stan <<'STAN'
parameters {
  matrix[1, 2] b;
  int<lower=0, upper=3> k;
}
model {
  to_vector(b) ~ normal(0, 1);
  k ~ binomial(3, 0.5);
  target += bernoulli_lpmf(1 | inv_logit(b[1, 1]));
}
generated quantities {
  real twice = 2 * b[1, 2];
}
STAN
status 0 "a run" "$tempera" sample two.stan --seed 1 --iterations 300 \
  --warmup 100 -o run
cp out screen
status 0 "the tables" "$tempera" summary run
sed '/^Everything is in/d' screen | diff - <(cat out; echo) > /dev/null ||
  fail "the tables differ from those of the run"
status 0 "all rows" "$tempera" summary run --all
grep -q '^  twice ' out || fail "a quantity's row is missing"
status 0 "JSON" "$tempera" summary run --json
diff out run/summary.json > /dev/null || fail "JSON differs from summary.json"
status 0 "CSV" "$tempera" summary run --csv
cp out summary.csv
holds "CSV holds the numbers of summary.json" python3 - <<'PYTHON'
import csv, json
rows = list(csv.DictReader(open("summary.csv", newline="")))
summary = json.load(open("run/summary.json"))
values = ([("parameter", p) for p in summary["parameters"]] +
          [("quantity", q) for q in summary["quantities"]])
assert [r["name"] for r in rows] == [v["name"] for _, v in values]
assert rows[1]["name"] == "b[1,2]" and rows[3]["name"] == "twice"
for row, (kind, value) in zip(rows, values, strict=True):
    assert row["kind"] == kind and row["permuted"] in ("true", "false")
    for name in ("mean sd mcse q5 q50 q95 ess_bulk ess_tail rhat").split():
        found = float(row[name]) if row[name] else None
        assert found == value[name], (row["name"], name)
PYTHON
status 2 "one format at a time" "$tempera" summary run --json --csv
says "one format at a time" 'one of --all, --json and --csv'
status 1 "no run there" "$tempera" summary nowhere
says "no run there" 'nowhere/summary.json'
finish
