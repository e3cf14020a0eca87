# The include directions of docs/architecture.md hold: a folder of src/
# includes only itself, what its row names, and what those may include; and
# cli/ sees nothing of the library but tempera.h.
cd "$1/src" || exit 1
exec python3 - <<'PYTHON'
import os, re, sys

may = {"base": [], "numeric": ["base"], "parallel": ["base"],
       "model": ["numeric"], "language": ["model"],
       "tempering": ["model", "parallel"],
       "kernels": ["tempering"], "draws": ["base"],
       "groups": ["kernels", "draws", "parallel"],
       "estimate": ["draws", "model", "numeric", "parallel"],
       "run": ["groups", "estimate"], "report": ["estimate", "run"],
       "cli": []}

def reach(folder):
    found = {folder}
    for other in may[folder]:
        found |= reach(other)
    return found

bad = 0
for folder, _, files in os.walk("."):
    for name in files:
        if not name.endswith((".c", ".h")):
            continue
        path = os.path.relpath(os.path.join(folder, name))
        own = path.split("/")[0]
        if own not in may:
            print(f"{path}: folder {own} is not in the table")
            bad += 1
            continue
        for number, line in enumerate(open(path), 1):
            match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if not match or match[1] in ("tempera.h", "tempera_mpi.h"):
                continue
            target = match[1].split("/")[0]
            if target not in reach(own):
                print(f"{path}:{number}: {own} may not include {match[1]}")
                bad += 1
sys.exit(bad > 0)
PYTHON
