#!/usr/bin/env bash
# setup-browser.sh - what the tests of the pages need beyond setup.sh: Node, the
# packages of page/ and Chromium, where they can be had. Never fails: without
# them those tests are skipped. TEMPERA_NO_BROWSER=1 leaves it all out.
set -u
cd "$(dirname "$0")/.." || exit 0
[ -n "${TEMPERA_NO_BROWSER:-}" ] && exit 0

missing=()
command -v node > /dev/null || missing+=(nodejs)
command -v npm > /dev/null || missing+=(npm)
command -v chromium > /dev/null || missing+=(chromium)
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo -n)
if [ ${#missing[@]} -gt 0 ] && command -v apt-get > /dev/null; then
  DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get \
    -o Acquire::Retries=0 -o Acquire::http::Timeout=20 \
    install -y --no-install-recommends "${missing[@]}"
fi
if command -v npm > /dev/null && [ ! -d page/node_modules ]; then
  (cd page && npm ci --no-audit --no-fund) || rm -rf page/node_modules
fi
if ! command -v chromium > /dev/null || [ ! -d page/node_modules ]; then
  echo "The pages will not be tested in a browser." >&2
fi
exit 0
