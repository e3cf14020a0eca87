# Stopped from outside: everything drawn is on disk, and the exit status says
# how it ended.
. "$(dirname "$0")/helpers.bash"

# long NAME: a run that would take far longer than this test, in the
# background once it has written draws.
long() {
  "$tempera" sample "$models/normal.so" -d y.json --seed 1 --chains 2 \
    --iterations 500000000 --warmup 200 --thin 1000 -o "$1" > out 2> err &
  pid=$!
  for _ in $(seq 300); do
    [ -e "$1/target-2.csv" ] && [ "$(rows "$1/target-2.csv")" -gt 3 ] && return
    kill -0 $pid 2> /dev/null || break
    sleep 0.1
  done
  fail "$1 never wrote a draw"
}

# stopped NAME SIGNAL STATUS: it ends so and keeps all.
stopped() {
  long "$1"
  kill -"$2" $pid
  wait $pid
  local got=$?
  [ $got -eq "$3" ] || fail "SIG$2: exit status $got, wanted $3"
  says "SIG$2" "everything drawn so far is in $1"
  [ "$(json "$1/summary.json" 'j["complete"]')" = False ] ||
    fail "SIG$2: an interrupted run is not complete"
  local n
  n=$(rows "$1/target-1.csv")
  for file in target-2 tempered-1 tempered-2; do
    [ "$(rows "$1/$file.csv")" -eq "$n" ] || fail "SIG$2: $file has other rows"
  done
  grep -q "num_samples = ${n}000 " "$1/target-1.csv" ||
    fail "SIG$2: num_samples does not follow the rows"
  grep -q 'Elapsed Time' "$1/target-1.csv" || fail "SIG$2: no closing lines"
}

stopped interrupted INT 130
stopped terminated TERM 143

long killed
kill -KILL $pid
wait $pid 2> /dev/null
[ "$(rows killed/target-2.csv)" -gt 3 ] || fail "SIGKILL lost draws"
tail -c 1 killed/target-2.csv | od -c | grep -q '\\n' ||
  fail "SIGKILL left half a row"

# While the ridge is looked for, which takes this model long.
"$tempera" sample "$models/slow.so" -d y.json --seed 1 --iterations 100 \
  --chains 1 -o ridge > out 2> err &
pid=$!
for _ in $(seq 600); do
  [ -e ridge/target-1.csv ] && break
  sleep 0.1
done
sleep 0.5
kill -INT $pid
began=$SECONDS
wait $pid
got=$?
[ $got -eq 130 ] || fail "Ctrl-C in the ridge: exit status $got, wanted 130"
[ $((SECONDS - began)) -le 5 ] || fail "Ctrl-C waited for the ridge"
[ "$(rows ridge/target-1.csv)" -eq 0 ] || fail "the ridge was not interrupted"
status 0 "time limit in the ridge" "$tempera" sample "$models/slow.so" \
  -d y.json --seed 1 --iterations 100 --chains 1 --time-limit 0.5 -o limit
[ "$(json limit/summary.json 'j["complete"]')" = False ] ||
  fail "a run without draws is not complete"
finish
