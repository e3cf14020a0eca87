# Ctrl-C and SIGTERM at random moments of a program with many parameters: in
# start-up, in climbs over thousands of dimensions, in sampling and after it.
# The command ends within a second of processor time, with the right status.
. "$(dirname "$0")/helpers.bash"

cat > many.stan << 'END'
data { int N; int J; vector[N] y; array[N] int g; }
parameters { real mu; real<lower=0> tau; real<lower=0> sigma; vector[J] a; }
model {
  mu ~ normal(0, 5);
  tau ~ normal(0, 2);
  sigma ~ normal(0, 2);
  a ~ normal(mu, tau);
  y ~ normal(a[g], sigma);
}
generated quantities {
  vector[N] log_lik;
  for (n in 1:N) log_lik[n] = normal_lpdf(y[n] | a[g[n]], sigma);
}
END
for size in 30 1000 5000; do
  python3 -c 'import json, random, sys
J = int(sys.argv[1])
random.seed(J)
print(json.dumps({"N": 2 * J, "J": J, "g": [i % J + 1 for i in range(2 * J)],
  "y": [random.gauss(i % J % 7, 1) for i in range(2 * J)]}))' $size > $size.json
done
export XDG_CACHE_HOME=$PWD/cache
if ldd "$tempera" | grep -q 'libasan\|libtsan'; then
  export TEMPERA_SIGNAL_SECONDS=5
fi
holds "the program compiles" "$tempera" check many.stan -d 30.json
python3 "$source_dir/tests/cli/signals.py" "$tempera" > out 2> err ||
  fail "a signal was not heard within a second"
cat out
finish
