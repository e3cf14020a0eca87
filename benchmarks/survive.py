#!/usr/bin/env python3
"""Runs are killed at random moments, resumed on another number of threads,
some of them killed again, and must end with the files of the run that was
never killed: rows of all CSV files bit for bit, the summary but for times.

    survive.py BUILD [--kills N] [--seed S] [--only NAME]

Ends with the number of runs that differ as its exit status."""
import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PAPER = os.path.join(os.path.dirname(__file__), "..", "models", "paper")
LENGTHS = ["--iterations", "2000", "--warmup", "2000"]


WORKER = """
import math, sys
for line in sys.stdin:
    mu = float(line)
    l = sum(-0.5 * (v - mu) ** 2 for v in (1.5, 0.5, 2, 1))
    print(repr(l), repr(-mu * mu / 8 - math.log(2) - 0.9189385332046727), flush=True)
"""


def program(work):
    """A program as the model, with its parameters."""
    paths = [os.path.join(work, name) for name in ("model.py", "parameters.json")]
    for path, text in zip(paths, (WORKER, '{"mu": "real"}')):
        with open(path, "w") as file:
            file.write(text)
    return ["--command", "%s %s" % (sys.executable, paths[0]), "--parameters",
            paths[1], "--prior-normalised", "--reference", "false", "--bridge",
            "false", "--iterations", "60", "--warmup", "60"]


def problems(build, work):
    bimodal = [build + "/models/bimodal.so", "-d", PAPER + "/bimodal.json"]
    stan = [PAPER + "/bimodal.stan", "-d", PAPER + "/bimodal.json"]
    return {
        "pt-stwnc": bimodal + LENGTHS,
        "pt": bimodal + ["--method", "pt"] + LENGTHS,
        "st": bimodal + ["--method", "st"] + LENGTHS,
        "stan": stan + LENGTHS,
        "command": program(work),
        "automatic": bimodal + ["--until-se", "0.02"],
        "paper": bimodal + ["--paper", "--iterations", "3000"],
        "pawl": bimodal + ["--method", "pawl"] + LENGTHS,
        "ee": bimodal + ["--method", "ee"] + LENGTHS,
        "mh": bimodal + ["--method", "mh", "--save-warmup"] + LENGTHS,
    }


MAIN = ["pt-stwnc", "pt", "st", "stan", "command"]


def without_times(value):
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items()
                if not k.startswith("seconds")}
    if isinstance(value, list):
        return [without_times(v) for v in value]
    return value


def content(folder):
    """What must be the same: rows, and the summary without times."""
    files = {}
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if name.endswith(".csv"):
            with open(path) as file:
                files[name] = [line for line in file if not line.startswith("#")]
    with open(os.path.join(folder, "summary.json")) as file:
        files["summary"] = without_times(json.load(file))
    return files


def start(command):
    # A checkpoint at every block, so that runs of a second have many.
    return subprocess.Popen(command, env=dict(os.environ, TEMPERA_CHECKPOINT="0"),
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def kill_after(process, seconds):
    """False when it had ended by then."""
    try:
        process.communicate(timeout=seconds)
        return False
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.communicate()
        return True


def survive(tempera, arguments, folder, whole, chance):
    """Kill, resume, perhaps kill again; gives the number of kills."""
    kills = 0
    process = start([tempera, "sample", *arguments, "-o", folder, "-q"])
    while True:
        again = kills == 0 or chance.random() < 0.3
        if not again:
            break
        if not kill_after(process, chance.uniform(0, whole)):
            if process.returncode != 0:
                raise RuntimeError("exit status %d" % process.returncode)
            return kills
        kills += 1
        process = go_on(tempera, arguments, folder, chance)
    _, err = process.communicate()
    if process.returncode != 0:
        raise RuntimeError(err.decode())
    return kills


def go_on(tempera, arguments, folder, chance):
    # Killed before the folder was a run's: it begins.
    if not os.path.exists(os.path.join(folder, "config.json")):
        return start([tempera, "sample", *arguments, "-o", folder, "-q"])
    return start([tempera, "resume", folder, "-q", "--threads",
                  str(chance.choice([1, 2, 3]))])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append")
    given = parser.parse_args()
    tempera, chance = given.build + "/tempera", random.Random(given.seed)
    names = given.only or MAIN
    work = tempfile.mkdtemp(prefix="survive-")
    done = differ = runs = 0
    references = {}
    while done < given.kills:
        name = names[runs % len(names)]
        arguments = problems(given.build, work)[name] + ["--seed", "11", "--threads", "2"]
        if name not in references:
            folder, began = os.path.join(work, name), time.time()
            subprocess.run([tempera, "sample", *arguments, "-o", folder, "-q"],
                           check=True)
            references[name] = content(folder), time.time() - began
        reference, seconds = references[name]
        folder = os.path.join(work, "%s-%d" % (name, runs))
        runs += 1
        try:
            began = time.time()
            kills = survive(tempera, arguments, folder, seconds, chance)
            same = content(folder) == reference
            if kills == 0:  # it was quicker than the one before
                references[name] = reference, min(seconds, time.time() - began)
        except RuntimeError as problem:
            kills, same = 1, False
            print(problem, file=sys.stderr)
        if done // 20 < (done + kills) // 20:
            print("%d kills, %d runs, %d differ" % (done + kills, runs, differ),
                  flush=True)
        done += kills
        if not same:
            differ += 1
            print("%s: differs, see %s" % (name, folder), file=sys.stderr)
        else:
            shutil.rmtree(folder)
    print("%d kills of %d runs (%s): %d ended identical, %d differ" %
          (done, runs, ", ".join(names), runs - differ, differ))
    if not differ:
        shutil.rmtree(work)
    return min(differ, 100)


if __name__ == "__main__":
    sys.exit(main())
