"""Search results: duplicates grouped under the one that is shown, and none discarded."""

from __future__ import annotations

from roughly.results.group import group_results
from roughly.results.groups import Grouped, RankedResult, ResultGroup

__all__ = ["Grouped", "RankedResult", "ResultGroup", "group_results"]
