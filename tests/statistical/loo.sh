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
