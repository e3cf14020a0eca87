#!/usr/bin/env python3
"""gauntlet.py - problems whose evidence is known exactly, run through the
`tempera` command at default settings, as a user would.

  gauntlet.py TEMPERA [-o FILE] [--document FILE] [--seeds N] [--jobs N]
              [--quick] [--only TEXT] [--again]
  gauntlet.py --check           compute every truth in both ways, compare
  gauntlet.py --write FOLDER    the programs and data, and table.json

Of each run: *served*, reliable and right; *wrong*, reliable and not right; else
*not served* (not reliable, refused, or more than 60 s of processor time). Right
means within `limit` standard errors of the truth. With that limit the chance of
calling any of all runs wrong is 1 % when error bars are honest (Bonferroni over
the runs, normal errors; the se of a run already holds its Student factor). A
problem without evidence is served by saying so. `--again` runs only what was
not served in FILE and keeps the rest. With --document, the tables replace what
is between the document's two markers. The exit status is 1 when any is wrong,
and with --quick, the tenth that `make test` runs, when any is not served.
"""
import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from statistics import NormalDist

import peaks  # noqa: F401  (each adds its problems)
import models  # noqa: F401
import edges  # noqa: F401
import everyday  # noqa: F401
import shapes  # noqa: F401
import outside  # noqa: F401
from problem import PROBLEMS

SECONDS = 60
FAMILY_RATE = .01
SERVED, UNSERVED, WRONG = "served", "not served", "wrong"


def limit(runs):
    return NormalDist().inv_cdf(1 - FAMILY_RATE / (2 * max(runs, 1)))


# ---- the problems ------------------------------------------------------------

def write(problem, folder):
    path = os.path.join(folder, problem.name)
    with open(path + ".stan", "w") as out:
        out.write("// %s: %s\n" % (problem.name, problem.derivation)
                  + problem.program.lstrip())
    with open(path + ".json", "w") as out:
        json.dump(problem.data, out)
    return path


def truth(problem):
    return problem.truth() if problem.truth else None


def check(problems):
    """Both ways, side by side; the number that disagree."""
    bad = 0
    for p in problems:
        if not p.truth:
            continue
        first, second = p.truth(), p.check()
        agree = abs(first - second) <= p.tolerance
        bad += not agree
        print("%-22s %13.6f %13.6f%s" % (p.name, first, second,
                                         "" if agree else "  DISAGREE"))
    print("%d truths disagree with their second computation" % bad)
    return bad


def table(problems):
    return [{"name": p.name, "kind": p.kind, "log_z": truth(p),
             "derivation": p.derivation, "second_check": p.second,
             "agree_within": p.tolerance if p.truth else None}
            for p in problems]


# ---- runs --------------------------------------------------------------------

def limit_time():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))


def run(tempera, problem, seed, folder):
    """One run's row, without its outcome."""
    path = os.path.join(folder, problem.name)
    out = "%s-%d" % (path, seed)
    command = [tempera, "sample", path + ".stan", "-d", path + ".json", "-o",
               out, "--seed", str(seed), "--threads", "1", "--quiet"]
    done = subprocess.run(command, preexec_fn=limit_time, text=True,
                          capture_output=True, check=False)
    row = {"problem": problem.name, "kind": problem.kind, "seed": seed,
           "reliable": False, "log_z": None, "se": None}
    try:
        with open(os.path.join(out, "summary.json")) as file:
            summary = json.load(file)
    except OSError:
        late = done.returncode < 0
        row["verdict"] = ("more than %d s" % SECONDS if late else
                          "refused: " + done.stderr.strip().split("\n")[-1]
                          .replace(folder + os.sep, ""))
        return row
    evidence = summary["evidence"]
    row.update(reliable=summary["reliable"], verdict=summary["verdict"],
               log_z=evidence.get("log_z"), se=evidence.get("se"),
               warnings=summary["warnings"], cost=summary["cost"])
    return row


def judge(problem, row, exact, errors):
    if not row["reliable"] or row["log_z"] is None:
        says_so = problem.truth is None
        return SERVED if says_so else UNSERVED
    if exact is None:
        return WRONG
    allowed = max(errors * (row["se"] or 0), problem.tolerance)
    return SERVED if abs(row["log_z"] - exact) <= allowed else WRONG


def report_row(row):
    if row["outcome"] == SERVED:
        return
    off = ("" if row["log_z"] is None or row["truth"] is None else
           " (log Z %.3f +- %.3f, truth %.3f)" %
           (row["log_z"], row["se"] or 0, row["truth"]))
    print("%-10s %s, seed %d%s: %s" % (row["outcome"], row["problem"],
                                       row["seed"], off, row["verdict"]),
          flush=True)


def run_all(tempera, problems, seeds, jobs, kept):
    truths = {p.name: truth(p) for p in problems}
    wanted = [(p, s) for p in problems for s in range(1, seeds + 1)
              if (p.name, s) not in kept]
    errors = limit(len(problems) * seeds)
    rows = dict(kept)
    with tempfile.TemporaryDirectory() as folder:
        for p in problems:
            write(p, folder)

        def one(job):
            problem, seed = job
            row = run(tempera, problem, seed, folder)
            row["truth"] = truths[problem.name]
            row["outcome"] = judge(problem, row, row["truth"], errors)
            rows[problem.name, seed] = row
            report_row(row)
        with ThreadPoolExecutor(jobs) as pool:
            list(pool.map(one, wanted))
    return [rows[p.name, s] for p in problems for s in range(1, seeds + 1)]


def served_before(path):
    try:
        with open(path) as file:
            rows = json.load(file)["runs"]
    except OSError:
        return {}
    return {(r["problem"], r["seed"]): r for r in rows
            if r["outcome"] == SERVED}


# ---- tables ------------------------------------------------------------------

def count(rows, outcome):
    return sum(r["outcome"] == outcome for r in rows)


def line(name, rows):
    problems = len({r["problem"] for r in rows})
    return "| %s | %d | %d | %d | %d |\n" % (
        name, problems, count(rows, SERVED), count(rows, UNSERVED),
        count(rows, WRONG))


def by_kind(rows):
    text = ("| kind | problems | served | not served | wrong |\n"
            "|---|---|---|---|---|\n")
    for kind in dict.fromkeys(r["kind"] for r in rows):
        text += line(kind, [r for r in rows if r["kind"] == kind])
    return text + line("**all**", rows)


def first_sentence(verdict):
    return re.split(r"[.;] |\.$", verdict.replace("|", "/"))[0]


def failures(rows):
    """Every problem that was not served, with what its first run said."""
    text = ("| problem | truth | outcome at each seed | log Z, se | "
            "what the first says |\n|---|---|---|---|---|\n")
    bad = [r for r in rows if r["outcome"] != SERVED]
    for name in dict.fromkeys(r["problem"] for r in bad):
        all_of_it = [r for r in rows if r["problem"] == name]
        first = next(r for r in all_of_it if r["outcome"] != SERVED)
        number = ("-" if first["log_z"] is None or first["se"] is None else
                  "%.3f, %.3f" % (first["log_z"], first["se"]))
        text += "| %s | %s | %s | %s | %s |\n" % (
            name, "-" if first["truth"] is None else "%.3f" % first["truth"],
            ", ".join(r["outcome"] for r in all_of_it), number,
            first_sentence(first["verdict"]))
    return text if bad else "Every run was served.\n"


def document(path, rows, seeds, errors):
    with open(path) as file:
        text = file.read()
    begin, end = "<!-- gauntlet: begin (make gauntlet) -->\n", \
        "<!-- gauntlet: end -->"
    head, rest = text.split(begin)
    tail = rest.split(end)[1]
    body = ("Runs at %d seeds each; right means within %.2f se.\n\n%s\n"
            "Not served or wrong:\n\n%s\n" % (seeds, errors, by_kind(rows),
                                             failures(rows)))
    with open(path, "w") as file:
        file.write(head + begin + "\n" + body + end + tail)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=(
        argparse.RawDescriptionHelpFormatter))
    parser.add_argument("tempera", nargs="?")
    parser.add_argument("-o", "--output")
    parser.add_argument("--document")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", help="names or kinds that contain it")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--write", metavar="FOLDER")
    given = parser.parse_args()
    if not (given.tempera or given.check or given.write):
        parser.error("the tempera command is missing")
    return given


def select(given):
    return [p for p in PROBLEMS
            if (not given.quick or p.quick) and
            (not given.only or given.only in p.name or given.only in p.kind)]


def main():
    given = arguments()
    problems = select(given)
    if given.check:
        return 1 if check(problems) else 0
    if given.write:
        os.makedirs(given.write, exist_ok=True)
        for p in problems:
            write(p, given.write)
        with open(os.path.join(given.write, "table.json"), "w") as out:
            json.dump(table(problems), out, indent=1)
        return 0
    kept = served_before(given.output) if given.again else {}
    rows = run_all(given.tempera, problems, given.seeds, given.jobs, kept)
    errors = limit(len(rows))
    if given.output:
        with open(given.output, "w") as out:
            json.dump({"limit": errors, "problems": table(problems),
                       "runs": rows}, out, indent=1)
    if given.document:
        document(given.document, rows, given.seeds, errors)
    print(by_kind(rows), end="")
    bad = count(rows, WRONG) + (count(rows, UNSERVED) if given.quick else 0)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
