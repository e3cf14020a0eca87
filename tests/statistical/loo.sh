#!/usr/bin/env bash
# Leave-one-out by our statements equals that by a program's own log_lik, and
# both equal R's package loo on the same draws to 1e-6; on a conjugate model it is
# the exact one. usage: loo.sh SOURCE BUILD
set -euo pipefail
build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() {
  echo "FAILED: $*" >&2
  exit 1
}

cat > plain.stan <<'END'
data { int N; vector[N] x; vector[N] y; }
parameters { real a; real b; real<lower=0> s; }
model {
  a ~ normal(0, 5); b ~ normal(0, 5); s ~ exponential(1);
  y ~ normal(a + b * x, s);
}
END
cp plain.stan own.stan
cat >> own.stan <<'END'
generated quantities {
  vector[N] log_lik;
  for (n in 1:N) log_lik[n] = normal_lpdf(y[n] | a + b * x[n], s);
}
END
cat > conjugate.stan <<'END'
data { int N; vector[N] x; vector[N] y; }
parameters { real mu; }
model { mu ~ normal(0, 2); y ~ normal(mu, 1); }
END
cat > data.json <<'END'
{"N": 12,
 "x": [-1.2, 0.3, 0.9, -0.4, 1.7, 0.1, -0.8, 2.2, 0.6, -1.9, 1.1, -0.2],
 "y": [0.1, 1.4, 1.2, 0.9, 2.1, 5.6, 0.3, 2.7, 1.1, -0.6, 2.3, 0.4]}
END
for model in plain own conjugate; do
  "$build/tempera" sample $model.stan -d data.json -o $model --seed 7 \
    --iterations 500 --threads 1 --quiet > log 2>&1 ||
    fail "$model: $(cat log)"
done

python3 - <<'END' || fail "leave-one-out"
import json, math
def loo(run):
    return json.load(open(run + "/summary.json"))["loo"]
a, b = loo("plain"), loo("own")
for key in ("elpd", "se", "p", "k_max"):
    assert abs(a[key] - b[key]) < 1e-9 * (1 + abs(a[key])), (key, a, b)
assert a["terms"] == 12 and a["draws"] == 2000, a
# y_i given the others is normal: mean m, variance v + 1
y = json.load(open("data.json"))["y"]
exact = 0
for i in range(len(y)):
    rest = y[:i] + y[i + 1:]
    v = 1 / (len(rest) + 0.25)
    m = v * sum(rest)
    exact += -0.5 * (math.log(2 * math.pi * (v + 1)) + (y[i] - m) ** 2 / (v + 1))
found = loo("conjugate")["elpd"]
print("elpd: %.4f, exactly %.4f" % (found, exact))
assert abs(found - exact) < 0.1, (found, exact)
END

# A program's own y_rep wins, log_lik that is no number gives no sum, and one
# number for all data is not taken for their terms.
cat > odd.stan <<'END'
data { int N; vector[N] x; vector[N] y; }
parameters { real mu; }
model { mu ~ normal(0, 2); y ~ normal(mu, 1); }
generated quantities {
  vector[N] log_lik;
  vector[N] y_rep;
  for (n in 1:N) {
    log_lik[n] = n == 2 && mu > 1.5 ? not_a_number() : normal_lpdf(y[n] | mu, 1);
    y_rep[n] = 100 + normal_rng(mu, 1);
  }
}
END
sed -e 's/vector.N. log_lik;/real log_lik = normal_lpdf(y | mu, 1);/' \
  -e '/log_lik.n. =/d' odd.stan > sum.stan
# And of 60 000 terms some are left out: the exact one, a sum of 60 000 that the
# mean knows almost.
python3 - <<'END'
import json, random
random.seed(1)
n = 60000
y = [round(random.gauss(0.3, 1), 3) for _ in range(n)]
json.dump({"N": n, "x": y, "y": y}, open("many.json", "w"))
END
# A prior that no order of its statements draws: a ~ normal(0, 1), b | a of
# variance 0.8. Its draws at tau = 0 are in prior.csv, with data.
cat > knot.stan <<'END'
data { int N; vector[N] x; vector[N] y; }
parameters { real a; real b; }
model {
  a ~ normal(b, 1); b ~ normal(a, 2); a ~ normal(0, 1);
  y ~ normal(a, 1);
}
END
for run in odd:data sum:data knot:data conjugate:many; do
  timeout 120 "$build/tempera" sample ${run%:*}.stan -d ${run#*:}.json -o odd-$run \
    --seed 7 --iterations 300 --threads 1 --quiet > log 2>&1 ||
    fail "$run: $(cat log)"
done
python3 - <<'END' || fail "odd programs, and many terms"
import csv, json, math
def summary(run):
    return json.load(open(run + "/summary.json"))
s = summary("odd-odd:data")
assert s["loo"] is None and "not a number" in s["loo_warning"], s["loo"]
assert s["predictive"][0]["statistics"][0]["tail"] == 1, s["predictive"]
with open("odd-odd:data/predictive.csv") as f:
    assert float(f.read().split("\n")[2].split(",")[2]) > 50
assert summary("odd-sum:data")["loo"]["terms"] == 12
rows = list(csv.DictReader(open("odd-knot:data/prior.csv")))
n = len(rows)
assert n > 40 and "y_rep.12" in rows[0], rows[:1]
for name, variance in (("a", 1), ("b", 1.8), ("y_rep.3", 2)):
    x = [float(r[name]) for r in rows]
    mean = sum(x) / n
    assert abs(mean) < 5 * math.sqrt(2 * variance / n), (name, mean, n)
    assert 0.4 < sum((v - mean) ** 2 for v in x) / n / variance < 2.2, (name, x)
s = summary("odd-conjugate:many")["loo"]
y = json.load(open("many.json"))["y"]
n, total = len(y), sum(y)
v = 1 / (n - 1 + 0.25)
exact = sum(-0.5 * (math.log(2 * math.pi * (1 + v))
                    + (a - v * (total - a)) ** 2 / (1 + v)) for a in y)
print("60 000 terms: elpd %.2f, exactly %.2f, p %.3f" % (
    s["elpd"], exact, s["p"]))
assert abs(s["elpd"] - exact) < 0.5 and 0.8 < s["p"] < 1.2, (s, exact)
assert s["terms"] == n and s["used"] == 16000
rows = list(csv.DictReader(open("odd-conjugate:many/loo.csv")))
assert len(rows) == 16000
i = int(rows[77]["term__"]) - 1
one = -0.5 * (math.log(2 * math.pi * (1 + v))
              + (y[i] - v * (total - y[i])) ** 2 / (1 + v))
assert abs(float(rows[77]["elpd_loo"]) - one) < 0.01
END

Rscript -e 'quit(status = !requireNamespace("loo", quietly = TRUE))' \
  > log 2>&1 || { echo "R's package loo is not here"; exit 77; }
cat > check.R <<'END'
suppressMessages(library(loo))
chains <- lapply(1:4, function(c)
  read.csv(sprintf("own/target-%d.csv", c), comment.char = "#"))
ll <- do.call(rbind, lapply(chains, function(d)
  as.matrix(d[, grep("^log_lik[.]", names(d))])))
id <- rep(1:4, each = nrow(chains[[1]]))
r_eff <- relative_eff(exp(ll), chain_id = id)
theirs <- suppressWarnings(loo(ll, r_eff = r_eff))
waic <- suppressWarnings(waic(ll))
ours <- read.csv("own/loo.csv")
json <- paste(readLines("own/summary.json"), collapse = " ")
number <- function(block, name) as.numeric(sub(sprintf(
  ".*\"%s\": *[{][^}]*\"%s\": *(-?[0-9.eE+-]+).*", block, name), "\\1", json))
differences <- c(
  pointwise = max(abs(ours$elpd_loo - theirs$pointwise[, "elpd_loo"])),
  k = max(abs(ours$pareto_k - theirs$diagnostics$pareto_k)),
  elpd = abs(number("loo", "elpd") - theirs$estimates["elpd_loo", 1]),
  se = abs(number("loo", "se") - theirs$estimates["elpd_loo", 2]),
  p = abs(number("loo", "p") - theirs$estimates["p_loo", 1]),
  waic = abs(number("waic", "elpd") - waic$estimates["elpd_waic", 1]),
  waic_se = abs(number("waic", "se") - waic$estimates["elpd_waic", 2]))
print(differences)
print(range(r_eff))
quit(status = !all(differences < 1e-6))
END
Rscript check.R || fail "R's loo gives other numbers"
echo "leave-one-out: fine"
