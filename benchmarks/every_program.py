#!/usr/bin/env python3
"""every_program.py - all Stan programs of a folder through `tempera check
--gradient`: are they accepted, split (or is a mark asked for), and are their
gradients right?

  every_program.py TEMPERA FOLDER [-o FILE] [--jobs N] [--only TEXT,...] [--again]

Data are looked for as NAME.data.json, NAME.json and NAME.data.R beside the
program, in posteriordb's list where FOLDER is a checkout of it, then among the
other data files of the program's folder; where none fits, data are made up from
the declarations, so that the gradient is compared all the same. Where a mark is
asked for, the program is counted as asking and checked with
`// @likelihood` there. Where differences disagree and the program solves
differential equations, they are compared again with tolerances of 1e-12: the
program's own are coarser than differences can bear. Programs whose statements
are done row by row (`check --cost`) are compared with the statements one by one.

FILE has one row (JSON) per program; `--again` runs only what is not in it. Nothing
of FOLDER is written to. Ends with 1 when a program is refused or a gradient
wrong.
"""
import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import zipfile
from concurrent.futures import ThreadPoolExecutor

SECONDS = 300
SLOW = 2  # data at which a search for a start was given up: enough of them
VARIANTS = 12
SOLVERS = r"\b(integrate_ode_rk45|integrate_ode_bdf|integrate_ode_adams|integrate_ode|ode_rk45|ode_bdf|ode_adams|ode_ckrk)(_tol)?\s*\("


# ---- programs as text --------------------------------------------------------

def without_comments(text):
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return re.sub(r"(//|#(?!include)).*", "", text)


def block(text, name):
    """What is between the braces of a block, or ''."""
    found = re.search(r"(?<!transformed )(?<!\w)" + name + r"\s*\{", text)
    if not found:
        return ""
    depth, at = 1, found.end()
    while depth and at < len(text):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
    return text[found.end():at - 1]


def closing(text, at):
    """Where the bracket that opens at `at` is closed."""
    depth = 0
    for k in range(at, len(text)):
        depth += {"(": 1, "[": 1, "{": 1, "<": 0}.get(text[k], 0)
        depth -= {")": 1, "]": 1, "}": 1}.get(text[k], 0)
        if depth == 0:
            return k
    return len(text) - 1


def commas(text):
    """Split at the commas that are in no bracket."""
    parts, depth, last = [], 0, 0
    for k, c in enumerate(text):
        depth += c in "([{"
        depth -= c in ")]}"
        if c == "," and depth == 0:
            parts.append(text[last:k])
            last = k + 1
    return parts + [text[last:]]


def tightened(text):
    """The program with all tolerances of its ODE solvers at 1e-12."""
    done, at = "", 0
    text = without_comments(text)
    for found in re.finditer(SOLVERS, text):
        if found.start() < at:
            return None  # one inside another
        end = closing(text, found.end() - 1)
        parts = commas(text[found.end():end])
        name = found.group(1)
        tight = ["1e-12", "1e-12", "1000000"]
        if name.startswith("integrate"):
            call = name + "(" + ",".join(parts[:7] + tight)
        elif found.group(2):
            call = name + "_tol(" + ",".join(parts[:4] + tight + parts[7:])
        else:
            call = name + "_tol(" + ",".join(parts[:4] + tight + parts[4:])
        done += text[at:found.start()] + call
        at = end
    return done + text[at:] if done else None


def marked(text, lines):
    """The program with `// @likelihood` behind the statements at these lines."""
    rows = text.split("\n")
    for line in lines:
        at = line - 1
        while at < len(rows) and ";" not in rows[at].split("//")[0]:
            at += 1
        if at < len(rows):
            head = rows[at].split("//")[0]
            rows[at] = head.rstrip() + " // @likelihood"
    return "\n".join(rows)


# ---- data that are there -----------------------------------------------------

def r_dump(text):
    """An R dump of numbers, as dump() and rstan write it."""
    text = re.sub(r"#.*", "", text)
    return {name.strip('"`\' '): r_value(value) for name, value in
            re.findall(r'([\w."`\']+)\s*<-\s*((?:structure\s*\()?.*?)(?=\n\s*["`\']?[\w.]+["`\']?\s*<-|\Z)',
                       text, flags=re.S)}


def r_number(text):
    text = text.strip().rstrip("L")
    if re.fullmatch(r"[-+]?\d+", text):
        return int(text)
    return {"Inf": "Inf", "-Inf": "-Inf", "NA": "NaN", "NaN": "NaN", "TRUE": 1,
            "FALSE": 0}[text] if re.match(r"-?[A-Za-z]", text) else float(text)


def r_value(text):
    text = text.strip().rstrip(";").strip()
    if text.startswith("structure"):
        parts = commas(text[text.index("(") + 1:text.rindex(")")])
        dims = [p for p in parts if ".Dim" in p]
        sizes = r_value(dims[0].split("=", 1)[1]) if dims else None
        return shaped(r_value(parts[0]), sizes)
    if text.startswith(("c(", "c (")):
        values = []
        for part in commas(text[text.index("(") + 1:text.rindex(")")]):
            value = r_value(part)
            values += value if isinstance(value, list) else [value]
        return values
    span = re.fullmatch(r"(\d+)L?\s*:\s*(\d+)L?", text)
    if span:
        return list(range(int(span.group(1)), int(span.group(2)) + 1))
    if re.match(r"(integer|double|numeric|rep)\s*\(", text):
        parts = commas(text[text.index("(") + 1:text.rindex(")")])
        if text.startswith("rep"):
            return [r_number(parts[0])] * int(r_number(parts[1]))
        return [0] * int(r_number(parts[0]))
    return r_number(text)


def shaped(values, sizes):
    """Column-major values as nested lists."""
    if not sizes or not isinstance(sizes, list) or len(sizes) == 1:
        return values if isinstance(values, list) else [values]
    rows = sizes[0]
    return [shaped(values[i::rows], sizes[1:]) for i in range(rows)]


def data_files(program, folder_list):
    """Likely data files, the likeliest first."""
    folder, name = os.path.split(program[:-5])
    first = [os.path.join(folder, name + end)
             for end in (".data.json", ".json", ".data.R")]
    other = [os.path.join(folder, f) for f in sorted(os.listdir(folder))
             if f.endswith((".data.json", ".data.R", ".json"))
             and not f.endswith(".init.json")]
    other.sort(key=lambda f: -len(os.path.commonprefix([f, program])))
    found = folder_list.get(os.path.realpath(program), []) + first
    return [f for k, f in enumerate(found + other)
            if os.path.isfile(f) and f not in (found + other)[:k]]


def posteriordb(folder):
    """Program to data files, by the database's own list."""
    base = os.path.join(folder, "posterior_database")
    listed = {}
    if not os.path.isdir(os.path.join(base, "posteriors")):
        return listed
    for file in sorted(os.listdir(os.path.join(base, "posteriors"))):
        with open(os.path.join(base, "posteriors", file)) as opened:
            entry = json.load(opened)
        path = os.path.join(base, "models", "stan",
                            entry["model_name"] + ".stan")
        data = os.path.join(base, "data", "data",
                            entry["data_name"] + ".json.zip")
        listed.setdefault(os.path.realpath(path), []).append(data)
    return listed


def read_data(path):
    """The data of a file as a dictionary, or None."""
    try:
        if path.endswith(".zip"):
            with zipfile.ZipFile(path) as archive:
                return json.loads(archive.read(archive.namelist()[0]))
        with open(path) as file:
            text = file.read()
        return json.loads(text) if path.endswith(".json") else r_dump(text)
    except (ValueError, KeyError, IndexError, OSError):
        return None


# ---- data made up from declarations ------------------------------------------

DECLARATION = re.compile(
    r"\s*(?:array\s*\[(?P<outer>[^\]]*)\]\s*)?"
    r"(?P<type>int|real|vector|row_vector|matrix|simplex|unit_vector|ordered|"
    r"positive_ordered|cov_matrix|corr_matrix|cholesky_factor_corr|"
    r"cholesky_factor_cov)\b\s*(?:<(?P<bounds>.*?)>(?=\s*[\[\w]))?\s*"
    r"(?:\[(?P<sizes>[^\]]*(?:\[[^\]]*\][^\]]*)*)\])?\s*(?P<name>\w+)\s*"
    r"(?:\[(?P<old>.*)\])?\s*$", re.S)


class Maker:
    """Values for the declarations of a data block, by one of a few habits."""

    def __init__(self, variant):
        self.random = random.Random(variant)
        self.size = (3, 4, 2, 6, 5, 1)[variant % 6]
        self.ones = variant % 2 == 1
        self.identities = variant >= 6  # square matrices: covariances?
        self.values = {}

    def number(self, text, otherwise):
        if text is None or not text.strip():
            return otherwise
        text = text.strip().replace("!", " not ").replace("||", " or ")
        text = text.replace("&&", " and ").replace("/", "//")
        try:
            return eval(text, {"min": lambda *a: min(flat(a)), "max":
                               lambda *a: max(flat(a)), "sum": lambda a:
                               sum(flat([a])), "num_elements": lambda a:
                               len(list(flat([a]))), "size": len, "rows": len,
                               "sqrt": lambda x: x ** .5},
                        {k: Indexed(v) if isinstance(v, list) else v
                         for k, v in self.values.items()})
        except Exception:
            return otherwise

    def bounds(self, text):
        low = high = None
        for part in commas(text or ""):
            name, _, value = part.partition("=")
            if name.strip() == "lower":
                low = self.number(value, None)
            if name.strip() == "upper":
                high = self.number(value, None)
        if isinstance(low, list) or isinstance(high, list):
            return None, None
        return low, high

    def whole(self, low, high, alone):
        if alone:
            value = self.size
        elif self.ones:
            value = 1
        else:
            value = self.random.randint(0 if low == 0 else 1, 2)
        if low is not None:
            value = max(value, int(low))
            if high is not None and not alone and not self.ones:
                value = self.random.randint(int(low), max(int(low), int(high)))
        return value if high is None else min(value, int(high))

    def real(self, low, high):
        x = self.random.random()
        if low is not None and high is not None:
            return low + (high - low) * (.1 + .8 * x)
        if low is not None:
            return low + .2 + x
        return high - .2 - x if high is not None else 2 * x - 1

    def one(self, kind, sizes, low, high, alone):
        n = sizes[0] if sizes else 0
        if kind == "int":
            return self.whole(low, high, alone)
        if kind == "real":
            return self.real(low, high)
        if kind == "matrix" or (kind == "cholesky_factor_cov"
                                and len(sizes) > 1):
            if kind == "matrix" and n == sizes[1] and self.identities:
                return [[int(i == j) for j in range(n)] for i in range(n)]
            if kind == "matrix":
                return [[self.real(low, high) for _ in range(sizes[1])]
                        for _ in range(n)]
        if kind.startswith(("cov", "corr", "chol")):
            return [[1 if i == j else 0 for j in range(sizes[-1])]
                    for i in range(n)]
        if kind == "simplex":
            return [1 / n] * n
        if kind == "unit_vector":
            return [n ** -.5] * n
        row = [self.real(low, high) for _ in range(n)]
        return sorted(abs(x) + i for i, x in enumerate(row)) \
            if "ordered" in kind else row

    def declare(self, text):
        found = DECLARATION.match(text)
        if not found:
            return False
        outer = [s for t in ("outer", "old") if found.group(t)
                 for s in commas(found.group(t))]
        outer = [self.number(s, self.size) for s in outer]
        inner = [self.number(s, self.size) for s in
                 commas(found.group("sizes"))] if found.group("sizes") else []
        low, high = self.bounds(found.group("bounds"))

        def nest(k):
            if k == len(outer):
                return self.one(found.group("type"), inner, low, high,
                                not outer)
            return [nest(k + 1) for _ in range(int(outer[k]))]
        self.values[found.group("name")] = nest(0)
        return True


class Indexed(list):
    """A list that counts from 1, as the program does."""

    def __getitem__(self, k):
        return list.__getitem__(self, k - 1)


def flat(values):
    for value in values:
        if isinstance(value, list):
            yield from flat(list(value))
        else:
            yield value


def made_up(text, variant):
    maker = Maker(variant)
    for declaration in block(without_comments(text), "data").split(";"):
        if declaration.strip() and not maker.declare(declaration):
            return None
    return maker.values


# ---- one program -------------------------------------------------------------

def run(arguments):
    try:
        done = subprocess.run(arguments, capture_output=True, text=True,
                              timeout=SECONDS, errors="replace")
        return done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired:
        return 124, "", "took longer than %d s" % SECONDS


class Program:
    def __init__(self, tempera, path, listed, scratch):
        self.tempera, self.path, self.listed = tempera, path, listed
        self.scratch = tempfile.mkdtemp(dir=scratch)
        with open(path, errors="replace") as file:
            self.text = file.read()
        self.checked = path

    def include(self):
        return ["--include-path", os.path.dirname(self.path)]

    def write(self, text):
        self.checked = os.path.join(self.scratch,
                                    os.path.basename(self.path))
        with open(self.checked, "w") as file:
            file.write(text)

    def with_data(self, data):
        file = os.path.join(self.scratch, "data.json")
        with open(file, "w") as opened:
            json.dump(data, opened)
        return run([self.tempera, "check", "--gradient", "--cost",
                    self.checked, "-d", file] + self.include())

    def candidates(self):
        wanted = block(without_comments(self.text), "data")
        if not wanted.strip():
            yield "no data needed", {}
        for path in data_files(self.path, self.listed):
            data = read_data(path)
            if data is not None:
                yield os.path.basename(path), data
        for variant in range(VARIANTS):
            data = made_up(self.text, variant)
            if data is None:
                return
            yield "made up", data

    def accept(self, row):
        """Is it accepted, if need be with marks?"""
        lines = []
        for _ in range(20):
            code, _, message = run([self.tempera, "check", self.checked]
                                   + self.include())
            asks = re.search(r":(\d+):\d+:.*@likelihood", message)
            if code == 0 or not asks or not message:
                break
            lines.append(int(asks.group(1)))
            self.write(marked(self.text, lines))
        row["asks"] = len(lines)
        row["accepted"] = code == 0
        if code != 0:
            row["message"] = message.strip()[:400]
            row["crashed"] = code not in (1, 2)
        return code == 0

    def rows(self, row, out):
        """What statements over rows and statements one by one differ by."""
        both = re.search(r"the two agree to (\S+)", out)
        if both:
            row["rows"] = float(both.group(1))

    def compare(self, row):
        last, slow = "", 0
        for source, data in self.candidates():
            if slow == SLOW and source != "made up":
                continue
            code, out, message = self.with_data(data)
            slow += "10 s sufficed for" in message and slow < SLOW
            if "gradient of the log" not in out:
                last = (message.strip().split("\n")[-1] or out.strip()[-200:])
                row["crashed"] = row.get("crashed") or code not in (0, 1)
                continue
            worst = [float(x) for x in
                     re.findall(r"relative error (\S+),", out)]
            row.update(data=source, agrees="DISAGREE" not in out,
                       error=max(worst + [0]), compared=len(worst))
            self.rows(row, out)
            if not row["agrees"]:
                row["line"] = re.search(r".*DISAGREE.*", out).group(0)
                text = tightened(open(self.checked).read())
                if text:
                    self.write(text)
                    code, out, message = self.with_data(data)
                    row["tight"] = "gradient of the log" in out and \
                        "DISAGREE" not in out
                    self.rows(row, out)
                    row["tight_line"] = "; ".join(
                        re.findall(r"relative error .*", out)) or message
            if row["compared"]:
                return
        if "agrees" not in row:
            row["data"] = None
            row["last"] = last[-300:]


def check(tempera, path, listed, scratch, name):
    row = {"program": name}
    program = Program(tempera, path, listed, scratch)
    if program.accept(row):
        program.compare(row)
    return row


# ---- all of them -------------------------------------------------------------

def verdict(row):
    if row.get("crashed"):
        return "CRASHED"
    if not row["accepted"]:
        return "refused"
    if row.get("agrees"):
        return "agrees"
    if row.get("tight"):
        return "agrees at 1e-12"
    return "not compared" if row.get("data") is None else "DISAGREES"


def summarise(rows):
    counts = {}
    for row in rows:
        counts[verdict(row)] = counts.get(verdict(row), 0) + 1
    made = sum(r.get("data") == "made up" for r in rows)
    print("%d programs; %d ask for a mark; data made up for %d" %
          (len(rows), sum(bool(r["asks"]) for r in rows), made))
    for name, count in sorted(counts.items()):
        print("  %-16s %d" % (name, count))
    apart = sorted((r["rows"], r["program"]) for r in rows if "rows" in r)
    if apart:
        print("  %-16s %d, which agree with one by one to %.1e (%s)" %
              (("with rows", len(apart)) + apart[-1]))
    for row in rows:
        if verdict(row) not in ("agrees",):
            print("%s: %s %s" % (row["program"], verdict(row),
                                 row.get("line") or row.get("message")
                                 or row.get("last", "")))
    return counts


def main():
    options = argparse.ArgumentParser(usage=__doc__)
    options.add_argument("tempera")
    options.add_argument("folder")
    options.add_argument("-o", default=None)
    options.add_argument("--jobs", type=int, default=1)
    options.add_argument("--only", default="")
    options.add_argument("--again", action="store_true")
    asked = options.parse_args()
    rows = {}
    if asked.again and asked.o and os.path.exists(asked.o):
        with open(asked.o) as file:
            rows = {r["program"]: r for r in map(json.loads, file)}
    listed = posteriordb(asked.folder)
    paths = sorted(os.path.join(d, f) for d, _, files in
                   os.walk(asked.folder) for f in files if f.endswith(".stan"))
    names = {os.path.relpath(p, asked.folder): p for p in paths}
    names = {n: p for n, p in names.items() if n not in rows and
             (not asked.only or any(t in n for t in asked.only.split(",")))}
    tempera = os.path.abspath(asked.tempera)
    with tempfile.TemporaryDirectory() as scratch, \
            ThreadPoolExecutor(asked.jobs) as pool:
        for row in pool.map(lambda n: check(tempera, names[n], listed, scratch,
                                            n), sorted(names)):
            rows[row["program"]] = row
            if asked.o:
                with open(asked.o, "a") as file:
                    file.write(json.dumps(row) + "\n")
    counts = summarise([rows[n] for n in sorted(rows)])
    return 1 if set(counts) & {"CRASHED", "refused", "DISAGREES"} else 0


if __name__ == "__main__":
    sys.exit(main())
