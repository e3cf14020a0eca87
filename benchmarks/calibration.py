#!/usr/bin/env python3
"""How often `tempera calibrate` finds a planted error, and how often it cries
wolf: the same four programs at 60, 100 and 200 runs, over several seeds.

    calibration.py TEMPERA [--seeds N] [--runs 60,100,200] [--threads N]

Data are of normal(mu, s) with mu ~ normal(0, 1), s ~ exponential(1); the
program that is fitted is the same (sound), has the mean of mu at 3 (shifted),
three times its sd (wide), 1.1 times the log likelihood (scaled). "parameters"
is what ranks of mu and s alone would have found (the least p times two below
.01): a wrong scale of the likelihood makes intervals a twentieth too narrow,
which is hard to see, while the log likelihood itself is plainly another."""
import argparse, json, os, subprocess, sys, tempfile

SOUND = """data { int N; vector[N] y; }
parameters { real mu; real<lower=0> s; }
model { mu ~ normal(0, 1); s ~ exponential(1); y ~ normal(mu, s); }
"""
PLANTED = {
    "sound": SOUND,
    "shifted": SOUND.replace("normal(0, 1)", "normal(3, 1)"),
    "wide": SOUND.replace("normal(0, 1)", "normal(0, 3)"),
    "scaled": SOUND.replace("y ~ normal(mu, s)",
                            "target += 1.1 * normal_lpdf(y | mu, s)"),
}


def calibrate(tempera, name, seed, runs, threads):
    command = [tempera, "calibrate", name + ".stan", "--simulate", "truth.stan",
               "-d", "data.json", "--seed", str(seed), "--runs", str(runs),
               "--iterations", "300", "--chains", "2", "--threads",
               str(threads), "-o", f"{name}-{seed}", "--quiet", "--json"]
    out = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    return json.loads(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tempera")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--runs", default="60,100,200")
    parser.add_argument("--threads", type=int, default=1)
    asked = parser.parse_args()
    tempera = os.path.abspath(asked.tempera)
    counts = [int(n) for n in asked.runs.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        open("truth.stan", "w").write(SOUND)
        json.dump({"N": 4, "y": [0, 0, 0, 0]}, open("data.json", "w"))
        for name, program in PLANTED.items():
            open(name + ".stan", "w").write(program)
            found = {n: [0, 0] for n in counts}
            worst = {n: [] for n in counts}
            for seed in range(1, asked.seeds + 1):
                for n in counts:
                    s = calibrate(tempera, name, seed, n, asked.threads)
                    p = {v["name"]: v["p"] for v in s["parameters"]}
                    found[n][0] += not s["calibrated"]
                    found[n][1] += 2 * min(p["mu"], p["s"]) < 0.01
                    worst[n].append(s["p"])
            for n in counts:
                print("%-8s %4d runs: found in %2d of %d, by the parameters "
                      "alone in %2d; p %.1e to %.1e" % (
                          name, n, found[n][0], asked.seeds, found[n][1],
                          min(worst[n]), max(worst[n])), flush=True)


sys.exit(main())
