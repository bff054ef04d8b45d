"""Columns of a run's input that Roughly does not use, for the documents of a page.

The input is opened again with these columns instead of title, address and date, so that every format is read by
its own reader and a record is found as quickly as its text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from roughly.job.document_texts import Place
from roughly.job.rereading import Input, options_of

_FIELDS = ("title", "url", "date")
MOST_COLUMNS = 6
"""Columns of the input in one table: each three of them mean reading the records once more."""


def column_names(source: Input) -> list[str]:
    """The columns of all parts, in the order in which they are met."""
    return list(dict.fromkeys(name for part in source.parts for name in getattr(part, "columns", ())))


def read_columns(
    folder: Path, run: Mapping[str, Any], inputs: Sequence[str] | None, names: Sequence[str], places: Iterable[Place]
) -> dict[Place, dict[str, str | None]]:
    """The values of these columns at each position; None where a record has none."""
    wanted = sorted(places)
    found: dict[Place, dict[str, str | None]] = {place: {} for place in wanted}
    for start in range(0, len(names), len(_FIELDS)):
        fields = dict(zip(_FIELDS, names[start : start + len(_FIELDS)], strict=False))
        given: dict[str, Any] = {f"{field}_column": name for field, name in fields.items()}
        options = replace(options_of(run), **given)
        with closing(Input(folder, run, inputs, options)) as source:
            read = _values(source, wanted)
        for place in wanted:
            values = read.get(place, {})
            found[place] |= {name: values.get(field) for field, name in fields.items()}
    return found


def _values(source: Input, wanted: Sequence[Place]) -> dict[Place, dict[str, str | None]]:
    by_part: dict[int, list[int]] = {}
    for at, row in wanted:
        if at < len(source.parts):
            by_part.setdefault(at, []).append(row)
    found = {}
    for number, rows in by_part.items():
        part = source.parts[number]
        for chunk in part.chunks(np.array(rows, np.int64)):
            batch = part.parse(chunk).batch.select(["row", *_FIELDS])
            for values in batch.to_pylist():
                found[number, values["row"]] = values
    return found
