"""Search results: duplicates grouped under the one that is shown, and none discarded."""

from __future__ import annotations

from roughly.results.group import group_results
from roughly.results.groups import Group, Grouped, Result

__all__ = ["Group", "Grouped", "Result", "group_results"]
