# `sample --command`: any program as the model. The examples of docs/programs.md,
# where their language is here; and workers that die, hang or talk nonsense.
. "$(dirname "$0")/helpers.bash"
PATH=$build_dir:$PATH

# ---- the documented examples, shortened --------------------------------------
python3 - "$source_dir/docs/programs.md" <<'PYTHON'
import re, sys
text = open(sys.argv[1]).read()
runs = []
for kind, name, body in re.findall(
        r"<!-- (file|run) (\S+) -->\n```\w+\n(.*?)```\n", text, re.S):
    if kind == "file":
        open(name, "w").write(body)
    else:
        runs.append(name + " " + " ".join(body.split("\n")))
assert len(runs) == 5, runs
open("runs", "w").write("\n".join(runs) + "\n")
PYTHON
short="--iterations 30 --warmup 30 --bridge false --reference false --quiet"
done_here=0
while read -r needs line; do
  if [ "$needs" = numpy ]; then
    for python in python3 /usr/bin/python3 none; do
      "$python" -c 'import numpy' 2> /dev/null && break
    done
    line=${line/python3/$python}
    [ "$python" != none ]
  else
    command -v "$needs" > /dev/null
  fi || {
    echo "no $needs here: its example was not run"
    continue
  }
  if [ "$needs" = awk ]; then # a process for every point: too slow for a run
    printf '0.25\n-1e1\n' | sh model.sh > shell-answers
    printf '0.25\n-1e1\n' | python3 model.py > python-answers
    holds "the shell's answers are Python's" python3 -c '
a, b = ([float(x) for x in open(f).read().split()]
        for f in ("shell-answers", "python-answers"))
assert len(a) == 4 and max(abs(x - y) for x, y in zip(a, b)) < 1e-12'
    continue
  fi
  status 0 "\$ $line" timeout 100 bash -c "$line $short"
  done_here=$((done_here + 1))
done < runs
[ $done_here -ge 2 ] || fail "only $done_here examples ran"
holds "the evidence is right" python3 -c '
import glob, json, math
y = [1.5, 0.5, 2.0, 1.0]; n = len(y)
s, q = sum(y), sum(v * v for v in y)
exact = (-n / 2 * math.log(2 * math.pi) - 0.5 * math.log(1 + 4 * n)
         - 0.5 * (q - 4 * s * s / (1 + 4 * n)))
for path in glob.glob("*-run/summary.json"):
    e = json.load(open(path))["evidence"]
    assert abs(e["log_z"] - exact) < 4 * e["se"] + 1e-9, (path, e["log_z"], exact)'

# ---- the same draws for any number of workers, and in batches -----------------
sample() { # FOLDER OPTIONS...
  local folder=$1
  shift
  status 0 "$folder" timeout 100 tempera sample --command ./worker --parameters p.json \
    --seed 2 -o "$folder" $short "$@"
}
# The same model in C, which is quick; in batches answers come after the empty line.
cat > worker.c <<'C'
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **words) {
  static const double y[] = {1.5, 0.5, 2, 1}, log_2_pi = 1.8378770664093453;
  char line[100];
  (void)words;
  while (fgets(line, sizeof line, stdin)) {
    double mu = atof(line), like = -2 * log_2_pi;
    if (line[0] == '\n') {
      fflush(stdout);
      continue;
    }
    for (int i = 0; i < 4; i++)
      like -= 0.5 * (y[i] - mu) * (y[i] - mu);
    printf("%.17g %.17g\n", like, -mu * mu / 8 - log(2) - 0.5 * log_2_pi);
    if (count == 1)
      fflush(stdout);
  }
}
C
cc -O1 worker.c -o worker -lm
sample one --workers 1
sample three --workers 3
sample threads --workers 2 --threads 1
status 0 "batches" timeout 100 tempera sample --command "./worker batch" \
  --parameters p.json --seed 2 -o batches $short --batch --workers 2
for other in three threads batches; do
  for file in target-1.csv target-4.csv; do
    cmp <(grep -v '^#' one/$file) <(grep -v '^#' $other/$file) > /dev/null ||
      fail "draws of $other differ in $file"
  done
done
grep -q '"command": "./worker"' one/config.json || fail "no command recorded"

# ---- a run goes on ---------------------------------------------------------------
sample longer --iterations 50
status 0 "resume of a program's run" timeout 100 tempera resume one --iterations 50 \
  -q --workers 2
for file in target-1.csv tempered-4.csv; do
  cmp <(grep -v '^#' longer/$file) <(grep -v '^#' one/$file) > /dev/null ||
    fail "a program's run, resumed, differs in $file"
done
status 0 "longer batches" timeout 100 tempera resume batches --iterations 40 -q
[ "$(rows batches/target-1.csv)" -eq 40 ] || fail "batches were not lengthened"
mv worker gone
status 1 "its program fails now" timeout 100 tempera resume one --iterations 60 -q
says "its program fails now" 'worker 1'

# ---- workers that fail ---------------------------------------------------------
bad() { # FACT PATTERN COMMAND OPTIONS...
  local fact=$1 pattern=$2 command=$3
  shift 3
  rm -rf bad
  status 1 "$fact" timeout 60 tempera sample --command "$command" \
    --parameters p.json --seed 1 -o bad $short "$@"
  says "$fact" "$pattern"
}
bad "not there" 'exit status 127 .command not found.*last words: .*no-such' no-such
bad "dies" 'worker 1 ended with exit status 3; its last words: the tank is empty' \
  'read line; echo the tank is empty >&2; exit 3'
bad "is killed" 'worker 1 was killed by signal 9' 'read line; kill -9 $$'
sed 's/^    mu = .*/    mu = float(line); y[0] += 1e-9; assert y[0] < 1.5000005, "worn out"/' \
  model.py > worn.py
bad "dies later" 'ended with exit status 1; its last words: .*worn out' 'python3 worn.py'
bad "talks nonsense" 'answered "hello", where the log likelihood' \
  'while read x; do echo hello; done'
bad "one number" 'answered "1.5", where' 'while read x; do echo 1.5; done'
bad "three numbers" 'answered "1 2 3", where' 'while read x; do echo 1 2 3; done'
bad "too many answers" 'answered more often than it was asked' \
  'while read x; do echo "-1 -1
-1 -1"; done'
bad "NaN" 'log_prior returned NaN' 'while read x; do echo -1 nan; done'
bad "hangs" 'has not answered for 0.5 seconds' 'sleep 1000' --eval-timeout 0.5
bad "hangs in a batch" 'has not answered for 0.5 seconds' \
  'while read x; do :; done; sleep 100' --eval-timeout 0.5 --batch
bad "no end of line" 'a line that has no end' \
  'read x; head -c 100000 /dev/zero | tr "\\0" 1; sleep 100' --eval-timeout 30
status 130 "silent at first" timeout --preserve-status -s INT 12 "$tempera" sample \
  --command 'sleep 1001' --parameters p.json -o silent
says "silent at first" 'has not answered its first point for 10 s'
pgrep -f 'sleep 1000' > /dev/null && fail "a worker is left behind"

# ---- usage ---------------------------------------------------------------------
status 2 "no parameters" tempera sample --command true
says "no parameters" 'needs --parameters'
status 2 "both" tempera sample model.stan --command true --parameters p.json
says "both" 'either MODEL or --command'
status 2 "no command" tempera sample model.stan --parameters p.json
status 2 "workers" tempera sample --command true --parameters p.json --workers 0
status 2 "timeout" tempera sample --command true --parameters p.json \
  --eval-timeout never
status 1 "no file" tempera sample --command true --parameters none.json
says "no file" 'none.json: cannot read the parameters: No such file'
echo '{"x": ["real", 2, 1]}' > wrong.json
status 1 "wrong parameters" tempera sample --command true --parameters wrong.json
says "wrong parameters" '^wrong.json:1:2: parameter x: its lower bound'
finish
