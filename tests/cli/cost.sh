# What an evaluation costs: each statement named with what was made of its rows,
# or why nothing was.
. "$(dirname "$0")/helpers.bash"
cat > cost.stan <<'STAN'
data { int N; vector[N] y; vector[N] x; array[N] int b; array[N] int g; }
parameters { real a; real c; real<lower=0> s; vector[3] m; vector[6] z; }
model {
  a ~ normal(0, 1); c ~ normal(0, 1); s ~ exponential(1);
  m ~ normal(0, 1); z ~ normal(0, 1);
  y ~ normal(a + c * x, s);
  for (n in 1:N) b[n] ~ bernoulli_logit(m[g[n]]);
  for (n in 1:N) y[n] ~ normal(z[n] * x[n], s);
  for (n in 2:N) { real e = a * y[n - 1]; while (e > 1) e = e / 2; y[n] ~ normal(e, s); }
  if (N > 3) y ~ normal(m[1], 1);
  for (n in 1:N) if (b[n] == 1) y[n] ~ normal(a, s);
}
STAN
echo '{"N": 6, "y": [0.3, 1.1, 0.9, -0.2, 1.4, 2], "x": [1, 2, 3, 4, 5, 6.5],
  "b": [0, 1, 1, 0, 1, 1], "g": [1, 1, 1, 2, 2, 2]}' > data.json
status 0 "a program's cost" "$tempera" check cost.stan -d data.json --cost
prints "a regression is a triangle" '6:3 +6 rows in a triangular factor of 2 col'
prints "equal rows are done once" '7:3 +6 rows, of which 4 differ and are done'
prints "others are done in blocks" '8:3 +6 rows in blocks'
prints "a loop that does more" '9:3 +as it is written: the loop does more'
prints "a condition" '10:3 +as it is written: it is behind a condition'
prints "times" '^value [0-9.e+-]+ us, gradient [0-9.e+-]+ us'
prints "the other way" 'statement by statement: value .* agree to [0-9.]+e-1[4-9]|0\.0e'
sed 's/"g": \[1, 1/"g": [4, 1/' data.json > out-of-range.json
status 1 "an index out of range" "$tempera" check cost.stan -d out-of-range.json --cost
prints "is named with its place" '7:'
status 2 "without data" "$tempera" check cost.stan --cost
says "data are asked for" 'with its data'
status 2 "of a C model" "$tempera" check "$models/bimodal.so" --cost
says "a program is asked for" 'Stan program'
finish
