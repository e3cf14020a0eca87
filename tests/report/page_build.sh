# The committed bundle of the charts is what page/ gives; needs Node and the
# packages of page/ (make page installs them), else it is skipped.
source_dir=$1
command -v node > /dev/null && [ -d "$source_dir/page/node_modules" ] || exit 77
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
node "$source_dir/page/build.js" --into "$made" || exit 1
cmp "$made/page.js" "$source_dir/src/report/page.js" || {
  echo "src/report/page.js is stale: run \`make page\`"
  exit 1
}
