"""Data as CmdStan JSON: numbers, arrays, columns and nested lists."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Mapping

import numpy as np


def _column(value: Any) -> np.ndarray:
    """Of a column or table of pandas, without what Stan does not know."""
    if hasattr(value, "cat"):
        raise TypeError("data must be numbers, not categories: number them "
                        "from 1 (column.cat.codes + 1)")
    if hasattr(value, "isna") and np.any(value.isna()):
        raise ValueError("data have missing values; Stan programs know none: "
                         "drop these rows, or give them as parameters")
    return value.to_numpy()


def plain(value: Any) -> Any:
    """A value as JSON knows it: what has rows becomes nested lists."""
    if isinstance(value, Mapping):
        return {str(name): _named(str(name), item)
                for name, item in value.items()}
    if isinstance(value, (bool, np.bool_)):
        return int(value)
    if hasattr(value, "to_numpy"):  # pandas' columns and tables
        value = _column(value)
    elif hasattr(value, "__array__"):
        value = np.asarray(value)
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "mM":
            raise TypeError("data must be numbers, not times: convert them, "
                            "for instance to days since the first")
        if value.dtype == bool:
            value = value.astype(int)
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, complex):
        return [value.real, value.imag]
    if isinstance(value, (list, tuple, range)):
        return [plain(item) for item in value]
    if isinstance(value, (int, float)):
        return value
    raise TypeError(f"data must be numbers or arrays of them, not "
                    f"{type(value).__name__}: {value!r}")


def _named(name: str, value: Any) -> Any:
    try:
        return plain(value)
    except (TypeError, ValueError) as problem:
        raise type(problem)(f"{name}: {problem}") from None


def to_json(data: Any) -> str:
    """CmdStan JSON of a mapping from name to value. A table of pandas is a
    mapping from its columns' names to the columns."""
    if data is None:
        return "{}"
    if hasattr(data, "columns") and hasattr(data, "to_numpy"):
        data = {name: data[name] for name in data.columns}
    if not isinstance(data, Mapping):
        raise TypeError("data must be a mapping from name to value, or the "
                        "path of a JSON file")
    return json.dumps(plain(data))


def is_path(data: Any) -> bool:
    return isinstance(data, (str, os.PathLike))


def text_of(data: Any) -> str:
    return Path(data).read_text() if is_path(data) else to_json(data)
