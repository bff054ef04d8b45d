"""Whole runs: from inputs to a result in its place."""

from roughly.job.result import Result
from roughly.job.start import dedupe, run

__all__ = ["Result", "dedupe", "run"]
