"""A model of Python functions: the library's callbacks on one side, functions
of a mapping from name to value on the other."""

from __future__ import annotations

import json
import math
from ctypes import byref, c_char_p, c_double, c_size_t, cast, c_void_p
from ctypes import memmove, sizeof, string_at
from typing import Any, Callable, Mapping, Optional

import numpy as np

from ._library import (BATCH_FN, DENSITY_FN, DRAW_FN, GRADIENT_FN, Handle,
                       InputError, REASON_FN, Spec, lib)

STOP = -1


class Layout:
    """Where each parameter's values lie in theta."""

    def __init__(self, parameters: Mapping[str, Any]):
        self.blocks = Handle(lib.parameters_free)
        self.text = json.dumps({name: _description(name, value)
                                for name, value in parameters.items()})
        lib.parameters_parse(self.text.encode(), len(self.text.encode()),
                             self.blocks.out)
        count = c_size_t()
        self.first = lib.parameters_blocks(self.blocks.value, byref(count))
        self.count = count.value
        self.names: list[str] = []
        self.slices: list[tuple[str, int, int, tuple[int, ...], bool]] = []
        place = 0
        for i in range(self.count):
            block = self.first[i]
            name = block.name.decode()
            size = block.size or 1
            shape = _shape(parameters[name]) if block.size else ()
            self.slices.append((name, place, place + size, shape,
                                block.kind == 1))
            place += size
        self.size = place
        self.scalar = all(not shape for _, _, _, shape, _ in self.slices)
        self._buffer = c_double * place
        self._rows: dict[int, Any] = {}

    def at(self, address: int) -> dict[str, Any]:
        """The values at an address, by name: numbers and arrays of their
        own."""
        values = self._buffer.from_address(address)[:]
        if self.scalar:
            return {name: int(values[at]) if whole else values[at]
                    for name, at, _, _, whole in self.slices}
        return {name: self._part(values, at, end, shape, whole)
                for name, at, end, shape, whole in self.slices}

    @staticmethod
    def _part(values: Any, at: int, end: int, shape: tuple[int, ...],
              whole: bool) -> Any:
        if not shape:
            return int(values[at]) if whole else values[at]
        part = np.array(values[at:end], dtype=np.int64 if whole else float)
        return part.reshape(shape) if len(shape) > 1 else part

    def rows_at(self, address: int, count: int) -> dict[str, Any]:
        """As `at`, of several points: arrays whose first index counts them."""
        flat = bytearray(string_at(address, 8 * count * self.size))
        table = np.frombuffer(flat).reshape(count, self.size)
        return {name: self._column(table, at, end, shape, whole)
                for name, at, end, shape, whole in self.slices}

    @staticmethod
    def _column(table: Any, at: int, end: int, shape: tuple[int, ...],
                whole: bool) -> Any:
        part = table[:, at] if not shape else \
            table[:, at:end].reshape((len(table),) + shape)
        return part.astype(np.int64) if whole else part

    def put(self, values: Mapping[str, Any], out: Any, what: str) -> None:
        """Write a mapping into numbers that lie as theta does; `out` may have
        rows of them."""
        for name, at, end, shape, _ in self.slices:
            if name not in values:
                raise KeyError(f"{what} gave no value for {name}")
            part = np.asarray(values[name], dtype=float)
            out[..., at:end] = part.reshape(out.shape[:-1] + (end - at,))


def _description(name: str, value: Any) -> Any:
    """A parameter as the library wants it in JSON: tuples are lists."""
    if isinstance(value, str):
        return value
    try:
        parts = list(value)
    except TypeError:
        raise InputError(f"parameter {name}: wanted \"real\" or a tuple such "
                         f"as (\"real\", 0, None), not {value!r}") from None
    return [_number(part) for part in parts]


def _number(part: Any) -> Any:
    if isinstance(part, (list, tuple)):
        return [_number(item) for item in part]
    if isinstance(part, np.generic):
        part = part.item()
    if isinstance(part, float) and math.isinf(part):
        return None
    return part


def _shape(value: Any) -> tuple[int, ...]:
    parts = list(value)
    size = parts[1] if parts[0] == "simplex" else parts[3]
    return tuple(size) if isinstance(size, (list, tuple)) else (int(size),)


class CallableModel:
    """The library's model of Python functions. Holds on to all that the
    library points to."""

    def __init__(self, name: str, parameters: Mapping[str, Any],
                 log_likelihood: Callable, log_prior: Callable, *,
                 log_likelihood_gradient: Optional[Callable] = None,
                 log_prior_gradient: Optional[Callable] = None,
                 prior_draw: Optional[Callable] = None,
                 vectorised: bool = False, prior_normalised: bool = False,
                 prior_improper: bool = False):
        self.layout = Layout(parameters)
        self.failure: Optional[BaseException] = None
        self.vectorised = vectorised
        self.on_interrupt: Optional[Callable[[], bool]] = None
        self.handle = Handle(lib.model_free)
        self._reason = b""
        spec = Spec(name=name.encode(), parameters=self.layout.first,
                    parameter_count=self.layout.count,
                    prior_normalised=prior_normalised,
                    prior_improper=prior_improper)
        slopes = log_likelihood_gradient is not None
        if slopes != (log_prior_gradient is not None):
            raise InputError("gradients are needed of both densities: "
                             "log_likelihood_gradient and log_prior_gradient")
        self._kept: list[Any] = []
        if vectorised:
            spec.log_likelihood_batch = self._keep(BATCH_FN(self._guard(
                self._batch(log_likelihood, log_likelihood_gradient,
                            "log_likelihood"))))
            spec.log_prior_batch = self._keep(BATCH_FN(self._guard(
                self._batch(log_prior, log_prior_gradient, "log_prior"))))
            spec.batch_gradients = slopes
        else:
            spec.log_likelihood = self._keep(DENSITY_FN(self._density(
                log_likelihood, "log_likelihood")))
            spec.log_prior = self._keep(DENSITY_FN(self._density(
                log_prior, "log_prior")))
            if slopes:
                spec.log_likelihood_gradient = self._keep(GRADIENT_FN(
                    self._guard(self._gradient(log_likelihood_gradient))))
                spec.log_prior_gradient = self._keep(GRADIENT_FN(
                    self._guard(self._gradient(log_prior_gradient))))
        if prior_draw is not None:
            spec.prior_draw = self._keep(DRAW_FN(self._guard(
                self._draw(prior_draw))))
        spec.reason = self._keep(REASON_FN(lambda user: self._reason_at()))
        lib.model_create_sized(byref(spec), sizeof(spec), self.handle.out)

    def _keep(self, function: Any) -> Any:
        self._kept.append(function)
        return cast(function, c_void_p)

    def _reason_at(self) -> Optional[int]:
        if not self._reason:
            return None
        return cast(c_char_p(self._reason), c_void_p).value

    def _fail(self, failure: BaseException) -> int:
        """Ctrl-C rejects the point and asks the run to end, so that what was
        drawn is kept; anything else stops it."""
        if isinstance(failure, KeyboardInterrupt) and self.on_interrupt and \
                self.on_interrupt():
            return 1
        if self.failure is None:
            self.failure = failure
            words = f"{type(failure).__name__}: {failure}"
            self._reason = words.encode(errors="replace")[:400]
        return STOP

    def _guard(self, function: Callable) -> Callable:
        """Exceptions do not cross the library: they are kept for later."""

        def guarded(*arguments: Any) -> int:
            try:
                function(*arguments)
                return 0
            except BaseException as failure:
                return self._fail(failure)
        return guarded

    def _density(self, function: Callable, what: str) -> Callable:
        at, number, fail = self.layout.at, c_double.from_address, self._fail

        def density(theta: int, value: int, user: Any) -> int:
            try:
                number(value).value = function(at(theta))
                return 0
            except TypeError as failure:
                return fail(self._explained(failure, function, theta, what))
            except BaseException as failure:
                return fail(failure)
        return density

    def _explained(self, failure: TypeError, function: Callable, theta: int,
                   what: str) -> BaseException:
        """Numbers in an array of one are numbers; what else is none is
        named."""
        try:
            result = function(self.layout.at(theta))
        except BaseException:
            return failure
        return TypeError(f"{what} must return a number, not {result!r}")

    def _gradient(self, function: Optional[Callable]) -> Callable:
        layout = self.layout
        assert function is not None

        def gradient(theta: int, value: int, out: int, user: Any) -> None:
            found, slopes = function(layout.at(theta))
            c_double.from_address(value).value = found
            room = np.empty(layout.size)
            layout.put(slopes, room, "the gradient")
            _write(room, out)
        return gradient

    def _batch(self, function: Callable, slopes: Optional[Callable],
               what: str) -> Callable:
        layout = self.layout

        def batch(theta: int, count: int, values: int, out: Optional[int],
                  user: Any) -> None:
            points = layout.rows_at(theta, count)
            if not out:
                _write(_column_of(function(points), count, what), values)
                return
            assert slopes is not None
            found, gradient = slopes(points)
            _write(_column_of(found, count, what + "_gradient"), values)
            rows = np.empty((count, layout.size))
            layout.put(gradient, rows, what + "_gradient")
            _write(rows, out)
        return batch

    def _draw(self, function: Callable) -> Callable:
        """One generator, set to the library's bits for each draw: to make one
        takes ten times as long."""
        layout, below = self.layout, lib.random_below
        bits = np.random.PCG64(1)
        state, generator = bits.state, np.random.Generator(bits)

        def draw(random: int, theta: int, user: Any) -> None:
            state["state"]["state"] = below(random, 1 << 63) << 64 \
                | below(random, 1 << 63)
            bits.state = state
            values = function(generator)
            room = np.empty(layout.size)
            layout.put(values, room, "prior_draw")
            _write(room, theta)
        return draw


def _write(numbers: Any, address: int) -> None:
    """Through bytes: views of memory cost more than these few numbers."""
    memmove(address, numbers.tobytes(), numbers.nbytes)


def _column_of(values: Any, count: int, what: str) -> Any:
    found = np.asarray(values, dtype=float)
    if found.shape not in ((count,), (count, 1)):
        raise ValueError(f"{what} got {count} points and must return as many "
                         f"numbers, not an array of shape {found.shape}")
    return found.reshape(count)
