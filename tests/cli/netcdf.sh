# --netcdf: run.nc is ArviZ InferenceData, checked where Python reads NetCDF;
# and a failure to write it loses nothing else.
. "$(dirname "$0")/helpers.bash"

cat > shapes.stan <<'STAN'
data {
  int<lower=0> n;
  real scale;
  vector[n] y;
  array[n] int group;
  matrix[2, 3] x;
}
parameters {
  vector[2] mu;
  matrix[2, 3] slope;
  real<lower=0> sigma;
  array[2] int<lower=0, upper=9> k;
}
transformed parameters {
  matrix[3, 2] turned = slope';
}
model {
  mu ~ normal(0, scale);
  to_vector(slope) ~ normal(0, 1);
  sigma ~ exponential(1);
  k ~ binomial(9, 0.5);
  y ~ normal(mu[1] + slope[1, 2] + 0.1 * k[2], sigma);
}
generated quantities {
  vector[n] log_lik;
  real ahead = normal_rng(mu[1], sigma);
  vector[n] y_rep;
  array[n] int more; // whole, and seldom the same twice
  int later = poisson_rng(0.05);
  real twice = 2 * ahead;
  real spread = sigma ^ 2;
  for (i in 1:n) {
    y_rep[i] = normal_rng(mu[1], sigma);
    more[i] = y_rep[i] > y[i];
  }
  for (i in 1:n)
    log_lik[i] = normal_lpdf(y[i] | mu[1] + slope[1, 2] + 0.1 * k[2], sigma);
}
STAN
cat > shapes.json <<'JSON'
{"n": 5, "scale": 2.5, "y": [1, 2, 3, 2.5, 1.5], "group": [1, 1, 2, 2, 3],
 "x": [[1.5, 2, 3], [4, 5, 6]], "empty": []}
JSON
status 0 "a program" "$tempera" sample shapes.stan -d shapes.json --seed 1 \
  --chains 2 --iterations 300 --warmup 100 --thin 2 -o shapes-run --netcdf
status 0 "a model in C" "$tempera" sample "$models/normal.so" -d y.json \
  --seed 1 --iterations 300 --warmup 100 -o normal-run --netcdf
[ -s shapes-run/run.nc ] || fail "there is no shapes-run/run.nc"
[ -e shapes-run/run.nc.partial ] && fail "a partial file is left"

limited() (
  ulimit -f 40 # KiB per file: enough for the rest
  "$tempera" sample "$models/normal.so" -d y.json --seed 1 --chains 2 \
    --iterations 200 --warmup 200 -o limited --netcdf
)
status 1 "no room for run.nc" limited
says "no room for run.nc" 'cannot write limited/run.nc.*: File too large'
says "no room for run.nc" 'the draws are kept as CSV in limited'
prints "no room for run.nc" '^Verdict'
[ -e limited/summary.json ] || fail "summary.json is lost"
[ "$(rows limited/target-1.csv)" = 200 ] || fail "draws are lost"
ls limited | grep -q 'run.nc' && fail "half a file is left"

for python in python3 /usr/bin/python3; do
  $python -c 'import netCDF4, numpy' 2> /dev/null || continue
  status 0 "the program's file is whole" $python \
    "$source_dir/tests/cli/netcdf.py" shapes-run shapes.json \
    ahead,y_rep,more,later,twice y
  status 0 "the model's file is whole" $python \
    "$source_dir/tests/cli/netcdf.py" normal-run y.json
  finish
done
echo "no Python here reads NetCDF (python3-netcdf4): contents not checked"
[ $failures -eq 0 ] && exit 77
finish
