# Threads beyond the number of chains help in long likelihoods: draws are the
# same for any number of them, with one chain and with more than threads.
. "$(dirname "$0")/helpers.bash"
cat > long.stan <<'STAN'
data { int N; vector[N] y; vector[N] x; }
parameters { real a; real b; real<lower=0> s; }
model {
  a ~ normal(0, 1); b ~ normal(0, 1); s ~ exponential(1);
  y ~ student_t(4, a + b * x, s);
}
STAN
python3 - > long.json <<'PYTHON'
import json, math
n = 40000
x = [math.sin(i) for i in range(n)]
print(json.dumps({"N": n, "x": x, "y": [.5 + v + math.cos(3 * i) / 2
                                        for i, v in enumerate(x)]}))
PYTHON
status 0 "a program's cost" "$tempera" check long.stan -d long.json --cost
prints "long data are cut" '40000 rows in blocks, in [0-9]+ pieces that threads'
for run in "1 1" "2 1" "4 1" "1 2" "3 2"; do
  read -r threads chains <<< "$run"
  status 0 "$threads threads, $chains chains" "$tempera" sample long.stan \
    -d long.json -o "run-$threads-$chains" --seed 5 --quiet \
    --chains "$chains" --iterations 40 --warmup 40 --threads "$threads"
done
same() {
  for file in target-1.csv reference-1.csv; do
    cmp -s <(grep -v '^#' "$1/$file") <(grep -v '^#' "$2/$file") ||
      fail "$1 and $2 differ in $file"
  done
}
same run-1-1 run-2-1
same run-1-1 run-4-1
same run-1-2 run-3-2
finish
