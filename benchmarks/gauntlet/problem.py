"""problem.py - what a problem of the gauntlet is: a Stan program with data, the
log evidence computed in two ways, and a line on each way."""
import random
from dataclasses import dataclass, field
from typing import Callable, Optional


@dataclass
class Problem:
    kind: str
    name: str
    program: str
    data: dict
    truth: Optional[Callable]  # None: there is no evidence to be had
    derivation: str
    check: Optional[Callable] = None
    second: str = ""
    tolerance: float = 1e-6  # between the two ways
    quick: bool = field(default=False)  # in the tenth that `make test` runs


PROBLEMS = []


def add(*args, **kwargs):
    PROBLEMS.append(Problem(*args, **kwargs))


def noise(seed, n, digits=3):
    """n standard normals, rounded so that the data file holds them exactly."""
    source = random.Random(seed)
    return [round(source.gauss(0, 1), digits) for _ in range(n)]
