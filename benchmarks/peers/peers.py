#!/usr/bin/env python3
"""peers.py - Tempera beside what Debian ships, one problem after another.

  peers.py BUILD [-o FILE] [--document FILE] [--plot FILE] [--seeds N]
           [--only NAME,...] [--tools NAME,...] [--again] [--seconds S]
           [--cache FOLDER]

Tools take turns on every problem and seed, one thread each, at their defaults:
`tempera sample` (evidence and report included), rstan with 4 x (1000 + 1000) and
bridgesampling (rstan.R), JAGS with 4 x (2000 + 5000) and bridgesampling where its
log posterior is written (jags.R), MCMCpack with 4 x (1000 + 5000) (mcmcpack.R),
emcee with 64 walkers x 2000. What is not installed is named. Seconds are
processor time, without compilation; a run of ours is interrupted after S of them.

FILE has a row per run; --again runs only those that are not in it, --only some
problems, --tools some tools, so that it can be made in pieces. With --document and --plot, table and
plots replace what is there. Compiled models of rstan are kept in FOLDER."""
import argparse
import json
import math
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from problems import PROBLEMS, TOP  # noqa: E402

TOOLS = ["tempera", "rstan", "jags", "mcmcpack", "emcee"]


# ---- ours --------------------------------------------------------------------

def processor_seconds(pid):
    with open("/proc/%d/stat" % pid) as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def timed(command, limit):
    """(processor seconds, kilobytes, interrupted) of a command."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    interrupted = False
    while True:
        pid, _, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            return usage.ru_utime + usage.ru_stime, usage.ru_maxrss, interrupted
        if not interrupted and processor_seconds(process.pid) > limit:
            os.kill(process.pid, signal.SIGINT)
            interrupted = True
        time.sleep(.02)


def least(parameters, what):
    return min((p[what] for p in parameters if p[what] is not None),
               default=None)


def gradient_cost(given, program, data):
    """Microseconds for a gradient, by bench-gradient; None: not built."""
    bench = os.path.join(given.build, "bench-gradient")
    if not os.path.exists(bench):
        return None
    told = subprocess.run([bench, program, data], capture_output=True,
                          text=True)
    return float(told.stdout.split()[2]) if told.returncode == 0 else None


def run_tempera(given, name, program, data, seed, folder):
    tempera = os.path.join(given.build, "tempera")
    compiled = os.path.join(folder, "model.so")
    compile_seconds, _, _ = timed([tempera, "compile", program, "-o", compiled],
                                  1e9)
    out = os.path.join(folder, "run")
    seconds, memory, interrupted = timed(
        [tempera, "sample", program, "-d", data, "-o", out, "--seed",
         str(seed), "--threads", "1", "--quiet"], given.seconds)
    row = {"seconds": seconds, "memory": memory / 1024, "cut": interrupted,
           "compile": compile_seconds}
    try:
        with open(os.path.join(out, "summary.json")) as file:
            s = json.load(file)
    except OSError:
        return row
    row.update(bulk=least(s["parameters"], "ess_bulk"),
               tail=least(s["parameters"], "ess_tail"), cost=s["cost"],
               reliable=s["reliable"], verdict=s["verdict"],
               log_z=s["evidence"].get("log_z"), se=s["evidence"].get("se"),
               microseconds=gradient_cost(given, program, data))
    return row


# ---- theirs ------------------------------------------------------------------

def run_r(given, *arguments):
    try:
        told = subprocess.run(
            ["Rscript", os.path.join(HERE, arguments[0]), *arguments[1:]],
            capture_output=True, text=True, timeout=20 * given.seconds)
    except FileNotFoundError:
        return {"absent": "R"}
    except subprocess.TimeoutExpired:
        return {"failed": "no end in time"}
    lines = [l for l in told.stdout.splitlines() if l.startswith("{")]
    return json.loads(lines[-1]) if lines else {
        "failed": told.stderr.strip()[-200:]}


def run_rstan(given, name, program, data, seed, folder):
    os.makedirs(given.cache, exist_ok=True)
    kept = os.path.join(given.cache, os.path.basename(program) + ".rds")
    return run_r(given, "rstan.R", program, data, kept, str(seed))


def run_jags(given, name, program, data, seed, folder):
    return run_r(given, "jags.R", name, data, str(seed))


def run_mcmcpack(given, name, program, data, seed, folder):
    return run_r(given, "mcmcpack.R", name, data, str(seed))


def emcee_density(name, data):
    import numpy as np
    if name == "bimodal":
        y = np.array(data["y"])
        return 1, lambda x: (-.5 * x[0] ** 2
                             - .5 * np.sum((y - abs(x[0])) ** 2))
    if name == "gaussian-100":
        y = np.array(data["y"])
        return 100, lambda x: -.5 * np.sum(x ** 2) - 2 * np.sum((y - x) ** 2)
    return 10, lambda x: (-np.inf if np.any(abs(x) > 20) else np.logaddexp(
        math.log(.2) - .5 * np.sum((x + 4) ** 2),
        math.log(.8) - .5 * np.sum((x - 4) ** 2)))


def run_emcee(given, name, program, data, seed, folder):
    try:
        import emcee
        import numpy as np
    except ImportError as missing:
        return {"absent": str(missing.name)}
    with open(data) as file:
        dimension, density = emcee_density(name, json.load(file))
    walkers, steps = max(64, 2 * dimension + 2), 2000
    np.random.seed(seed)
    began = time.process_time()
    sampler = emcee.EnsembleSampler(walkers, dimension, density)
    sampler.run_mcmc(np.random.normal(size=(walkers, dimension)), 2 * steps)
    seconds = time.process_time() - began
    lag = float(np.max(sampler.get_autocorr_time(discard=steps, quiet=True)))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": seconds, "evaluations": 2 * walkers * steps,
            "bulk": walkers * steps / lag, "tail": None, "memory": memory,
            "autocorrelation": lag, "log_z": None}


RUN = {"tempera": run_tempera, "rstan": run_rstan, "jags": run_jags,
       "mcmcpack": run_mcmcpack, "emcee": run_emcee}


# ---- all ---------------------------------------------------------------------

def effective(row):
    values = [row[k] for k in ("bulk", "tail") if row.get(k) is not None]
    return min(values) if values else None


def spent(row):
    """Processor seconds, the evidence's included."""
    seconds = row.get("seconds")
    return seconds and seconds + (row.get("bridge_seconds") or 0)


def rate(row):
    """Effective draws per processor second."""
    if effective(row) is None or not spent(row):
        return None
    return effective(row) / spent(row)


def keep(path, rows):
    with open(path + ".part", "w") as file:
        json.dump({"runs": rows}, file, indent=1)
    os.replace(path + ".part", path)


def run_all(given, rows):
    known = {(r["problem"], r["tool"], r["seed"]) for r in rows}
    for name, (program, data, truth, peers) in PROBLEMS.items():
        if given.only and name not in given.only:
            continue
        for seed in range(1, given.seeds + 1):
            for tool in TOOLS:
                if tool != "tempera" and tool not in peers:
                    continue
                if given.tools and tool not in given.tools:
                    continue
                if (name, tool, seed) in known and given.again:
                    continue
                with tempfile.TemporaryDirectory() as folder:
                    path = os.path.join(folder, "data.json")
                    with open(path, "w") as file:
                        json.dump(data(), file)
                    row = RUN[tool](given, name, os.path.abspath(
                        os.path.join(TOP, program)), path, seed, folder)
                row.update(problem=name, tool=tool, seed=seed, truth=truth)
                rows = [r for r in rows if (r["problem"], r["tool"], r["seed"])
                        != (name, tool, seed)] + [row]
                keep(given.output, rows)
                print("%-17s %-8s seed %d: %s" % (name, tool, seed, brief(row)),
                      flush=True)
    return rows


def brief(row):
    if "absent" in row or "failed" in row:
        return row.get("failed") or row["absent"] + " is not installed"
    return "%.2f s, effective %s, per second %s, log Z %s" % (
        row["seconds"], number(effective(row)), number(rate(row)),
        number(row.get("log_z"), "%.3f"))


def number(x, form="%.4g"):
    return "–" if x is None else form % x


def median(rows, f):
    values = [v for v in map(f, rows) if v is not None]
    return statistics.median(values) if values else None


def cell(rows, gradients):
    """Seconds, effective size, log Z and, of some, microseconds."""
    width = 3 + gradients
    if not rows or any("failed" in r for r in rows):
        return (["failed"] if rows else ["–"]) + ["–"] * (width - 1)
    if any("absent" in r for r in rows):
        return ["absent"] + ["–"] * (width - 1)
    z = median(rows, lambda r: r.get("log_z"))
    se = median(rows, lambda r: r.get("se"))
    cells = [number(median(rows, spent), "%.2f")
             + (" cut" if any(r.get("cut") for r in rows) else ""),
             number(median(rows, effective), "%.0f"),
             "–" if z is None else "%.3f" % z
             + ("" if se is None else " ± %.3f" % se)]
    if gradients:
        cells.append(number(median(rows, lambda r: r.get("microseconds")),
                            "%.3g"))
    return cells


GRADIENTS = ("tempera", "rstan")


def spread(ratios):
    if not ratios:
        return "–"
    if len(ratios) == 1:
        return "%.2g" % ratios[0]
    return "%.2g (%.2g, %.2g)" % (statistics.median(ratios), min(ratios),
                                  max(ratios))


def row_of(name, truth, rows):
    mine = {t: [r for r in rows if r["problem"] == name and r["tool"] == t]
            for t in TOOLS}
    if not any(mine.values()):
        return None
    cells = [name + ("" if truth is None else " (log Z %.3f)" % truth)]
    for tool in TOOLS:
        cells += cell(mine[tool], tool in GRADIENTS)
    for tool in ("rstan", "jags"):
        cells.append(spread([
            rate(a) / rate(b) for a in mine["tempera"] for b in mine[tool]
            if a["seed"] == b["seed"] and rate(a) and rate(b)]))
    return "| " + " | ".join(cells) + " |"


def table(rows):
    heads = ["problem"]
    for tool in TOOLS:
        heads += [("ours" if tool == "tempera" else tool) + ": s", "effective",
                  "log Z"] + ["µs"] * (tool in GRADIENTS)
    heads += ["ours / rstan", "ours / jags"]
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += [row_of(name, truth, rows)
              for name, (_, _, truth, _) in PROBLEMS.items()]
    return "\n".join(l for l in lines if l)


def between(path, text):
    begin, end = "<!-- peers: begin -->", "<!-- peers: end -->"
    with open(path) as file:
        whole = file.read()
    head, rest = whole.split(begin, 1)
    with open(path, "w") as file:
        file.write(head + begin + "\n\n" + text + "\n\n" + end
                   + rest.split(end, 1)[1])


# ---- the plot ----------------------------------------------------------------

def plot(rows, path):
    """Effective draws per processor second, on a log scale."""
    shown = [(n, t, median([r for r in rows if r["problem"] == n
                            and r["tool"] == t], rate))
             for n in PROBLEMS for t in TOOLS]
    shown = [s for s in shown if s[2]]
    names = [n for n in PROBLEMS if any(s[0] == n for s in shown)]
    low = math.floor(math.log10(min(s[2] for s in shown)))
    high = math.ceil(math.log10(max(s[2] for s in shown)))
    left, width, step = 130, 480, 22
    colours = {"tempera": "#1f6feb", "rstan": "#b35900", "jags": "#2da44e",
               "mcmcpack": "#8250df", "emcee": "#6e7781"}

    def across(x):
        return left + width * (math.log10(x) - low) / max(1, high - low)
    height = 60 + step * len(names)
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" '
           'font-family="sans-serif" font-size="12">' % (left + width + 20,
                                                         height),
           '<rect width="100%" height="100%" fill="white"/>']
    for k in range(low, high + 1):
        x = across(10 ** k)
        out.append('<line x1="%.1f" y1="10" x2="%.1f" y2="%d" stroke="#ddd"/>'
                   '<text x="%.1f" y="%d" text-anchor="middle">%g</text>' % (
                       x, x, height - 45, x, height - 30, 10.0 ** k))
    for i, n in enumerate(names):
        y = 22 + step * i
        out.append('<text x="%d" y="%d" text-anchor="end">%s</text>' % (
            left - 8, y + 4, n))
        for _, tool, x in (s for s in shown if s[0] == n):
            out.append('<circle cx="%.1f" cy="%d" r="5" fill="%s"><title>%s %s:'
                       ' %.3g</title></circle>' % (across(x), y, colours[tool],
                                                   n, tool, x))
    for i, (tool, colour) in enumerate(colours.items()):
        out.append('<circle cx="%d" cy="%d" r="5" fill="%s"/><text x="%d" '
                   'y="%d">%s</text>' % (left + 90 * i, height - 12, colour,
                                         left + 10 + 90 * i, height - 8, tool))
    with open(path, "w") as file:
        file.write("\n".join(out + ["</svg>"]) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("-o", "--output", default="peers.json")
    parser.add_argument("--document")
    parser.add_argument("--plot")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--only", type=lambda s: s.split(","))
    parser.add_argument("--tools", type=lambda s: s.split(","))
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--cache", default=os.path.join(
        os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")),
        "tempera-peers"))
    given = parser.parse_args()
    rows = []
    if os.path.exists(given.output):
        with open(given.output) as file:
            rows = json.load(file)["runs"]
    rows = run_all(given, rows)
    absent = sorted({r["absent"] for r in rows if "absent" in r})
    text = table(rows) + ("\n\nNot installed: " + ", ".join(absent) + "."
                          if absent else "")
    print(text)
    if given.document:
        between(given.document, text)
    if given.plot and any(rate(r) for r in rows):
        plot(rows, given.plot)


if __name__ == "__main__":
    main()
