# The directions of docs/architecture.md hold. A folder of src/ includes only
# itself, what its row names, and what those may include; calls only functions
# of tempera.h that lie there too (cli/ may call all of them, and sees nothing
# else of the library); and uses the outside libraries that are its own. No two
# files have one name.
cd "$1/src" || exit 1
exec python3 - <<'PYTHON'
import glob, os, re, sys

may = {"base": [], "numeric": ["base"], "parallel": ["base"],
       "model": ["numeric", "parallel"], "language": ["model"],
       "tempering": ["model", "parallel"],
       "kernels": ["tempering"], "paper": ["tempering"], "draws": ["base"],
       "groups": ["kernels", "paper", "draws", "parallel"],
       "estimate": ["draws", "model", "numeric", "parallel"],
       "run": ["groups", "estimate"], "report": ["estimate", "run"],
       "folder": ["report"], "calibrate": ["run", "language"], "cli": []}
# Who may include what of which library.
libraries = {"cblas": ["base", "numeric", "language"], "lapacke": ["numeric", "language"],
             "gsl": ["base", "numeric", "language", "groups", "estimate"], "nlopt": ["numeric"],
             "jansson": ["base", "report"], "duktape": ["report"], "netcdf": ["report"],
             "cvodes": ["language"], "nvector": ["language"],
             "sunmatrix": ["language"], "sunlinsol": ["language"],
             "sunnonlinsol": ["language"], "sundials": ["language"],
             "dlfcn": ["numeric", "parallel", "language", "model", "report", "cli"],
             "pthread": ["base", "parallel", "model", "language", "cli"]}

def reach(folder):
    found = {folder}
    for other in may[folder]:
        found |= reach(other)
    return found

sources = sorted(glob.glob("**/*.[ch]", recursive=True))
text = {path: open(path).read() for path in sources}
# Where each function of tempera.h is defined: a name at the start of a line
# that is no statement, followed by a body.
defined = {}
for path in sources:
    for match in re.finditer(r"^(?:\w[\w *]*?)?\b(tempera_\w+)\([^;{}]*\)\s*\{",
                             text[path], re.M):
        defined[match[1]] = path.split("/")[0]

bad = 0
def refuse(path, number, words):
    global bad
    bad += 1
    print(f"{path}:{number}: {words}")

for path in sources:
    own = path.split("/")[0]
    if own not in may:
        refuse(path, 1, f"folder {own} is not in the table")
        continue
    code = re.sub(r"/\*.*?\*/", lambda m: "\n" * m[0].count("\n"), text[path],
                  flags=re.S)
    for number, line in enumerate(code.splitlines(), 1):
        include = re.match(r'\s*#\s*include\s+(["<])([^">]+)', line)
        if include and include[1] == '"':
            target = include[2].split("/")[0]
            if target not in reach(own) and target not in ("tempera.h", "tempera_mpi.h"):
                refuse(path, number, f"{own} may not include {include[2]}")
        elif include:
            library = re.split(r"[./_]", include[2])[0]
            if own not in libraries.get(library, [own]):
                refuse(path, number, f"{own} may not use {include[2]}")
        else:
            for name in re.findall(r"\b(tempera_\w+)\(", line):
                home = defined.get(name, own)
                if own != "cli" and home not in reach(own):
                    refuse(path, number, f"{own} may not call {name} of {home}")
names = [os.path.basename(path) for path in sources]
for path in sources:
    if names.count(os.path.basename(path)) > 1:
        refuse(path, 1, "another file has this name")
if len(defined) < 60:
    refuse("tempera.h", 1, f"only {len(defined)} functions were found")
sys.exit(bad > 0)
PYTHON
