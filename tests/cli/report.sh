# The page of a run: written by sample, and again from the folder alone.
. "$(dirname "$0")/helpers.bash"
status 0 "sample" "$tempera" sample "$models/normal.so" -d y.json \
  --iterations 400 --chains 2 --seed 1 -o run
prints "sample" 'run/report\.html'
[ -s run/report.html ] || fail "sample writes report.html"

# page FILE EXPRESSION: a Python expression over the page's document `d`.
page() {
  python3 -c 'import json, re, sys
text = open(sys.argv[1]).read()
d = json.loads(re.search(
    r"<script type=\"application/json\" id=\"document\">(.*?)</script>", text,
    re.S)[1])
sections = {s["heading"]: s["blocks"] for s in d["sections"]}
print(eval(sys.argv[2]))' "$1" "$2"
}
[ "$(page run/report.html 'list(sections)')" = "['Verdict', 'Evidence', \
'Parameters', 'One by one', 'Prior, likelihood and powers', 'Tempering', \
'Reference leg', 'Cost and options']" ] ||
  fail "the sections, without those that do not apply"
page run/report.html \
  '[f["title"] for f in sections["One by one"][-1]["choices"][0]["figures"]]' \
  > out
prints "figures of a parameter" \
  'Marginal.*Trace.*Ranks.*Autocorrelation.*optimum against tau'

# From the files alone, and the same again.
mkdir copy
cp run/*.csv run/*.json copy
status 0 "report" "$tempera" report copy
holds "the same page again" cmp run/report.html copy/report.html
status 0 "report -o" "$tempera" report copy -o other.html
holds "the same page elsewhere" cmp run/report.html other.html

# Marginals are of all draws; a trace has all of a short run.
[ "$(page run/report.html 'len([f for f in sections["One by one"][-1]["choices"]
  [0]["figures"] if f["title"] == "Trace"][0]["series"])')" = 2 ] ||
  fail "one line for each chain"

# Other methods and models, with what they have.
status 0 "stwnc" "$tempera" sample "$models/normal.so" -d y.json \
  --method stwnc --iterations 400 --chains 1 --seed 1 -o stwnc
[ -s stwnc/report.html ] || fail "a report without a target chain"
status 0 "improper" "$tempera" sample "$models/improper.so" -d y.json \
  --tau-min 0.1 --iterations 400 --chains 2 --seed 1 -o improper
[ -s improper/report.html ] || fail "a report without evidence"
status 0 "mixed" "$tempera" sample "$models/mixed.so" --iterations 400 \
  --chains 2 --seed 1 -o mixed
[ -s mixed/report.html ] || fail "a report with whole parameters"
page mixed/report.html 'd' | grep -q "'Probabilities'" ||
  fail "whole parameters have bars"

# Rows of several walkers are not one walk.
page run/report.html 'd' | grep -q 'Round trips of tau' ||
  fail "tau is followed"
status 0 "walkers" "$tempera" sample "$models/normal.so" -d y.json \
  --method pawl --warmup 300 --iterations 300 --chains 2 --seed 1 -o walkers
page walkers/report.html 'd' | grep -q 'Round trips of tau' &&
  fail "walkers are not one walk"

# Names are text.
mkdir hostile
cp run/*.csv run/*.json hostile
sed -i 's|"model": "[^"]*"|"model": "</script><script>alert(1)</script><!--"|' \
  hostile/summary.json
status 0 "hostile" "$tempera" report hostile
[ "$(grep -o '</script>' hostile/report.html | wc -l)" = 2 ] ||
  fail "a name cannot end the script"
[ "$(page hostile/report.html 'd["title"]')" = \
  '</script><script>alert(1)</script><!--' ] || fail "a name is kept as it is"

# What can go wrong.
status 1 "no such run" "$tempera" report absent
says "no such run" 'absent/summary\.json'
status 1 "nowhere to write" "$tempera" report run -o absent/report.html
says "nowhere to write" 'absent/report\.html'
mkdir empty
cp run/*.json empty
for file in run/target-*.csv; do # their comments alone
  grep '^#' "$file" > "empty/${file#run/}"
done
status 1 "no draws" "$tempera" report empty
says "no draws" 'target-1\.csv holds no draws'
status 2 "two runs" "$tempera" report run copy
status 2 "no run" "$tempera" report
# Half a row at the end, as a killed run leaves it, does not matter.
mkdir cut
cp run/*.csv run/*.json cut
head -c -100 run/target-1.csv > cut/target-1.csv
status 0 "cut short" "$tempera" report cut
# Warmup rows are left out.
status 0 "save-warmup" "$tempera" sample "$models/normal.so" -d y.json \
  --save-warmup --warmup 300 --iterations 400 --chains 2 --seed 1 -o warm
[ "$(page warm/report.html '[f for f in sections["One by one"][-1]["choices"][0]
  ["figures"] if f["title"] == "Trace"][0]["x"]["max"]')" = 400 ] ||
  fail "warmup is not drawn"
finish
