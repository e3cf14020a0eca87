"""A run: its folder, and everything in it by name."""

from __future__ import annotations

import html
import json
import shutil
import tempfile
import weakref
import zlib
from collections.abc import Mapping
from ctypes import byref, c_size_t
from pathlib import Path
from typing import Any, Iterator, Optional, Union

import numpy as np

from ._library import (Handle, TARGET, TEMPERED, lib, reals, sizes, take_text)

Array = np.ndarray
MOST_RANK = 8


class Draws(Mapping):
    """Draws of a run by name, each an array (chain, draw, ...).

    ``tau``, ``log_likelihood`` and ``log_prior`` belong to every draw; at the
    target, tau is 1.
    """

    def __init__(self, handle: Handle, role: int):
        self._handle = handle
        self._role = role
        self._cache: dict[str, Array] = {}
        self._names: list[str] = []
        for i in range(lib.draws_size(handle.value)):
            root = lib.draws_name(handle.value, i).decode().split("[")[0]
            if root not in self._names:
                self._names.append(root)

    @property
    def chains(self) -> int:
        return lib.draws_chains(self._handle.value)

    @property
    def rows(self) -> int:
        """Draws in each chain."""
        return lib.draws_rows(self._handle.value, self._role)

    @property
    def tau(self) -> Array:
        """The inverse temperature of each draw."""
        return self._column(lib.draws_tau)

    @property
    def log_likelihood(self) -> Array:
        return self._column(lib.draws_log_likelihood)

    @property
    def log_prior(self) -> Array:
        return self._column(lib.draws_log_prior)

    def _column(self, function: Any) -> Array:
        if self.rows == 0:
            return np.empty((self.chains, 0))
        columns = [np.ctypeslib.as_array(
            function(self._handle.value, self._role, chain), (self.rows,))
            for chain in range(self.chains)]
        return np.array(columns)

    def _read(self, name: str) -> Array:
        key, handle = name.encode(), self._handle.value
        count, rank = c_size_t(), c_size_t()
        dims = np.zeros(MOST_RANK, dtype=np.uintp)
        lib.draws_variable(handle, self._role, key, None, byref(count))
        places = np.zeros(count.value, dtype=np.uintp)
        lib.draws_shape(handle, key, sizes(dims), MOST_RANK, byref(rank),
                        sizes(places))
        flat = np.empty((self.chains, self.rows, count.value))
        lib.draws_variable(handle, self._role, key, reals(flat), byref(count))
        ordered = np.empty_like(flat)
        ordered[..., places.astype(int)] = flat
        shape = tuple(int(n) for n in dims[:rank.value])
        return ordered.reshape(flat.shape[:2] + shape)

    def __getitem__(self, name: str) -> Array:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._cache:
            self._cache[name] = self._read(name)
        return self._cache[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        kind = "target" if self._role == TARGET else "tempered"
        return (f"<{kind} draws: {self.chains} chains of {self.rows}, "
                f"{', '.join(self._names)}>")


class Summary(Mapping):
    """Means, quantiles and diagnostics of every value, by its name; printed, it
    is the screen of the command."""

    def __init__(self, rows: list[dict[str, Any]], text: str):
        self._rows = {row["name"]: {k: v for k, v in row.items()
                                    if k != "name"} for row in rows}
        self._text = text

    def __getitem__(self, name: str) -> dict[str, Any]:
        return self._rows[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__

    def to_pandas(self) -> Any:
        """The table as a pandas.DataFrame, a row for each value."""
        import pandas
        numbers = {name: {k: v for k, v in row.items()
                          if not isinstance(v, (dict, list))}
                   for name, row in self._rows.items()}
        return pandas.DataFrame.from_dict(numbers, orient="index")


def _bracketed(name: str) -> str:
    """p.2.1 of a Stan CSV file as p[2,1]."""
    root, *places = name.split(".")
    return f"{root}[{','.join(places)}]" if places else root


class Report:
    """A page of charts; a notebook displays it."""

    def __init__(self, path: Path):
        self.path = path

    def _repr_html_(self) -> str:
        page = html.escape(self.path.read_text(), quote=True)
        return (f'<iframe srcdoc="{page}" width="100%" height="800" '
                f'style="border: 0"></iframe>')

    def __repr__(self) -> str:
        return f"<report at {self.path}>"


class Run(Mapping):
    """What one run found: draws by name, the evidence, and how far to trust
    it.

    ``run["mu"]`` are the draws of ``mu`` from the posterior, an array (chain,
    draw, ...); transformed parameters and generated quantities are there too.
    A run can be pickled, with all its draws. ``folder`` is where its files are;
    without ``output`` it is a temporary one that goes with this object.
    """

    def __init__(self, folder: Union[str, Path], *, temporary: bool = False):
        self.folder = Path(folder)
        self._temporary = temporary
        if temporary:
            weakref.finalize(self, shutil.rmtree, str(self.folder),
                             ignore_errors=True)
        self.json: dict[str, Any] = json.loads(
            (self.folder / "summary.json").read_text())
        self._model: Any = None  # of functions or a command: for `test`
        self._draws: Optional[Handle] = None
        self._roles: dict[int, Draws] = {}

    # ---- draws -------------------------------------------------------------

    def _role(self, role: int) -> Draws:
        if self._draws is None:
            handle = Handle(lib.draws_free)
            lib.draws_read(str(self.folder).encode(), handle.out)
            self._draws = handle
        if role not in self._roles:
            self._roles[role] = Draws(self._draws, role)
        return self._roles[role]

    @property
    def target(self) -> Draws:
        """Draws from the posterior, with their log likelihood and prior."""
        return self._role(TARGET)

    @property
    def tempered(self) -> Draws:
        """Draws at all temperatures: also ``tempered.tau``,
        ``tempered.log_likelihood`` and ``tempered.log_prior``."""
        return self._role(TEMPERED)

    def __getitem__(self, name: str) -> Array:
        return self.target[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.target)

    def __len__(self) -> int:
        return len(self.target)

    # ---- numbers -----------------------------------------------------------

    @property
    def log_z(self) -> Optional[float]:
        """The log evidence; None where there is none (an improper prior)."""
        return self.json["evidence"]["log_z"]

    @property
    def se(self) -> Optional[float]:
        """Its standard error."""
        return self.json["evidence"]["se"]

    @property
    def evidence(self) -> dict[str, Any]:
        """The evidence with its interval, and under "estimators" every
        estimate by name."""
        found = dict(self.json["evidence"])
        found["estimators"] = {each["name"]: {k: v for k, v in each.items()
                                              if k != "name"}
                               for each in found["estimators"]}
        return found

    @property
    def reliable(self) -> bool:
        return self.json["reliable"]

    @property
    def verdict(self) -> str:
        """In words: reliable, or what is wrong and what to try."""
        return self.json["verdict"]

    @property
    def warnings(self) -> list[str]:
        return self.json["warnings"]

    @property
    def complete(self) -> bool:
        """Were all iterations drawn that were asked for?"""
        return self.json["complete"]

    @property
    def modes(self) -> list[dict[str, Any]]:
        return self.json["modes"]

    @property
    def seed(self) -> int:
        return self.json["seed"]

    @property
    def config(self) -> dict[str, Any]:
        """Every option in force."""
        return json.loads((self.folder / "config.json").read_text())

    def text(self, colour: bool = False, *, all: bool = False) -> str:
        """The tables and the verdict, as the command prints them; `all`: with
        every row of every list."""
        with Handle(lib.summary_free) as summary:
            lib.summary_read(str(self.folder).encode(), summary.out)
            return take_text(lib.summary_text_all if all else lib.summary_text,
                             summary.value, colour)

    def at_tau(self, tau: float) -> dict[str, Array]:
        """Draws of the power posterior at a tau that was asked for
        (``sample(..., at_tau=[0.5])``): arrays (chain, draw) by the names of
        the values, as mu or p[2]. Their summary is ``json["at_tau"]``."""
        for text in (repr(float(tau)), f"{tau:g}"):
            files = sorted(self.folder.glob(f"at-tau-{text}-*.csv"))
            if files:
                break
        else:
            raise KeyError(f"no draws at tau = {tau}: ask for them with at_tau")
        chains = []
        for path in files:
            with open(path) as lines:
                rows = [line for line in lines if not line.startswith("#")]
            names = [name.strip() for name in rows[0].split(",")]
            chains.append(np.loadtxt(rows[1:], delimiter=",", ndmin=2))
        table = np.array(chains)
        return {_bracketed(name): table[:, :, i]
                for i, name in enumerate(names)}

    def test(self, null: Any, *, seed: int = 1) -> Any:
        """A hypothesis on parameters, as "mu = 0": see `tempera.test`."""
        from ._answers import test
        return test(self, null, seed=seed)

    def summary(self) -> Summary:
        """A row for each parameter, and for each quantity of the program."""
        rows = self.json["parameters"] + self.json.get("quantities", [])
        return Summary(rows, self.text())

    def __repr__(self) -> str:
        return (f"<Run {self.json['model']}: log Z {self.log_z} +- {self.se}, "
                f"{'reliable' if self.reliable else 'not reliable'}>")

    # ---- elsewhere ---------------------------------------------------------

    def report(self, path: Union[str, Path, None] = None, *,
               show: Optional[bool] = None) -> Report:
        """Write the page of charts, at `path` or in the run's folder. A
        notebook displays it; `show` opens it in a browser (by default where
        Python is interactive and this is no notebook)."""
        from ._progress import in_notebook, is_interactive
        place = Path(path) if path is not None else self.folder / "report.html"
        lib.run_report(str(self.folder).encode(), str(place).encode())
        if show or (show is None and is_interactive() and not in_notebook()):
            import webbrowser
            webbrowser.open(place.resolve().as_uri())
        return Report(place)

    def _stats(self) -> dict[str, Array]:
        target = self.target
        return {"lp": target.log_likelihood + target.log_prior,
                "log_likelihood": target.log_likelihood,
                "log_prior": target.log_prior}

    def _data(self) -> dict[str, Array]:
        path = self.folder / "data.json"
        if not path.exists():
            return {}
        data = json.loads(path.read_text())
        return {name: np.asarray(value) for name, value in data.items()
                if isinstance(value, list)}

    def to_xarray(self) -> Any:
        """The posterior as an xarray.Dataset, named as ArviZ names it, with
        the evidence among its attributes."""
        import xarray
        variables = {}
        for name, array in self.target.items():
            rest = [f"{name}_dim_{i}" for i in range(array.ndim - 2)]
            variables[name] = (["chain", "draw"] + rest, array)
        made = xarray.Dataset(variables, attrs=self._attributes())
        return made.assign_coords({dim: np.arange(size) for dim, size
                                   in made.sizes.items()})

    def _attributes(self) -> dict[str, Any]:
        found = {"log_z": self.log_z, "log_z_se": self.se,
                 "reliable": int(self.reliable), "verdict": self.verdict,
                 "inference_library": "tempera",
                 "inference_library_version": self.json["version"]}
        return {name: value for name, value in found.items()
                if value is not None}

    def to_arviz(self) -> Any:
        """The run as arviz.InferenceData: posterior, sample_stats and
        observed_data."""
        import arviz
        groups = {"posterior": dict(self.target), "sample_stats": self._stats(),
                  "observed_data": self._data()}
        try:
            made = arviz.from_dict(**groups)
        except TypeError:  # from version 1 on it takes a mapping of groups
            made = arviz.from_dict(groups)
        made.posterior.attrs.update(self._attributes())
        return made

    # ---- pickling ----------------------------------------------------------

    def __getstate__(self) -> dict[str, bytes]:
        return {path.name: zlib.compress(path.read_bytes(), 1)
                for path in sorted(self.folder.iterdir())
                if path.is_file() and path.name != "report.html"}

    def __setstate__(self, state: dict[str, bytes]) -> None:
        folder = Path(tempfile.mkdtemp(prefix="tempera-"))
        for name, content in state.items():
            (folder / name).write_bytes(zlib.decompress(content))
        self.__init__(folder, temporary=True)  # type: ignore[misc]


def load(folder: Union[str, Path]) -> Run:
    """A run from its folder, be it Python's, R's or the command's."""
    if not (Path(folder) / "summary.json").exists():
        raise FileNotFoundError(f"{folder} holds no summary.json: no run, or "
                                f"one that did not come to its end")
    return Run(folder)
