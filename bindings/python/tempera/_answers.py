"""What can be asked besides a run: hypotheses on its parameters, the evidence of
fits made elsewhere, and whether a model is calibrated."""

from __future__ import annotations

import glob
import json
import os
import shutil
import tempfile
import weakref
from ctypes import byref, c_char_p, c_void_p, sizeof, string_at
from pathlib import Path
from typing import Any, Callable, Iterable, Optional, Sequence, Union

from ._data import is_path
from ._library import (CALIBRATION_FN, CalibrationRequest, Error, Handle,
                       InputError, lib, take_text)
from ._model import (Source, load_data, load_model, placed, read_program)
from ._run import Report, Run, load
from ._sample import paths_of, sample, set_options


class Hypothesis:
    """A tested hypothesis; printed, it is what the command says.

    ``log_bf`` is for the hypothesis, against its being false, with standard
    error ``se``; None where there is none (``warning`` says why).
    """

    def __init__(self, found: dict[str, Any], text: str):
        self.json = found
        self._text = text

    @property
    def null(self) -> str:
        """The hypothesis as it was understood."""
        return self.json["null"]

    @property
    def kind(self) -> str:
        """"savage-dickey" (a value of reals) or "odds"."""
        return self.json["kind"]

    @property
    def log_bf(self) -> Optional[float]:
        return self.json["log_bf"]

    @property
    def se(self) -> Optional[float]:
        return self.json["se"]

    @property
    def warning(self) -> Optional[str]:
        return self.json["warning"]

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__


def _test_one(model: Any, draws: Any, null: str, seed: int) -> Hypothesis:
    with Handle(lib.hypothesis_free) as made:
        lib.hypothesis_test(model, draws, null.encode(), seed, made.out)
        return Hypothesis(
            json.loads(take_text(lib.hypothesis_json, made.value)),
            take_text(lib.hypothesis_text, made.value))


def _model_of(run: Run, data: Any, include_path: Any) -> Handle:
    """That of the run's folder; of functions, the run's own."""
    if run._model is not None:
        return run._model.handle
    model_path, data_path = paths_of(run.folder)
    if not model_path:
        raise InputError("the run was made with functions or a command, which "
                         "are not there any more")
    values, name = load_data(data if data is not None else data_path or None)
    return load_model(model_path, values, name, include_path)


def test(run: Union[Run, Source], null: Union[str, Iterable[str]], *,
         seed: int = 1, data: Any = None, include_path: Any = None) -> Any:
    """Hypotheses on parameters of a run, against their being false.

    >>> tempera.test(run, "mu = 0").log_bf
    >>> tempera.test(run, ["|mu| < 0.1", "1 < sigma < 2, mu > 0"])

    null
        ``NAME = X``, ``NAME < X``, ``NAME > X``, ``A < NAME < B`` or
        ``|NAME| < X``; several separated by commas must all hold. A list of
        them gives a list of answers.

    Where reals are fixed by the Savage-Dickey density ratio; by odds where the
    hypothesis has prior probability (intervals, values of integers).
    """
    made = run if isinstance(run, Run) else load(run)
    nulls = [null] if isinstance(null, str) else list(null)
    model = _model_of(made, data, include_path)
    try:
        found = [_test_one(model.value, made.target._handle.value, each, seed)
                 for each in nulls]
    except Error:
        if made._model is not None and \
                getattr(made._model, "failure", None) is not None:
            raise made._model.failure from None
        raise
    return found[0] if isinstance(null, str) else found


test.__test__ = False  # type: ignore[attr-defined]  # no test of pytest's


class Evidence:
    """The evidence of a fit made elsewhere; printed, it is what the command
    says. ``json`` has all of it. ``search`` is a `Run` where one was asked
    for."""

    def __init__(self, found: dict[str, Any], text: str,
                 search: Optional[Run] = None):
        self.json = found
        self.search = search
        self._text = text

    @property
    def log_z(self) -> Optional[float]:
        return self.json["evidence"]["log_z"]

    @property
    def se(self) -> Optional[float]:
        return self.json["evidence"]["se"]

    @property
    def modes(self) -> list[dict[str, Any]]:
        """Those that the fit has seen."""
        return self.json["modes"]

    @property
    def pareto_k(self) -> Optional[float]:
        """Beyond 0.7 the fitted density misses tails."""
        reference = self.json["tempering"].get("reference") or {}
        return reference.get("pareto_k")

    @property
    def warnings(self) -> list[str]:
        return self.json["warnings"]

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__


def _files_of(draws: Any) -> list[str]:
    """Paths, patterns, or a folder of CSV files."""
    given = [draws] if is_path(draws) else list(draws)
    files: list[str] = []
    for each in given:
        name = os.fspath(each)
        files += sorted(glob.glob(name)) or [name]
    if not files:
        raise InputError("draws: which CSV files?")
    return files


def evidence(model: Source, data: Any = None, *,
             draws: Union[Source, Sequence[Source]], search: bool = False,
             seed: int = 1, include_path: Any = None,
             progress: Union[bool, None, Callable] = None) -> Evidence:
    """The evidence of a fit made elsewhere, by bridge sampling.

    >>> tempera.evidence("model.stan", data, draws="fit-*.csv").log_z

    draws
        CSV files of CmdStan, rstan or tempera, one for each chain; patterns
        too. (Of CmdStanPy: ``fit.runset.csv_files``.)
    search
        Also look for modes that the fit has not seen, by a tempered run.
    """
    files = _files_of(draws)
    values, name = load_data(data)
    handle = load_model(model, values, name, include_path)
    paths = (c_char_p * len(files))(*(each.encode() for each in files))
    with Handle(lib.summary_free) as fit, Handle(lib.summary_free) as second:
        lib.fit_evidence(handle.value, paths, len(files), seed, fit.out)
        found = None
        if search:
            found = sample(model, data, seed=seed, include_path=include_path,
                           progress=progress)
            lib.summary_read(str(found.folder).encode(), second.out)
        return Evidence(json.loads(take_text(lib.summary_json, fit.value)),
                        take_text(lib.fit_text, fit.value, second.value),
                        found)


class Calibration:
    """What a simulation-based calibration found; printed, it is what the
    command says. ``json`` has all ranks."""

    def __init__(self, folder: Path, runs: int, temporary: bool):
        self.folder = folder
        if temporary:
            weakref.finalize(self, shutil.rmtree, str(folder),
                             ignore_errors=True)
        with Handle(lib.text_free) as text, Handle(lib.text_free) as found:
            lib.calibration_report(str(folder).encode(), runs, False, text.out,
                                   found.out)
            self._text = string_at(text.value).decode()
            self.json: dict[str, Any] = json.loads(string_at(found.value))

    @property
    def calibrated(self) -> bool:
        return self.json["calibrated"]

    @property
    def done(self) -> int:
        """Runs that came to their end."""
        return self.json["done"]

    @property
    def p(self) -> dict[str, float]:
        """By parameter: how likely ranks so far from uniform are by chance."""
        return {each["name"]: each["p"] for each in self.json["parameters"]}

    @property
    def ranks(self) -> dict[str, list[int]]:
        return {each["name"]: each["ranks"]
                for each in self.json["parameters"]}

    def report(self) -> Report:
        """The page of charts; a notebook displays it."""
        return Report(self.folder / "report.html")

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__


class _Watch:
    """Progress, and Ctrl-C, which keeps the runs that are done."""

    def __init__(self, progress: Any):
        from ._progress import is_interactive
        self.function = progress if callable(progress) else None
        self.show = progress is True or (progress is None and is_interactive())
        self.failure: Optional[BaseException] = None
        self.seen = -1

    def hear(self, done: int, runs: int, user: Any) -> int:
        try:
            if done == self.seen:
                return 0
            self.seen = done
            if self.function:
                self.function({"done": done, "total": runs})
            elif self.show:
                print(f"\r{done} of {runs} runs", end="" if done < runs
                      else "\n", flush=True)
            return 0
        except BaseException as failure:
            self.failure = failure
            return 1


def calibrate(model: Union[Source, Sequence[Source]], data: Any, *,
              runs: int = 200, seed: Optional[int] = None,
              threads: Optional[int] = None,
              simulate: Optional[Source] = None,
              output: Union[Source, None] = None, include_path: Any = None,
              progress: Union[bool, None, Callable] = None,
              **options: Any) -> Calibration:
    """Simulation-based calibration: parameters from the prior, data from the
    likelihood statements, a run on these data, many times over. Ranks of the
    true parameters among posterior draws must be uniform.

    model
        A Stan program, or several: then data come from each with equal chance,
        and posterior model probabilities are checked.
    data
        Sizes and predictors; the outcomes in them are replaced.
    simulate
        Simulate from this program instead.
    output
        A folder, in which runs that are there are not done again.
    threads
        Runs at a time [all cores]; each is a process of its own.
    options
        Of each run, as in `sample`: ``iterations`` [1000], ``chains``, ...

    Ctrl-C is raised; with ``output`` the runs that are done are kept.
    """
    models = [model] if isinstance(model, (str, os.PathLike)) else list(model)
    programs = [read_program(each, include_path) for each in models]
    simulator = read_program(simulate, include_path) if simulate else None
    values, name = load_data(data)
    chosen = set_options(options)
    temporary = output is None
    folder = Path(tempfile.mkdtemp(prefix="tempera-") if temporary else output)
    watch = _Watch(progress)
    request = CalibrationRequest(
        programs=(c_void_p * len(programs))(*(p.value for p in programs)),
        count=len(programs), data=values.value, folder=str(folder).encode(),
        simulator=simulator.value if simulator else None, runs=runs,
        threads=threads or 0, seeded=seed is not None, seed=seed or 0)
    hear = CALIBRATION_FN(watch.hear)
    try:
        lib.calibrate_sized(byref(request), sizeof(request), byref(chosen),
                            sizeof(chosen), hear, None)
    except Error as problem:
        if temporary:
            shutil.rmtree(folder, ignore_errors=True)
        if watch.failure is not None:
            raise watch.failure from None
        raise placed(problem, name) from None
    return Calibration(folder, runs, temporary)
