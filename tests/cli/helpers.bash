# helpers.bash - sourced by the shell tests, which get the source folder and
# the build folder as arguments. Each works in a folder of its own that is
# removed at the end; the exit status says whether all held.
set -u
source_dir=$1
build_dir=$2
tempera=$build_dir/tempera
models=$build_dir/tests/models
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

echo '{"y": [1.5, 0.5, 2, 1]}' > y.json

# fail WORDS...: note a failed fact and what the last command said.
fail() {
  echo "FAILED: $*"
  sed 's/^/  stdout: /' out 2>/dev/null | head -n 20
  sed 's/^/  stderr: /' err 2>/dev/null | head -n 20
  failures=$((failures + 1))
}

# status N FACT COMMAND...: the command exits with N; it has no standard input.
status() {
  local wanted=$1 fact=$2
  shift 2
  "$@" > out 2> err < /dev/null
  local got=$?
  [ $got -eq "$wanted" ] || fail "$fact: exit status $got, wanted $wanted"
}

# says FACT PATTERN, prints FACT PATTERN: standard error or output holds it.
says() { grep -qE -- "$2" err || fail "$1: standard error lacks /$2/"; }
prints() { grep -qE -- "$2" out || fail "$1: standard output lacks /$2/"; }

# holds FACT COMMAND...: the command succeeds; standard input is its own.
holds() {
  local fact=$1
  shift
  "$@" > /dev/null 2>&1 || fail "$fact"
}

# json FILE EXPRESSION: a Python expression over the parsed file `j`.
json() {
  python3 -c 'import json, sys
j = json.load(open(sys.argv[1]))
print(eval(sys.argv[2]))' "$1" "$2"
}

# rows FILE: the number of draws in a CSV file.
rows() { grep -vc -e '^#' -e '^lp__' "$1"; }

finish() {
  [ $failures -eq 0 ] && exit 0
  echo "$failures failed"
  exit 1
}
