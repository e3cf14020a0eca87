#!/usr/bin/env bash
# dist.sh - a source archive of the last commit, which builds without git. With
# --try it is unpacked, built where no git is to be had, and the unit tests and the
# first example are run.
set -eu
cd "$(dirname "$0")/.."
version=$(sed -nE 's/^project\(tempera VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
mkdir -p build
git archive --format=tar.gz --prefix="tempera-$version/" \
  -o "build/tempera-$version.tar.gz" HEAD
echo "build/tempera-$version.tar.gz"
[ "${1:-}" = --try ] || exit 0

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
tar xzf "build/tempera-$version.tar.gz" -C "$place"
mkdir "$place/none"
printf '#!/bin/sh\necho "git was called: $*" >&2\nexit 127\n' > "$place/none/git"
chmod +x "$place/none/git"
cd "$place/tempera-$version"
export PATH="$place/none:$PATH"
make
ctest --test-dir build -L unit -j "$(nproc)" --output-on-failure
make demo
echo "the archive builds by itself"
