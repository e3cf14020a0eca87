#!/usr/bin/env bash
# python.sh BUILD - what a Python function costs as a model, beside a bare call
# of it, and many points at once. Skipped without numpy.
library=$1/libtempera.so.0
here=$(dirname "$0")
for python in python3 /usr/bin/python3; do
  "$python" -c 'import numpy' 2> /dev/null || continue
  TEMPERA_LIBRARY=$library PYTHONPATH=$here/../bindings/python \
    exec "$python" "$here/python_overhead.py"
done
echo "no Python here has numpy"
