#!/usr/bin/env bash
# ranks.sh BUILD: wall time of the same run on 1 and on 8 ranks of a model that
# sleeps 40 ms in each call, 8 chains (13 minutes, hardly any processor time);
# and of SIR on one and two threads, and one and two ranks (a quiet machine is
# needed for those).
set -eu
build=$1
source=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo '{"y": [1.5, 0.5, 2, 1], "microseconds": 40000}' > "$work/nap.json"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
run() { # run NAME RANKS THREADS MODEL DATA OPTIONS...: seconds
  local name=$1 ranks=$2 threads=$3 model=$4 data=$5 began ended
  shift 5
  began=$(date +%s.%N)
  mpirun --oversubscribe -n "$ranks" "$build/tempera" sample "$model" \
    -d "$data" --seed 1 --threads "$threads" -q -o "$work/$name" "$@" >&2
  ended=$(date +%s.%N)
  awk "BEGIN { print $ended - $began }"
}
faster() { awk "BEGIN { printf \"%s: %.1f s and %.1f s, a factor of %.2f\\n\", \"$1\", $2, $3, $2 / $3 }"; }
naps=("$build/tests/models/sleeps.so" "$work/nap.json" --chains 8
  --iterations 300 --warmup 300)
eight=$(run nap-8 8 1 "${naps[@]}")
one=$(run nap-1 1 1 "${naps[@]}")
faster "naps on 1 and 8 ranks" "$one" "$eight"
sir=("$build/models/sir.so" "$source/models/paper/eyam.json" --chains 4
  --iterations 3000 --warmup 2000)
one=$(run sir 1 1 "${sir[@]}")
faster "SIR on 1 and 2 threads" "$one" "$(run sir-t 1 2 "${sir[@]}")"
faster "SIR on 1 and 2 ranks" "$one" "$(run sir-r 2 1 "${sir[@]}")"
