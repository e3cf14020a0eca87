# The Python package: its unit tests, and its example as a script.
. "$(dirname "$0")/bindings.bash"
python_with numpy
status 0 "unit tests" "$python" \
  "$source_dir/bindings/python/tests/test_tempera.py" -v
grep -E 'skipped|^Ran' err
status 0 "the notebook-style example" "$python" \
  "$source_dir/bindings/python/examples/two_modes.py"
prints "the notebook-style example" 'log Bayes factor'
finish
