#!/usr/bin/env bash
# ranks.sh BUILD [naps] [levels] [sir] [program] [waits]: how the time of one run falls
# with ranks and threads; the first four without a name.
#   naps    8 chains of a model that sleeps 40 ms in each call, on 1 and 8 ranks
#           (15 minutes, hardly any processor time)
#   levels  1 chain of pt with 8 levels, 10 ms, on 1 and 8 ranks (2 minutes)
#   sir     SIR's 4 chains on one and two threads, one and two ranks: three runs
#           of each, in turn, the quickest of each compared. Needs two idle
#           cores. Efficiency is the time on one over twice the time on two, the
#           aim .9; beside it the processor time on one over that on two, which
#           a busy machine moves less, and which the efficiency cannot pass.
#           In C a call takes 5 microseconds, less than a row of a CSV file.
#   program the same of SIR as a program, whose calls are some 30 times dearer,
#           at default lengths (3 minutes)
#   waits   both on two ranks, on a machine that may be busy: processor time on
#           the way through both ranks (benchmarks/mpi/waits.c) against half of that
#           of one, without the start of mpirun (a minute)
set -eu
build=$1
shift
source=$(cd "$(dirname "$0")/.." && pwd)
eyam=$source/models/paper/eyam.json
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
[ $# -gt 0 ] || set -- naps levels sir program
TIMEFORMAT='%R %U %S'
run() { # run RANKS THREADS MODEL DATA OPTIONS...: wall and processor seconds
  local ranks=$1 threads=$2 model=$3 data=$4 starter=()
  shift 4
  [ "$ranks" = 1 ] || starter=(mpirun --oversubscribe -n "$ranks")
  rm -rf "$work/run"
  { time "${starter[@]}" "$build/tempera" sample "$model" -d "$data" --seed 1 \
    --threads "$threads" -q -o "$work/run" "$@" > "$work/out" 2> "$work/err"; } \
    2>&1 | awk '{ print $1, $2 + $3 }'
  [ -e "$work/run/summary.json" ] || { cat "$work/err" >&2; exit 1; }
}
faster() { # faster WORDS "WALL CPU" "WALL CPU"
  awk -v words="$1" -v a="$2" -v b="$3" 'BEGIN {
    split(a, x); split(b, y)
    printf "%s: %.1f s and %.1f s, a factor of %.2f\n", words, x[1], y[1], x[1] / y[1] }'
}
sleeping() { # sleeping MICROSECONDS WORDS OPTIONS...
  local nap=$1 words=$2 one eight
  shift 2
  echo "{\"y\": [1.5, 0.5, 2, 1], \"microseconds\": $nap}" > "$work/nap.json"
  eight=$(run 8 1 "$build/tests/models/sleeps.so" "$work/nap.json" "$@")
  one=$(run 1 1 "$build/tests/models/sleeps.so" "$work/nap.json" "$@")
  faster "$words on 1 and 8 ranks" "$one" "$eight"
}
efficient() { # efficient WORDS ONES TWOS: lines of "WALL CPU"
  awk -v words="$1" -v a="$2" -v b="$3" '
    function least(lines, k, n, i, part, best) {
      n = split(lines, row, "\n")
      for (i = 1; i <= n; i++) {
        split(row[i], part)
        if (row[i] != "" && (!best || part[k] < best)) best = part[k]
      }
      return best
    }
    BEGIN {
      printf "SIR on 1 and 2 %s: %.2f s and %.2f s, efficiency %.2f; processor time %.2f s and %.2f s, %.2f\n",
        words, least(a, 1), least(b, 1), least(a, 1) / least(b, 1) / 2,
        least(a, 2), least(b, 2), least(a, 2) / least(b, 2)
    }'
}
sir() { # sir MODEL OPTIONS...
  local ones="" threads="" ranks="" newline=$'\n'
  local model=("$1" "$source/models/paper/eyam.json" "${@:2}")
  for _ in 1 2 3; do
    ones+=$(run 1 1 "${model[@]}")$newline
    threads+=$(run 1 2 "${model[@]}")$newline
    ranks+=$(run 2 1 "${model[@]}")$newline
  done
  efficient threads "$ones" "$threads"
  efficient ranks "$ones" "$ranks"
}
way() { # way MODEL OPTIONS...: processor time on the way through two ranks
  rm -rf "$work/run"
  mpirun --oversubscribe -n 2 env LD_PRELOAD="$work/waits.so" "$build/tempera" \
    sample "$1" -d "$eyam" --seed 1 --threads 1 -q -o "$work/run" "${@:2}" \
    > "$work/out" 2> "$work/err" || { cat "$work/err" >&2; exit 1; }
  sed -n 's/.*waits: //p' "$work/err"
}
waits() { # waits TIMES WORDS MODEL OPTIONS...: the least of so many runs of each
  local ones="" ways=""
  for _ in $(seq "$1"); do
    ones+="$(run 1 1 "$3" "$eyam" "${@:4}" | cut -d " " -f 2) "
    ways+="$(way "${@:3}") "
  done
  awk -v words="$2" -v a="$ones" -v b="$ways" '
    function least(list, k, n, part, best) {
      n = split(list, part)
      for (k = 1; k <= n; k++)
        if (!best || part[k] < best) best = part[k]
      return best
    }
    BEGIN {
      printf "SIR %s: %.2f s of processor time on one rank, %.2f s on the way through two, efficiency %.2f\n",
        words, least(a), least(b), least(a) / least(b) / 2 }'
}
for what; do
  case $what in
  naps) sleeping 40000 "8 chains" --chains 8 --iterations 300 --warmup 300 ;;
  levels)
    sleeping 10000 "8 levels of pt" --chains 1 --method pt --levels 8 \
      --iterations 300 --warmup 300
    ;;
  sir) sir "$build/models/sir.so" --iterations 20000 --warmup 5000 ;;
  program) sir "$source/models/paper/sir.stan" ;;
  waits)
    mpicc -O2 -shared -fPIC -o "$work/waits.so" "$source/benchmarks/mpi/waits.c"
    waits 4 "in C" "$build/models/sir.so" --iterations 20000 --warmup 5000
    waits 1 "as a program" "$source/models/paper/sir.stan"
    ;;
  *) echo "ranks.sh: $what?" >&2; exit 2 ;;
  esac
done
