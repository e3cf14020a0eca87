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
finish
