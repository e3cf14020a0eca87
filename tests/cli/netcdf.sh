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
# What the statements give by themselves, in ArviZ's groups.
cat > plain.stan <<'STAN'
data { int n; vector[n] y; array[2, 2] int c; }
parameters { vector[2] mu; real<lower=0> s; }
model {
  mu ~ normal(0, 2);
  s ~ exponential(1);
  y ~ normal(mu[1], s);
  for (i in 1:2) c[i] ~ poisson(exp(mu[2]));
}
STAN
echo '{"n": 3, "y": [1, 2, 0.5], "c": [[1, 2], [3, 0]]}' > plain.json
status 0 "a plain program" "$tempera" sample plain.stan -d plain.json --seed 1 \
  --chains 2 --iterations 400 -q -o plain-run --netcdf
cat > groups.py <<'PYTHON'
import csv, json, sys
import netCDF4, numpy
f = netCDF4.Dataset("plain-run/run.nc")
rows = list(csv.DictReader(open("plain-run/predictive.csv")))
prior = list(csv.DictReader(open("plain-run/prior.csv")))
pp, po = f["posterior_predictive"], f["posterior"]
assert pp["y"].dimensions == ("chain", "draw", "y_dim_0"), pp["y"].dimensions
assert pp["c"].shape[2:] == (2, 2) and pp["c"].dtype == numpy.int64
drawn = [r for r in rows if int(r["chain__"]) > 0]
assert len(drawn) == pp["y"].shape[0] * pp["y"].shape[1]
for r in drawn:
    c, i = int(r["chain__"]) - 1, int(r["draw__"]) - 1
    assert pp["y"][c, i, 1] == float(r["y_rep.2"])
    assert pp["c"][c, i, 0, 1] == float(r["c_rep.1.2"])
assert f["prior"]["mu"].shape == (1, len(prior), 2)
assert numpy.array_equal(f["prior"]["s"][0], [float(r["s"]) for r in prior])
assert numpy.array_equal(f["prior_predictive"]["y"][0, :, 0],
                         [float(r["y_rep.1"]) for r in prior])
ll = f["log_likelihood"]["log_lik"]
assert ll.shape == po["s"].shape + (7,), ll.shape
target = [csv.DictReader(l for l in open(f"plain-run/target-{c}.csv") if l[0] != "#")
          for c in (1, 2)]
total = numpy.array([[float(r["log_likelihood__"]) for r in t] for t in target])
assert numpy.allclose(ll[:].sum(axis=2), total, rtol=1e-10)
assert set(f["observed_data"].variables) >= {"y", "c"}
try:
    import xarray
except ImportError:
    sys.exit(0)
for g in ("prior", "prior_predictive", "posterior_predictive", "log_likelihood"):
    d = xarray.open_dataset("plain-run/run.nc", group=g)
    assert set(d.coords) == set(d.dims), g
PYTHON
if /usr/bin/python3 -c 'import netCDF4' 2> /dev/null; then
  /usr/bin/python3 groups.py > out 2> err || fail "groups made by the library"
fi
[ -s shapes-run/run.nc ] || fail "there is no shapes-run/run.nc"
[ -e shapes-run/run.nc.partial ] && fail "a partial file is left"

limited() (
  ulimit -f 80 # KiB per file: enough for the rest, not for 128
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
