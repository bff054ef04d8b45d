"""The texts of a few documents, read again from the input: for the report's samples."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from roughly.sources.part import Part
from roughly.text.markup import strip_column
from roughly.threads import in_order

Place = tuple[int, int]  # part, row


def texts_of(parts: Sequence[Part], places: Iterable[Place], main_only: bool, threads: int = 1) -> dict[Place, str]:
    """The text of each place, without markup."""
    rows: dict[int, set[int]] = defaultdict(set)
    for place in places:
        rows[place[0]].add(place[1])

    def read(number: int) -> dict[Place, str]:
        part, wanted = parts[number], rows[number]
        texts = {}
        for chunk in part.chunks(np.array(sorted(wanted), np.int64)):
            batch = part.parse(chunk).batch
            stripped = strip_column(batch.column("text"), batch.column("markup"), main_only)
            for at, row in enumerate(batch.column("row").to_pylist()):
                if row in wanted:
                    texts[number, row] = stripped[at].as_py()
        return texts

    return {place: text for texts in in_order(read, list(rows), threads) for place, text in texts.items()}
