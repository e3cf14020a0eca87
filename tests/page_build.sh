# The committed bundle of the charts is what page/ gives; needs Node and the
# packages of page/ (make page installs them), else it is skipped.
source_dir=$1
command -v node > /dev/null && [ -d "$source_dir/page/node_modules" ] || exit 77
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
node "$source_dir/page/build.js" --into "$made" || exit 1
for file in page.js page.css; do
  cmp "$made/$file" "$source_dir/src/report/$file" || {
    echo "src/report/$file is stale: run \`make page\`"
    exit 1
  }
done
