# Completion of `tempera` for bash: commands, options, their words, and files.
# All is read from `tempera --help` and `tempera COMMAND --help` when it is
# needed, so that it cannot go stale.

# _tempera_option HELP OPTION: sets `value` (FILE, DIR, BOOL, ... or nothing) and
# `about`, the option's description; fails when the option takes no value.
_tempera_option() {
  local line
  while IFS= read -r line; do
    [[ $line =~ ^\ +(-[a-zA-Z],\ )?(--[a-z-]+)(\ ([^ ]+))?(\ \ +(.*))?$ ]] ||
      continue
    [[ ${BASH_REMATCH[2]} == "$2" || ${BASH_REMATCH[1]} == "$2, " ]] || continue
    value=${BASH_REMATCH[4]} about=${BASH_REMATCH[6]}
    [[ $value ]]
    return
  done <<< "$1"
  return 1
}

# _tempera_files WORD [PATTERN...]: folders, and files that fit.
_tempera_files() {
  local word=$1 pattern
  shift
  compopt -o filenames 2> /dev/null
  mapfile -t COMPREPLY < <(compgen -d -- "$word"
    for pattern; do compgen -f -X "!$pattern" -- "$word"; done)
}

_tempera_value() { # WORD
  local words='^([a-z-]+(, [a-z-]+)+)( \[.*\])?$'
  if [[ $value == FILE ]]; then
    _tempera_files "$1" '*'
  elif [[ $value == DIR ]]; then
    _tempera_files "$1"
  elif [[ $value == BOOL ]]; then
    mapfile -t COMPREPLY < <(compgen -W 'true false' -- "$1")
  elif [[ $about =~ $words ]]; then
    mapfile -t COMPREPLY < <(compgen -W "${BASH_REMATCH[1]//,/}" -- "$1")
  fi
}

# What the usage line wants: a model, a program, a run, or one of some words.
_tempera_argument() { # HELP WORD
  local usage=${1%%$'\n'*}
  if [[ $usage == *MODEL.stan* ]]; then
    _tempera_files "$2" '*.stan'
  elif [[ $usage == *MODEL* ]]; then
    _tempera_files "$2" '*.stan' '*.so'
  elif [[ $usage == *RUN* ]]; then
    _tempera_files "$2"
  elif [[ $usage =~ \[([a-z0-9]+(\|[a-z0-9]+)+)\] ]]; then
    mapfile -t COMPREPLY < <(compgen -W "${BASH_REMATCH[1]//|/ }" -- "$2")
  fi
}

_tempera() {
  local program=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]}
  local previous=${COMP_WORDS[COMP_CWORD-1]} help value about
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    help=$("$program" --help 2> /dev/null | sed -nE 's/^  ([a-z]+) .*/\1/p')
    mapfile -t COMPREPLY < <(compgen -W "$help --help --version" -- "$word")
    return
  fi
  help=$("$program" "${COMP_WORDS[1]}" --help 2> /dev/null) || return
  if [[ $word == = ]]; then
    word=
  elif [[ $previous == = ]]; then
    previous=${COMP_WORDS[COMP_CWORD-2]}
  fi
  if [[ $previous == -* ]] && _tempera_option "$help" "$previous"; then
    _tempera_value "$word"
  elif [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W \
      "$(sed -nE 's/^ +(-[a-zA-Z], )?(--[a-z-]+).*/\2/p' <<< "$help")" -- "$word")
  else
    _tempera_argument "$help" "$word"
  fi
}
complete -F _tempera tempera
