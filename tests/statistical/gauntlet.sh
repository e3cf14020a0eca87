# The quickest problem of every kind of the gauntlet: its truth by both
# computations, and a run at default settings that must be served.
export PYTHONDONTWRITEBYTECODE=1
gauntlet=$1/benchmarks/gauntlet/gauntlet.py
export XDG_CACHE_HOME=$2/tests/cache
python3 "$gauntlet" --check --quick || exit 1
python3 "$gauntlet" "$2/tempera" --quick --seeds 1
