# Hypotheses on parameters, from outside.
. "$(dirname "$0")/helpers.bash"
cat > line.stan <<'STAN'
data { int n; vector[n] y; }
parameters { real mu; real<lower=0> sigma; simplex[2] p; }
transformed parameters { real twice = 2 * mu; }
model { mu ~ normal(0, 2); sigma ~ gamma(4, 4); y ~ normal(mu, sigma); }
STAN
echo '{"n": 5, "y": [0.3, 1.1, 0.9, -0.2, 1.4]}' > data.json
status 0 "sample" "$tempera" sample line.stan -d data.json --iterations 1500 \
  --seed 1 -o run
status 0 "a point" "$tempera" test run --null "mu = 0"
prints "a point" 'log BF .*Savage-Dickey'
status 0 "several" "$tempera" test run --null "mu = 0, sigma = 1" \
  --null "|twice| < 1" --json
cp out tests.json
[ "$(json tests.json '[t["kind"] for t in j]')" = "['savage-dickey', 'odds']" ] ||
  fail "a list of answers"
[ "$(json tests.json 'all(t["se"] > 0 and t["warning"] is None for t in j)')" = \
  True ] || fail "answers with errors"
status 2 "a bound" "$tempera" test run --null "sigma = 0"
says "a bound" "not inside the prior's support"
status 2 "a part of a simplex" "$tempera" test run --null "p[1] = 0.5"
says "a part of a simplex" 'test an interval'
status 2 "a computed value" "$tempera" test run --null "twice = 0"
says "a computed value" 'test an interval'
status 2 "no such name" "$tempera" test run --null "nu = 0"
says "no such name" 'no parameter or quantity nu'
status 2 "nonsense" "$tempera" test run --null "mu ~ 0"
status 2 "nothing asked" "$tempera" test run
status 1 "no run" "$tempera" test absent --null "mu = 0"
sed 's/0.3/0.4/' data.json > other.json
status 1 "other data" "$tempera" test run -d other.json --null "mu = 0"
says "other data" 'the model or the data have changed'
finish
