"""The most repeated passages: maximal runs of tokens with one list of places, ordered by what removing them saves.

A passage that overlaps a longer list entry at its first place is left out, so a page of boilerplate is one entry.
"""

from __future__ import annotations

import numpy as np

from roughly.fast_dataclass import dataclass
from roughly.kernels.repeats import list_passages
from roughly.tools.passages.class_counts import ClassCounts
from roughly.tools.passages.mapped_arrays import Ints, MappedArrays
from roughly.tools.passages.repeated_places import PlaceBlock, RepeatedPlaces

LISTED = 1000
"""Passages that are listed at most."""
_TRIED = 100
"""Passages that are tried for each that is listed, at most."""


@dataclass(frozen=True)
class PassageList:
    """One row per passage, the one whose removal saves most first."""

    start: Ints  # its first place: the first token in the collection
    tokens: Ints
    places: Ints
    documents: Ints

    def __len__(self) -> int:
        return len(self.start)


def best_passages(
    places: RepeatedPlaces, counts: ClassCounts, least: int, maps: MappedArrays, most: int = LISTED
) -> tuple[Ints, int]:
    """The first `most` passages of at least this number of tokens, as rows of `PassageList`, and the number of all."""
    best, total = np.empty((0, 4), np.int64), 0

    def listed(block: PlaceBlock) -> Ints:
        found = list_passages(places.arrays, counts.used, counts.classes, block.begin, block.end)
        return found[found[:, 1] >= least]

    for found in places.map_blocks(listed):
        total += len(found)
        best = np.concatenate([best, found])
        best = best[np.lexsort((best[:, 0], -(best[:, 2] - 1) * best[:, 1]))[: _TRIED * most]]
        maps.release()
    return _disjoint(best, most), total


def _disjoint(best: Ints, most: int) -> Ints:
    """The best passages whose first places do not overlap."""
    taken: list[int] = []
    begins, ends = np.empty(0, np.int64), np.empty(0, np.int64)
    for at, (start, tokens) in enumerate(best[:, :2].tolist()):
        if len(taken) == most:
            break
        place = int(np.searchsorted(begins, start, "right"))
        if (place > 0 and ends[place - 1] > start) or (place < len(begins) and begins[place] < start + tokens):
            continue
        begins, ends = np.insert(begins, place, start), np.insert(ends, place, start + tokens)
        taken.append(at)
    return best[taken]
