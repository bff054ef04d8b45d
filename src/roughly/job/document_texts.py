"""The texts of a few documents, read again from the input: for the report's samples."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from roughly.sources.part import Part
from roughly.text.markup import PageText, strip_column
from roughly.threads import map_in_order

Place = tuple[int, int]  # part, row


class SourceRecord(NamedTuple):
    """A document as it is in the input now."""

    doc_id: str
    text: str  # without markup
    bytes: int  # of the text as read, in UTF-8


def texts_of(parts: Sequence[Part], places: Iterable[Place], page: PageText, threads: int = 1) -> dict[Place, str]:
    """The text at each position, without markup."""
    return {place: record.text for place, record in records_of(parts, places, page, threads).items()}


def records_of(
    parts: Sequence[Part], places: Iterable[Place], page: PageText, threads: int = 1
) -> dict[Place, SourceRecord]:
    """The document at each position."""
    rows: dict[int, set[int]] = defaultdict(set)
    for place in places:
        rows[place[0]].add(place[1])

    def read(number: int) -> dict[Place, SourceRecord]:
        part, wanted = parts[number], rows[number]
        found = {}
        for chunk in part.chunks(np.array(sorted(wanted), np.int64)):
            batch = part.parse(chunk).batch
            batch = batch.filter(pa.array([row in wanted for row in batch.column("row").to_pylist()], pa.bool_()))
            stripped = strip_column(batch.column("text"), batch.column("markup"), page)
            sizes = pc.binary_length(batch.column("text")).to_pylist()
            ids = batch.column("doc_id").to_pylist()
            for at, row in enumerate(batch.column("row").to_pylist()):
                found[number, row] = SourceRecord(ids[at], stripped[at].as_py(), sizes[at])
        return found

    return {place: record for records in map_in_order(read, list(rows), threads) for place, record in records.items()}
