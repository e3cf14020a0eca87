# What a hostile user tries: odd places to write to and to read from, little
# memory, files that were cut, words that steer terminals.
. "$(dirname "$0")/helpers.bash"

status 0 "a run" "$tempera" sample "$models/normal.so" -d y.json --seed 1 \
  --chains 2 --iterations 300 --warmup 200 --threads 1 -q -o run
status 0 "another" "$tempera" sample "$models/normal.so" -d y.json --seed 2 \
  --chains 2 --iterations 300 --warmup 200 --threads 1 -q -o other

# ---- odd places for a page

page() { # page PATH: by which command it is written
  case $command in
  report) "$tempera" report run -o "$1" ;;
  compare) "$tempera" compare run other --html "$1" ;;
  esac
}
for command in report compare; do
  status 0 "$command to /dev/null" page /dev/null
  [ -c /dev/null ] || fail "$command replaced /dev/null"
  mkfifo pipe
  cat pipe > page.html &
  status 0 "$command to a fifo" page pipe
  wait $!
  [ -p pipe ] || fail "$command replaced a fifo"
  grep -q '</html>' page.html || fail "$command: the fifo got no page"
  rm pipe
  echo old > there.html
  ln -s there.html link.html
  status 0 "$command to a link" page link.html
  [ -L link.html ] || fail "$command replaced a link"
  grep -q '</html>' there.html || fail "$command: the link's file got no page"
  rm link.html there.html
  ln -s absent.html link.html
  status 0 "$command to a dangling link" page link.html
  grep -q '</html>' absent.html || fail "$command: nothing behind the link"
  rm link.html absent.html
  mkdir folder
  status 1 "$command to a folder" page folder
  says "$command to a folder" 'folder is a folder; name a file'
  rmdir folder || fail "$command wrote into a folder"
  status 1 "$command to a full disk" page /dev/full
  says "$command to a full disk" 'No space left'
done

# ---- odd places for data

status 1 "data that never end" timeout 20 "$tempera" check \
  "$models/normal.so" -d /dev/zero
says "data that never end" '/dev/zero is a device'
status 1 "starts that never end" timeout 20 "$tempera" sample \
  "$models/normal.so" -d y.json --init /dev/zero -o starts
status 1 "a program that never ends" timeout 20 bash -c \
  'ln -s /dev/zero endless.stan && "$0" check endless.stan' "$tempera"
mkfifo pipe
cat y.json > pipe &
status 0 "data from a pipe" "$tempera" check "$models/normal.so" -d pipe
wait $!

# ---- odd places for output

for words in --help --version "sample --help" "report --help" "summary run" \
  "reproduce --help"; do
  # shellcheck disable=SC2086
  "$tempera" $words > /dev/full 2> err
  [ $? -eq 1 ] || fail "$words to a full disk is no error"
  says "$words to a full disk" 'cannot write to standard output: No space'
done

# ---- files that other hands had

# damaged WORDS COMMAND...: done to a copy of a run, `report` and `compare` say so
damaged() {
  local words=$1
  shift
  rm -rf bad
  cp -r run bad
  (cd bad && "$@")
  status 1 "report: $words" "$tempera" report bad
  says "report: $words" "$words"
  status 1 "compare: $words" "$tempera" compare other bad
  says "compare: $words" "$words"
}
damaged 'bad/target-2.csv is missing: the run has 2 chains' rm target-2.csv
damaged 'bad/tempered-1.csv is missing' rm tempered-1.csv
damaged 'target-1.csv, line [0-9]+, is no row of 8 numbers' \
  truncate -s -2000 target-1.csv
damaged 'target-2.csv, line 60, is no row' sed -i '60s/,/;/' target-2.csv
damaged 'tempered-2.csv, line 60, is no row' sed -i '60s/,[^,]*$//' tempered-2.csv
damaged 'target-2.csv holds 299 draws, and the summary speaks of 300' \
  sed -i '60d' target-2.csv
damaged 'target-2.csv holds 301 draws, and the files of other chains 300' \
  sed -i '60p' target-2.csv
damaged 'target-1.csv is damaged' dd if=/dev/zero of=target-1.csv bs=1 count=1 \
  seek=3000 conv=notrunc status=none
# A pipe would be waited for, and a device has no end.
for file in config.json summary.json target-1.csv checkpoint; do
  rm -rf bad
  cp -r run bad
  rm bad/$file
  if [ $file = target-1.csv ]; then ln -s /dev/zero bad/$file; else mkfifo bad/$file; fi
  for words in "summary bad" "report bad" "compare bad other" \
    "resume bad --iterations 400"; do
    # shellcheck disable=SC2086
    status 1 "$words, $file" timeout 20 "$tempera" $words
    says "$words, $file" "bad/$file is a pipe or a device"
  done
done
rm -rf bad
cp -r run bad
rm bad/*.csv
status 0 "a summary needs no draws to be compared" "$tempera" compare bad other

# ---- runs that died

# Killed before the first summary: values, and evidence by ti.
cp -r run dead
rm dead/summary.json dead/report.html
truncate -s -100 dead/target-1.csv # the comments at its end
truncate -s -10 dead/tempered-2.csv
status 0 "summary of a dead run" "$tempera" summary dead
prints "summary of a dead run" 'Unfinished: .*CSV'
prints "summary of a dead run" '^ +ti .*headline'
prints "summary of a dead run" '^ +mu '
status 0 "report of a dead run" "$tempera" report dead
grep -q Unfinished dead/report.html || fail "a dead run's page does not say so"
status 0 "compare with a dead run" "$tempera" compare dead other
status 0 "and as JSON" "$tempera" summary dead --json
json out '(j["reliable"] is False and abs(j["evidence"]["log_z"] -
  json.load(open("run/summary.json"))["evidence"]["log_z"]) <
  5 * j["evidence"]["se"])' > told
grep -q True told || fail "a dead run's evidence is off"
for method in pt st mh ee stwnc pawl; do
  status 0 "$method" "$tempera" sample "$models/normal.so" -d y.json --seed 1 \
    --chains 2 --iterations 300 --warmup 200 --threads 1 -q -o "dead-$method" \
    --method $method
  rm "dead-$method/summary.json"
  status 0 "a dead run of $method" "$tempera" summary "dead-$method"
  prints "a dead run of $method" '^ +mu '
  case $method in
  pt | stwnc | pawl) prints "evidence of a dead $method" '^ +(ti|ss) .*headline' ;;
  esac
  status 0 "its page" "$tempera" report "dead-$method"
done
# Killed in warmup, whose draws are saved: they are not taken for draws.
sed -i '/^# Adaptation/d' dead-mh/target-*.csv
sed -i 's/"save_warmup": false/"save_warmup": true/' dead-mh/config.json
status 1 "only warmup's draws" "$tempera" summary dead-mh
says "only warmup's draws" 'holds no draws'
rm dead/*.csv
status 1 "no draws at all" "$tempera" summary dead
says "no draws at all" 'holds no draws yet.*tempera resume dead'
# Killed after a summary that was written on the way.
cp -r run killed
sed -i 's/"complete": true/"complete": false, "running": 9000/' killed/summary.json
status 0 "summary of a killed run" "$tempera" summary killed
prints "summary of a killed run" 'The run ended before it was done'

# ---- names

newline=$'a\nb'
cp "$models/normal.so" "./$newline.so"
printf '{"y": [1, 2]}' > "$newline.json"
status 0 "a newline in names" "$tempera" sample "./$newline.so" \
  -d "./$newline.json" --seed 1 --chains 1 --iterations 100 --warmup 100 -q \
  --threads 1 -o odd
for file in target-1 tempered-1; do
  [ "$(grep -v '^#' odd/$file.csv | head -n 1 | cut -c 1-4)" = lp__ ] ||
    fail "a newline in a name broke the header of $file.csv"
done
status 0 "and reads back" "$tempera" report odd

# ---- words that steer terminals

cp -r run sly
python3 - <<'PYTHON'
import json
j = json.load(open("sly/summary.json"))
j["model"] = "\x1b]0;owned\x07"
j["verdict"] = "fine \x1b[2J\u009b2J"
j["parameters"][0]["name"] = "mu\x1b[31m"
j["warnings"] = ["\x1b[5mblink"]
j["evidence"]["estimator"] = "\x1b[1m"
json.dump(j, open("sly/summary.json", "w"))
PYTHON
for words in "summary sly" "summary sly --csv" "compare sly other"; do
  # shellcheck disable=SC2086
  status 0 "$words" "$tempera" $words
  LC_ALL=C grep -q $'[\x1b\x07]\|\xc2\x9b' out && fail "$words steers terminals"
done
# Nor do names of folders, models and options, from a config or typed.
sly=$'s\033[31mly\302\2332J'
cp -r run "$sly"
sed -i 's#"model_path": "#&\\u001b[31m#' "$sly/config.json"
"$tempera" compare "$sly" other > out 2> err
"$tempera" compare "$sly" other --json >> out 2>> err
"$tempera" resume "$sly" --iterations 400 >> out 2>> err
"$tempera" sample "$sly.so" >> out 2>> err
"$tempera" sample "--$sly" >> out 2>> err
"$tempera" "$sly" >> out 2>> err
[ "$(wc -l < err)" -ge 5 ] || fail "names that steer: no words about them"
LC_ALL=C grep -q $'[\x1b\x07]\|\xc2\x9b' out err && fail "names steer terminals"
printf '\033[2J {' > sly/summary.json
status 1 "a damaged summary" "$tempera" summary sly
LC_ALL=C grep -q $'\x1b' err && fail "an error message steers terminals"

# ---- little memory

limited() { # limited KB COMMAND...: killed when it hangs
  (ulimit -v "$1" && shift && exec timeout -s KILL 60 "$@")
}
small=(sample "$models/normal.so" -d y.json --seed 1 --chains 2
  --iterations 300 --warmup 200 -q)
if ! ldd "$tempera" | grep -q 'libasan\|libtsan'; then
  status 1 "hardly any memory" limited 110000 "$tempera" "${small[@]}" \
    --threads 2 -o tight
  says "hardly any memory" 'limit on address space.*raise it'
  status 0 "little memory" limited 500000 "$tempera" "${small[@]}" \
    --threads 1 -o little
  cmp -s <(grep -v '^#' little/target-1.csv) <(grep -v '^#' run/target-1.csv) ||
    fail "little memory, other draws"
fi

# ---- the cache of compiled programs

cat > prog.stan <<'STAN'
data { int n; vector[n] y; }
parameters { real mu; }
model { mu ~ normal(0, 1); y ~ normal(mu, 1); }
STAN
echo '{"n": 2, "y": [1, 2]}' > prog.json
export XDG_CACHE_HOME=$work/deep/er/still
status 0 "a cache of several levels" "$tempera" check prog.stan -d prog.json
library=$(ls "$XDG_CACHE_HOME"/tempera/*.so)
[ "$(stat -c %a "$XDG_CACHE_HOME")" = 700 ] || fail "the cache is not private"
for keep in 0 100 5000; do
  truncate -s $keep "$library"
  status 0 "a library cut to $keep bytes" "$tempera" check prog.stan -d prog.json
done
rm "$library"
mkfifo "$library"
status 0 "a pipe in the place of a library" timeout 60 "$tempera" check \
  prog.stan -d prog.json
printf 'x' | dd of="$library" bs=1 seek=6000 conv=notrunc 2> /dev/null
status 0 "a library that was damaged" "$tempera" check prog.stan -d prog.json

# ---- interrupted in warmup

"$tempera" sample "$models/normal.so" -d y.json --seed 1 --chains 1 \
  --iterations 100 --warmup 4000000 --method mh --threads 1 -o early > out 2> err &
pid=$!
for _ in $(seq 300); do
  [ -e early/target-1.csv ] && break
  sleep 0.1
done
sleep 0.3
kill -INT $pid
wait $pid
[ $? -eq 130 ] || fail "interrupted in warmup: not 130"
says "interrupted in warmup" 'before the first draw'
grep -q 'everything drawn' err && fail "it claims draws that there are not"

finish
