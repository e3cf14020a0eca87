# bindings.bash - sourced by the bindings' tests: a Python with numpy, an R, and
# the library of this build. A library built with sanitizers cannot be loaded
# by programs that are not: nothing to test there.
. "$(dirname "$0")/../cli/helpers.bash"
if grep -qE 'TEMPERA(_THREAD)?_SANITIZE:BOOL=ON' "$build_dir/CMakeCache.txt"; then
  echo "built with sanitizers: not for other programs"
  exit 77
fi
export TEMPERA_LIBRARY=$build_dir/libtempera.so.0
export TEMPERA_HEADER=$source_dir/include/tempera.h TEMPERA_COMMAND=$tempera
export PYTHONPATH=$source_dir/bindings/python PYTHONDONTWRITEBYTECODE=1

# python_with MODULES...: sets `python`, or skips the test.
python_with() {
  for python in python3 /usr/bin/python3; do
    "$python" -c "import ${*// /, }" 2> /dev/null && return
  done
  echo "no Python here has $*"
  exit 77
}
