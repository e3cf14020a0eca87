#!/usr/bin/env python3
"""everyday.py - posteriors of the kind people have, at default settings.

    python3 everyday.py TEMPERA [--seeds 10] [--only NAME ...]

Each program of this folder with its data (data.py), against log Z by quadrature
or importance sampling (truth.py, with its error). Prints a line per program: how
many runs were reliable, how many of these were within 4 errors, mean and root
mean square of z = (estimate - truth) / error, the median error. Ends with 1 if a reliable
run was wrong, or fewer than 9 of 10 were reliable."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
# log Z and its standard error, as printed by truth.py
TRUTH = {
    "probit_effects": (-152.9411, .0060),
    "transfection": (-76.2407, .0070),
    "factor": (-895.7311, .0025),
    "schools_centred": (-31.31135, 0),
    "neal_funnel": (-15.45076, 0),
    "horseshoe": (-33.76800, 0),
    "effects_30": (-232.70605, 0),
    "change": (-67.91257, 0),
    "sinusoid": (-41.27925, 0),
}


def run(tempera, name, seed, folder):
    path = os.path.join(HERE, name)
    done = subprocess.run(
        [tempera, "sample", path + ".stan", "-d", path + ".json", "--seed",
         str(seed), "--threads", "1", "-q", "--json", "-o",
         os.path.join(folder, "%s-%d" % (name, seed))],
        capture_output=True, text=True)
    if not done.stdout:
        sys.exit("%s, seed %d: %s" % (name, seed, done.stderr))
    return json.loads(done.stdout)


def judge(tempera, name, seeds, folder):
    truth, own = TRUTH[name]
    reliable, right, z, errors = 0, 0, [], []
    for seed in range(1, seeds + 1):
        summary = run(tempera, name, seed, folder)
        if not summary["reliable"]:
            print("  seed %d: %s" % (seed, summary["verdict"]), file=sys.stderr)
            continue
        e = summary["evidence"]
        reliable += 1
        z.append((e["log_z"] - truth) / (e["se"] ** 2 + own ** 2) ** .5)
        errors.append(e["se"])
        right += abs(z[-1]) < 4
    if not z:
        return "| %s | %.4f | 0 of %d | | | | |" % (name, truth, seeds), False
    line = "| %s | %.4f | %d of %d | %d | %+.2f | %.2f | %.4f |" % (
        name, truth, reliable, seeds, right, statistics.fmean(z),
        statistics.fmean(v * v for v in z) ** .5, statistics.median(errors))
    return line, right == reliable and reliable >= .9 * seeds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tempera")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--only", nargs="*", default=list(TRUTH))
    options = parser.parse_args()
    print("| program | log Z | reliable | right | mean z | rms z "
          "| median error |")
    print("|---|---|---|---|---|---|---|")
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for name in options.only:
            line, passed = judge(os.path.abspath(options.tempera), name,
                                 options.seeds, folder)
            print(line, flush=True)
            good = good and passed
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
