"""Models compared: by their evidence, fractional evidence or WBIC."""

from __future__ import annotations

import json
import os
from ctypes import c_char_p, c_double, c_void_p
from pathlib import Path
from typing import Any, Mapping, Optional, Sequence, Union

from ._library import Handle, lib, take_text
from ._run import Run

RunLike = Union[Run, str, "os.PathLike[str]"]


class Comparison:
    """Bayes factors and model probabilities with their errors; printed, it is
    the table of the command."""

    def __init__(self, found: dict[str, Any], text: str):
        self.json = found
        self._text = text

    @property
    def names(self) -> list[str]:
        return [model["run"] for model in self.json["models"]]

    @property
    def probabilities(self) -> dict[str, float]:
        """Posterior probabilities of the models, by name."""
        return {m["run"]: m["probability"] for m in self.json["models"]}

    @property
    def log_bayes_factors(self) -> list[list[float]]:
        """[i][j]: model i against model j."""
        return self.json["log_bayes_factors"]

    @property
    def kind(self) -> str:
        """Of Bayes factor: "evidence", "fractional" or "wbic"."""
        return self.json.get("kind", "evidence")

    @property
    def warnings(self) -> list[str]:
        return self.json.get("warnings", [])

    def log_bayes_factor(self, a: Union[int, str] = 0,
                         b: Union[int, str] = 1) -> float:
        """Of a against b, each a name or a place in the list."""
        i, j = (self.names.index(x) if isinstance(x, str) else x
                for x in (a, b))
        return self.log_bayes_factors[i][j]

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__


def _folder(run: RunLike) -> Path:
    return run.folder if isinstance(run, Run) else Path(run)


def _names(runs: Sequence[RunLike], names: Optional[Sequence[str]]) -> list[str]:
    """Their folders' names where they have some; else model1, model2."""
    if names is not None:
        if len(names) != len(runs):
            raise ValueError(f"{len(names)} names for {len(runs)} runs")
        return list(names)
    return [f"model{i + 1}" if isinstance(run, Run) and run._temporary
            else str(_folder(run)) for i, run in enumerate(runs)]


KINDS = ("evidence", "fractional", "wbic")


def _kind(by: Optional[str], fraction: Optional[float]) -> int:
    if by is None:
        by = "evidence" if fraction is None else "fractional"
    if by not in KINDS:
        raise ValueError(f"by={by!r}: choose one of {', '.join(KINDS)}")
    return KINDS.index(by)


def compare(*runs: RunLike, names: Optional[Sequence[str]] = None,
            prior_odds: Union[Sequence[float], Mapping[str, float],
                              None] = None, by: Optional[str] = None,
            fraction: Optional[float] = None,
            html: Union[str, "os.PathLike[str]", None] = None,
            **named: RunLike) -> Comparison:
    """Compare runs on the same data.

    >>> tempera.compare(one, two, names=["one mode", "two modes"])
    >>> tempera.compare(linear=run1, quadratic=run2)   # or a mapping

    Runs are objects or folders. ``prior_odds`` are positive numbers, one for
    each run, of which only the ratios matter (or a mapping by name).

    by
        "evidence" (Bayes factors), "fractional" (of log z(1) - log z(b), which
        improper priors have too) or "wbic".
    fraction
        The b of fractional ones; by default the largest that a run has by
        itself.
    html
        Also write a page with charts there.
    """
    if len(runs) == 1 and isinstance(runs[0], Mapping) and \
            not isinstance(runs[0], Run):
        named, runs = {**runs[0], **named}, ()
    called = _names(runs, names) + list(named)
    every = list(runs) + list(named.values())
    count = len(every)
    if isinstance(prior_odds, Mapping):
        prior_odds = [prior_odds[name] for name in called]
    if prior_odds is not None and len(prior_odds) != count:
        raise ValueError(f"{len(prior_odds)} prior odds for {count} runs")
    kind = _kind(by, fraction)
    summaries = [Handle(lib.summary_free) for _ in every]
    places = [str(_folder(run)).encode() for run in every]
    for place, summary in zip(places, summaries):
        lib.summary_read(place, summary.out)
        lib.run_check(place)
    handles = (c_void_p * count)(*(s.value for s in summaries))
    folders = (c_char_p * count)(*places)
    if KINDS[kind] == "fractional":
        lib.runs_fractional(folders, handles, count, fraction or 0.0)
    odds = (c_double * count)(*prior_odds) if prior_odds is not None else None
    with Handle(lib.comparison_free) as comparison:
        lib.compare_by(kind, handles,
                       (c_char_p * count)(*(n.encode() for n in called)),
                       count, odds, comparison.out)
        if html is not None:
            lib.comparison_page(comparison.value, handles, folders,
                                os.fspath(html).encode())
        found = json.loads(take_text(lib.comparison_json, comparison.value))
        return Comparison(found, take_text(lib.comparison_text,
                                           comparison.value, False))
