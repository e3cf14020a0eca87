# Numbers are read and written through base/locale.h, so that a host program's
# locale changes nothing: elsewhere in the library no strtod, and no snprintf of
# a real number.
cd "$1" || exit 1
exec python3 - <<'PYTHON'
import glob, re, sys

real = re.compile(r"%[-+ #0-9.*]*l?[gGfFeEaA]")

def arguments(text, at):
    depth, quoted, start = 1, False, at
    while depth:
        c = text[at]
        if quoted and c == "\\":
            at += 1
        elif c == '"':
            quoted = not quoted
        elif not quoted:
            depth += (c == "(") - (c == ")")
        at += 1
    return text[start:at]

bad = 0
for path in sorted(glob.glob("src/**/*.[ch]", recursive=True)):
    if path.startswith("src/cli/") or path == "src/base/locale.c":
        continue # the command never calls setlocale
    text = open(path).read()
    for call in re.finditer(r"(?<!\w)(v?snprintf|strtod|atof|sscanf)\(", text):
        words = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"',
                                   arguments(text, call.end())))
        if call[1] == "snprintf" and not real.search(words):
            continue
        number = text.count("\n", 0, call.start()) + 1
        print(f"{path}:{number}: {call[1]} depends on the locale; "
              f"see base/locale.h")
        bad += 1
sys.exit(bad > 0)
PYTHON
