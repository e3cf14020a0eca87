# Models that misbehave: exit status 1 and a message that names the model, the
# callback and the point; what was drawn before is kept.
. "$(dirname "$0")/helpers.bash"

status 1 "NaN" "$tempera" sample "$models/nan.so" -d y.json --seed 1
says "NaN" 'nan: log_likelihood returned NaN .* was NaN at mu = .*; bound '
status 1 "NaN in check" "$tempera" check "$models/nan.so" -d y.json
says "NaN in check" 'log_likelihood returned NaN'

status 2 "no gradients" "$tempera" sample "$models/normal.so" -d y.json \
  --kernel hmc
says "no gradients" 'normal has no gradients .* use another kernel'

# Gradients beside differences: a slope that is one thousandth off is seen;
# large values, whose rounding differences feel, are no false alarm.
cat > some.stan << 'END'
data { vector[4] y; }
parameters { real x; }
model {
  x ~ normal(0, 1);
  target += x > 1 ? positive_infinity() : normal_lpdf(y | x, 1); // @likelihood
}
END
status 0 "infinite here and there" "$tempera" check some.stan -d y.json
prints "infinite here and there" '^at [0-9]+ the density is not a number, or infinite'
status 1 "wrong slope" "$tempera" check "$models/wrong_slope.so" -d y.json \
  --gradient
prints "wrong slope" '^gradient of the log prior: 5 slopes agree'
prints "wrong slope" '^gradient of the log likelihood: 5 slopes DISAGREE'
cat > large.stan <<'END'
data { array[4] real y; }
parameters { real m; real<lower=0> s; simplex[3] p; }
model {
  m ~ normal(0, 100);
  s ~ gamma(1e-3, 1e-3);
  y ~ normal(1e6 * m + p[1], s);
}
END
echo '{"y": [1, 2, 3, 4e7]}' > large.json
status 0 "large values" "$tempera" check large.stan -d large.json --gradient
prints "large values" '^gradient of the log likelihood: 20 slopes agree'

status 1 "no start" "$tempera" sample "$models/impossible.so" -d y.json
says "no start" 'impossible'
status 1 "check says so" "$tempera" check "$models/impossible.so" -d y.json
prints "check says so" '^0 of 100 draws from the prior have a finite density'

# Programs say why, and where.
zero() { # zero FACT STATEMENT PATTERN
  printf 'parameters { real<upper=9> s; }\nmodel {\n  s ~ normal(0, 1);\n  %s\n}\n' \
    "$2" > zero.stan
  status 1 "$1" "$tempera" sample zero.stan
  says "$1" "zero at all [0-9]+ .* tried as starts, first because of $3"
  status 1 "$1 in check" "$tempera" check zero.stan -d y.json
  prints "$1 in check" "at the first of them: $3"
}
zero "reject" 'if (s < 10) reject("s is ", s);' 'line 4:15: s is -?[0-9.]+'
zero "outside the support" '15 ~ uniform(10, 11);' \
  'line 4:3: the density is zero or not a number; arguments of uniform: 10, 11'
zero "an argument out of its domain" '1.5 ~ normal(0, s - 10);' \
  'line 4:3: the density is zero .* arguments of normal: 0, -'
zero "not a number" 'target += log(s - 10); // @likelihood' 'line 4:3: the density'
zero "in the library" \
  'target += sum(cholesky_decompose([[1, s - 20], [s - 20, 1]]));' \
  'line 4:3: cholesky_decompose: not positive definite'

# Data that nothing fits do not keep a check for minutes: millions of prior
# draws of 20 us each.
cat > never.stan << 'END'
data { int N; vector[N] offsets; array[N] int y; }
parameters { real x; }
model { x ~ normal(0, 1); y ~ poisson_log(offsets + x); }
END
awk 'BEGIN { n = 20000; printf "{\"N\": %d, \"offsets\": [", n
  for (i = 1; i < n; i++) printf "%g, ", i / n
  printf "\"-Inf\"], \"y\": ["
  for (i = 1; i < n; i++) printf "%d, ", i % 7
  print "2]}" }' > never.json
status 1 "nothing fits the data" "$tempera" check never.stan -d never.json
says "nothing fits the data" 'has no start among all points that 10 s'
prints "nothing fits the data" 'at the first of them: line 3:[0-9]+: the density'

# Nor are weights taken for probabilities, or covariances for correlations.
refused_value() { # refused_value CALL PATTERN
  echo "transformed data { real x = $1; }
parameters { real a; } model { a ~ normal(0, 1); }" > value.stan
  status 1 "$1" "$tempera" check value.stan -d y.json
  says "$1" "line 1:[0-9]+: $2"
}
refused_value "3 %/% 0" 'integer division by zero'
echo 'parameters { unit_vector[1] u; } model { u ~ normal(0, 1); }' > short.stan
status 1 "a short unit vector" "$tempera" check short.stan -d y.json
says "a short unit vector" 'parameter u: a unit vector needs two elements or more'
refused_value "categorical_lpmf(1 | [0.3, 0.3]')" \
  'categorical: the probabilities sum to 0.6, not 1'
refused_value "categorical_lpmf({2, 2} | [-0.2, 1.2]')" \
  'categorical: a probability is -0.2'
refused_value "multinomial_lpmf({1, 2} | [2, 3]')" \
  'multinomial: the probabilities sum to 5, not 1'
refused_value "dirichlet_lpdf({[0.5, 0.5]', [0.5, 0.4]'} | [1, 1]')" \
  'dirichlet: the probabilities sum to 0.9, not 1'
refused_value "lkj_corr_lpdf([[2, 0.3], [0.3, 1.5]] | 2)" \
  'lkj_corr: no correlation matrix: \[1, 1\] is 2'
refused_value "lkj_corr_cholesky_lpdf([[1, 0.3], [0.3, 1]] | 2)" \
  'lkj_corr_cholesky: not lower triangular'

# Half a covariance matrix, or one mistyped, is not read as if it were whole.
for call in "multi_normal_lpdf(v | v, A)" "multi_normal_prec_lpdf(v | v, A)" \
  "multi_student_t_lpdf(v | 3, v, A)" "multi_gp_lpdf(S | A, v)" \
  "wishart_lpdf(S | 4, A)" "inv_wishart_lpdf(A | 4, S)" "lkj_corr_lpdf(add_diag(A, 1 - diagonal(A)) | 2)" \
  "lkj_cov_lpdf(A | v, v, 2)" "sum(inverse_spd(A))" "log_determinant_spd(A)" \
  "sum(mdivide_left_spd(A, v))" "sum(mdivide_right_spd(v', A))" \
  "quad_form_sym(A, v)" "sum(eigenvalues_sym(A))" "sum(eigenvectors_sym(A))"; do
  cat > half.stan <<STAN
transformed data {
  matrix[2, 2] A = [[2, 0.3], [0.1, 1.5]], S = [[2, 0.3], [0.3, 1.5]];
  vector[2] v = [0.4, 0.7]';
  real x = $call;
}
parameters { real a; }
model { a ~ normal(0, 1); }
STAN
  status 1 "asymmetric: $call" "$tempera" check half.stan -d y.json
  says "asymmetric: $call" \
    'line 4:[0-9]+: [a-z_]+: not symmetric: \[2, 1\] is 0.1, \[1, 2\] is 0.3'
done

status 0 "improper prior" "$tempera" sample "$models/improper.so" -d y.json \
  --iterations 500 --seed 2 -o undefined
grep -q 'undefined: the prior of mu is improper' undefined/summary.json ||
  fail "an improper prior is named"
[ "$(json undefined/summary.json 'j["evidence"]["log_z"]')" = None ] ||
  fail "an improper prior has no evidence"
echo 'parameters { real a; vector[4] b; real<lower=0> s; }
model { 1.5 ~ normal(a, s); [0.5, 1, 2, 2.5] ~ normal(b, 1); b[2] ~ normal(0, 1); }' > flat.stan
status 0 "several improper priors" "$tempera" sample flat.stan --iterations 200 \
  --seed 2 -o flat
grep -q 'the prior of a, b\[1\], b\[3\], b\[4\] and 1 more is improper' flat/summary.json ||
  fail "all improper priors are named"
echo 'parameters { vector[3] z; }
model { z[2:3] - z[1:2] ~ normal(0, 1); 1 ~ normal(z, 1); }' > walk.stan
status 0 "a prior of differences" "$tempera" sample walk.stan --iterations 200 \
  --seed 2 -o walk
grep -q 'the prior of z is improper' walk/summary.json ||
  fail "a prior that is flat along no coordinate is named"
status 1 "improper prior, paper" "$tempera" sample "$models/improper.so" \
  -d y.json --paper -o printed
says "improper prior, paper" 'prior of mu'
status 0 "improper, bounded" "$tempera" sample "$models/improper.so" \
  -d y.json --tau-min 0.1 --iterations 500 --seed 2 -o improper
[ "$(json improper/summary.json 'j["evidence"]["log_z"]')" = None ] ||
  fail "an improper prior has no evidence"
[ "$(json improper/summary.json 'j["evidence"]["estimator"]')" = None ] ||
  fail "an improper prior has no estimator"
awk -F, '/^lp__/ { for (i = 1; i <= NF; i++) if ($i == "tau__") tau = i }
  !/^[#l]/ && (!tau || $tau < 0.1) { exit 1 }' improper/tempered-1.csv ||
  fail "tau went below --tau-min"

echo '{"y": [1.5, 0.5, 2, 1], "calls": 40000}' > calls.json
status 1 "stops half-way" "$tempera" sample "$models/stops.so" -d calls.json \
  --seed 3 --chains 2 --iterations 100000 --warmup 1000 -o stops
says "stops half-way" 'stops: log_likelihood asked to stop at mu = '
[ "$(rows stops/target-1.csv)" -gt 0 ] || fail "draws were lost"
[ "$(json stops/summary.json 'j["complete"]')" = False ] ||
  fail "a failed run is not complete"
finish
