#!/usr/bin/env bash
# dist.sh - a source archive of the last commit, which builds without git.
set -eu
cd "$(dirname "$0")/.."
version=$(sed -nE 's/^project\(tempera VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
mkdir -p build
git archive --format=tar.gz --prefix="tempera-$version/" \
  -o "build/tempera-$version.tar.gz" HEAD
echo "build/tempera-$version.tar.gz"
