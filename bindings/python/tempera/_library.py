"""libtempera, found and declared: what tempera.h says, in the words of ctypes.

The library is looked for in TEMPERA_LIBRARY, beside this file, where the
system's linker looks, and where pkg-config says it is.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
from ctypes import (CFUNCTYPE, POINTER, Structure, byref, c_bool, c_char,
                    c_char_p, c_double, c_int, c_size_t, c_uint64, c_void_p)
from pathlib import Path
from typing import Any, Iterator

SONAME = "libtempera.so.0"

OK, MEMORY, ARGUMENT, INPUT, MODEL, IO, CANCELLED = range(7)
TARGET, TEMPERED = 0, 1


class Error(Exception):
    """What the library refuses or fails at, in its own words.

    ``line`` and ``column`` count from 1 and are 0 where there is no place.
    """

    def __init__(self, message: str, line: int = 0, column: int = 0):
        super().__init__(message)
        self.line = line
        self.column = column


class InputError(Error, ValueError):
    """A program, the data or an option is wrong."""


class ModelError(Error):
    """The model misbehaved: NaN, +infinity, or nowhere a positive density."""


class Error_(Structure):
    _fields_ = [("line", c_int), ("column", c_int), ("message", c_char * 512)]


class Parameter(Structure):
    _fields_ = [("name", c_char_p), ("kind", c_int), ("size", c_size_t),
                ("lower", c_double), ("upper", c_double),
                ("transform", c_int), ("map", c_void_p),
                ("value_names", POINTER(c_char_p))]


class Spec(Structure):
    """tempera_model_spec. Callbacks are kept alive by who makes them."""
    _fields_ = [("name", c_char_p), ("parameters", POINTER(Parameter)),
                ("parameter_count", c_size_t),
                ("log_likelihood", c_void_p), ("log_prior", c_void_p),
                ("log_likelihood_gradient", c_void_p),
                ("log_prior_gradient", c_void_p), ("prior_draw", c_void_p),
                ("optimum", c_void_p), ("gibbs", c_void_p),
                ("gibbs_count", c_size_t), ("recipe", c_void_p),
                ("prior_normalised", c_bool),
                ("prior_log_integral", c_double),
                ("prior_improper", c_bool), ("no_likelihood", c_bool),
                ("quantity_count", c_size_t),
                ("quantity_names", POINTER(c_char_p)),
                ("quantities", c_void_p), ("user", c_void_p),
                ("clone", c_void_p), ("release", c_void_p),
                ("reason", c_void_p), ("integer_terms", c_void_p),
                ("integer_terms_cost", c_double),
                ("log_likelihood_batch", c_void_p),
                ("log_prior_batch", c_void_p), ("batch_gradients", c_bool),
                ("observations", c_size_t)]


class Options(Structure):
    _fields_ = [("method", c_int), ("tau_prior", c_int), ("ridge", c_int),
                ("tau_move", c_int), ("tau_scale", c_double),
                ("tau_min", c_double), ("kernel", c_int),
                ("chains", c_size_t), ("iterations", c_size_t),
                ("warmup_given", c_bool), ("warmup", c_size_t),
                ("thin", c_size_t), ("levels", c_size_t), ("weights", c_int),
                ("swaps", c_int), ("schedule", c_int), ("walkers", c_size_t),
                ("exchange", c_double), ("seed", c_uint64),
                ("threads", c_int), ("time_limit", c_double),
                ("until_se", c_double), ("paper", c_bool), ("jumps", c_bool),
                ("bridge", c_bool), ("reference", c_bool),
                ("save_warmup", c_bool), ("tempered_quantities", c_bool),
                ("init", POINTER(c_double)), ("chain_offset", c_size_t),
                ("observations", c_size_t),
                ("at_tau", c_double * 16), ("at_tau_count", c_size_t),
                ("_later", c_char * 512)]  # what a later library adds


class Progress(Structure):
    _fields_ = [("phase", c_int), ("done", c_size_t), ("total", c_size_t),
                ("seconds", c_double), ("log_z", c_double), ("se", c_double),
                ("round_trips", c_size_t),
                ("likelihood_evaluations", c_uint64), ("next", c_size_t)]


class Request(Structure):
    _fields_ = [("folder", c_char_p), ("model_path", c_char_p),
                ("data_path", c_char_p), ("data", c_void_p),
                ("init_path", c_char_p), ("command", c_char_p),
                ("parameters_path", c_char_p), ("batch", c_bool),
                ("prior_normalised", c_bool), ("prior_improper", c_bool)]


class Command(Structure):
    _fields_ = [("command", c_char_p), ("parameters", c_void_p),
                ("workers", c_size_t), ("timeout", c_double),
                ("batch", c_bool), ("prior_normalised", c_bool),
                ("prior_improper", c_bool)]


class CalibrationRequest(Structure):
    _fields_ = [("programs", POINTER(c_void_p)), ("count", c_size_t),
                ("simulator", c_void_p), ("data", c_void_p),
                ("folder", c_char_p), ("runs", c_size_t),
                ("threads", c_size_t), ("seeded", c_bool),
                ("seed", c_uint64)]


class Call(Structure):
    _fields_ = [("model", c_char_p), ("function", c_char_p),
                ("chain", c_size_t), ("size", c_size_t),
                ("names", POINTER(c_char_p)), ("theta", POINTER(c_double))]


class Density(Structure):
    _fields_ = [("log_likelihood", c_double), ("log_prior", c_double),
                ("log_jacobian", c_double)]


class ContextSettings(Structure):
    _fields_ = [("message", c_void_p), ("message_user", c_void_p),
                ("allocate", c_void_p), ("resize", c_void_p),
                ("release", c_void_p), ("memory_user", c_void_p),
                ("blas_threads", c_int)]


# Addresses come as plain numbers: making pointer objects costs more than a
# small model.
DENSITY_FN = CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p)
GRADIENT_FN = CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_void_p)
BATCH_FN = CFUNCTYPE(c_int, c_void_p, c_size_t, c_void_p, c_void_p, c_void_p)
REASON_FN = CFUNCTYPE(c_void_p, c_void_p)
DRAW_FN = CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p)
CALIBRATION_FN = CFUNCTYPE(c_int, c_size_t, c_size_t, c_void_p)
PROGRESS_FN = CFUNCTYPE(c_int, POINTER(Progress), c_void_p)
MESSAGE_FN = CFUNCTYPE(None, c_void_p, c_size_t, c_void_p)

_ERROR = POINTER(Error_)
_HANDLE = POINTER(c_void_p)
_REALS = POINTER(c_double)
_SIZES = POINTER(c_size_t)
_TEXT = POINTER(c_void_p)
# name: what it returns, its arguments. A status that is not OK is raised.
_STATUS = "status"
_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "version": (c_char_p, []),
    "text_free": (None, [c_void_p]),
    "context_create_sized": (_STATUS, [POINTER(ContextSettings), c_size_t,
                                       _HANDLE, _ERROR]),
    "context_free": (None, [c_void_p]),
    "context_use": (c_void_p, [c_void_p]),
    "data_read": (_STATUS, [c_char_p, _HANDLE, _ERROR]),
    "data_parse": (_STATUS, [c_char_p, c_size_t, _HANDLE, _ERROR]),
    "data_free": (None, [c_void_p]),
    "random_below": (c_uint64, [c_void_p, c_uint64]),
    "parameters_parse": (_STATUS, [c_char_p, c_size_t, _HANDLE, _ERROR]),
    "parameters_blocks": (POINTER(Parameter), [c_void_p, _SIZES]),
    "parameters_free": (None, [c_void_p]),
    "model_create_sized": (_STATUS, [POINTER(Spec), c_size_t, _HANDLE, _ERROR]),
    "command_model_sized": (_STATUS, [POINTER(Command), c_size_t, _HANDLE,
                                      _ERROR]),
    "model_load": (_STATUS, [c_char_p, c_void_p, _HANDLE, _ERROR]),
    "model_free": (None, [c_void_p]),
    "model_name": (c_char_p, [c_void_p]),
    "model_size": (c_size_t, [c_void_p]),
    "model_unconstrained_size": (c_size_t, [c_void_p]),
    "model_value_name": (c_char_p, [c_void_p, c_size_t]),
    "model_spec_of": (POINTER(Spec), [c_void_p]),
    "model_evaluate": (_STATUS, [c_void_p, _REALS, _REALS, _REALS, _ERROR]),
    "model_constrain": (None, [c_void_p, _REALS, _REALS, _REALS]),
    "model_unconstrain": (_STATUS, [c_void_p, _REALS, _REALS, _ERROR]),
    "evaluator_create": (_STATUS, [c_void_p, _HANDLE, _ERROR]),
    "evaluator_free": (None, [c_void_p]),
    "evaluator_at": (_STATUS, [c_void_p, c_double, _REALS, POINTER(Density),
                               _REALS, _ERROR]),
    "model_describe": (_STATUS, [c_void_p, c_bool, _TEXT, _ERROR]),
    "model_check_points": (_STATUS, [c_void_p, _TEXT, POINTER(c_bool),
                                     _ERROR]),
    "model_check_gradient": (_STATUS, [c_void_p, _TEXT, POINTER(c_bool),
                                       _ERROR]),
    "call_watch": (None, []),
    "call_overdue": (c_bool, [c_double, POINTER(Call)]),
    "starts_parse": (_STATUS, [c_char_p, c_size_t, c_void_p, c_size_t, _REALS,
                               _ERROR]),
    "program_read_including": (_STATUS, [c_char_p, c_char_p, _HANDLE, _ERROR]),
    "program_parse": (_STATUS, [c_char_p, c_char_p, c_size_t, _HANDLE, _ERROR]),
    "program_free": (None, [c_void_p]),
    "program_describe": (_STATUS, [c_void_p, _TEXT, _ERROR]),
    "program_cost": (_STATUS, [c_void_p, c_void_p, _TEXT, _ERROR]),
    "program_warning": (c_char_p, [c_void_p, c_size_t]),
    "program_compile": (_STATUS, [c_void_p, c_char_p, _TEXT, _ERROR]),
    "program_load": (_STATUS, [c_void_p, c_void_p, _HANDLE, _ERROR]),
    "options_default_sized": (None, [POINTER(Options), c_size_t]),
    "options_set_sized": (_STATUS, [POINTER(Options), c_size_t, c_char_p,
                                    c_char_p, _ERROR]),
    "sampler_create_sized": (_STATUS, [c_void_p, POINTER(Options), c_size_t,
                                       _HANDLE, _ERROR]),
    "sampler_free": (None, [c_void_p]),
    "sampler_cancel": (None, [c_void_p]),
    "sampler_warning": (c_char_p, [c_void_p, c_size_t]),
    "run_sample_sized": (_STATUS, [POINTER(Request), c_size_t, c_void_p,
                                   PROGRESS_FN, c_void_p, _HANDLE, _ERROR]),
    "sampler_lengthen": (_STATUS, [c_void_p, c_size_t, _ERROR]),
    "run_open_sized": (_STATUS, [POINTER(Request), c_size_t, c_void_p, c_int,
                                 _HANDLE, _ERROR]),
    "run_close": (None, [c_void_p]),
    "run_sampler": (c_void_p, [c_void_p]),
    "run_resume": (_STATUS, [c_void_p, PROGRESS_FN, c_void_p, _HANDLE, _ERROR]),
    "run_paths": (_STATUS, [c_char_p, _TEXT, _TEXT, _ERROR]),
    "run_program": (_STATUS, [c_char_p, _TEXT, _TEXT, POINTER(c_bool),
                              POINTER(c_bool), POINTER(c_bool), _ERROR]),
    "run_report": (_STATUS, [c_char_p, c_char_p, _ERROR]),
    "netcdf_write": (_STATUS, [c_char_p, c_void_p, c_void_p, c_void_p, _ERROR]),
    "draws_read": (_STATUS, [c_char_p, _HANDLE, _ERROR]),
    "draws_free": (None, [c_void_p]),
    "draws_size": (c_size_t, [c_void_p]),
    "draws_name": (c_char_p, [c_void_p, c_size_t]),
    "draws_chains": (c_size_t, [c_void_p]),
    "draws_rows": (c_size_t, [c_void_p, c_int]),
    "draws_variable": (_STATUS, [c_void_p, c_int, c_char_p, _REALS, _SIZES,
                                 _ERROR]),
    "draws_shape": (_STATUS, [c_void_p, c_char_p, _SIZES, c_size_t, _SIZES,
                              _SIZES, _ERROR]),
    "draws_tau": (_REALS, [c_void_p, c_int, c_size_t]),
    "draws_log_likelihood": (_REALS, [c_void_p, c_int, c_size_t]),
    "draws_log_prior": (_REALS, [c_void_p, c_int, c_size_t]),
    "summary_read": (_STATUS, [c_char_p, _HANDLE, _ERROR]),
    "summary_free": (None, [c_void_p]),
    "summary_text": (_STATUS, [c_void_p, c_bool, _TEXT, _ERROR]),
    "summary_text_all": (_STATUS, [c_void_p, c_bool, _TEXT, _ERROR]),
    "summary_json": (_STATUS, [c_void_p, _TEXT, _ERROR]),
    "summary_csv": (_STATUS, [c_void_p, _TEXT, _ERROR]),
    "run_check": (_STATUS, [c_char_p, _ERROR]),
    "hypothesis_test": (_STATUS, [c_void_p, c_void_p, c_char_p, c_uint64,
                                  _HANDLE, _ERROR]),
    "hypothesis_free": (None, [c_void_p]),
    "hypothesis_text": (_STATUS, [c_void_p, _TEXT, _ERROR]),
    "hypothesis_json": (_STATUS, [c_void_p, _TEXT, _ERROR]),
    "fit_evidence": (_STATUS, [c_void_p, POINTER(c_char_p), c_size_t, c_uint64,
                               _HANDLE, _ERROR]),
    "fit_text": (_STATUS, [c_void_p, c_void_p, _TEXT, _ERROR]),
    "calibrate_sized": (_STATUS, [POINTER(CalibrationRequest), c_size_t,
                                  POINTER(Options), c_size_t, CALIBRATION_FN,
                                  c_void_p, _ERROR]),
    "calibration_report": (_STATUS, [c_char_p, c_size_t, c_bool, _TEXT, _TEXT,
                                     _ERROR]),
    "runs_fractional": (_STATUS, [POINTER(c_char_p), POINTER(c_void_p),
                                  c_size_t, c_double, _ERROR]),
    "compare_by": (_STATUS, [c_int, POINTER(c_void_p), POINTER(c_char_p),
                             c_size_t, _REALS, _HANDLE, _ERROR]),
    "comparison_page": (_STATUS, [c_void_p, POINTER(c_void_p),
                                  POINTER(c_char_p), c_char_p, _ERROR]),
    "comparison_free": (None, [c_void_p]),
    "comparison_text": (_STATUS, [c_void_p, c_bool, _TEXT, _ERROR]),
    "comparison_json": (_STATUS, [c_void_p, _TEXT, _ERROR]),
}


def _places() -> Iterator[str]:
    """Where the library may be, the surest place first."""
    named = os.environ.get("TEMPERA_LIBRARY")
    if named:
        yield named
        return
    here = Path(__file__).resolve().parent
    for name in (SONAME, "libtempera.so"):
        if (here / name).exists():
            yield str(here / name)
    yield SONAME
    try:
        found = subprocess.run(["pkg-config", "--variable=libdir", "tempera"],
                               capture_output=True, text=True, check=True)
        yield str(Path(found.stdout.strip()) / SONAME)
    except (OSError, subprocess.CalledProcessError):
        pass


def _open() -> ctypes.CDLL:
    tried = []
    for place in _places():
        try:
            return ctypes.CDLL(place)
        except OSError as problem:
            tried.append(f"  {place}: {problem}")
    raise ImportError("libtempera was not found; set TEMPERA_LIBRARY to its "
                      "path, or install it. Tried\n" + "\n".join(tried))


def raise_status(status: int, error: Error_) -> None:
    message = error.message.decode(errors="replace")
    if status == MEMORY:
        raise MemoryError(message)
    kind = {ARGUMENT: InputError, INPUT: InputError,
            MODEL: ModelError}.get(status, Error)
    raise kind(message, error.line, error.column)


def _checked(function: Any) -> Any:
    """A function that fills an error and returns a status, which is raised."""

    def call(*arguments: Any) -> None:
        error = Error_()
        status = function(*arguments, byref(error))
        if status != OK:
            raise_status(status, error)
    return call


class _Library:
    """The functions of tempera.h without their prefix."""

    def __init__(self) -> None:
        library = _open()
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(library, "tempera_" + name)
            function.argtypes = arguments
            function.restype = c_int if result is _STATUS else result
            setattr(self, name, _checked(function) if result is _STATUS
                    else function)
        self.run_sample_status = library.tempera_run_sample_sized
        self.run_resume_status = library.tempera_run_resume

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"libtempera has no tempera_{name}")


lib = _Library()


class Handle:
    """A handle of the library's, freed with this object."""

    def __init__(self, free: Any):
        self.value = c_void_p()
        self._free = free

    @property
    def out(self) -> Any:
        return byref(self.value)

    def close(self) -> None:
        if self.value:
            self._free(self.value)
            self.value = c_void_p()

    __del__ = close

    def __enter__(self) -> "Handle":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def take_text(function: Any, *arguments: Any) -> str:
    """The text that a function gives as its last argument."""
    with Handle(lib.text_free) as text:
        function(*arguments, text.out)
        return ctypes.string_at(text.value).decode()


def reals(array: Any) -> Any:
    """The address of a float64 array's numbers."""
    return array.ctypes.data_as(_REALS)


def sizes(array: Any) -> Any:
    return array.ctypes.data_as(_SIZES)
