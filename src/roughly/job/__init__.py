"""Whole runs: from inputs to a result in its folder."""

from roughly.job.dedupe_api import dedupe, run
from roughly.job.result import Result

__all__ = ["Result", "dedupe", "run"]
