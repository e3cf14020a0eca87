#!/usr/bin/env bash
# valgrind.sh - short runs under valgrind: a model in C, a Stan program, reading
# back, resuming. Any error or lost block is a failure. Built for any processor,
# since valgrind does not know the newest ones' instructions.
set -eu
cd "$(dirname "$0")/.."
build=build-valgrind
cmake -S . -B $build -G Ninja -DTEMPERA_TESTS=OFF -DCMAKE_BUILD_TYPE=Debug \
  -DCMAKE_C_FLAGS_DEBUG="-O1 -g" > /dev/null
cmake --build $build -j "$(nproc)" --target tempera model-bimodal
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Programs are compiled for this machine's processor: here for an older one.
mkdir "$work/bin"
cat > "$work/bin/cc" <<'CC'
#!/usr/bin/env bash
exec /usr/bin/cc "${@/-march=native/-march=x86-64}"
CC
chmod +x "$work/bin/cc"
export PATH=$work/bin:$PATH XDG_CACHE_HOME=$work/cache
checked() {
  OPENBLAS_NUM_THREADS=1 valgrind -q --error-exitcode=99 --leak-check=full \
    --errors-for-leak-kinds=definite --show-leak-kinds=definite "$build/tempera" "$@"
}
data=models/paper/bimodal.json
short=(--chains 2 --warmup 120 --threads 2 --seed 1 -q)
for method in pt-stwnc pt st mh; do
  checked sample $build/models/bimodal.so -d $data "${short[@]}" \
    --iterations 60 --method $method -o "$work/$method"
done
checked resume "$work/pt-stwnc" --iterations 90 -q
checked sample models/paper/bimodal.stan -d $data "${short[@]}" \
  --iterations 60 -o "$work/stan"
checked summary "$work/pt" > /dev/null
checked report "$work/pt"
checked compare "$work/pt" "$work/pt-stwnc" > /dev/null
rm "$work/pt/summary.json"
checked summary "$work/pt" > /dev/null
echo "valgrind: 10 commands, no errors, nothing lost"
