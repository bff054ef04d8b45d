"""Search results: duplicates are grouped under the result that is shown, and none is discarded."""

from __future__ import annotations

from roughly.results.group import group_results
from roughly.results.groups import Grouped, RankedResult, ResultGroup

__all__ = ["Grouped", "RankedResult", "ResultGroup", "group_results"]
