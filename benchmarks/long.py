#!/usr/bin/env python3
"""Memory does not grow with the length of a run: 10^6 and 10^8 iterations of
the bimodal model, thinned to the same number of rows.

    long.py BUILD [MOST]

Ends with status 1 where the longer one takes more than 5 % more memory, or its
evidence is off by more than four standard errors."""
import json
import os
import resource
import shutil
import subprocess
import sys
import time

PAPER = os.path.join(os.path.dirname(__file__), "..", "models", "paper")
ROWS = 10000


def memory_of(command):
    """Peak resident kilobytes; each in a process of its own, since the system
    tells the largest of all children."""
    child = os.fork()
    if child == 0:
        subprocess.run(command, check=True)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        with open("long-memory.txt", "w") as file:
            file.write(str(peak))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if status:
        sys.exit("the run failed")
    with open("long-memory.txt") as file:
        peak = int(file.read())
    os.remove("long-memory.txt")
    return peak


def main():
    build, most = sys.argv[1], int(float(sys.argv[2])) if sys.argv[2:] else 10**8
    with open(PAPER + "/truth.json") as file:
        exact = json.load(file)["bimodal"]["data_2555"]
    truth = exact["one_parameter"]["log_z"]
    peaks, wrong = [], 0
    for iterations in (most // 100, most):
        folder, began = build + "/long-run", time.time()
        shutil.rmtree(folder, ignore_errors=True)
        peaks.append(memory_of(
            [build + "/tempera", "sample", build + "/models/bimodal.so", "-d",
             PAPER + "/bimodal.json", "--seed", "1", "--chains", "2",
             "--threads", "2", "--warmup", "5000", "--iterations",
             str(iterations), "--thin", str(iterations // ROWS), "-q", "-o",
             folder]))
        with open(folder + "/summary.json") as file:
            evidence = json.load(file)["evidence"]
        size = sum(os.path.getsize(os.path.join(folder, name))
                   for name in os.listdir(folder))
        print("%d iterations: %d kB of memory, %d kB on disk, %.0f s, log Z %.4f "
              "+- %.4f" % (iterations, peaks[-1], size // 1024,
                           time.time() - began, evidence["log_z"],
                           evidence["se"]))
        wrong += abs(evidence["log_z"] - truth) > 4 * evidence["se"]
    return int(peaks[1] > 1.05 * peaks[0] or wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
