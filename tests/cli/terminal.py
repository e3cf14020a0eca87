"""terminal.py TEMPERA MODEL DATA: what a run looks like on terminals of several
kinds, through a pseudo-terminal."""
import fcntl, os, pty, re, struct, subprocess, sys, tempfile, termios, unicodedata

tempera, model, data = sys.argv[1:]
utf8 = {"TERM": "xterm", "LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"]}


def on_terminal(columns, environment, *options):
    """All that a run prints to a terminal of so many columns, and its status."""
    lead, follow = pty.openpty()
    fcntl.ioctl(follow, termios.TIOCSWINSZ,
                struct.pack("HHHH", 24, columns, 0, 0))
    folder = tempfile.mkdtemp(dir=".")
    child = subprocess.Popen(
        [tempera, "sample", model, "-d", data, "--seed", "1", "--chains", "2",
         "--iterations", "20000", "--warmup", "500", "-o", folder + "/run",
         *options], stdin=follow, stdout=follow, stderr=follow,
        env={**os.environ, **{"NO_COLOR": ""}, **environment})
    os.close(follow)
    output = b""
    while True:
        try:
            more = os.read(lead, 65536)
        except OSError:
            break
        if not more:
            break
        output += more
    os.close(lead)
    assert child.wait() == 0, output
    return output.decode()


def width(text):
    return sum(0 if unicodedata.combining(c) else
               2 if unicodedata.east_asian_width(c) in "WF" else 1
               for c in text)


def progress_lines(output):
    """Each state of the line that is overwritten."""
    return re.findall(r"\r([^\r\n\033]+)\033\[K", output)


def plain(output):
    return re.sub(r"\033\[[0-9;]*[mK]", "", output)


# Colours and a line that is overwritten, gone when the tables come.
# Long enough to be seen at work on a fast machine.
wide = on_terminal(120, utf8, "--iterations", "200000")
lines = progress_lines(wide)
assert lines and all(width(line) < 120 for line in lines), lines
assert re.search(r"(warmup|sampling) +\d+ %  \d+ it/s  \S+ (left|to the next check)",
                 "\n".join(lines)), lines
assert re.search(r"log Z -\d+\.\d+ ± \d+\.\d+  \d+ round trips",
                 "\n".join(lines)), lines
assert "\r\033[Knormal by pt-stwnc" in wide, "the progress line is left behind"
assert "\033[1mEvidence\033[0m" in wide

# Narrow: what does not fit is left out, and nothing wraps.
for columns in (40, 20, 12):
    lines = progress_lines(on_terminal(columns, utf8))
    assert lines and max(map(width, lines)) < columns, (columns, lines)
    assert columns < 16 or any("100 %" in line for line in lines), lines

# Without colour; a terminal that knows no escapes; a locale without UTF-8.
assert "\033[1" not in on_terminal(80, {**utf8, "NO_COLOR": "1"})
dumb = on_terminal(80, {**utf8, "TERM": "dumb"})
assert "\033" not in dumb and not re.search(r"\r(?!\n)", dumb), dumb
ascii_only = on_terminal(80, {**utf8, "LC_ALL": "C"}, "--verbose")
assert ascii_only.isascii(), ascii_only

# --verbose: a histogram for each parameter and the way of tau.
sketch = plain(on_terminal(100, utf8, "--verbose"))
found = re.search(r"\n  mu +(-?[\d.]+) \|([ ▁-█]+)\| (-?[\d.]+)\r", sketch)
assert found and len(found[2]) >= 40 and "█" in found[2], sketch
assert float(found[1]) < 0 < float(found[3])
peak = found[2].index("█") / len(found[2])
assert 0.3 < peak < 0.7, found[2]
taus = re.findall(r"\n  chain \d +\|([▁-█]+)\|", sketch)
assert len(taus) == 2 and all("▁" in t and "█" in t for t in taus), sketch
for line in sketch.replace("\r", "").split("\n"):
    assert "|" not in line or width(line) <= 100, line
