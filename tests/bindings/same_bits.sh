# The command, Python and R give the same log Z to the last bit for one seed: a
# bimodal posterior, one with an integer, and a regression.
. "$(dirname "$0")/bindings.bash"
python_with numpy
paper=$source_dir/models/paper
cat > line.stan <<'STAN'
data { int n; vector[n] x; vector[n] y; }
parameters { real a; real b; real<lower=0> sigma; }
model {
  a ~ normal(0, 5);
  b ~ normal(0, 5);
  sigma ~ exponential(1);
  y ~ normal(a + b * x, sigma);
}
STAN
echo '{"n": 6, "x": [-1.5, -0.5, 0.25, 1, 1.75, 2.5],
 "y": [-2.1, 0.3, 0.9, 3.2, 4.4, 6.7]}' > line.json
if command -v R > /dev/null; then
  export TEMPERA_CFLAGS="-I$source_dir/include" R_LIBS=$work/rlib
  export TEMPERA_LIBS="-L$build_dir -ltempera -Wl,-rpath,$build_dir"
  mkdir rlib
  cp -r "$source_dir/bindings/r" package
  status 0 "R CMD INSTALL" R CMD INSTALL --library=rlib package
fi

same() { # NAME MODEL DATA ITERATIONS
  status 0 "$1" "$tempera" sample "$2" -d "$3" --seed 11 --iterations "$4" \
    --warmup "$4" -o "$1" --quiet
  "$python" -c 'import json, sys
print(json.load(open(sys.argv[1]))["evidence"]["log_z"].hex())' \
    "$1/summary.json" > bits
  "$python" - "$2" "$3" "$4" <<'PY' > bits-python
import json, sys
import tempera
model, data, n = sys.argv[1:]
run = tempera.sample(model, data=json.load(open(data)), seed=11,
                     iterations=int(n), warmup=int(n), progress=False)
print(run.log_z.hex())
PY
  cmp bits bits-python || fail "$1: $(cat bits) by the command, $(cat bits-python) by Python"
  [ -d rlib ] || return
  Rscript -e 'a <- commandArgs(TRUE)
run <- tempera::sample_model(a[1], a[2], seed = 11, iterations = as.integer(a[3]),
                             warmup = as.integer(a[3]))
writeLines(sprintf("%.17g", run$logml))' "$2" "$3" "$4" > r-number 2> err
  "$python" -c 'print(float(open("r-number").read()).hex())' > bits-r
  cmp bits bits-r || fail "$1: $(cat bits) by the command, $(cat bits-r) by R"
}
same bimodal "$paper/bimodal.stan" "$paper/bimodal.json" 500
same sir "$build_dir/models/sir.so" "$paper/eyam.json" 100
same line "$PWD/line.stan" "$PWD/line.json" 300
[ -d rlib ] || echo "no R here: the command and Python alone were compared"
finish
