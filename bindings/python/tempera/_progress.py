"""How far a run is: a line on a terminal, a bar in a notebook."""

from __future__ import annotations

import math
import sys
import time
from typing import Any, Callable, Optional, Union

PHASES = ("looking around", "warming up", "sampling", "done")


def in_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"


def is_interactive() -> bool:
    return hasattr(sys, "ps1")


def as_dict(progress: Any) -> dict[str, Any]:
    """What a caller's own function gets to see."""
    found = {name: getattr(progress, name) for name, _ in progress._fields_}
    found["phase"] = PHASES[progress.phase]
    for name in ("log_z", "se"):
        if math.isnan(found[name]):
            found[name] = None
    return found


def words(now: dict[str, Any]) -> str:
    line = now["phase"]
    if now["total"]:
        line += f" {100 * now['done'] / now['total']:3.0f} %"
    line += f", {now['seconds']:.0f} s"
    if now["log_z"] is not None:
        line += f", log Z {now['log_z']:.3f}"
        line += f" +- {now['se']:.3f}" if now["se"] is not None else ""
    if now["round_trips"]:
        line += f", {now['round_trips']} round trips"
    return line


class Line:
    """One line of a terminal, written over."""

    def __init__(self) -> None:
        self._width = 0

    def show(self, now: dict[str, Any]) -> None:
        line = words(now)[:79]
        sys.stderr.write("\r" + line.ljust(self._width))
        sys.stderr.flush()
        self._width = len(line)

    def close(self) -> None:
        sys.stderr.write("\r" + " " * self._width + "\r")
        sys.stderr.flush()


class Bar:
    """A bar in a notebook's cell."""

    def __init__(self) -> None:
        from IPython.display import HTML, display
        self._html = HTML
        self._place = display(HTML(""), display_id=True)

    def show(self, now: dict[str, Any]) -> None:
        share = now["done"] / now["total"] if now["total"] else 0
        self._place.update(self._html(
            f'<progress value="{share:.3f}" max="1"></progress> {words(now)}'))

    def close(self) -> None:
        self._place.update(self._html(""))


class Own:
    """The caller's own function."""

    def __init__(self, function: Callable[[dict[str, Any]], Any]):
        self.show = function

    def close(self) -> None:
        pass


class Display:
    """Shows progress now and then, by whatever is there to show it."""

    EVERY = 0.2  # seconds

    def __init__(self, wish: Union[bool, None, Callable] = None):
        self._by: Any = None
        self._shown = 0.0
        if callable(wish):
            self._by = Own(wish)
        elif wish is not False and in_notebook():
            self._by = Bar()
        elif wish or (wish is None and sys.stderr.isatty()):
            self._by = Line()

    def update(self, progress: Optional[dict[str, Any]]) -> None:
        now = time.monotonic()
        if self._by is None or not progress or now - self._shown < self.EVERY:
            return
        self._shown = now
        self._by.show(progress)

    def close(self) -> None:
        if self._by is not None:
            self._by.close()
