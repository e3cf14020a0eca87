"""netcdf.py RUN DATA.json [PREDICTED [OBSERVED]]: run.nc holds what ArviZ's schema asks for, and the
numbers of the CSV files and of the data, exactly."""
import csv, glob, json, math, re, sys
import netCDF4
import numpy

run, data = sys.argv[1], json.load(open(sys.argv[2]))
predicted = sys.argv[3].split(",") if len(sys.argv) > 3 else []
observed = sys.argv[4].split(",") if len(sys.argv) > 4 else None
file = netCDF4.Dataset(f"{run}/run.nc")
summary = json.load(open(f"{run}/summary.json"))
config = json.load(open(f"{run}/config.json"))


def read_csv(role):
    """{name: array (chain, draw, ...)} from the CSV files."""
    chains = []
    for path in sorted(glob.glob(f"{run}/{role}-*.csv")):
        lines = (line for line in open(path) if not line.startswith("#"))
        rows = list(csv.reader(lines))
        chains.append((rows[0], numpy.array(rows[1:], dtype=float)))
    numbers, columns = {}, {}
    for i, name in enumerate(chains[0][0]):
        base, *index = name.split(".")
        columns.setdefault(base, []).append(([int(k) - 1 for k in index], i))
    for base, places in columns.items():
        shape = [max(p[0][k] for p in places) + 1
                 for k in range(len(places[0][0]))]
        values = numpy.full([len(chains), len(chains[0][1])] + shape, math.nan)
        for index, i in places:
            for c, (_, rows) in enumerate(chains):
                values[(c, slice(None), *index)] = rows[:, i]
        numbers[base] = values
    return numbers


def check_group(name):
    """Who made it, and a coordinate counted from 0 for every dimension."""
    group = file.groups[name]
    assert group.inference_library == group.creation_library == "tempera"
    assert group.inference_library_version == summary["version"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00",
                        group.created_at)
    for dimension in group.dimensions.values():
        coordinate = group.variables[dimension.name]
        assert coordinate.dtype == numpy.int64
        assert coordinate[:].tolist() == list(range(len(dimension)))
    return {k: v for k, v in group.variables.items()
            if k not in group.dimensions}


def check_draws(name, wanted):
    found = check_group(name)
    assert found.keys() == wanted.keys(), (name, list(found), list(wanted))
    for key, values in wanted.items():
        v = found[key]
        own = [f"{key}_dim_{k}" for k in range(values.ndim - 2)]
        assert v.dimensions == ("chain", "draw", *own), (key, v.dimensions)
        assert v.shape == values.shape, (key, v.shape, values.shape)
        assert numpy.array_equal(v[:], values), key


def without(numbers, *names):
    return {k: v for k, v in numbers.items()
            if not k.endswith("__") and k not in names}


target, tempered = read_csv("target"), read_csv("tempered")
computed = {q["name"].split("[")[0] for q in summary.get("quantities", [])}
check_draws("posterior", without(target, "log_lik", *predicted))
if predicted:
    check_draws("posterior_predictive", {k: target[k] for k in predicted})
else:
    assert "posterior_predictive" not in file.groups
check_draws("log_likelihood", {"log_lik": target["log_lik"]}
            if "log_lik" in target
            else {"log_likelihood": target["log_likelihood__"]})
check_draws("log_prior", {"log_prior": target["log_prior__"]})
check_draws("sample_stats", {"lp": target["lp__"],
                             "acceptance_rate": target["accept_stat__"]})
check_draws("tempered", {
    **without(tempered, *computed),
    **{k: tempered[k] for k in ("lp__", "accept_stat__", "tau__",
                                "log_likelihood__", "log_prior__")}})
whole = {p["name"].split("[")[0] for p in summary["parameters"] if "pmf" in p}
for name, v in file["posterior"].variables.items():
    if name not in file["posterior"].dimensions:
        wanted = numpy.int64 if name in whole else numpy.float64
        assert v.dtype == wanted, (name, v.dtype)

if observed is None:
    observed = [k for k, v in data.items() if isinstance(v, list)]
for group, is_in in (("observed_data", True), ("constant_data", False)):
    wanted = {k: v for k, v in data.items() if (k in observed) == is_in}
    found = check_group(group) if wanted else {}
    assert found.keys() == wanted.keys(), group
    for key, values in wanted.items():
        v = found[key]
        assert v.dimensions == tuple(f"{key}_dim_{k}" for k in range(v.ndim))
        assert v[:].tolist() == values, key
        ints = numpy.array(values).dtype == numpy.int64
        assert v.dtype == (numpy.int64 if ints else numpy.float64) or not v.size
assert file.model == summary["model"] and file.seed == config["seed"]
assert file.log_z == summary["evidence"]["log_z"]
assert file.log_z_se == summary["evidence"]["se"]
assert file["posterior"].tuning_steps == summary["warmup"]
assert file["posterior"].sampling_time > 0
file.close()

try:
    import xarray
except ImportError:
    sys.exit(0)
posterior = xarray.open_dataset(f"{run}/run.nc", group="posterior")
for name in without(target, "log_lik", *predicted):
    assert posterior[name].dims[:2] == ("chain", "draw")
    assert numpy.array_equal(posterior[name].values, target[name])
assert set(posterior.coords) == set(posterior.dims)
