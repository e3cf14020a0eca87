# Every option there is: in the command's help, in the man page and in the
# shells' completions.
. "$(dirname "$0")/helpers.bash"

"$tempera" --help | sed -nE 's/^  ([a-z]+) .*/\1/p' > commands
[ "$(wc -l < commands)" -ge 5 ] || fail "tempera --help lists no commands"

# The page as a reader sees it: roff's escapes gone.
sed -e 's/\\-/-/g' -e 's/\\f[A-Z]//g' "$source_dir/docs/man/tempera.1" > page

# options COMMAND: the long options in its help.
options() {
  "$tempera" "$1" --help | sed -nE 's/^ +(-[a-zA-Z], )?(--[a-z-]+).*/\2/p'
}

# complete_bash WORDS...: what bash offers for the last of them.
complete_bash() {
  bash --norc -c 'source "$1"; shift
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _tempera
    printf "%s\n" "${COMPREPLY[@]}"' \
    bash "$source_dir/completions/tempera.bash" "$@"
}

# complete_zsh WORDS...: what zsh is told, one specification on a line.
complete_zsh() {
  zsh -f -c 'script=$1; shift; words=("$@"); CURRENT=$#
    _describe() { print -rl -- ${(P)2} }
    _arguments() { print -rl -- "$@" }
    source $script; _tempera' zsh "$source_dir/completions/_tempera" "$@"
}

while read -r command; do
  grep -qE "^\.B tempera $command" page || fail "the man page lacks $command"
  status 0 "$command --help" "$tempera" "$command" --help
  options "$command" > options
  # Options that are taken but not shown must be refused by name.
  sed -nE '/long_options\[\]/,/\{NULL/s/.*\{"([a-z-]+)", .*/--\1/p' \
    "$source_dir/src/cli/${command}_command.c" | while read -r option; do
    grep -qx -- "$option" options ||
      "$tempera" "$command" x "$option" 1 2>&1 |
      grep -q 'not available' || echo "$option"
  done > hidden
  [ -s hidden ] && fail "$command --help lacks $(xargs < hidden)"
  complete_bash "$tempera" "$command" -- > bash_options
  while read -r option; do
    grep -qE -- "$option([^a-z-]|\$)" page ||
      fail "the man page lacks $option of $command"
    grep -qx -- "$option" bash_options || fail "bash lacks $command $option"
  done < options
done < commands

complete_bash "$tempera" "" > offered
diff <(sort commands) <(grep -v '^-' offered | sort) > /dev/null ||
  fail "bash does not offer the commands"
offers() { # FACT WANTED WORDS...
  local fact=$1 wanted=$2
  shift 2
  [ "$(complete_bash "$tempera" "$@" | sort | xargs)" = "$wanted" ] ||
    fail "bash: $fact: $(complete_bash "$tempera" "$@" | xargs)"
}
mkdir a-run
touch m.stan m.so m.c d.json
offers "words" "random-walk" sample m.stan --kernel r
offers "words after =" "learned" sample m.stan --tau-prior = le
offers "truth" "false true" sample m.stan --jumps ""
offers "models" "a-run m.so m.stan" sample ""
offers "programs" "a-run m.stan" compile ""
offers "runs" "a-run" summary ""
offers "files" "d.json" check m.stan -d d
offers "files by the long name" "d.json" check m.stan --data d
offers "folders" "a-run" sample m.stan -o ""
offers "no command" "" nonsense --

command -v zsh > /dev/null || finish
complete_zsh "$tempera" "" > offered
diff <(sort commands) <(cut -d: -f1 offered | sort) > /dev/null ||
  fail "zsh does not offer the commands"
while read -r command; do
  complete_zsh "$tempera" "$command" "" > offered
  options "$command" | while read -r option; do
    grep -qE -- "^(\(.*\))?$option=?\[" offered || echo "$option"
  done > missing
  [ -s missing ] && fail "zsh lacks $(xargs < missing) of $command"
done < commands
complete_zsh "$tempera" sample "" > offered
grep -qF -- '--kernel=' offered && grep -q ':K:(auto ' offered ||
  fail "zsh does not know the kernels"
grep -qF ':FILE:_files' offered || fail "zsh does not offer files"
finish
