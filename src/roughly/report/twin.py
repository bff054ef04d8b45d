"""The JSON twin of the page: the same data for programs.

`to_json` and `from_json` are inverse to each other on bounded data (`RunData.bounded`), so a page can
be rendered again from its twin, byte for byte, without the run. Rows are objects with the names used
everywhere else (`cluster_id`, `removed_bytes`, …), not positional lists.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from roughly.errors import InputError
from roughly.report.data import PairSample, RunData

FORMAT = "roughly-report"
VERSION = 1
_SOURCE = ("source", "documents", "removed", "removed_bytes")
_CLUSTER = ("cluster_id", "size", "min_resemblance", "mean_resemblance", "excerpt")


def to_json(data: RunData) -> str:
    """The twin as text, indented by two spaces, ending with a newline."""
    data = data.bounded()
    edges, counts = data.resemblance
    twin = {
        "format": FORMAT,
        "version": VERSION,
        "run": data.run,
        "cluster_sizes": _rows(("size", "count"), data.cluster_sizes),
        "resemblance": {"edges": list(edges), "counts": list(counts)},
        "by_source": _rows(_SOURCE, data.by_source),
        "kinds": _rows(("kind", "count"), data.kinds),
        "largest": _rows(_CLUSTER, data.largest),
        "above": [asdict(pair) for pair in data.above],
        "below": [asdict(pair) for pair in data.below],
    }
    return json.dumps(twin, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def from_json(text: str | bytes, where: str = "the twin") -> RunData:
    """The data of a twin; `where` names it in errors."""
    try:
        twin = json.loads(text)
    except ValueError as error:
        raise InputError(f"{where} is not JSON ({error}); write the report again") from error
    if not isinstance(twin, Mapping) or twin.get("format") != FORMAT:
        raise InputError(
            f"{where} is not the twin of a report (its format is not {FORMAT!r}); give the .json beside report.html"
        )
    if twin.get("version") != VERSION:
        raise InputError(
            f"{where} has version {twin.get('version')!r} of the format, this Roughly reads {VERSION}; "
            "write the report again"
        )
    try:
        histogram = twin["resemblance"]
        return RunData(
            run=twin["run"],
            cluster_sizes=_columns(twin["cluster_sizes"], ("size", "count")),
            resemblance=(histogram["edges"], histogram["counts"]),
            by_source=_columns(twin["by_source"], _SOURCE),
            kinds=_columns(twin["kinds"], ("kind", "count")),
            largest=_columns(twin["largest"], _CLUSTER),
            above=[PairSample(**pair) for pair in twin["above"]],
            below=[PairSample(**pair) for pair in twin["below"]],
        )
    except (KeyError, TypeError) as error:
        raise InputError(f"{where} lacks a part or has one too many ({error}); write the report again") from error


def _rows(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> list[dict[str, Any]]:
    return [dict(zip(names, row, strict=True)) for row in rows]


def _columns(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[Any]:
    return [tuple(row[name] for name in names) for row in rows]
