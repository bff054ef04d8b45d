"""Passages with changed words (`--gap`): exact runs that are near each other, here and at the place that is kept.

What is reported and marked has the changed tokens in it; what is removed has not, since these occur nowhere else. The
kept runs are the places that are named.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from roughly.tools.passages.mapped_arrays import Ints, MappedArrays, positions
from roughly.tools.passages.repeated_places import RepeatedPlaces
from roughly.tools.passages.request import PassagesRequest
from roughly.tools.passages.spilled_rows import SpilledRows
from roughly.tools.passages.token_file import TokenFile


def joined_runs(
    file: TokenFile, places: RepeatedPlaces, removed: Ints, request: PassagesRequest, maps: MappedArrays
) -> Iterator[Ints]:
    """Rows (start, length, witness) by start, some documents at a time: joined runs, and the kept runs they name."""
    kept = SpilledRows(maps, "named", len(removed), 1)
    with maps.path("joined").open("wb") as out:
        for block in places.blocks:
            own = removed[slice(*positions(removed[:, 0], [block.first, block.last]))]
            rows, pieces = _joined(file, own, request)
            maps.workspace.space.check(rows.nbytes)
            rows.tofile(out)
            start, length = _united(file, pieces[:, 2], pieces[:, 1])
            shares = (_documents(file, start) * kept.shares // len(file)).astype(np.uint32)
            kept.append(shares, start, length.astype(np.uint32))
    joined = maps.open("joined", np.int64).reshape(-1, 3)
    edges = file.offsets[-(-np.arange(kept.shares + 1) * len(file) // kept.shares)]  # the first documents of the shares
    ends = positions(joined[:, 0], edges.tolist())
    for number in range(kept.shares):
        start, length = _united(file, *kept.of_share(number).T)
        named = np.column_stack([start, length, np.full(len(start), -1, np.int64)])
        rows = np.concatenate([joined[ends[number] : ends[number + 1]], named])
        yield rows[np.argsort(rows[:, 0], kind="stable")]
    kept.delete()
    del joined
    maps.delete("joined")


def _documents(file: TokenFile, tokens: Ints) -> Ints:
    return np.searchsorted(file.offsets, tokens, "right") - 1


def _joined(file: TokenFile, removed: Ints, request: PassagesRequest) -> tuple[Ints, Ints]:
    """Runs whose gaps are small enough, as one passage; and the exact runs in passages that are long enough."""
    start, length, witness = removed.T
    near = np.ones(max(0, len(start) - 1), np.bool_)
    for here in (start, witness):
        docs = _documents(file, here)
        gap = here[1:] - here[:-1] - length[:-1]
        near &= (docs[1:] == docs[:-1]) & (gap >= 0) & (gap <= request.gap)
    first = np.flatnonzero(np.append(True, ~near)[: len(start)])
    last = np.append(first, len(start))[1:] - 1
    spans = start[last] + length[last] - start[first]
    is_long = spans >= request.shortest
    pieces = removed[np.repeat(is_long, last - first + 1)]
    if request.do == "remove":
        return pieces, pieces
    return np.column_stack([start[first], spans, witness[first]])[is_long], pieces


def _united(file: TokenFile, start: Ints, length: Ints) -> tuple[Ints, Ints]:
    """Runs that overlap or touch, in one document, as one."""
    if not len(start):
        return start, length
    order = np.argsort(start, kind="stable")
    start, end = start[order], np.maximum.accumulate((start + length)[order])
    docs = _documents(file, start)
    first = np.flatnonzero(np.append(True, (start[1:] > end[:-1]) | (docs[1:] != docs[:-1])))
    last = np.append(first, len(start))[1:] - 1
    return start[first], end[last] - start[first]
