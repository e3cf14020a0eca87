#!/usr/bin/env python3
"""docs.py - the numbers in the documents, made by running what they say.

    docs.py BUILD --write FILE...   run, and put the numbers in (make docs)
    docs.py BUILD --check FILE...   run, and compare with what is written

Each document is run in a folder of its own, in which `build`, `models`
and `gallery` lead to ours and `tempera` to the source. Marks, which do not show on the page:

    <!-- file NAME -->      the block that follows becomes this file
    <!-- run -->            its lines are commands
    <!-- output -->         its first line is `$ command`, the rest its output
    <!-- table COMMAND -->  the first table of the command's output, cut to fit
    <!-- = EXPRESSION -->text<!-- end -->   a value, see `Values` below

Draws differ between kinds of processors as between seeds. So --check asks that
commands succeed, that outputs have the same lines but for numbers (nine of ten),
and that values are near: two units of the last digit written, or 3 %; estimates with
their errors: four errors of both."""
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BLOCK = r"(?P<block>```\w*\n.*?```\n|(?:    [^\n]*\n|\n(?=    ))+)"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


class Values:
    """What expressions may name."""

    def __init__(self, folder):
        self.folder = folder

    def run(self, name):
        return json.load(open(os.path.join(self.folder, name, "summary.json")))

    def log_z(self, name, digits=2):
        e = self.run(name)["evidence"]
        digits = max(digits, math.ceil(-math.log10(e["se"])))  # no error of 0
        return "%.*f ± %.*f" % (digits, e["log_z"], digits, e["se"])

    def log_bf(self, over, under, digits=1):
        z = [self.run(n)["evidence"]["log_z"] for n in (over, under)]
        return "%.*f" % (digits, z[0] - z[1])

    def names(self):
        return {"run": self.run, "log_z": self.log_z, "log_bf": self.log_bf,
                "mode": lambda n, k: self.run(n)["modes"][k - 1],
                "pmf": self.pmf, "component": self.component}

    def pmf(self, name, parameter):
        for p in self.run(name)["parameters"]:
            if p["name"] == parameter:
                return {e["value"]: e["probability"] for e in p["pmf"]}

    def component(self, name, value):
        for p in self.run(name)["components"]:
            if p["name"] == value:
                return p


class Document:
    def __init__(self, path, build, write):
        self.path, self.write = path, write
        self.text = open(path, encoding="utf-8").read()
        self.failures = []
        keep = os.environ.get("DOCS_KEEP") # else what is run is thrown away
        self.work = tempfile.TemporaryDirectory()
        self.folder = self.work.name
        if keep:
            name = os.path.splitext(os.path.basename(path))[0]
            self.folder = os.path.join(os.path.abspath(keep), name)
            shutil.rmtree(self.folder, ignore_errors=True)
            os.makedirs(self.folder)
        for name, to in (("build", build), ("models", SOURCE + "/models"),
                         ("gallery", SOURCE + "/docs/gallery"),
                         ("tempera", SOURCE)):
            os.symlink(to, os.path.join(self.folder, name))
        self.environment = dict(
            os.environ, PATH=build + os.pathsep + os.environ["PATH"])
        self.environment.pop("MAKEFLAGS", None)

    def command(self, line):
        done = subprocess.run(["bash", "-c", line], cwd=self.folder,
                              env=self.environment, capture_output=True,
                              text=True)
        if done.returncode:
            self.failures.append("$ %s: status %d: %s" % (
                line, done.returncode, done.stderr.strip()[-300:]))
        return done.stdout

    # ---- the marks ----------------------------------------------------------

    def file(self, match):
        with open(os.path.join(self.folder, match["argument"]), "w") as out:
            out.write(inside(match["block"]))
        return match[0]

    def run(self, match):
        for line in inside(match["block"]).replace("\\\n", " ").split("\n"):
            if line.strip():
                self.command(line)
        return match[0]

    def output(self, match):
        old = match["block"].rstrip("\n").split("\n")
        line = old[0].strip()
        assert line.startswith("$ "), line
        new = [old[0]] + [("    " + x).rstrip()
                          for x in self.command(line[2:]).rstrip().split("\n")]
        self.compare_lines(line, old, new)
        return self.take(match, match["mark"] + "\n".join(new) + "\n")

    def table(self, match):
        parts = self.command(match["argument"]).strip("\n").split("\n\n")
        parts = [p.split("\n") for p in parts if "\n" in p.strip("\n")]
        new = ["    " + cut(x.strip()) for x in (parts or [[""]])[0]]
        self.compare_lines(match["argument"],
                           match["block"].rstrip("\n").split("\n"), new)
        return self.take(match, match["mark"] + "\n".join(new) + "\n")

    def value(self, match):
        new = str(eval(match["expression"], Values(self.folder).names()))
        if not near(match["old"], new):
            self.fail("%s is %s, written %s" % (match["expression"], new,
                                                match["old"]))
        return self.take(match, "<!-- = %s -->%s<!-- end -->" % (
            match["expression"], new))

    # ---- comparing ------------------------------------------------------------

    def fail(self, words):
        if not self.write:
            self.failures.append(words)

    def take(self, match, new):
        return new if self.write else match[0]

    def compare_lines(self, what, old, new):
        here = {shape(x) for x in new}
        known = sum(shape(x) in here for x in old)
        if known < 0.9 * len(old):
            self.fail("%s: %d of %d lines are as written" % (
                what, known, len(old)))

    def go(self):
        marks = re.compile(
            r"(?P<mark><!-- (?P<kind>file|run|output|table)(?: (?P<argument>"
            r"[^>]+?))? -->\n\n?)" + BLOCK
            + r"|<!-- = (?P<expression>.+?) -->(?P<old>.*?)<!-- end -->", re.S)

        def act(match):
            kind = match["kind"]
            return getattr(self, kind)(match) if kind else self.value(match)
        try:
            text = marks.sub(act, self.text)
        except (OSError, KeyError, TypeError, IndexError) as error:
            self.failures.append("%s: %s" % (type(error).__name__, error))
            text = self.text
        if self.write and not self.failures and text != self.text:
            open(self.path, "w", encoding="utf-8").write(text)
        for failure in self.failures:
            print("%s: %s" % (self.path, failure), file=sys.stderr)
        return not self.failures


def inside(block):
    if block.startswith("```"):
        return block[block.index("\n") + 1:-4]
    return re.sub(r"(?m)^    ", "", block)


def cut(line, width=66):
    return line if len(line) <= width else line[:width].rsplit(" ", 1)[0] + " ..."


def shape(line):
    return " ".join(NUMBER.sub("#", line).split())


def unit(number):
    return 10.0 ** -len(number.partition(".")[2])


def near(old, new):
    a, b = NUMBER.findall(old), NUMBER.findall(new)
    if len(a) != len(b) or NUMBER.sub("#", old) != NUMBER.sub("#", new):
        return False
    if re.fullmatch(r"\S+ (±|\+-) \S+", old):  # an estimate and its error
        (x, s), (y, t) = map(float, a), map(float, b)
        half = unit(a[1]) / 2  # 0.00 may be an error of .0049
        return (abs(x - y) <= 2 * half + 4 * math.hypot(s + half, t + half) and
                s - half <= 4 * (t + half) and t - half <= 4 * (s + half))
    for x, y in zip(a, b):
        if abs(float(x) - float(y)) > max(2.01 * unit(x), 0.03 * abs(float(x))):
            return False
    return True


def main():
    build, how, files = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3:]
    assert how in ("--write", "--check") and files, __doc__
    fine = [Document(f, build, how == "--write").go() for f in files]
    return 0 if all(fine) else 1


sys.exit(main())
