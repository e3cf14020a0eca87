#!/usr/bin/env bash
# try_packages.sh - install what `make deb` built on a Debian that has nothing else
# (a chroot made by debootstrap), and run the examples there: the command with a Stan
# program, a C program against the header, Python, R. Needs root and debootstrap; the
# chroot goes to the folder named, by default build-deb/chroot, and is used again.
set -eu
cd "$(dirname "$0")/.."
root=${1:-build-deb/chroot}
packages=build-deb/packages
[ "$(id -u)" -eq 0 ] || { echo "try_packages.sh needs root, for a chroot" >&2; exit 1; }
command -v debootstrap > /dev/null || {
  echo "debootstrap is missing: apt-get install debootstrap" >&2
  exit 1
}
ls "$packages"/tempera_*.deb > /dev/null || { echo "run make deb first" >&2; exit 1; }

# The archive and release of this machine.
. /etc/os-release
mirror=$(apt-get indextargets --format '$(SITE) $(CODENAME) $(COMPONENT)' \
  "Created-By: Packages" 2> /dev/null |
  awk -v c="$VERSION_CODENAME" '$2 == c && $3 == "main" { print $1; exit }')
inside() { chroot "$root" env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"; }
if [ ! -e "$root/made" ]; then
  rm -rf "$root"
  debootstrap --variant=minbase "$VERSION_CODENAME" "$root" ${mirror:+"$mirror"}
  cp /etc/resolv.conf "$root/etc/" 2> /dev/null || true
  cp /etc/apt/apt.conf.d/*proxy* "$root/etc/apt/apt.conf.d/" 2> /dev/null || true
  inside apt-get update
  touch "$root/made"
fi

rm -rf "$root/packages" "$root/try"
cp -r "$packages" "$root/packages"
inside sh -c 'apt-get install -y --no-install-recommends --reinstall \
  /packages/*.deb gcc libc6-dev pkg-config libnetcdf19'

mkdir -p "$root/try"
cp -r examples models docs "$root/try/"
inside bash -eu <<'INSIDE'
cd /try
say() { echo "== $*"; }

say "the command and a Stan program"
tempera sample models/paper/bimodal.stan -d models/paper/bimodal.json --seed 1 \
  --quiet -o command --netcdf
grep -q '"reliable": true' command/summary.json
[ -s command/report.html ] && [ -s command/run.nc ]

say "a C program against the header"
cc examples/two-modes/main.c -o two-modes $(pkg-config --cflags --libs tempera) -lm
./two-modes | tail -n 3

# blocks LANGUAGE FILE: the marked examples of a page.
blocks() {
  awk -v start="\`\`\`$1" '$0 == start { on = 1; next }
    /^```/ { on = 0 } on' "$2"
}
say "docs/python.md"
blocks python docs/python.md > page.py
/usr/bin/python3 page.py | tail -n 4

say "docs/r.md"
blocks r docs/r.md > page.R
Rscript page.R | tail -n 4

say "everything runs from the packages alone"
INSIDE
