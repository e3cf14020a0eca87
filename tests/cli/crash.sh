# Models that crash, exit, hang or return what is no number: the chain and the
# point are named, what was drawn stays, and the status is 1.
. "$(dirname "$0")/helpers.bash"

# crash HOW CALLS: the data of tests/models/crashes.c
data() { echo "{\"y\": [1.5, 0.5, 2, 1], \"how\": $1, \"calls\": $2}" > c.json; }
sample() { # sample FOLDER OPTIONS...
  local folder=$1
  shift
  timeout 120 "$tempera" sample "$models/crashes.so" -d c.json --seed 1 \
    --chains 2 --iterations 400000 --warmup 300 --thin 100 -q -o "$folder" "$@"
}

crashes() { # crashes NAME HOW WORDS OPTIONS...
  local name=$1 how=$2 words=$3
  shift 3
  data "$how" 200000
  status 1 "$name" sample "$name" "$@"
  says "$name" "crashes.so: the model $words in log_likelihood, chain [12], at mu = -?[0-9]+\.[0-9]+(e-[0-9]+)?; what was drawn before is in $name"
  [ "$(rows "$name/target-2.csv")" -gt 0 ] || fail "$name: no draws were kept"
  tail -c 1 "$name/target-2.csv" | od -c | grep -q '\\n' ||
    fail "$name: half a row"
}
crashes segv 0 'crashed \(SIGSEGV, a bad address\)' --threads 1
crashes threads 0 'crashed \(SIGSEGV, a bad address\)' --threads 2
crashes fpe 1 'crashed \(SIGFPE.*\)' --threads 1
crashes abort 2 'called abort\(\)' --threads 2
crashes exit 3 'called exit\(\)' --threads 1
# Nor can it end the process behind the command's back.
crashes _exit 10 'called _exit\(\)' --threads 1
crashes _Exit 11 'called _Exit\(\)' --threads 2
crashes quickly 12 'called quick_exit\(\)' --threads 1
crashes thread 13 'called pthread_exit\(\)' --threads 2
crashes hang 4 'took longer than --eval-timeout allows' --threads 2 \
  --eval-timeout 0.5
if ! ldd "$tempera" | grep -q 'libasan\|libtsan'; then
  crashes deep 5 'crashed \(SIGSEGV, a bad address\)' --threads 1
  crashes deeper 5 'crashed \(SIGSEGV, a bad address\)' --threads 2
fi

data 8 0
status 1 "abort while it is opened" sample opened
says "abort while it is opened" 'crashes.so: the model called abort\(\) in tempera_model_open$'
data 9 0
status 1 "exit while it is opened" sample opened
says "exit while it is opened" 'crashes.so: the model called exit\(\) in tempera_model_open$'
data 15 0
CRASHES_COMING=1 status 1 "exit while it is loaded" sample coming
says "exit while it is loaded" 'crashes.so: the model called exit\(\) in dlopen$'
echo '{"y": [1.5]}' > wrong.json
CRASHES_GOING=1 status 1 "exit after an error" timeout 60 "$tempera" sample \
  "$models/crashes.so" -d wrong.json -q -o going
data 10 0
status 1 "check of what exits" "$tempera" check "$models/crashes.so" -d c.json
says "check of what exits" 'crashes.so: the model called _exit\(\) in log_likelihood, at mu = '
# A process that the model has started is the model's.
data 14 0
status 0 "a child of the model's" sample child --iterations 3000

# A timeout that is long enough changes nothing.
data 15 0
status 0 "a timeout" sample quick --eval-timeout 60 --iterations 3000
status 0 "none" sample plain --iterations 3000
cmp -s <(grep -v '^#' quick/target-1.csv) <(grep -v '^#' plain/target-1.csv) ||
  fail "a timeout changes draws"
for wrong in 0 -1 x 1x ''; do
  status 2 "--eval-timeout $wrong" sample wrong --eval-timeout "$wrong"
done

# NaN here and there is rejected, counted and told of.
data 6 0
status 0 "NaN now and then" sample rare --iterations 3000
json rare/summary.json '[f["words"] for f in j["findings"]
  if f["code"] == "not-numbers"][0]' > out
prints "NaN now and then" 'NaN or \+infinity in [0-9]+ of [0-9]+ calls.* log_likelihood was NaN at mu = [3-9]\.'
# Many: a stop with advice, and draws are kept.
data 7 300000
status 1 "infinity from now on" sample many
says "infinity from now on" 'returned NaN or \+infinity in [0-9]+ of [0-9]+ calls, 50 of them in a row; first .*; bound the parameters'
[ "$(rows many/target-1.csv)" -gt 0 ] || fail "draws before infinity are lost"

finish
