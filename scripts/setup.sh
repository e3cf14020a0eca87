#!/usr/bin/env bash
# setup.sh - install the Debian packages that building and testing need, those
# that are missing only. Uses root or sudo; with neither it prints what to run.
# With --test also what lets more tests run; those skip themselves without it.
set -eu

packages=(build-essential cmake ninja-build pkg-config libgsl-dev
  libopenblas-dev liblapacke-dev libsundials-dev
  librandom123-dev libjansson-dev libnetcdf-dev duktape-dev libcmocka-dev
  python3)

# R with its two packages is 62 MB to download.
for_tests=(libopenmpi-dev locales openmpi-bin valgrind python3-netcdf4 python3-pandas
  python3-xarray zsh r-base-core r-cran-posterior r-cran-bridgesampling)

if ! command -v dpkg-query > /dev/null; then
  echo "This is not Debian: make sure to have the likes of ${packages[*]}" >&2
  exit 0
fi

# `pkgconf` provides pkg-config in newer releases; any provider will do.
installed() {
  dpkg-query -W -f '${Status}\n' "$1" 2> /dev/null |
    grep -q 'install ok installed' && return
  [ "$1" = pkg-config ] && command -v pkg-config > /dev/null
}

missing=()
for package in "${packages[@]}"; do
  installed "$package" || missing+=("$package")
done
wished=()
for package in "${for_tests[@]}"; do
  [ "${1:-}" != --test ] || installed "$package" || wished+=("$package")
done
[ ${#missing[@]} -eq 0 ] && [ ${#wished[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo > /dev/null; then
    [ ${#missing[@]} -eq 0 ] && exit 0
    echo "Packages are missing. As root, run:" >&2
    echo "  apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

export DEBIAN_FRONTEND=noninteractive
install() {
  [ $# -eq 0 ] ||
    "${as_root[@]}" apt-get install -y --no-install-recommends "$@"
}
"${as_root[@]}" apt-get update || [ ${#missing[@]} -eq 0 ]
install "${missing[@]}"
install "${wished[@]}" || echo "Some tests will be skipped." >&2
