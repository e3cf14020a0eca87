# The draws are Stan CSV: header, names, adaptation block, rows, timing.
. "$(dirname "$0")/helpers.bash"

status 0 "run" "$tempera" sample "$models/normal.so" -d y.json --seed 1 \
  --chains 2 --iterations 501 --warmup 100 --thin 2 -o plain
status 0 "warmup too" "$tempera" sample "$models/normal.so" -d y.json \
  --seed 1 --chains 2 --iterations 501 --warmup 100 --thin 2 -o warm \
  --save-warmup

cat > check.py <<'PYTHON'
import math, sys
first = "lp__,accept_stat__,treedepth__,divergent__,tau__".split(",")
path, saved = sys.argv[1], sys.argv[2] == "warm"
lines = open(path).read().split("\n")
assert lines.pop() == "", "the file ends in a newline"
settings, names, before, after, adapted = {}, None, [], [], []
for line in lines:
    if line.startswith("#"):
        key, equal, value = line[1:].partition("=")
        if equal and names is None:
            settings[key.strip()] = value.strip()
        if "Adaptation terminated" in line or adapted:
            adapted.append(line)
    elif names is None:
        names = line.split(",")
        assert names[:5] == first, names
    else:
        row = dict(zip(names, map(float, line.split(",")), strict=True))
        (after if adapted else before).append(row)
assert settings["method"] == "sample" and settings["model"] == "normal"
assert settings["save_warmup"] == ("1" if saved else "0")
assert settings["num_warmup"] == "100" and settings["thin"] == "2"
assert settings["num_samples"] == "501" and settings["id"] == "2"
assert settings["metric"] == "diag_e" and settings["seed"] == "1"
assert settings["algorithm"] == "tempera" and settings["max_depth"] == "10"
assert settings["engine"] == "pt-stwnc"
assert "nuts" not in "".join(lines).lower() and "hmc" not in "".join(lines)
assert adapted[1].startswith("# Step size = ")
assert adapted[2] == "# Diagonal elements of inverse mass matrix:"
assert len(adapted[3][1:].split(",")) == 1
assert "Elapsed Time" in "".join(adapted) and "(Total)" in lines[-2]
assert len(after) == math.ceil(501 / 2), len(after)
assert len(before) == (50 if saved else 0), len(before)
y = [1.5, 0.5, 2, 1]
half = 0.5 * math.log(2 * math.pi)
for row in before + after:
    mu, tau = row["mu"], row["tau__"]
    likelihood = sum(-half - 0.5 * (v - mu) ** 2 for v in y)
    prior = -half - 0.5 * mu * mu
    assert abs(row["log_likelihood__"] - likelihood) < 1e-9
    assert abs(row["log_prior__"] - prior) < 1e-9
    assert abs(row["lp__"] - tau * likelihood - prior) < 1e-9
    assert 0 <= tau <= 1 and ("target" not in path or tau == 1)
PYTHON
for run in plain warm; do
  for role in target tempered; do
    status 0 "$run/$role-2.csv is Stan CSV" \
      python3 check.py $run/$role-2.csv $run
  done
done
finish
