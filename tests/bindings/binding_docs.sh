# The commands of docs/python.md and docs/r.md, as they stand there.
. "$(dirname "$0")/bindings.bash"
python_with numpy
blocks() { # LANGUAGE FILE: the marked blocks, one behind the other
  "$python" -c 'import re, sys
language, path = sys.argv[1:]
found = re.findall(rf"<!-- {language} -->\n```{language}\n(.*?)```", open(path).read(),
                   re.S)
assert len(found) >= 3, "the page has lost its marks"
print("\n".join(found))' "$1" "$2"
}
blocks python "$source_dir/docs/python.md" > page.py
echo 'assert found.log_bayes_factor("two", "one") > 1, found' >> page.py
status 0 "docs/python.md" "$python" page.py
if command -v R > /dev/null; then
  export TEMPERA_CFLAGS="-I$source_dir/include" R_LIBS=$work/rlib
  export TEMPERA_LIBS="-L$build_dir -ltempera -Wl,-rpath,$build_dir"
  mkdir rlib
  cp -r "$source_dir/bindings/r" package
  status 0 "R CMD INSTALL" R CMD INSTALL --library=rlib package
  blocks r "$source_dir/docs/r.md" > page.R
  echo 'stopifnot(two$logml - one$logml > 1)' >> page.R
  status 0 "docs/r.md" Rscript page.R
else
  echo "no R here: docs/r.md was not run"
fi
finish
