#!/usr/bin/env bash
# test.sh [--sanitizers] - every test: the optimised build with warnings as
# errors, then the unit tests and those of the command again under the address
# and undefined-behaviour sanitizers (but for what waits or samples for long),
# and what runs threads under the thread sanitizer. Ends with one line that
# counts them all. With --sanitizers their part alone, whole.
set -u
cd "$(dirname "$0")/.." || exit 1
jobs=$(nproc)
passed=0
failed=0
skipped=0
broken=0

# suite FOLDER CTEST-ARGUMENTS... : run and count.
suite() {
  local folder=$1
  shift
  local log=$folder/ctest.log
  # One more than cores: some tests wait.
  ctest --test-dir "$folder" -j $((jobs + 1)) --output-on-failure "$@" |
    tee "$log"
  local summary
  summary=$(grep -E 'tests? passed, [0-9]+ tests? failed out of [0-9]+' "$log")
  if [ -z "$summary" ]; then
    echo "no tests ran in $folder"
    broken=1
    return
  fi
  local bad all not_run
  bad=$(sed -E 's/.*passed, ([0-9]+) tests? failed.*/\1/' <<< "$summary")
  all=$(sed -E 's/.*out of ([0-9]+).*/\1/' <<< "$summary")
  not_run=$(grep -cE '\(Skipped\)$' "$log")
  failed=$((failed + bad))
  skipped=$((skipped + not_run))
  passed=$((passed + all - bad - not_run))
}

# build FOLDER CMAKE-ARGUMENTS... Sanitizers name lines by -g1, which takes a
# sixth less of the compiler's time than -g.
build() {
  local folder=$1
  shift
  cmake -S . -B "$folder" -G Ninja -DTEMPERA_WERROR=ON "$@" > /dev/null &&
    cmake --build "$folder" -j "$jobs" && return
  echo "building $folder failed"
  broken=1
  return 1
}

# threaded tests FOLDER: those that run threads, and no others.
threaded() {
  local folder=$1
  cmake -S . -B "$folder" -G Ninja -DTEMPERA_WERROR=ON \
    -DTEMPERA_THREAD_SANITIZE=ON -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_C_FLAGS_DEBUG="-O1 -g1" > /dev/null &&
    cmake --build "$folder" -j "$jobs" --target threaded-tests && return
  echo "building $folder failed"
  broken=1
  return 1
}

# Tuned for this machine: what samples for long is at its quickest. The portable
# code is what the sanitizers get.
left_out=timed
if [ "${1:-}" = --sanitizers ]; then
  left_out=none
else
  build build -DTEMPERA_NATIVE=ON && suite build
fi
build build-asan -DTEMPERA_SANITIZE=ON -DCMAKE_BUILD_TYPE=Debug \
  -DCMAKE_C_FLAGS_DEBUG="-O1 -g1" && suite build-asan -L 'unit|cli' -LE $left_out
threaded build-tsan && suite build-tsan -L threads

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ] && [ $broken -eq 0 ]
