"""sample(): from a model to a run."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import sys
import tempfile
import threading
import time
import warnings
from collections import deque
from ctypes import (byref, c_bool, c_void_p, cast, py_object, pythonapi,
                    sizeof, string_at)
from pathlib import Path
from typing import Any, Callable, Mapping, Optional, Union

import numpy as np

from ._callables import CallableModel, Layout
from ._data import is_path, text_of, to_json
from ._library import (CANCELLED, Call, Command, ContextSettings, Error, Error_,
                       Handle, InputError, MESSAGE_FN, ModelError, OK, Options,
                       PROGRESS_FN, Request, lib, raise_status, reals)
from ._model import Source, is_code, load_data, load_model
from ._progress import Display, as_dict
from ._run import Run


def _word(value: Any) -> str:
    """A value as it is written on a command line."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (float, np.floating)):
        number = float(value)
        return str(int(number)) if number.is_integer() and \
            abs(number) < 2 ** 53 else repr(number)
    return str(value)


def set_options(given: Mapping[str, Any]) -> Options:
    """The command's options, with underscores for its dashes."""
    options = Options()
    lib.options_default_sized(byref(options), sizeof(options))
    for name, value in given.items():
        if value is None:
            continue
        word = ",".join(map(_word, value)) \
            if isinstance(value, (list, tuple, np.ndarray)) else _word(value)
        lib.options_set_sized(byref(options), sizeof(options),
                              name.replace("_", "-").encode(), word.encode())
    if given.get("seed") is None:
        options.seed = secrets.randbits(32)
    return options


def _starts(init: Any, model: Handle, options: Options) -> Optional[np.ndarray]:
    """Starts from a mapping, a list of one for each chain, or a JSON file."""
    if init is None:
        return None
    if options.chains == 0:
        options.chains = 1 if options.paper else 4
    if is_path(init):
        text = text_of(init)
    elif isinstance(init, Mapping):
        text = to_json(init)
    else:
        text = "[" + ", ".join(to_json(each) for each in init) + "]"
    room = np.empty(options.chains * lib.model_size(model.value))
    lib.starts_parse(text.encode(), len(text.encode()), model.value,
                     options.chains, reals(room))
    options.init = reals(room)
    return room


def _described(call: Call, limit: float) -> str:
    place = f", chain {call.chain}" if call.chain else ""
    point = ", ".join(f"{call.names[i].decode()} = {call.theta[i]:g}"
                      for i in range(min(call.size, 20)))
    return (f"the model took longer than eval_timeout = {limit:g} s allows in "
            f"{call.function.decode()}{place}, at {point}")


class _Job:
    """One run of the library, and what Python hears of it meanwhile."""

    PATIENCE = 3.0  # seconds after Ctrl-C until it is spoken of

    def __init__(self, model: Handle, options: Options, request: Request,
                 display: Display, made: Optional[CallableModel],
                 eval_timeout: float = 0, also: Any = None):
        self.model, self.options, self.request = model, options, request
        self.also = also  # what the library points to
        self.eval_timeout = eval_timeout
        if eval_timeout:
            lib.call_watch()  # before the sampler is made
        self.display = display
        self.callables = made
        self.sampler = Handle(lib.sampler_free)
        self.summary = Handle(lib.summary_free)
        self.error = Error_()
        self.status = OK
        self.latest: Optional[dict[str, Any]] = None
        self.messages: deque[str] = deque()
        self.failure: Optional[BaseException] = None
        self.interrupted = False
        self._here = made is not None  # functions run on the caller's thread
        self._progress = PROGRESS_FN(self._hear)
        self._message = MESSAGE_FN(self._print)

    # ---- heard from the library ---------------------------------------------

    def _hear(self, progress: Any, user: Any) -> int:
        try:
            self.latest = as_dict(progress.contents)
            if self._here:
                self._tell()
            return 0
        except KeyboardInterrupt:
            self.interrupted = True
        except BaseException as failure:
            self.failure = failure
        return 1

    def _print(self, text: int, length: int, user: Any) -> None:
        self.messages.append(string_at(text, length).decode(errors="replace"))

    def _tell(self) -> None:
        while self.messages:
            sys.stderr.write(self.messages.popleft())
        self.display.update(self.latest)

    # ---- running --------------------------------------------------------------

    def interrupt(self) -> bool:
        """False when nothing runs yet that could end in order."""
        self.interrupted = True
        if self.sampler.value:
            lib.sampler_cancel(self.sampler.value)
        return bool(self.sampler.value)

    def _leave_behind(self) -> None:
        """The model does not come back from a call, and no thread can be ended
        from outside: this one stays, with all that it uses, until the process
        ends."""
        self.interrupt()
        pythonapi.Py_IncRef(py_object(self))
        self.display.close()

    def _work(self) -> None:
        """On the thread that calls the library."""
        settings = ContextSettings(message=cast(self._message, c_void_p),
                                   blas_threads=1)
        with Handle(lib.context_free) as context:
            lib.context_create_sized(byref(settings), sizeof(settings),
                                     context.out)
            before = lib.context_use(context.value)
            try:
                self.status = self._go()
            except BaseException as failure:
                self.failure = self.failure or failure
            finally:
                lib.context_use(before)

    def _go(self) -> int:
        """Make the sampler and let it run; its status."""
        lib.sampler_create_sized(self.model.value, byref(self.options),
                                 sizeof(self.options), self.sampler.out)
        if self.interrupted:
            lib.sampler_cancel(self.sampler.value)
        self._warn()
        return lib.run_sample_status(
            byref(self.request), sizeof(self.request), self.sampler.value,
            self._progress, None, self.summary.out, byref(self.error))

    def _warn(self) -> None:
        i = 0
        while (words := lib.sampler_warning(self.sampler.value, i)) is not None:
            warnings.warn(words.decode(), stacklevel=6)
            i += 1

    def run(self) -> None:
        if self._here:
            self._work()
        else:
            self._run_beside()
        self._tell()
        self.display.close()

    def _run_beside(self) -> None:
        """The library on a thread of its own, so that Ctrl-C is heard at
        once."""
        done = threading.Event()  # joining is not safe when interrupted

        def work() -> None:
            try:
                self._work()
            finally:
                done.set()
        threading.Thread(target=work, daemon=True).start()
        try:
            self._attend(done)
        finally:
            if not done.is_set():
                self._leave_behind()

    def _attend(self, done: threading.Event) -> None:
        """Until the run is over, a second Ctrl-C, or a call that takes too
        long."""
        pause = min(0.05, self.eval_timeout / 8 or 1)
        since = 0.0
        while not done.is_set():
            try:
                done.wait(pause)
                self._tell()
            except KeyboardInterrupt:
                if self.interrupted:
                    raise
                self.interrupt()
                since = time.monotonic()
            except BaseException as failure:
                self.failure = failure
                self.interrupt()
            if since and time.monotonic() - since > self.PATIENCE:
                since = 0.0
                sys.stderr.write("\ntempera: interrupted; waiting for the model "
                                 "to answer (Ctrl-C again: do not wait)\n")
            call = Call()
            if self.eval_timeout and lib.call_overdue(self.eval_timeout,
                                                      byref(call)):
                raise ModelError(_described(call, self.eval_timeout))


class _Resumption(_Job):
    """The same of a run that goes on."""

    def _go(self) -> int:
        with Handle(lib.run_close) as run:
            lib.run_open_sized(byref(self.request), sizeof(self.request),
                               self.model.value, self.options.threads, run.out)
            self.sampler.value = c_void_p(lib.run_sampler(run.value))
            try:
                if self.options.iterations:
                    lib.sampler_lengthen(self.sampler.value,
                                         self.options.iterations)
                if self.interrupted:
                    lib.sampler_cancel(self.sampler.value)
                return lib.run_resume_status(
                    run.value, self._progress, None, self.summary.out,
                    byref(self.error))
            finally:
                self.sampler.value = c_void_p()  # it is the run's


def _finish(job: _Job, folder: Path, temporary: bool) -> Run:
    """The run, or the exception that ended it, with what was drawn as its
    `run`."""
    run = Run(folder, temporary=temporary) \
        if (folder / "summary.json").exists() else None
    if run is None and temporary:
        shutil.rmtree(folder, ignore_errors=True)
    cause = job.callables.failure if job.callables else None
    failure = cause or job.failure
    if failure is not None:
        failure.run = run  # type: ignore[attr-defined]
        raise failure
    if job.status == CANCELLED and run is None:
        raise KeyboardInterrupt
    if job.status not in (OK, CANCELLED):
        try:
            raise_status(job.status, job.error)
        except Error as problem:
            problem.run = run  # type: ignore[attr-defined]
            raise
    assert run is not None
    return run


class CommandModel:
    """Any program as a model: workers that read points and answer with
    densities."""

    def __init__(self, command: str, parameters: Mapping[str, Any], *,
                 workers: int = 0, timeout: float = 0, batch: bool = False,
                 prior_normalised: bool = False, prior_improper: bool = False):
        layout = Layout(parameters)
        self.command = command
        self.how = {"batch": batch, "prior_normalised": prior_normalised,
                    "prior_improper": prior_improper}
        self.parameters = layout.text
        self.handle = Handle(lib.model_free)
        wanted = Command(command=command.encode(),
                         parameters=layout.blocks.value, workers=workers,
                         timeout=timeout, **self.how)
        lib.command_model_sized(byref(wanted), sizeof(wanted), self.handle.out)

    def record(self, request: Request, parameters: Path) -> None:
        """For config.json, so that the run can be resumed."""
        request.command = self.command.encode()
        request.parameters_path = str(parameters).encode()
        for name, value in self.how.items():
            setattr(request, name, value)


def _prepare_folder(output: Any) -> tuple[Path, bool]:
    if output is None:
        return Path(tempfile.mkdtemp(prefix="tempera-")), True
    folder = Path(output)
    if (folder / "config.json").exists():
        raise InputError(f"{folder} already holds a run; name another folder "
                         f"or remove this one")
    folder.mkdir(parents=True, exist_ok=True)
    return folder, False


def _write_inputs(folder: Path, model: Any, data: Any) -> tuple[str, str]:
    """What came from memory lies beside the draws, so that the run can be
    repeated and resumed from its folder alone. The paths of both, or ""."""
    model_path = "" if model is None else os.fspath(model) \
        if not is_code(model) else str(folder / "model.stan")
    if model is not None and is_code(model):
        Path(model_path).write_text(model)
    if data is None:
        return model_path, ""
    if is_path(data):
        return model_path, os.fspath(data)
    (folder / "data.json").write_text(to_json(data) + "\n")
    return model_path, str(folder / "data.json")


def sample(model: Optional[Source] = None, data: Any = None, *,
           log_likelihood: Optional[Callable] = None,
           log_prior: Optional[Callable] = None,
           parameters: Optional[Mapping[str, Any]] = None,
           log_likelihood_gradient: Optional[Callable] = None,
           log_prior_gradient: Optional[Callable] = None,
           prior_draw: Optional[Callable] = None,
           vectorised: bool = False, prior_normalised: bool = False,
           prior_improper: bool = False, name: str = "model",
           command: Optional[str] = None, workers: int = 0,
           batch: bool = False, eval_timeout: float = 0,
           output: Union[str, "os.PathLike[str]", None] = None,
           init: Any = None, include_path: Any = None, netcdf: bool = False,
           progress: Union[bool, None, Callable] = None, quiet: bool = False,
           **options: Any) -> Run:
    """Draw from a posterior and estimate its evidence.

    The model is a Stan program (a file, or its text), a shared library built
    against tempera.h, or Python functions:

    >>> run = tempera.sample("model.stan", data={"y": [1.2, 0.7]}, seed=1)
    >>> run = tempera.sample(
    ...     parameters={"mu": "real", "s": ("real", 0, None)},
    ...     log_likelihood=lambda p: normal(y, p["mu"], p["s"]).sum(),
    ...     log_prior=lambda p: normal(p["mu"], 0, 10) - p["s"])

    data
        A mapping from name to number, array, column or nested lists; or the
        path of a JSON file. Beside functions it is only recorded, so that
        `compare` can tell whether two runs saw the same.
    parameters
        Of functions: "real", "int", ("real", lower, upper, size), the same
        with "int", or ("simplex", size). None is no bound; a size may be a
        tuple of sizes.
    log_likelihood, log_prior
        Take a mapping from name to value and return a number; -inf is density
        zero. Densities are over the natural values: no Jacobian.
    log_likelihood_gradient, log_prior_gradient
        Optional; take the same and return the value, and a mapping from name
        to derivative (anything for integers).
    prior_draw
        Optional; takes a numpy.random.Generator and returns a mapping from
        name to value drawn from the prior. Helps to find all modes.
    vectorised
        The functions get many points at once: values have one more dimension
        in front, and an array of as many numbers is wanted. More ``chains``
        make more points.
    prior_normalised
        exp(log_prior) integrates to one. Otherwise its integral is estimated.
    command, workers, batch
        Any program as the model, with ``parameters`` as for functions: as many
        workers as cores, or so many, read points from their standard input and
        answer with densities (docs/programs.md). ``batch`` gives them many at
        once.
    eval_timeout
        A model that stays in one call for so many seconds, or a worker that
        does not answer, ends the run with a ModelError. A Stan program's or
        shared library's thread then stays behind until the process ends. Not
        for functions.
    output
        The run's folder. Without, a temporary one that goes with the run.
    init
        Starts: a mapping, a list with one for each chain, or a JSON file.
    netcdf
        Also write run.nc, ArviZ InferenceData, into the folder.
    progress
        True, False, or a function of a mapping; by default shown on terminals
        and in notebooks. ``quiet=True`` is ``progress=False``.
    options
        Those of `tempera sample`, with underscores: ``method``, ``chains``,
        ``iterations``, ``warmup``, ``seed``, ``threads``, ``time_limit``,
        ``until_se``, ...

    An exception in a function ends the run and is raised; what was drawn is
    its attribute ``run``. Ctrl-C ends the run, which is returned as far as it
    came (``run.complete`` is False).
    """
    chosen = set_options(options)
    values, data_name = load_data(data)
    made: Any = None
    if command is not None:
        if model is not None or log_likelihood or log_prior:
            raise InputError("a command, a model or functions, not several")
        if parameters is None:
            raise InputError("a command needs parameters, which names them")
        made = CommandModel(command, parameters, workers=workers,
                            timeout=eval_timeout, batch=batch,
                            prior_normalised=prior_normalised,
                            prior_improper=prior_improper)
    elif workers or batch:
        raise InputError("workers and batch belong to command")
    elif model is None:
        if log_likelihood is None or log_prior is None or parameters is None:
            raise InputError("a model is needed: a Stan program, or "
                             "log_likelihood, log_prior and parameters")
        made = CallableModel(
            name, parameters, log_likelihood, log_prior,
            log_likelihood_gradient=log_likelihood_gradient,
            log_prior_gradient=log_prior_gradient, prior_draw=prior_draw,
            vectorised=vectorised, prior_normalised=prior_normalised,
            prior_improper=prior_improper)
        if eval_timeout:
            raise InputError("eval_timeout is not for functions, which cannot "
                             "be ended from outside; Ctrl-C ends them")
        if not vectorised:
            chosen.threads = 1  # functions of Python run one at a time
    elif log_likelihood or log_prior or parameters:
        raise InputError("a model or functions, not both")
    functions = made if isinstance(made, CallableModel) else None
    handle = made.handle if made else load_model(model, values, data_name,
                                                 include_path)
    kept = _starts(init, handle, chosen)
    folder, temporary = _prepare_folder(output)
    try:
        model_path, data_path = _write_inputs(folder, model, data)
        request = Request(folder=str(folder).encode(),
                          model_path=model_path.encode() or None,
                          data_path=data_path.encode() or None,
                          data=values.value,
                          init_path=os.fspath(init).encode()
                          if is_path(init) else None)
        if command is not None:
            (folder / "parameters.json").write_text(made.parameters + "\n")
            made.record(request, folder / "parameters.json")
        job = _Job(handle, chosen, request,
                   Display(False if quiet else progress), functions,
                   0 if command is not None else eval_timeout, (values, kept))
        if functions:
            functions.on_interrupt = job.interrupt
        job.run()
        if netcdf and job.summary.value:
            lib.netcdf_write(str(folder / "run.nc").encode(),
                             job.sampler.value, values.value,
                             job.summary.value)
    except BaseException:
        if temporary:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    del kept
    job.sampler.close()
    run = _finish(job, folder, temporary)
    run._model = made
    return run


def paths_of(folder: Path) -> tuple[str, str]:
    """The model and data files that a run was made with, or ""."""
    with Handle(lib.text_free) as model, Handle(lib.text_free) as data:
        lib.run_paths(str(folder).encode(), model.out, data.out)
        return tuple(string_at(text.value).decode() if text.value else ""
                     for text in (model, data))  # type: ignore[return-value]


def _program_of(folder: Path, workers: int,
                timeout: float) -> Optional[CommandModel]:
    """The program that is the model of a run, started anew, or None."""
    batch, normalised, improper = c_bool(), c_bool(), c_bool()
    with Handle(lib.text_free) as command, Handle(lib.text_free) as parameters:
        lib.run_program(str(folder).encode(), command.out, parameters.out,
                        byref(batch), byref(normalised), byref(improper))
        if not command.value:
            return None
        path = Path(string_at(parameters.value).decode())
        path = path if path.exists() else folder / "parameters.json"
        return CommandModel(
            string_at(command.value).decode(), json.loads(path.read_text()),
            workers=workers, timeout=timeout, batch=batch.value,
            prior_normalised=normalised.value, prior_improper=improper.value)


def resume(run: Union[Run, str, "os.PathLike[str]"], *,
           iterations: Optional[int] = None, threads: Optional[int] = None,
           model: Optional[Source] = None, data: Any = None,
           include_path: Any = None, workers: int = 0, eval_timeout: float = 0,
           progress: Union[bool, None, Callable] = None,
           quiet: bool = False) -> Run:
    """Go on with a run that was interrupted or killed, to the same draws as if
    nothing had happened; or with one that is over, to more iterations.

    run
        The folder given as ``output``, or the run itself (which had one).
    iterations
        Per chain, in all. By default as many as were asked for.
    model, data
        Where they are now, if they have moved.
    workers, eval_timeout
        As in `sample`; a run of ``command`` goes on by the same command.

    Runs of Python functions cannot be resumed: nobody could tell whether the
    functions are still the same.
    """
    folder = Path(run.folder if isinstance(run, Run) else run)
    if not (folder / "config.json").exists():
        raise InputError(f"{folder} holds no run")
    model_path, data_path = paths_of(folder)
    program = _program_of(folder, workers, eval_timeout) if model is None \
        else None
    if workers and program is None:
        raise InputError("workers belong to runs of a command")
    if model is None and not model_path and program is None:
        raise InputError("the run was made with functions, which cannot be "
                         "resumed; give the model it had")
    values, data_name = load_data(data if data is not None
                                  else data_path or None)
    handle = program.handle if program else \
        load_model(model or model_path, values, data_name, include_path)
    given = {"iterations": iterations, "threads": threads}
    source = "" if program else os.fspath(model or model_path)
    request = Request(folder=str(folder).encode(),
                      model_path=source.encode() or None,
                      data_path=data_path.encode() or None, data=values.value)
    job = _Resumption(handle, set_options(given), request,
                      Display(False if quiet else progress), None,
                      0 if program else eval_timeout, values)
    job.run()
    resumed = _finish(job, folder, False)
    resumed._before = run  # whose folder it may be  # type: ignore
    resumed._model = program
    return resumed
