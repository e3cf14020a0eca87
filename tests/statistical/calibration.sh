#!/usr/bin/env bash
# Five models of the gauntlet, one of them with integers, calibrate: ranks and
# intervals of everything that they have. usage: calibration.sh SOURCE BUILD
set -euo pipefail
source=$1
tempera=$2/tempera
export XDG_CACHE_HOME=$2/tests/cache PYTHONDONTWRITEBYTECODE=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 - "$source/benchmarks/gauntlet" <<'END'
import json, sys
sys.path.insert(0, sys.argv[1])
import models, problem
for p in problem.PROBLEMS:
    open(p.name + ".stan", "w").write(p.program)
    json.dump(p.data, open(p.name + ".json", "w"))
END
failed=0
for model in known-scale-2 logistic unknown-scale-2 schools-apart hidden-chain; do
  "$tempera" calibrate $model.stan -d $model.json --runs 100 --seed 1 \
    --iterations 500 --chains 2 -o $model --quiet --json > $model.out
  python3 - $model <<'END' || failed=1
import json, sys
s = json.load(open(sys.argv[1] + ".out"))
print("%-16s %3d runs, %d failed, %3d quantities, p %.3f: %s" % (
    sys.argv[1], s["done"], s["failed"], len(s["parameters"]), s["p"],
    "calibrated" if s["calibrated"] else s["verdict"]))
sys.exit(not (s["calibrated"] and s["done"] == 100))
END
done
exit $failed
