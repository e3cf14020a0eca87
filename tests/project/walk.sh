# The walks of docs/architecture.md are true: every file that a step names is
# there, and a function named after a file, or before one in brackets, is in it.
cd "$1" || exit 1
exec python3 - <<'PYTHON'
import glob, re, sys

sources = {path: open(path).read()
           for path in glob.glob("src/**/*.[ch]", recursive=True)}

def named(file):
    return [path for path in sources if path.endswith("/" + file)]

bad, pairs = 0, 0
for step in re.findall(r"^\| \d+a? \|.*$", open("docs/architecture.md").read(),
                       re.M):
    for file in re.findall(r"`([\w/]+\.[ch])`", step):
        if not named(file):
            print(f"no file {file}: {step[:60]}")
            bad += 1
    after = re.findall(r"`([\w/]+\.[ch])` `(\w+)`", step)
    before = [(file, name) for name, file in
              re.findall(r"`(\w+)` \(`([\w/]+\.[ch])`", step)]
    for file, name in after + before:
        pairs += 1
        if not any(re.search(rf"^(?![\s#/*]).*\b{name}\(|^\w+ \*?{name}\(",
                             sources[path], re.M) for path in named(file)):
            print(f"{file} has no function {name}")
            bad += 1
    for name in re.findall(r"`((?:tm|tempera|cli)_\w+)`", step):
        if not any(re.search(rf"\b{name}\b", text) for text in sources.values()):
            print(f"nothing is called {name}: {step[:60]}")
            bad += 1
if pairs < 40:
    print(f"only {pairs} steps were understood")
    bad += 1
sys.exit(bad > 0)
PYTHON
