# What a run that is not reliable is advised to do fits what it was asked: short
# runs by each method and with options that stand in the way, and one without.
. "$(dirname "$0")/helpers.bash"
run() { # NAME OPTIONS...
  local name=$1
  shift
  status 0 "$name" "$tempera" sample "$build_dir/models/bimodal.so" \
    -d "$source_dir/models/paper/bimodal.json" --seed 1 --quiet --json -o "$name" "$@"
  cp out "$name.json"
}
advised() { # NAME PATTERN: it is not reliable, and the advice is this
  python3 -c 'import json, re, sys
verdict = json.load(open(sys.argv[1]))["verdict"]
found = re.search(r"^Not reliable: .*\. Try this: (.*)\.$", verdict)
if not found or not re.fullmatch(sys.argv[2], found.group(1)):
    sys.exit(verdict)' "$1.json" "$2" > out 2> err || fail "$1: $(cat err)"
}
free='leave --iterations and --warmup out, so that it takes as many as it needs'
tiny="--iterations 12 --warmup 10"
run learned $tiny
advised learned "$free"
run laplace --tau-prior laplace $tiny
advised laplace "$free"
run profile --tau-prior profile $tiny
advised profile "leave --tau-prior profile out, which collapses in several dimensions; or $free"
run kernel --kernel random-walk $tiny
advised kernel "leave --kernel out; or $free"
run pt --method pt $tiny
advised pt "$free"
run levels --method pt --levels 2 $tiny
advised levels "(use more levels, or leave --levels out; or )?$free"
run st --method st $tiny
advised st "$free"
run pawl --method pawl $tiny
advised pawl "$free"
run mh --method mh --iterations 3000
advised mh 'use --method pt-stwnc'
run paper --paper --iterations 10
advised paper '(leave --paper out|run more iterations, or start chains there with --init)'
run late --time-limit 0.001
advised late 'allow it more time \(--time-limit\)'
# Who follows it has a reliable run.
run followed
grep -q '"reliable": true' followed.json || fail "the advice does not help"
finish
