#!/usr/bin/env python3
"""posteriordb.py - the posteriors of posteriordb, run through the `tempera`
command at default settings, as a user would.

  posteriordb.py TEMPERA CHECKOUT [-o FILE] [--document FILE] [--seeds N]
                 [--seconds S] [--jobs N] [--only TEXT,...] [--again]

CHECKOUT is a working copy of github.com/stan-dev/posteriordb; without one
nothing is run, and nothing of it is kept here. A run gets S seconds of processor
time on one thread, then SIGINT, as Ctrl-C would, and what it has counts.

Where posteriordb has reference draws, means of parameters are compared with
theirs: z = difference / sqrt(mcse^2 + sd^2 / draws of the reference). `FILE` has
a row per run; `--again` runs only those that are not in it. With --document, the
table replaces what is between the document's two markers.
"""
import argparse
import json
import math
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor

SUMMARY_SECONDS = 60
IMPROPER = "improper-prior"
Z_LIMIT = 4


# ---- the checkout ------------------------------------------------------------

def database(checkout):
    return os.path.join(checkout, "posterior_database")


def read_json(path):
    with open(path) as file:
        return json.load(file)


def unzip(path, folder):
    """The name of the one file in a .json.zip, unpacked into folder."""
    with zipfile.ZipFile(path) as archive:
        return archive.extract(archive.namelist()[0], folder)


def posteriors(base, only):
    """Names, programs, data and reference draws of all that has data."""
    found = []
    folder = os.path.join(base, "posteriors")
    for file in sorted(os.listdir(folder), key=str.lower):
        entry = read_json(os.path.join(folder, file))
        if only and not any(text in entry["name"] for text in only):
            continue
        program = os.path.join(base, "models", "stan",
                               entry["model_name"] + ".stan")
        data = os.path.join(base, "data", "data",
                            entry["data_name"] + ".json.zip")
        draws = os.path.join(base, "reference_posteriors", "draws", "draws",
                             str(entry["reference_posterior_name"])
                             + ".json.zip")
        if os.path.exists(program) and os.path.exists(data):
            found.append((entry["name"], program, data,
                          draws if os.path.exists(draws) else None))
    return found


# ---- reference draws ---------------------------------------------------------

def reference_moments(path, folder):
    """name -> (mean, sd, draws) over all chains."""
    values = {}
    for chain in read_json(unzip(path, folder)):
        for name, draws in chain.items():
            values.setdefault(name.replace(" ", ""), []).extend(draws)
    moments = {}
    for name, draws in values.items():
        mean = math.fsum(draws) / len(draws)
        square = math.fsum((x - mean) ** 2 for x in draws)
        moments[name] = (mean, math.sqrt(square / (len(draws) - 1)),
                         len(draws))
    return moments


def worst_z(summary, moments):
    """(largest |z|, its name, how many were compared)"""
    worst, where, compared = 0, None, 0
    for p in summary["parameters"] + summary.get("quantities", []):
        if p["name"] not in moments or p["mcse"] is None:
            continue
        mean, sd, draws = moments[p["name"]]
        error = math.sqrt(p["mcse"] ** 2 + sd ** 2 / draws)
        compared += 1
        z = abs(p["mean"] - mean) / error if error > 0 else 0
        if z > worst:
            worst, where = z, p["name"]
    return worst, where, compared


# ---- runs --------------------------------------------------------------------

def processor_seconds(pid):
    with open("/proc/%d/stat" % pid) as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def ended(process):
    """(status, processor seconds) of a process that has ended, else None. It
    is waited for here, since only wait4 tells what it took."""
    pid, status, usage = os.wait4(process.pid, os.WNOHANG)
    if pid == 0:
        return None
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_utime + usage.ru_stime


def limited(command, seconds):
    """Runs it; SIGINT after so many seconds of processor time. Its status,
    messages, whether it was interrupted, and processor seconds."""
    def limit():
        most = int(seconds) + SUMMARY_SECONDS
        resource.setrlimit(resource.RLIMIT_CPU, (most, most + 1))
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, preexec_fn=limit, stderr=errors,
                                   stdout=subprocess.DEVNULL)
        interrupted, end = False, None
        while not end:
            if not interrupted and processor_seconds(process.pid) > seconds:
                os.kill(process.pid, signal.SIGINT)
                interrupted = True
            time.sleep(.05)
            end = ended(process)
        errors.seek(0)
        return end[0], errors.read().strip(), interrupted, end[1]


def least(summary, what):
    values = [p[what] for p in summary["parameters"] if p[what] is not None]
    return min(values) if values else None


def fill(row, summary):
    evidence, codes = summary["evidence"], [f["code"] for f in
                                            summary["findings"]]
    row.update(reliable=summary["reliable"], basis=summary["basis"],
               verdict=summary["verdict"], log_z=evidence.get("log_z"),
               se=evidence.get("se"), findings=codes,
               proper=IMPROPER not in codes,
               parameters=len(summary["parameters"]),
               ess=least(summary, "ess_bulk"), tail=least(summary, "ess_tail"),
               cost=summary["cost"], iterations=summary["iterations"])


def is_proper(tempera, program, data):
    """By the program's text, for runs without a summary."""
    told = subprocess.run([tempera, "check", program, "-d", data],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          universal_newlines=True)
    return "improper" not in told.stdout


def run(tempera, posterior, seed, seconds, folder):
    name, program, data, draws = posterior
    out = os.path.join(folder, "%s-%d" % (name, seed))
    os.makedirs(out)
    row = {"posterior": name, "seed": seed, "reliable": False, "basis": None,
           "log_z": None, "se": None, "proper": None}
    data = unzip(data, out)
    status, errors, row["interrupted"], row["processor_seconds"] = limited(
        [tempera, "sample", program, "-d", data, "-o",
         os.path.join(out, "run"), "--seed", str(seed), "--threads", "1",
         "--quiet"], seconds)
    try:
        summary = read_json(os.path.join(out, "run", "summary.json"))
    except OSError:
        late = status < 0 or (row["interrupted"] and not errors)
        row["verdict"] = ("no summary in time" if late else "refused: "
                          + errors.split("\n")[0].replace(out + os.sep, ""))
        row["proper"] = is_proper(tempera, program, data)
        return row
    fill(row, summary)
    if draws:
        row["z"], row["worst"], row["compared"] = worst_z(
            summary, reference_moments(draws, out))
    return row


def brief(row):
    z = "" if row.get("z") is None else " z %.2f (%s)" % (row["z"],
                                                          row["worst"])
    number = "" if row["log_z"] is None else " %.3f +- %.3f" % (row["log_z"],
                                                                row["se"])
    print("%-10s %s, seed %d%s%s: %s" % (
        row["basis"] or "-", row["posterior"], row["seed"], number, z,
        row["verdict"]), flush=True)


def run_all(given, found, kept):
    rows = dict(kept)

    def one(job):
        posterior, seed = job
        with tempfile.TemporaryDirectory() as folder:
            row = run(given.tempera, posterior, seed, given.seconds, folder)
        rows[posterior[0], seed] = row
        brief(row)
        keep(given, [rows[key] for key in sorted(rows)])
    wanted = [(p, s) for s in range(1, given.seeds + 1) for p in found
              if (p[0], s) not in kept]
    with ThreadPoolExecutor(given.jobs) as pool:
        list(pool.map(one, wanted))
    return [rows[key] for key in sorted(rows)]


def keep(given, rows):
    if given.output:
        with open(given.output + ".new", "w") as out:
            json.dump({"seconds": given.seconds, "runs": rows}, out, indent=1)
        os.replace(given.output + ".new", given.output)


# ---- the table ---------------------------------------------------------------

def cell(value, form):
    return "-" if value is None else form % value


def word(row):
    if row["reliable"]:
        return "reliable"
    if row["proper"] is False:
        return "draws"
    return "no summary" if "cost" not in row else "not reliable"


def line(row):
    cut = " (cut)" if row["interrupted"] else ""
    return "| %s | %s | %s%s | %s | %s | %s | %s | %s | %s |\n" % (
        row["posterior"], cell(row.get("parameters"), "%d"), word(row), cut,
        row["basis"] or "-", cell(row["log_z"], "%.3f"),
        cell(row["se"], "%.3f"), cell(row["processor_seconds"], "%.0f"),
        cell(row.get("ess"), "%.0f"), cell(row.get("z"), "%.1f"))


def table(rows):
    return ("| posterior | parameters | verdict | basis | log Z | se | "
            "processor seconds | least effective size | worst z |\n"
            "|---|---|---|---|---|---|---|---|---|\n"
            + "".join(line(row) for row in rows))


def counts(rows):
    proper = [r for r in rows if r["proper"] is not False]
    improper = [r for r in rows if r["proper"] is False]
    compared = [r for r in rows if r.get("z") is not None]
    good = sum(r["reliable"] for r in proper)
    text = ("%d of %d runs with proper priors are reliable (%.0f %%). " % (
        good, len(proper), 100 * good / max(len(proper), 1)))
    text += "%d have improper priors, and draws only. " % len(improper)
    return text + ("Of %d with reference draws, %d have every mean within %d "
                   "errors.\n" % (len(compared), sum(
                       r["z"] <= Z_LIMIT for r in compared), Z_LIMIT))


def document(path, rows):
    with open(path) as file:
        text = file.read()
    begin, end = "<!-- posteriordb: begin -->\n", "<!-- posteriordb: end -->"
    head, rest = text.split(begin)
    with open(path, "w") as file:
        file.write(head + begin + "\n" + counts(rows) + "\n" + table(rows)
                   + "\n" + end + rest.split(end)[1])


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=(
        argparse.RawDescriptionHelpFormatter))
    parser.add_argument("tempera")
    parser.add_argument("checkout")
    parser.add_argument("-o", "--output")
    parser.add_argument("--document")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", help="parts of names, separated by commas")
    parser.add_argument("--again", action="store_true")
    return parser.parse_args()


def main():
    given = arguments()
    base = database(given.checkout)
    if not os.path.isdir(base):
        print("skipped: %s has no posterior_database" % given.checkout)
        return 0
    kept = {}
    if given.again and given.output and os.path.exists(given.output):
        kept = {(r["posterior"], r["seed"]): r
                for r in read_json(given.output)["runs"]}
    only = given.only.split(",") if given.only else []
    rows = run_all(given, posteriors(base, only), kept)
    if given.document:
        document(given.document, rows)
    print(counts(rows), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
