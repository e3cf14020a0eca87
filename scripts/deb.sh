#!/usr/bin/env bash
# deb.sh - Debian packages of a build made for them: tempera, libtempera0,
# libtempera-dev, libtempera-mpi0 (where MPI is here), python3-tempera and (where R
# is here) r-cran-tempera, into build-deb/packages. What they depend on is what the
# linker finds.
set -eu
cd "$(dirname "$0")/.."
version=$(sed -nE 's/^project\(tempera VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
architecture=$(dpkg --print-architecture)
build=$PWD/build-deb
stage=$build/stage
rm -rf "$stage" "$build/packages" "$build/trees"
mkdir -p "$build/packages" "$build/trees"
cmake -S . -B "$build" -G Ninja -DCMAKE_INSTALL_PREFIX=/usr \
  -DTEMPERA_TESTS=OFF > /dev/null
cmake --build "$build" -j "$(nproc)"
DESTDIR=$stage cmake --install "$build" > /dev/null

# move PACKAGE PATHS...: from the stage into the package's tree.
move() {
  local package=$1 path
  shift
  for path in "$@"; do
    [ -e "$stage/$path" ] || [ -L "$stage/$path" ] || continue
    mkdir -p "$build/trees/$package/$(dirname "$path")"
    mv "$stage/$path" "$build/trees/$package/$path"
  done
}

# libraries_of PACKAGE: what its programs and libraries are linked with.
libraries_of() {
  local tree=$build/trees/$1 files
  mkdir -p "$build/shlibs/debian"
  printf 'Source: tempera\n\nPackage: %s\nArchitecture: any\n' "$1" \
    > "$build/shlibs/debian/control"
  files=$(find "$tree" -type f \( -name '*.so*' -o -path '*/bin/*' \))
  [ -n "$files" ] || return 0
  (cd "$build/shlibs" && dpkg-shlibdeps -O --ignore-missing-info \
    -l"$build" -x"$1" $files 2> /dev/null) | sed 's/^shlibs:Depends=//' |
    sed -E 's/(^|, )libtempera0[^,]*//'
}

# package NAME DEPENDS DESCRIPTION [FIELDS]
package() {
  local name=$1 depends=$2 description=$3 more=${4:-}
  local tree=$build/trees/$name linked
  linked=$(libraries_of "$name")
  depends=$(sed -E 's/^(, )+//; s/(, )+/, /g; s/, $//' <<< "$depends, $linked")
  mkdir -p "$tree/DEBIAN" "$tree/usr/share/doc/$name"
  cp LICENSE "$tree/usr/share/doc/$name/copyright"
  {
    echo "Package: $name"
    echo "Version: $version"
    echo "Architecture: $architecture"
    echo "Maintainer: The Tempera authors <tempera@example.org>"
    echo "Section: math"
    echo "Priority: optional"
    [ -z "$depends" ] || echo "Depends: $depends"
    [ -z "$more" ] || echo "$more"
    echo "Installed-Size: $(du -sk "$tree" | cut -f 1)"
    echo "Description: $description"
    echo " Draws from Bayesian posteriors with isolated modes, integer parameters"
    echo " and differential equations, and estimates their evidence from the"
    echo " same run."
  } > "$tree/DEBIAN/control"
  dpkg-deb --root-owner-group --build "$tree" "$build/packages" > /dev/null
}

move libtempera-dev usr/include usr/lib/libtempera.so usr/lib/libtempera.a \
  usr/lib/pkgconfig
move libtempera-mpi0 usr/lib/libtempera-mpi.so
move libtempera0 usr/lib
move tempera usr/bin usr/share
mkdir -p "$build/trees/libtempera0/DEBIAN"
echo 'activate-noawait ldconfig' > "$build/trees/libtempera0/DEBIAN/triggers"
echo "libtempera 0 libtempera0 (>= $version)" \
  > "$build/trees/libtempera0/DEBIAN/shlibs"
strip --strip-unneeded "$build"/trees/libtempera0/usr/lib/*.so.0.* \
  "$build"/trees/libtempera0/usr/lib/glibc-hwcaps/*/*.so.0.* \
  "$build"/trees/tempera/usr/bin/* 2> /dev/null || true

compiler='gcc | c-compiler, libc6-dev'
package libtempera0 "$compiler" "Tempera's shared library" \
  "Recommends: libnetcdf19
Suggests: libtempera-mpi0"
if [ -d "$build/trees/libtempera-mpi0" ]; then # the command needs no MPI
  package libtempera-mpi0 "libtempera0 (= $version)" 'One run of Tempera on many ranks'
fi
package libtempera-dev "libtempera0 (= $version)" \
  "Tempera's header and static library"
package tempera "libtempera0 (= $version)" "Tempera's command"

python=$build/trees/python3-tempera/usr/lib/python3/dist-packages/tempera
mkdir -p "$python"
cp bindings/python/tempera/*.py bindings/python/tempera/py.typed "$python"
package python3-tempera \
  "libtempera0 (>= $version), python3 (>= 3.9), python3-numpy" \
  'Tempera for Python' 'Suggests: python3-pandas, python3-xarray'

if command -v R > /dev/null; then
  library=$build/trees/r-cran-tempera/usr/lib/R/site-library
  mkdir -p "$library"
  rm -rf "$build/r-source"
  cp -r bindings/r "$build/r-source"
  TEMPERA_CFLAGS="-I$PWD/include" TEMPERA_LIBS="-L$build -ltempera" \
    LD_LIBRARY_PATH=$build R CMD INSTALL --library="$library" \
    "$build/r-source" > "$build/r-install.log" 2>&1 ||
    { cat "$build/r-install.log"; exit 1; }
  package r-cran-tempera "libtempera0 (>= $version), r-base-core (>= 4.0)" \
    'Tempera for R' 'Suggests: r-cran-posterior, r-cran-bridgesampling'
else
  echo "R is not here: no r-cran-tempera" >&2
fi
ls -l "$build/packages"
