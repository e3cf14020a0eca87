# Usage: help, version, and mistyped commands and options exit with 2.
. "$(dirname "$0")/helpers.bash"

status 0 "--version" "$tempera" --version
prints "--version" '^tempera [0-9]+\.[0-9]+\.[0-9]+$'
status 0 "--cite" "$tempera" --cite
prints "--cite" 'Jonoska Stojkova'
grep -q 'family-names: Jonoska Stojkova' "$source_dir/CITATION.cff" ||
  fail "CITATION.cff names the authors"
status 0 "--help" "$tempera" --help
prints "--help" 'sample MODEL'
for command in sample check compile summary compare report reproduce calibrate; do
  status 0 "$command --help" "$tempera" $command --help
  prints "$command --help" "usage: tempera $command"
done

status 2 "no command" "$tempera"
status 2 "unknown command" "$tempera" smaple
says "unknown command" 'unknown command smaple; did you mean sample\?'
status 2 "unknown option" "$tempera" sample model.so --chians 3
says "unknown option" 'unknown option --chians; did you mean --chains\?'
status 2 "unknown letter" "$tempera" sample model.so -z
says "unknown letter" 'unknown option -z'
status 2 "missing value" "$tempera" sample model.so --chains
says "missing value" 'chains needs a value'
status 2 "no model" "$tempera" sample
says "no model" 'MODEL is missing'
status 2 "two models" "$tempera" sample a.so b.so
status 2 "bad number" "$tempera" sample a.so --chains zero
says "bad number" 'chains zero: wanted a whole number'
status 2 "one run to compare" "$tempera" compare a-run
status 2 "no run to summarise" "$tempera" summary

status 2 "levels" "$tempera" sample a.so --levels 1
says "levels" 'levels 1: wanted a whole number from 2'
# misfit PATTERN OPTIONS...: options that do not go together.
misfit() {
  local pattern=$1
  shift
  status 2 "$*" "$tempera" sample "$models/normal.so" -d y.json "$@"
  says "$*" "$pattern"
}
misfit 'levels belongs to methods with a ladder' --levels 5
misfit 'schedule belong to --method pt' --schedule power
misfit 'ridge exact belongs to methods pt-stwnc' --method pawl --ridge exact
misfit 'weights belongs to method st' --weights wang-landau
misfit 'truncated-normal is not for method st' --method st \
  --tau-move truncated-normal
misfit 'walkers belongs to method pawl' --method st --walkers 3
misfit 'uniform is not for method pawl' --method pawl --tau-move uniform
misfit 'neighbour is not for method pt-stwnc' --tau-move neighbour
# Options that the method has no use for are said to have no effect.
status 0 "ignored" "$tempera" sample "$models/normal.so" -d y.json --seed 1 \
  --iterations 100 --method mh --tau-prior profile --exchange 0.5 -o ignored
says "ignored" '^tempera: --tau-prior profile has no effect: method mh'
says "ignored" '^tempera: --exchange 0.5 has no effect: method mh'
[ "$(json ignored/summary.json \
  'sum("has no effect" in w for w in j["warnings"])')" = 2 ] ||
  fail "summary.json does not say which options have no effect"
status 0 "ignored in silence" "$tempera" sample "$models/normal.so" -d y.json \
  --seed 1 --iterations 100 --method mh --exchange 0.5 -o silent --quiet
[ -s err ] && fail "--quiet says what is no error"
status 2 "resume of nothing" "$tempera" resume
says "resume of nothing" "give the folder of one run"
finish
