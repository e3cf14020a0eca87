# The R package: R CMD check, with its tests, finds neither errors nor warnings.
. "$(dirname "$0")/bindings.bash"
command -v R > /dev/null || {
  echo "no R here"
  exit 77
}
export TEMPERA_CFLAGS="-I$source_dir/include"
export TEMPERA_LIBS="-L$build_dir -ltempera -Wl,-rpath,$build_dir"
export _R_CHECK_FORCE_SUGGESTS_=false R_LIBS_USER=$work/none
cp -r "$source_dir/bindings/r" package
status 0 "R CMD build" R CMD build --no-build-vignettes package
status 0 "R CMD check" R CMD check --no-manual --no-vignettes tempera_0.1.0.tar.gz
cp out check.log
grep -qE '^Status: (OK|[0-9]+ NOTEs?)$' check.log ||
  fail "R CMD check: $(grep -E 'WARNING|ERROR' check.log | head -n 5)"
grep -hE '^(posterior|bridgesampling|brms) is not here' tempera.Rcheck/tests/basic.Rout
grep -q 'all facts hold' tempera.Rcheck/tests/basic.Rout ||
  fail "the tests did not come to their end: $(tail -n 5 tempera.Rcheck/tests/basic.Rout*)"

# Calls that do not come back: a limit on their time, and Ctrl-C while a worker
# hangs (the first waits for it, the second does not).
export R_LIBS=$PWD/tempera.Rcheck
cat > worker.sh <<'SH'
for i in $(seq 300); do read -r x; echo "0 -1"; done
exec sleep 100
SH
cat > hangs.R <<'R'
said <- function(e) cat(conditionMessage(e), "\n")
tryCatch(tempera::sample_model("functions { real spin(real x, real y) {
  real z = x; while (z > 2.5) { z += 1e-300; } return x + 0 * y; } }
data { real y; } parameters { real x; }
model { x ~ normal(0, 1); target += spin(x, y); }", list(y = 1), seed = 1,
                               eval_timeout = 0.5), error = said)
system(sprintf("(sleep 2; kill -INT %d; sleep 2; kill -INT %d) >&- 2>&- &",
               Sys.getpid(), Sys.getpid()))
tryCatch(tempera::sample_model(command = "sh worker.sh", workers = 1, seed = 1,
                               parameters = list(x = list("real", 0, 1))),
         error = said)
R
status 0 "calls that do not come back" timeout 120 Rscript hangs.R
prints "a limit on the time of a call" 'eval_timeout = 0.5 s allows in log_likelihood'
prints "Ctrl-C while a worker hangs" 'interrupted while the model did not answer'
finish
