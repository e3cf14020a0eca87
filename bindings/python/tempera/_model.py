"""A model and its densities at points."""

from __future__ import annotations

import os
import warnings
from ctypes import byref, c_bool, c_double, string_at
from pathlib import Path
from typing import Any, Mapping, Optional, Union

import numpy as np

from ._data import is_path, text_of, to_json
from ._library import (Density, Error, Handle, InputError, lib, reals,
                       take_text)

Source = Union[str, "os.PathLike[str]"]


def is_code(source: Source) -> bool:
    """Program text, not the path of a file?"""
    return isinstance(source, str) and ("{" in source or "\n" in source)


def placed(problem: Error, file: str) -> Error:
    """The same with FILE:LINE:COLUMN in front."""
    place = f"{file}:{problem.line}:{problem.column}: " if problem.line \
        else ""
    return type(problem)(place + str(problem), problem.line, problem.column)


def _load_program(program: Handle, data: Handle, file: str, data_name: str,
                  model: Handle) -> None:
    i = 0
    while (words := lib.program_warning(program.value, i)) is not None:
        warnings.warn(f"{file}:{words.decode()}", stacklevel=5)
        i += 1
    try:
        lib.program_load(program.value, data.value, model.out)
    except Error as problem:
        raise placed(problem, data_name) from None


def load_model(source: Source, data: Handle, data_name: str,
               include_path: Any = None) -> Handle:
    """A Stan file or its text, or a shared library."""
    model = Handle(lib.model_free)
    file = "model.stan" if is_code(source) else os.fspath(source)
    if not is_code(source) and not Path(file).exists():
        raise FileNotFoundError(f"no model {file}; text of a program has at "
                                f"least one brace or line break")
    if not is_code(source) and not file.endswith(".stan"):
        lib.model_load(file.encode(), data.value, model.out)
        return model
    with read_program(source, include_path) as program:
        _load_program(program, data, file, data_name, model)
    return model


def read_program(source: Source, include_path: Any) -> Handle:
    file = "model.stan" if is_code(source) else os.fspath(source)
    program = Handle(lib.program_free)
    try:
        if is_code(source):
            text = str(source).encode()
            lib.program_parse(file.encode(), text, len(text), program.out)
        else:
            lib.program_read_including(file.encode(), _joined(include_path),
                                       program.out)
    except Error as problem:
        raise placed(problem, file) from None
    return program


def _joined(include_path: Any) -> Optional[bytes]:
    if include_path is None:
        return None
    if isinstance(include_path, (str, os.PathLike)):
        include_path = [include_path]
    return ":".join(os.fspath(each) for each in include_path).encode()


def load_data(data: Any) -> tuple[Handle, str]:
    """The data and what to call them in messages."""
    handle = Handle(lib.data_free)
    name = os.fspath(data) if is_path(data) else "data"
    text = text_of(data).encode()
    try:
        lib.data_parse(text, len(text), handle.out)
    except Error as problem:
        raise placed(problem, name) from None
    return handle, name


class Check(str):
    """What `tempera check` says; ``sound`` is its exit status: False where no
    start was found, or gradients disagree with differences."""

    sound: bool = True


def _join(parts: list[tuple[str, bool]]) -> Check:
    made = Check("".join(text for text, _ in parts))
    made.sound = all(sound for _, sound in parts)
    return made


def _checked(function: Any, model: Handle) -> tuple[str, bool]:
    sound = c_bool()
    with Handle(lib.text_free) as text:
        function(model.value, text.out, byref(sound))
        return string_at(text.value).decode(), sound.value


class Model:
    """A Stan program (a file or its text) or a shared library with its data:
    log densities and gradients at points, as BridgeStan's client gives them.

    Points are unconstrained unless said otherwise; several are rows of an
    array. ``tau`` weighs the likelihood: 1 is the posterior, 0 the prior.
    """

    def __init__(self, source: Source, data: Any = None, *,
                 include_path: Any = None):
        with load_data(data)[0] as values:
            name = os.fspath(data) if is_path(data) else "data"
            self._model = load_model(source, values, name, include_path)
        self._evaluator = Handle(lib.evaluator_free)
        lib.evaluator_create(self._model.value, self._evaluator.out)

    def name(self) -> str:
        return lib.model_name(self._model.value).decode()

    def param_names(self) -> list[str]:
        """The names of all values, as mu or p[2]."""
        return [lib.model_value_name(self._model.value, i).decode()
                for i in range(self.param_num())]

    def param_num(self) -> int:
        return lib.model_size(self._model.value)

    def param_unc_num(self) -> int:
        return lib.model_unconstrained_size(self._model.value)

    def check_gradient(self) -> Check:
        """Gradients beside differences of values at a few points, as `tempera
        check --gradient` compares them; ``sound`` where they agree."""
        return _join([_checked(lib.model_check_gradient, self._model)])

    def has_gradient(self) -> bool:
        spec = lib.model_spec_of(self._model.value).contents
        return bool(spec.log_likelihood_gradient and spec.log_prior_gradient)

    def _point(self, values: Any, size: int) -> np.ndarray:
        point = np.ascontiguousarray(values, dtype=float).reshape(-1)
        if point.size != size:
            raise InputError(f"{size} numbers are needed, not {point.size}")
        return point

    def param_constrain(self, u: Any) -> np.ndarray:
        """The natural values of an unconstrained point."""
        theta, jacobian = np.empty(self.param_num()), c_double()
        point = self._point(u, self.param_unc_num())
        lib.model_constrain(self._model.value, reals(point), reals(theta),
                            byref(jacobian))
        return theta

    def param_unconstrain(self, theta: Any) -> np.ndarray:
        """The unconstrained point of natural values: an array of them all, or
        a mapping from name to value."""
        natural = self._natural(theta)
        u = np.empty(self.param_unc_num())
        lib.model_unconstrain(self._model.value, reals(natural), reals(u))
        return u

    def _natural(self, theta: Any) -> np.ndarray:
        if not isinstance(theta, Mapping):
            return self._point(theta, self.param_num())
        starts = np.empty(self.param_num())
        text = to_json(theta).encode()
        lib.starts_parse(text, len(text), self._model.value, 1, reals(starts))
        return starts

    def log_densities(self, theta: Any) -> tuple[float, float]:
        """Log likelihood and log prior at natural values (an array or a
        mapping); no Jacobian."""
        natural = self._natural(theta)
        likelihood, prior = c_double(), c_double()
        lib.model_evaluate(self._model.value, reals(natural),
                           byref(likelihood), byref(prior))
        return likelihood.value, prior.value

    def _at(self, u: Any, tau: float, jacobian: bool,
            gradient: Optional[np.ndarray]) -> float:
        density = Density()
        point = self._point(u, self.param_unc_num())
        lib.evaluator_at(self._evaluator.value, tau, reals(point),
                         byref(density),
                         None if gradient is None else reals(gradient))
        found = density.log_prior
        if tau > 0:
            found += tau * density.log_likelihood
        return found + density.log_jacobian if jacobian else found

    def log_density(self, u: Any, *, tau: float = 1.0,
                    jacobian: bool = True) -> Any:
        """tau log likelihood + log prior (+ log Jacobian) at an unconstrained
        point, or at each row of several."""
        points = np.asarray(u, dtype=float)
        if points.ndim < 2:
            return self._at(points, tau, jacobian, None)
        return np.array([self._at(row, tau, jacobian, None) for row in points])

    def log_density_gradient(self, u: Any, *, tau: float = 1.0) -> Any:
        """The log density, with the Jacobian, and its gradient over u."""
        points = np.asarray(u, dtype=float)
        if points.ndim < 2:
            gradient = np.empty(self.param_unc_num())
            return self._at(points, tau, True, gradient), gradient
        both = [self.log_density_gradient(row, tau=tau) for row in points]
        return (np.array([value for value, _ in both]),
                np.array([gradient for _, gradient in both]))


def check(source: Source, data: Any = None, *, gradient: bool = False,
          cost: bool = False, include_path: Any = None) -> Check:
    """What `tempera check` says of a model: of a program its declarations, and
    which statement belongs to the prior and which to the likelihood; with data
    (or of a shared library) also how its densities fare at 100 points.

    gradient
        Also compare gradients with differences of values.
    cost
        Also say what an evaluation of a program costs with these data, and
        why.

    The answer is a text; its ``sound`` is False where no start was found or
    gradients disagree.
    """
    is_program = is_code(source) or os.fspath(source).endswith(".stan")
    if is_program and data is None and (gradient or cost):
        raise InputError("gradient and cost need the data (an empty mapping "
                         "for a program without)")
    if cost and not is_program:
        raise InputError("cost is for Stan programs")
    parts: list[tuple[str, bool]] = []
    if is_program:
        with read_program(source, include_path) as program:
            parts.append((take_text(lib.program_describe, program.value),
                          True))
        if data is None:
            return _join(parts)
        parts.append(("\n", True))
    values, name = load_data(data)
    model = load_model(source, values, name, include_path)
    parts.append((take_text(lib.model_describe, model.value, is_program),
                  True))
    parts.append(_checked(lib.model_check_points, model))
    if gradient:
        parts.append(_checked(lib.model_check_gradient, model))
    if cost:
        with read_program(source, include_path) as program:
            parts.append(("\n" + take_text(lib.program_cost, program.value,
                                           values.value), True))
    return _join(parts)


def compile(source: Source, output: Union[Source, None] = None, *,
            include_path: Any = None) -> str:
    """Build a program's shared library, at `output` or in the user's cache;
    its path. At `output` it has BridgeStan's C interface too."""
    with read_program(source, include_path) as program:
        return take_text(lib.program_compile, program.value,
                         None if output is None else os.fspath(output).encode())
