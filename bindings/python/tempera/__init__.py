"""Tempera: Bayesian posteriors with isolated modes, integers and differential
equations, and their evidence.

>>> import tempera
>>> run = tempera.sample("model.stan", data={"y": [1.2, 0.7, 1.9]}, seed=1)
>>> run["mu"].mean(), run.log_z, run.se, run.verdict
>>> tempera.compare(run, other)

All the work is done by libtempera.
"""

from ._answers import (Calibration, Evidence, Hypothesis, calibrate, evidence,
                       test)
from ._compare import Comparison, compare
from ._library import Error, InputError, ModelError, lib
from ._model import Check, Model, check, compile
from ._run import Draws, Report, Run, Summary, load
from ._sample import resume, sample

__version__ = lib.version().decode()
__all__ = ["Calibration", "Check", "Comparison", "Draws", "Error", "Evidence",
           "Hypothesis", "InputError", "Model", "ModelError", "Report", "Run",
           "Summary", "calibrate", "check", "compare", "compile", "evidence",
           "load", "resume", "sample", "test"]
