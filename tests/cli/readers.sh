# What reads Stan CSV reads ours: ArviZ, cmdstanpy and cmdstanr by what their
# sources ask for, rstan and posterior themselves where R has them.
. "$(dirname "$0")/helpers.bash"

cat > shapes.stan <<'STAN'
data {
  int<lower=0> n;
  vector[n] y;
}
parameters {
  vector[2] mu;
  matrix[2, 3] slope;
  real<lower=0> sigma;
  simplex[3] share;
  int<lower=0, upper=9> k;
}
model {
  mu ~ normal(0, 2);
  to_vector(slope) ~ normal(0, 1);
  sigma ~ exponential(1);
  share ~ dirichlet(rep_vector(1, 3));
  k ~ binomial(9, 0.5);
  y ~ normal(mu[1] + slope[1, 2] + 0.1 * k, sigma);
}
STAN
echo '{"n": 5, "y": [1, 2, 3, 2.5, 1.5]}' > shapes.json
run() { # FOLDER OPTIONS...
  local folder=$1
  shift
  status 0 "$folder" "$tempera" sample shapes.stan -d shapes.json --seed 1 \
    --chains 2 -o "$folder" --quiet "$@"
}
run plain --iterations 400 --warmup 100
run thinned --iterations 301 --warmup 100 --thin 3
run warmed --iterations 400 --warmup 100 --thin 2 --save-warmup
run short --iterations 100000 --warmup 100 --until-se 0.5
for folder in plain thinned warmed short; do
  status 0 "$folder is read" python3 "$source_dir/tests/cli/readers.py" $folder
done

Rscript -e 'library(rstan)' > /dev/null 2>&1 || finish
cat > read.R <<'R'
posterior_too <- requireNamespace("posterior", quietly = TRUE)
for (folder in commandArgs(TRUE)) for (role in c("target", "tempered")) {
  files <- list.files(folder, paste0(role, "-.*csv"), full.names = TRUE)
  fit <- rstan::read_stan_csv(files)
  table <- rstan::summary(fit)$summary
  stopifnot(all(c("mu[2]", "slope[2,3]", "share[3]", "k") %in% rownames(table)))
  stopifnot(all(dim(rstan::extract(fit, "slope")$slope)[2:3] == c(2, 3)))
  if (role == "tempered") next
  stopifnot(any(grepl("drawn using pt-stwnc", capture.output(print(fit)))))
  if (posterior_too) {
    draws <- posterior::as_draws_df(as.array(fit))
    stopifnot(abs(mean(draws[["mu[1]"]]) - table["mu[1]", "mean"]) < 1e-10)
  }
  cat(folder, table["sigma", "mean"], "\n")
}
R
status 0 "rstan reads them all" Rscript read.R plain thinned warmed short
grep -q 'Warning' err && fail "rstan warns"
while read -r folder mean; do
  ours=$(json $folder/summary.json \
    '[p["mean"] for p in j["parameters"] if p["name"] == "sigma"][0]')
  awk "BEGIN { exit ($mean - $ours) ^ 2 > 1e-10 }" ||
    fail "rstan's mean of sigma in $folder is $mean, ours $ours"
done < out
[ "$(wc -l < out)" = 4 ] || fail "rstan did not read four runs"
finish
