# Bad input: exit status 1, `FILE:LINE:COLUMN: what` on standard error, and no
# folder is left behind.
. "$(dirname "$0")/helpers.bash"

status 1 "missing model" "$tempera" sample absent.so
says "missing model" '^absent\.so: cannot open the model: No such file'
status 1 "missing data" "$tempera" sample "$models/normal.so" -d absent.json
says "missing data" 'cannot open absent\.json: No such file'
status 1 "not a library" "$tempera" sample y.json
says "not a library" 'cannot load the model'
status 1 "no symbol" "$tempera" sample "$models/nothing.so"
says "no symbol" 'does not export tempera_model_open'
status 1 "no interface" "$tempera" sample "$models/no_abi.so"
says "no interface" 'does not say which interface .*TEMPERA_DECLARE_MODEL'
status 1 "another interface" "$tempera" sample "$models/other_abi.so"
says "another interface" 'built for interface 999 of models.*build it again'
printf 'parameters { real mu; }\nmodel { mu ~ nomal(0, 1); }\n' > model.stan
status 1 "Stan program" "$tempera" sample model.stan
says "Stan program" '^model\.stan:2:14: '
says "a suggestion" 'normal'

printf '{"y": [1, 2,\n  NaN, oops]}' > bad.json
status 1 "malformed JSON" "$tempera" sample "$models/normal.so" -d bad.json
says "malformed JSON" '^bad\.json:2:8: malformed JSON'
printf '{\n "y": 3}' > scalar.json
status 1 "wrong shape" "$tempera" sample "$models/normal.so" -d scalar.json
says "wrong shape" \
  '^scalar\.json:2:2: variable y: wanted an array of reals, found an integer'
echo '{"x": [1]}' > lacking.json
status 1 "lacking" "$tempera" sample "$models/normal.so" -d lacking.json
says "lacking" '^lacking\.json: the data lack variable y'
status 1 "no data" "$tempera" sample "$models/normal.so"
says "no data" 'give the data with -d'
printf '{"y": [1], "y": [2]}' > twice.json
status 1 "duplicate" "$tempera" sample "$models/normal.so" -d twice.json
says "duplicate" '^twice\.json:1:12: .*duplicate'

printf 'N <- 2\ny <-\nc(1, 2)\n' > dump.R
status 1 "R dump" "$tempera" sample "$models/normal.so" -d dump.R
says "R dump" '^dump\.R:1:1: this is an R dump.*write_json'

# A program's errors are the program's, its data's the data's.
printf 'data { int N; vector<lower=0>[N] y; }\nparameters { real mu; }\n' > a.stan
echo 'model { mu ~ normal(0, 1); y ~ normal(mu, 1); }' >> a.stan
status 1 "program with data" "$tempera" sample model.stan -d y.json
says "program with data" '^model\.stan:2:14: '
printf '{"N": 3,\n  "y": [1, 2]}' > short.json
status 1 "declared size" "$tempera" sample a.stan -d short.json
says "declared size" \
  '^short\.json:2:3: variable y: declared with sizes \[3\], the data have \[2\]'
echo '{"N": 2, "y": [1, -2]}' > negative.json
status 1 "declared bound" "$tempera" sample a.stan -d negative.json
says "declared bound" \
  '^negative\.json:1:10: variable y\[2\] was declared with lower=0; found -2'

echo '{"nu": 1}' > start.json
status 1 "start lacks" "$tempera" sample "$models/normal.so" -d y.json \
  --init start.json
says "start lacks" '^start\.json: start of mu: missing'
echo '[{"mu": 1}]' > start.json
status 1 "too few starts" "$tempera" sample "$models/normal.so" -d y.json \
  --chains 2 --init start.json
says "too few starts" '1 starts for 2 chains'

status 1 "no run here" "$tempera" summary .
says "no run here" 'cannot open \./summary\.json'
mkdir broken && echo '{"evidence"' > broken/summary.json
status 1 "broken summary" "$tempera" summary broken
says "broken summary" '^broken/summary\.json:1:1[0-9]: malformed JSON'
[ ! -e normal-run ] || fail "a folder was left behind"
finish
