"""What a Python caller should know about a run: as warnings, and in the repr of its result."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from roughly.amounts import counted, records_were
from roughly.errors import RoughlyWarning
from roughly.sources.columns import NUMBERED

_FIELDS = ("text", "id", "title", "url", "date", "source")
_OBVIOUS = {NUMBERED, "id column: doc_id", *(f"{name} column: {name}" for name in _FIELDS)}
"""Guesses that follow from the name of the column."""


def one_line(run: Mapping[str, Any]) -> str:
    """The counts of a run, and the remarks on it."""
    counts = run["counts"]
    line = f"{counted(counts['documents'], 'document')}, {counts['kept']:,} kept, {counts['removed']:,} removed"
    return "; ".join([line, *remarks_on(run)])


def remarks_on(run: Mapping[str, Any]) -> list[str]:
    """Rejected records, and guesses that may be wrong."""
    rejected = run["counts"].get("rejected", 0)
    return [f"{rejected:,} rejected"] * (rejected > 0) + _guesses(run)


def warn(run: Mapping[str, Any], rejected: Sequence[Mapping[str, str]]) -> None:
    """The same as warnings at the caller of `roughly.dedupe`; `rejected` are records, of which the first is named."""
    lines = _guesses(run)
    if rejected:
        first = rejected[0]
        lines.append(
            f"{records_were(run['counts']['rejected'])} left out, such as {first['file']}, {first['record']}: "
            f"{first['reason']}; result.rejected lists them"
        )
    for line in lines:
        warnings.warn(line, RoughlyWarning, stacklevel=4)


def _guesses(run: Mapping[str, Any]) -> list[str]:
    return [f"guessed {note}" for note in run.get("guesses", ()) if note not in _OBVIOUS]
