#!/usr/bin/env bash
# `tempera calibrate`: a sound program passes, a wrong prior and a scaled
# likelihood are found, models' probabilities are compared, a folder is taken up
# again, and what cannot be simulated is refused with a reason.
# usage: calibrate.sh SOURCE BUILD
set -euo pipefail
tempera=$2/tempera
export XDG_CACHE_HOME=$2/tests/cache
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() {
  echo "FAILED: $*" >&2
  exit 1
}
cat > sound.stan <<'END'
data { int N; vector[N] y; }
parameters { real mu; real<lower=0> s; }
model { mu ~ normal(0, 1); s ~ exponential(1); y ~ normal(mu, s); }
END
sed 's/normal(0, 1)/normal(3, 1)/' sound.stan > prior.stan
sed 's/y ~ normal(mu, s)/target += 1.1 * normal_lpdf(y | mu, s)/' sound.stan \
  > scaled.stan
sed 's/normal(0, 1)/normal(0, 3)/' sound.stan > wide.stan
cat > counts.stan <<'END'
data { int N; array[N] int n; }
parameters { int<lower=1, upper=6> k; }
model { n ~ poisson(k); }
END
cat > zero.stan <<'END'
data { int N; vector[N] y; }
parameters { real<lower=0> s; }
model { s ~ exponential(1); y ~ normal(0, s); }
END
echo '{"N": 4, "y": [0, 0, 0, 0], "n": [1, 2, 3, 4]}' > data.json
run() { "$tempera" calibrate "$@" -d data.json --seed 1 --iterations 300 \
  --chains 2 --quiet --json; }
says() { # FILE EXPRESSION
  python3 -c "import json, sys
s = json.load(open('$1'))
p = {v['name']: v['p'] for v in s['parameters']}
sys.exit(not ($2))" || fail "$1: $2: $(cut -c1-600 "$1")"
}

run sound.stan --runs 20 -o sound > first.json
run sound.stan --runs 60 -o sound > sound.json
says sound.json "s['calibrated'] and s['done'] == 60 and len(p) == 5"
[ -s sound/report.html ] || fail "no page"
# what was there is there again
python3 -c "import json
a, b = (json.load(open(f))['parameters'] for f in ('first.json', 'sound.json'))
assert all(x['ranks'] == y['ranks'][:20] for x, y in zip(a, b))" ||
  fail "runs were done anew"
run counts.stan --runs 60 -o counts > counts.json
says counts.json "s['calibrated']"
run prior.stan --simulate sound.stan --runs 60 -o prior > prior.json
says prior.json "not s['calibrated'] and p['mu'] < 0.001"
run wide.stan --simulate sound.stan --runs 100 -o wide > wide.json
says wide.json "not s['calibrated'] and p['prior of mu'] < 0.001"
run scaled.stan --simulate sound.stan --runs 60 -o scaled > scaled.json
says scaled.json "not s['calibrated']"
run sound.stan zero.stan --runs 40 -o both > both.json
says both.json "s['calibrated'] and len(s['models']) == 2"
status=0
run scaled.stan -o refused > out 2> message || status=$?
[ $status -eq 1 ] && grep -q "not the density of data" message ||
  fail "a raw target: $status $(cat message)"
status=0
run sound.stan -o sound --warmup 77 > out 2> message || status=$?
[ $status -eq 1 ] && grep -q "other models, data, options or seed" message ||
  fail "another calibration: $status $(cat message)"
sed -i 's/"N": 4, "y": .0, /"N": 4, "y": [1, /' data.json
status=0
run sound.stan -o sound > out 2> message || status=$?
[ $status -eq 1 ] && grep -q "other models, data" message ||
  fail "other data: $status $(cat message)"
echo "calibration: fine"
