"""readers.py FOLDER: do the draws hold what the readers of Stan CSV take from
them? One function per reader, written after its source; each returns draws by
parameter, shaped (chains, draws, ...), and all must agree."""
import glob, math, re, sys


def split_file(path):
    """Comments before the names, names, then the lines that follow."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    assert lines.pop() == "", f"{path}: no newline at the end"
    at = next(i for i, line in enumerate(lines) if not line.startswith("#"))
    return lines[:at], lines[at].split(","), lines[at + 1:]


def number(text):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def settings_of(comments):
    pairs = [c.lstrip("# \t").split("=") for c in comments]
    return {p[0].strip(): number(p[1].strip()) for p in pairs if len(p) == 2}


def arviz(paths):
    """from_cmdstan: int() of three settings, timings, the metric, and names
    whose parts after a dot are whole numbers from 1."""
    chains = []
    for path in paths:
        before, names, after = split_file(path)
        comments = before + [line for line in after if line.startswith("#")]
        settings = settings_of(before)
        version = [c for c in comments if "stan_version_" in c]
        assert len(version) == 3 and all(c.count("=") == 1 for c in version)
        warmup = (int(str(settings["save_warmup"])) * settings["num_warmup"]
                  // settings["thin"])
        metric = next(i for i, c in enumerate(comments)
                      if "inverse mass matrix" in c)
        [float(x) for x in comments[metric + 1].lstrip("# ").split(",")]
        for word in ("Warm-up", "Sampling", "Total"):
            line = next(c for c in comments if f"({word})" in c)
            float(re.sub(r"#\s*(Elapsed Time:)?|seconds \(\S+\)", "", line))
        rows = [[float(x) for x in line.split(",")] for line in after
                if line and not line.startswith("#")]
        assert all(len(row) == len(names) for row in rows)
        chains.append((names, rows[warmup:]))
    return by_name(chains)


def cmdstanpy(paths):
    """from_csv: settings in whole numbers, the adaptation block in its place,
    the counts that the settings promise, chains alike."""
    chains, first = [], None
    for path in paths:
        before, names, after = split_file(path)
        s = settings_of(before)
        assert s["method"] == "sample" and "model" in s
        assert s["metric"] == "diag_e" and isinstance(s["max_depth"], int)
        assert s["save_warmup"] in (0, 1)
        alike = {k: s[k] for k in ("model", "num_samples", "num_warmup",
                                   "save_warmup", "thin")}
        first = first or alike
        assert alike == first, "chains differ in their settings"
        at = after.index("# Adaptation terminated")
        wanted = math.ceil(s["num_warmup"] / s["thin"]) * s["save_warmup"]
        assert at == wanted, f"{path}: {at} warmup draws, not {wanted}"
        label, step = after[at + 1].split("=")
        assert label.startswith("# Step size") and float(step) > 0
        assert after[at + 2] == "# Diagonal elements of inverse mass matrix:"
        assert after[at + 3].startswith("# ")
        rows = []
        for line in after[at + 4:]:
            if line.startswith("#"):
                break
            rows.append([float(x) for x in line.split(",")])
            assert len(rows[-1]) == len(names)
            for whole in ("divergent__", "treedepth__"):
                assert int(line.split(",")[names.index(whole)]) == 0
        wanted = math.ceil(s["num_samples"] / s["thin"])
        assert len(rows) == wanted, f"{path}: {len(rows)} draws, not {wanted}"
        chains.append((names, rows))
    return by_name(chains)


def cmdstanr(paths):
    """read_cmdstan_csv: save_warmup compared with 1, an id per chain, and the
    three times as numbers; the diagnostics are the names that end in __."""
    for i, path in enumerate(paths, 1):
        before, names, after = split_file(path)
        s = settings_of(before)
        assert s["id"] == i
        assert s["algorithm"] != "fixed_param" # which would drop the columns __
        assert names[0] == "lp__"
        times = [line for line in after if "seconds (" in line]
        assert len(times) == 3 and times[0].startswith("#  Elapsed Time: ")
    return None


def by_name(chains):
    """Columns x.i.j into {x: {(chain, draw, i, j): value}}, zero-based."""
    draws = {}
    for c, (names, rows) in enumerate(chains):
        for column, name in enumerate(names):
            base, *index = name.split(".")
            place = tuple(int(i) - 1 for i in index)
            into = draws.setdefault(base, {})
            for d, row in enumerate(rows):
                into[(c, d) + place] = row[column]
    for base, values in draws.items():
        shape = [max(key[k] for key in values) + 1
                 for k in range(len(next(iter(values))))]
        assert math.prod(shape) == len(values), f"{base}: {shape} has holes"
    return draws


def main():
    for role in ("target", "tempered"):
        paths = sorted(glob.glob(f"{sys.argv[1]}/{role}-*.csv"))
        assert paths
        cmdstanr(paths)
        assert str(arviz(paths)) == str(cmdstanpy(paths))


main()
