"""What is known of the documents of a sample beside their texts, as far as it can tell them apart.

A column is used if two documents of the sample have different values in it. It is left out if it is what the labels are
made of: a verdict learnt from it would only repeat them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pyarrow as pa

from roughly.amounts import counted
from roughly.cluster.fields import Fields
from roughly.dates import days_of, timestamps, unread
from roughly.fast_dataclass import dataclass
from roughly.kernels.hashing import hash_sequences

COLUMNS = ("title", "url", "source", "date")


@dataclass(frozen=True)
class SampleFields:
    """The fields of documents, and the columns that they are of."""

    columns: frozenset[str]
    fields: Fields


def columns_of(learns: bool, by_column: bool) -> list[str]:
    """The columns that a verdict may compare: a column of labels is read instead of addresses."""
    return [name for name in COLUMNS if learns and not (by_column and name == "url")]


def known_fields(
    rows: Mapping[str, Sequence[str | None]], sets: Sequence[str | None], wanted: Collection[str],
    date_format: str | None = None,
) -> SampleFields | None:  # fmt: skip
    """The fields of documents with these COLUMNS and sets; None if they tell no two documents apart."""
    table = pa.table({name: pa.array(rows[name], pa.string()) for name in COLUMNS})
    days = days_of(rows["date"], date_format)
    every = Fields.of(COLUMNS, table, days)
    titles = hash_sequences(every.titles.values, every.titles.offsets)[np.diff(every.titles.offsets) > 0, 0]
    values = {"title": titles} | {
        name: every.known[every.known[:, place] != 0, place] for place, name in enumerate(("url", "source", "date"))
    }
    columns = frozenset(
        name for name in wanted if len(np.unique(values[name])) > 1 and not _is_label(rows[name], sets)
    )  # fmt: skip
    return SampleFields(columns, Fields.of(columns, table, days)) if columns else None


def unread_dates(dates: Sequence[str | None], date_format: str | None) -> list[str]:
    """What to say about dates that exist and are not read, if there are any."""
    texts = pa.array(dates, pa.string())
    left = unread(texts, timestamps(texts, date_format))
    if not left:
        return []
    found = f"{counted(len(left), 'date')} unread, such as {texts[left[0]].as_py()!r}, and not compared"
    return [f"{found}; say how they are written with --date-format"]


def _is_label(values: Sequence[str | None], sets: Sequence[str | None]) -> bool:
    labelled = [(value, own) for value, own in zip(values, sets, strict=True) if own is not None]
    return bool(labelled) and all(f"set:{value}" == own for value, own in labelled)
