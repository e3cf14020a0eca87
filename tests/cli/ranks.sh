# One run on several ranks of MPI: the same draws and summary, bit for bit, for
# any number of ranks and threads.
. "$(dirname "$0")/helpers.bash"
if ! command -v mpirun > /dev/null || [ ! -e "$build_dir/libtempera-mpi.so" ] ||
  ldd "$tempera" | grep -q 'libasan\|libtsan'; then
  echo "no MPI here"
  exit 77
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
ranks() { # ranks N COMMAND...
  local n=$1
  shift
  timeout 300 mpirun --oversubscribe -n "$n" "$@"
}

# facts FOLDER: what must not depend on ranks and threads.
facts() {
  for file in "$1"/*.csv; do
    echo "${file##*/}"
    grep -v '^#' "$file"
  done
  json "$1/summary.json" '{k: v for k, v in j.items() if k not in ("cost", "data")}'
  json "$1/summary.json" 'j["cost"]["likelihood_evaluations"]'
}

same() { # same NAME MODEL DATA OPTIONS...
  local name=$1 model=$2 data=$3
  shift 3
  for r in 1 2 4; do
    for t in 1 2 4; do
      status 0 "$name on $r ranks, $t threads" ranks $r "$tempera" sample \
        "$model" -d "$data" --seed 3 --chains 4 --threads $t -q \
        -o "$name-$r-$t" "$@"
      facts "$name-$r-$t" > "$name-$r-$t.facts"
      [ "$(wc -l < "$name-$r-$t.facts")" -gt 100 ] || fail "$name: no facts"
      cmp -s "$name-1-1.facts" "$name-$r-$t.facts" ||
        fail "$name: $r ranks of $t threads differ from one"
    done
  done
}
papers=$source_dir/models/paper
same pair "$build_dir/models/bimodal.so" "$papers/bimodal.json" \
  --iterations 300 --warmup 300
same pt "$build_dir/models/bimodal.so" "$papers/bimodal.json" --method pt \
  --iterations 200 --warmup 300

# What the other methods hold travels too; thinned, with the rows of the warmup.
for method in stwnc st pawl ee mh; do
  for r in 1 3; do
    status 0 "$method on $r ranks" ranks $r "$tempera" sample \
      "$build_dir/models/bimodal.so" -d "$papers/bimodal.json" --seed 3 \
      --chains 4 --threads 1 -q --method $method --iterations 200 --warmup 310 \
      --thin 3 --save-warmup -o "$method-$r"
    facts "$method-$r" > "$method-$r.facts"
  done
  cmp -s "$method-1.facts" "$method-3.facts" || fail "$method on three ranks differs"
done
for r in 1 2; do
  status 0 "the exact ridge on $r ranks" ranks $r "$tempera" sample \
    "$build_dir/models/bimodal.so" -d "$papers/bimodal.json" --seed 3 --chains 2 \
    --threads 1 -q --ridge exact --tau-prior profile --iterations 100 \
    --warmup 100 -o "exact-$r"
  facts "exact-$r" > "exact-$r.facts"
done
cmp -s exact-1.facts exact-2.facts || fail "the exact ridge on two ranks differs"

# One chain of pt on several ranks and threads: a model this slow has its levels
# spread over them (docs/cluster.md), a quick one has not. The same draws; half
# the run on other numbers; on eight ranks in half the time of its calls at most.
spread() { # spread NAME RANKS THREADS MICROSECONDS OPTIONS...
  local name=$1 r=$2 t=$3 nap=$4
  shift 4
  echo "{\"y\": [1.5, 0.5, 2, 1], \"microseconds\": $nap}" > "nap-$nap.json"
  status 0 "$name" ranks "$r" "$tempera" sample "$models/sleeps.so" \
    -d "nap-$nap.json" --seed 3 --chains 1 --threads "$t" --method pt \
    --levels 8 --warmup 100 -q -o "$name" "$@"
  facts "$name" > "$name.facts"
}
spread quick 1 1 0 --iterations 100
spread slow-4-1 4 1 2000 --iterations 100
spread slow-1-3 1 3 2000 --iterations 100
spread slow-3-2 3 2 2000 --iterations 50
status 0 "lengthen levels on two ranks" ranks 2 "$tempera" resume slow-3-2 \
  --iterations 100 -q --threads 1
facts slow-3-2 > slow-3-2.facts
for run in slow-4-1 slow-1-3 slow-3-2; do
  cmp -s quick.facts $run.facts || fail "levels of pt in $run differ from one rank's"
done
spread slow-8-1 8 1 20000 --iterations 100
json slow-8-1/summary.json \
  'j["cost"]["seconds"] < 0.02 * j["cost"]["likelihood_evaluations"] / 2' |
  grep -q True || fail "levels on eight ranks took as long as on less than two"

# A program with gradients and quantities, of automatic length up to a limit on
# its precision; more ranks than chains.
cat > p.stan <<'STAN'
data { int n; vector[n] y; }
parameters { real mu; real<lower=0> s; }
model { mu ~ normal(0, 1); s ~ exponential(1); y ~ normal(mu, s); }
generated quantities { real z = normal_rng(mu, s); }
STAN
echo '{"n": 4, "y": [1, 2, 0.5, 1.5]}' > p.json
for r in 1 3; do
  status 0 "a program on $r ranks" ranks $r "$tempera" sample p.stan -d p.json \
    --seed 1 --chains 2 --warmup 300 --until-se 0.5 --iterations 2000 \
    --threads 1 -q -o "program-$r"
  facts "program-$r" > "program-$r.facts"
done
cmp -s program-1.facts program-3.facts || fail "a program on three ranks differs"

# Without a seed all ranks have rank 0's; rank 0 alone speaks.
status 0 "no seed" ranks 2 "$tempera" sample "$models/normal.so" -d y.json \
  --chains 2 --iterations 100 --warmup 100 --threads 1 -o unseeded
[ "$(grep -c '^Everything is in' out)" -eq 1 ] || fail "not one rank speaks"

# What rank 0 cannot do ends all of them.
status 1 "a folder that is taken" ranks 2 "$tempera" sample \
  "$models/normal.so" -d y.json --iterations 100 -q -o unseeded
says "a folder that is taken" 'already holds a run'

# A model that fails on another rank, and a rank that dies.
echo '{"y": [1.5, 0.5, 2, 1], "how": 0, "calls": 30000}' > c.json
"${tempera}" --version > /dev/null
ranks 2 "$tempera" sample "$models/crashes.so" -d c.json --seed 1 --chains 2 \
  --iterations 400000 --warmup 300 --thin 100 --threads 1 -q -o crash \
  > out 2> err && fail "a crash on a rank is no failure"
says "a crash on a rank" 'the model crashed \(SIGSEGV.* in log_likelihood, chain [12], at mu = '
[ "$(rows crash/target-2.csv)" -gt 0 ] || fail "a crash on a rank lost draws"

# A run goes on with other numbers of ranks and threads, to the same facts: one
# of two ranks on none, one of none on three, and a killed one on two.
status 0 "resume on one rank" "$tempera" resume pair-2-1 --iterations 400 -q
status 0 "resume on three ranks" ranks 3 "$tempera" resume pair-1-2 \
  --iterations 400 -q --threads 2
status 0 "resume pt on four ranks" ranks 4 "$tempera" resume pt-1-1 \
  --iterations 400 -q --threads 1
for method in pair pt; do
  status 0 "at once" "$tempera" sample "$build_dir/models/bimodal.so" \
    -d "$papers/bimodal.json" --seed 3 --chains 4 -q -o $method-at-once \
    --method "${method/pair/pt-stwnc}" --iterations 400 --warmup 300
  facts $method-at-once > $method-at-once.facts
done
for run in pair-2-1 pair-1-2 pt-1-1; do
  facts $run > resumed.facts
  cmp -s resumed.facts ${run%%-*}-at-once.facts || fail "$run, resumed, differs"
done
status 1 "resume what is not there" ranks 2 "$tempera" resume nowhere
says "resume what is not there" 'nowhere holds no run'
printf x | dd of=pair-4-4/checkpoint bs=1 seek=300 conv=notrunc 2> /dev/null
status 0 "a damaged checkpoint on two ranks" ranks 2 "$tempera" resume \
  pair-4-4 -q --threads 1
facts pair-4-4 > resumed.facts
cmp -s resumed.facts pair-1-1.facts || fail "the checkpoint before it differs"

# Killed, rank by rank or as a whole, in warmup or later.
killed=("$build_dir/models/bimodal.so" -d "$papers/bimodal.json" --seed 3
  --chains 2 --iterations 20000 --warmup 8000 --threads 1 -q)
status 0 "never killed" "$tempera" sample "${killed[@]}" -o whole
facts whole > whole.facts
TEMPERA_CHECKPOINT=0 mpirun --oversubscribe -n 2 "$tempera" sample \
  "${killed[@]}" -o killed > out 2> err &
pid=$!
for _ in $(seq 600); do [ -e killed/target-1.csv ] && break; sleep 0.05; done
sleep 0.5
# One rank dies: mpirun names it and ends the rest.
victim=$(pgrep -P $pid | tail -n 1)
[ -n "$victim" ] || fail "no rank was there to be killed"
kill -KILL "$victim"
wait $pid && fail "a rank that was killed is no failure"
says "a rank that was killed" 'rank [01]'
status 0 "resume a killed run on three ranks" ranks 3 "$tempera" resume killed -q
facts killed > killed.facts
cmp -s whole.facts killed.facts || fail "killed on two ranks, resumed on three: differs"
finish
