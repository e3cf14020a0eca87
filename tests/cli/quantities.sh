# Transformed parameters and generated quantities are columns of the draws, in
# Stan's names and order, the same for any number of threads, and summarised.
. "$(dirname "$0")/helpers.bash"
export XDG_CACHE_HOME=$work/cache

cat > model.stan <<'STAN'
data { int N; vector[N] y; }
parameters { real mu; }
transformed parameters {
  matrix[2, 2] m = [[mu, 2 * mu], [3 * mu, 4 * mu]];
  array[2] vector[2] a = {[10 * mu, 20 * mu]', [30 * mu, 40 * mu]'};
}
model {
  mu ~ normal(0, 1);
  y ~ normal(mu, 1);
}
generated quantities {
  vector[N] log_lik;
  real y_rep = normal_rng(mu, 1);
  int positive = mu > 0;
  array[0] real nothing;
  for (n in 1:N) log_lik[n] = normal_lpdf(y[n] | mu, 1);
}
STAN
echo '{"N": 4, "y": [1.5, 0.5, 2, 1]}' > data.json
sample() { "$tempera" sample "$@" --seed 3 --chains 2 --iterations 2000 \
  --warmup 300 --quiet --tempered-quantities; }
status 0 "run" sample model.stan -d data.json -o one --threads 1 --save-warmup
status 0 "run" sample model.stan -d data.json -o two --threads 2 --save-warmup

cat > check.py <<'PYTHON'
import json, math, statistics, sys
names = ("mu,m.1.1,m.2.1,m.1.2,m.2.2,a.1.1,a.2.1,a.1.2,a.2.2,log_lik.1,"
         "log_lik.2,log_lik.3,log_lik.4,y_rep,positive").split(",")
y, half, at_one, streams = [1.5, 0.5, 2, 1], 0.5 * math.log(2 * math.pi), [], {}
for role in "target", "tempered":
    for chain in "12":
        lines = [l for l in open(f"one/{role}-{chain}.csv") if l[0] != "#"]
        head = lines[0].strip().split(",")
        assert head[7:] == names, head
        assert len(lines) == 2301, "warmup rows have them too"
        for i, line in enumerate(lines[1:]):
            row = dict(zip(head, map(float, line.split(",")), strict=True))
            mu = row["mu"]
            near = lambda a, b: abs(a - b) < 1e-9 * (1 + abs(b))
            for k, name in enumerate(["m.1.1", "m.1.2", "m.2.1", "m.2.2"]):
                assert near(row[name], (k + 1) * mu)
            for k, name in enumerate(["a.1.1", "a.1.2", "a.2.1", "a.2.2"]):
                assert near(row[name], 10 * (k + 1) * mu)
            for k in range(4):
                exact = -half - 0.5 * (y[k] - mu) ** 2
                assert near(row[f"log_lik.{k + 1}"], exact)
            assert near(sum(row[f"log_lik.{k}"] for k in range(1, 5)),
                        row["log_likelihood__"])
            assert row["positive"] == (mu > 0)
            streams.setdefault(role + chain, []).append(row["y_rep"] - mu)
            if role == "target" and i >= 300:
                at_one.append(row)
noise = sum(streams.values(), [])
assert len(set(noise)) == len(noise), "no two draws share random numbers"
n = len(noise)
assert abs(statistics.mean(noise)) < 4 / math.sqrt(n)
assert abs(statistics.pvariance(noise) - 1) < 4 * math.sqrt(2 / n)
values = {q["name"]: q for q in json.load(open("one/summary.json"))["quantities"]}
assert [k.replace("[", ".").replace(",", ".").replace("]", "")
        for k in values] == names[1:]
for name, mean, sd in ("y_rep", 1, 1.2 ** 0.5), ("m[1,2]", 2, 2 * 0.2 ** 0.5):
    q, column = values[name], name.translate(str.maketrans("[,", "..", "]"))
    draws = [row[column] for row in at_one]
    assert abs(q["mean"] - statistics.mean(draws)) < 1e-9, name
    assert abs(q["sd"] - statistics.stdev(draws)) < 1e-9, name
    assert abs(q["mean"] - mean) < 4 * q["mcse"], (name, q)
    assert abs(q["sd"] / sd - 1) < 0.1 and q["rhat"] < 1.05, (name, q)
PYTHON
status 0 "quantities are exact" python3 check.py
for file in target-1 target-2 tempered-1 tempered-2; do
  for run in one two; do grep -v '^#' $run/$file.csv > $run.rows; done
  holds "$file is the same for 1 and 2 threads" cmp one.rows two.rows
done
status 0 "by default" "$tempera" sample model.stan -d data.json -o plain \
  --seed 3 --chains 2 --iterations 200 --warmup 300 --quiet
holds "the target has them" grep -q ',mu,m.1.1,.*positive$' plain/target-1.csv
holds "draws below tau = 1 do not" grep -q ',mu$' plain/tempered-1.csv
status 0 "summary" "$tempera" summary one
prints "summary has the quantities" '^ *m\[2,1\] '
prints "summary has the quantities" '^ *y_rep '

# A point at which they cannot be computed costs its own columns only.
cat > reject.stan <<'STAN'
parameters { real mu; }
transformed parameters { real twice = 2 * mu; }
model { mu ~ normal(0, 1); }
generated quantities {
  real<lower=0> root;
  if (mu > 1) reject("mu is ", mu);
  root = mu;
}
STAN
status 0 "checked" "$tempera" check reject.stan --gradient
prints "check says that quantities fail" \
  "^quantities cannot be computed at [1-9] of 10: line 5:17: root was declared with lower=0"
status 0 "a rejecting block" sample reject.stan -o rejected
cat > rejected.py <<'PYTHON'
import json, math
seen = set()
for role in "target", "tempered":
    lines = [l for l in open(f"rejected/{role}-1.csv") if l[0] != "#"]
    head = lines[0].strip().split(",")
    for line in lines[1:]:
        row = dict(zip(head, map(float, line.split(",")), strict=True))
        assert row["twice"] == 2 * row["mu"]
        seen.add(math.isnan(row["root"]))
        assert math.isnan(row["root"]) == (not 0 <= row["mu"] <= 1)
assert seen == {True, False}
j = json.load(open("rejected/summary.json"))
assert [q["mean"] is None for q in j["quantities"]] == [False, True]
assert any("could not be computed at" in w for w in j["warnings"]), j["warnings"]
PYTHON
status 0 "NaN where rejected" python3 rejected.py

# Models in C have them too.
status 0 "a C model" sample "$models/quantities.so" -o c
holds "named" grep -q ',mu,mu_squared,noise$' c/target-1.csv
[ "$(json c/summary.json '[q["name"] for q in j["quantities"]]')" = \
  "['mu_squared', 'noise']" ] || fail "a C model's quantities are summarised"

# A constraint on a transformed parameter that nothing uses still holds.
cat > support.stan <<'STAN'
parameters { real mu; }
transformed parameters { real<lower=0> kept = mu; }
model { mu ~ normal(0, 1); }
STAN
status 0 "a truncated prior" sample support.stan -o support
holds "all draws keep it" awk -F, '!/^[#l]/ && $8 < 0 { exit 1 }' \
  support/target-1.csv
finish
