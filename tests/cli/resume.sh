# Runs that were killed go on: to the files of the run that was never killed.
. "$(dirname "$0")/helpers.bash"
export TEMPERA_CHECKPOINT=0 # at every block of sweeps

normal=("$models/normal.so" -d y.json --seed 1 --chains 2 --warmup 800)

# same FACT A B: rows of both, and the summaries but for times.
same() {
  local file
  for file in "$2"/*.csv; do
    cmp -s <(grep -v '^#' "$file") <(grep -v '^#' "$3/${file##*/}") ||
      fail "$1: ${file##*/} differs"
  done
  cmp -s <(grep -v '"seconds' "$2/summary.json") \
    <(grep -v '"seconds' "$3/summary.json") || fail "$1: summaries differ"
}

# Small and fixed: every method is killed once or twice.
python3 "$source_dir/benchmarks/survive.py" "$build_dir" --kills 7 --seed 5 \
  --only pt-stwnc --only pt --only st --only paper --only pawl --only ee \
  --only mh > out 2> err || fail "killed runs end identical"

# Longer is the same as at once; header, config and rows agree.
holds "a run" "$tempera" sample "${normal[@]}" --iterations 500 -q -o short
holds "a longer one" "$tempera" sample "${normal[@]}" --iterations 1500 -q -o long
status 0 "lengthen" "$tempera" resume short --iterations 1500 -q --threads 1
same "lengthened" long short
grep -q 'num_samples = 1500 ' short/target-1.csv || fail "the header has the old number"
[ "$(json short/config.json 'j["iterations"]')" = 1500 ] || fail "config.json has the old number"
status 0 "nothing left to do" "$tempera" resume short -q
same "resumed at its end" long short
status 2 "fewer iterations" "$tempera" resume short --iterations 20
says "fewer iterations" "1500 per chain already"

# A damaged checkpoint: the one before is used. Without either: a reason.
cp -r long damaged
printf 'x' | dd of=damaged/checkpoint bs=1 seek=300 conv=notrunc 2> /dev/null
status 0 "a damaged checkpoint" "$tempera" resume damaged -q
same "damaged" long damaged
cp -r long cut
head -c 100 long/checkpoint > cut/checkpoint
head -c 100 long/checkpoint.old > cut/checkpoint.old
status 1 "no checkpoint is whole" "$tempera" resume cut
says "no checkpoint is whole" "checkpoint cannot be used: it is cut short"
cp -r long short_draws
truncate -s 1000 short_draws/checkpoint.draws
status 1 "draws are gone" "$tempera" resume short_draws
says "draws are gone" "draws are (missing|damaged)"

# Refusals.
status 1 "no run" "$tempera" resume nothing
says "no run" "holds no run"
echo '{"y": [1, 2]}' > other.json
status 1 "other data" "$tempera" resume long -d other.json
says "other data" "data of the run in long were others"
status 1 "another model" "$tempera" resume long --model "$models/mixed.so"
says "another model" "is not the model of the run|mixed"
cp -r long version
sed -i 's/"version": "[^"]*"/"version": "0.0.1"/' version/config.json
status 1 "another version" "$tempera" resume version
says "another version" "made by version 0.0.1"

# One process at a time; the claim dies with it.
"$tempera" sample "${normal[@]}" --iterations 100000000 --thin 1000 -q -o busy &
pid=$!
for _ in $(seq 200); do [ -e busy/target-1.csv ] && break; sleep 0.05; done
status 1 "still being written" "$tempera" resume busy
says "still being written" "is being written by another process"
status 1 "two runs" "$tempera" sample "${normal[@]}" --iterations 100 -q -o busy
says "two runs" "is being written by another process"
kill -KILL $pid
wait $pid 2> /dev/null
# Refused or not, by how far it had come: but not by a claim.
"$tempera" resume busy --iterations 1 -q > out 2> err
grep -q "being written" err && fail "the claim outlives its process"
finish
