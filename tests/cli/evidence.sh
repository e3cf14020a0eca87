# The evidence of a fit made elsewhere: exact on a conjugate model, and what its
# draws cannot be is refused.
. "$(dirname "$0")/helpers.bash"
cat > mean.stan <<'STAN'
data { int n; vector[n] y; }
parameters { real mu; array[2] real a; }
model { mu ~ normal(0, 2); a ~ normal(0, 1); y ~ normal(mu, 1); }
STAN
echo '{"n": 5, "y": [0.3, 1.1, 0.9, -0.2, 1.4]}' > data.json
# Exact draws, as CmdStan (warmup kept) and as rstan name them.
cat > fit.py <<'PYTHON'
import math, random
y = [0.3, 1.1, 0.9, -0.2, 1.4]
p = 5.25
log_z = sum(-0.5 * math.log(2 * math.pi) - v * v / 2 for v in y) \
    - 0.5 * math.log(4 * p) + sum(y) ** 2 / (2 * p)
random.seed(1)
for chain, names in enumerate([["a.1", "a.2"], ["a[1]", "a[2]"]]):
    with open(f"fit-{chain + 1}.csv", "w") as f:
        f.write("# model = mean\n# save_warmup = 1\nlp__,accept_stat__,mu,"
                + ",".join(names) + "\n")
        for i in range(1500):
            if i == 500:
                f.write("# Adaptation terminated\n# Step size = 0.9\n")
            mu = random.gauss(sum(y) / p, p ** -0.5) if i >= 500 else 40.0
            a = [random.gauss(0, 1), random.gauss(0, 1)]
            lp = -mu * mu / 8 - sum((v - mu) ** 2 for v in y) / 2 \
                - (a[0] ** 2 + a[1] ** 2) / 2
            f.write(",".join(f"{v:.6g}" for v in [lp, 0.9, mu] + a) + "\n")
        f.write("# Elapsed Time: 1 seconds\n")
open("exact", "w").write(repr(log_z))
PYTHON
python3 fit.py
status 0 "a fit" "$tempera" evidence mean.stan -d data.json --draws 'fit-*.csv'
prints "a fit" 'log Z .*bridge'
prints "a fit" 'not seen are not in this number'
status 0 "as JSON" "$tempera" evidence mean.stan -d data.json --json \
  --draws fit-1.csv fit-2.csv
cp out fit.json
[ "$(json fit.json "abs(j['evidence']['log_z'] - $(cat exact)) \
  < 4 * j['evidence']['se'] < 0.1 and j['iterations'] == 1000")" = True ] ||
  fail "the exact evidence: $(json fit.json 'j["evidence"]["log_z"]'), $(cat exact)"
sed 's/0.3/1.3/' data.json > other.json
status 1 "other data" "$tempera" evidence mean.stan -d other.json \
  --draws fit-1.csv
says "other data" 'another model or of other data'
sed '/^lp__/s/,mu/,nu/' fit-1.csv > named.csv
status 1 "another model" "$tempera" evidence mean.stan -d data.json \
  --draws named.csv
says "another model" 'no column for mu'
sed '600s/,[^,]*$/,x/' fit-1.csv > broken.csv
status 1 "a broken file" "$tempera" evidence mean.stan -d data.json \
  --draws broken.csv
says "a broken file" 'has no number'
: > empty.csv
status 1 "an empty file" "$tempera" evidence mean.stan -d data.json \
  --draws empty.csv
status 1 "no file" "$tempera" evidence mean.stan -d data.json --draws absent.csv
status 2 "no draws" "$tempera" evidence mean.stan -d data.json
finish
