"""How often equal places occur, and which of them count."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from roughly.fast_dataclass import dataclass
from roughly.kernels.repeats import ClassArrays, class_numbers, count_classes
from roughly.tools.passages.mapped_arrays import MappedArrays, Words
from roughly.tools.passages.repeated_places import RepeatedPlaces
from roughly.tools.passages.request import PassagesRequest
from roughly.tools.passages.spilled_rows import SpilledRows
from roughly.tools.passages.token_file import TokenFile

KINDS: dict[str, type[np.generic]] = {
    "places": np.uint32,
    "documents": np.uint32,
    "breaks": np.uint8,
}
_CLASSES = 1 << 20
"""Classes that are decided on together."""


@dataclass(frozen=True)
class ClassCounts:
    """Counts of all classes, and whether a class counts."""

    classes: ClassArrays
    used: npt.NDArray[np.uint8]


def count(
    file: TokenFile, places: RepeatedPlaces, request: PassagesRequest, reference: int, maps: MappedArrays
) -> ClassCounts:
    """Count documents, and sources where that matters; with a reference, a class counts if it is in both."""
    arrays, size = places.arrays, places.classes
    rows = ClassArrays(*(maps.new(f"class_{name}", kind, size + 1) for name, kind in KINDS.items()))
    used = maps.new("class_used", np.uint8, size)
    for begin, end, *_ in places.blocks:
        count_classes(file.offsets, arrays, begin, end, rows, places.threads)
        maps.release()
    for differences in rows[:2]:
        _add_up(differences, maps)
    classes = ClassArrays(rows.places[:-1], rows.documents[:-1], rows.breaks[:-1])
    if reference:
        boundary = int(np.searchsorted(arrays.starts, file.offsets[len(file) - reference]))
        for begin, end, *_ in places.blocks:
            begin, end = max(begin, boundary), max(end, boundary)
            used[class_numbers(arrays, begin, end)[arrays.firsts[begin:end] < boundary]] = 1
            maps.release()
    else:
        for at in range(0, size, _CLASSES):
            some = slice(at, at + _CLASSES)
            used[some] = (classes.places[some] >= request.times) & (classes.documents[some] >= request.documents)
            maps.release()
    counts = ClassCounts(classes, used)
    if not reference and (request.sources > 1 or request.site_share > 0):
        _by_source(file, places, request, counts, maps)
    return counts


def _add_up(differences: Words, maps: MappedArrays) -> None:
    """Replace differences by counts."""
    for at in range(0, len(differences), _CLASSES):
        some = differences[at : at + _CLASSES]
        if at:
            some[:1] += differences[at - 1 : at]
        np.cumsum(some, out=some, dtype=np.uint32)
        maps.release()


def forget_counts(maps: MappedArrays) -> None:
    """Delete the counts."""
    maps.delete("class_used", *(f"class_{name}" for name in KINDS))


def _by_source(
    file: TokenFile, places: RepeatedPlaces, request: PassagesRequest, counts: ClassCounts, maps: MappedArrays
) -> None:
    """Drop classes that are not in enough sources, or not in a large enough share of the documents of one of them."""
    encoded = pc.fill_null(file.facts["source"].combine_chunks(), "").dictionary_encode()
    source_of = encoded.indices.to_numpy().astype(np.uint32)
    sources = len(encoded.dictionary)
    totals = np.bincount(source_of, minlength=sources)
    size, documents = places.classes, len(file)
    spilled = SpilledRows(maps, "sources", len(places), 1)  # (class, source), one per class and document
    for begin, end, *_ in places.blocks:
        numbers = class_numbers(places.arrays, begin, end)
        is_used = (numbers >= 0) & (counts.used[numbers] != 0) if size else np.zeros(len(numbers), np.bool_)
        docs = np.searchsorted(file.offsets, places.arrays.starts[begin:end][is_used], "right") - 1
        owners, docs = np.divmod(np.unique(numbers[is_used] * documents + docs), documents)
        spilled.append((owners * spilled.shares // max(1, size)).astype(np.uint32), owners, source_of[docs])
    for number in range(spilled.shares):
        rows = spilled.of_share(number)
        pairs, holders = np.unique(rows[:, 0] * sources + rows[:, 1], return_counts=True)
        classes, at = np.unique(pairs // sources, return_inverse=True)
        enough = np.bincount(at, minlength=len(classes)) >= request.sources
        if request.site_share > 0:
            is_frequent = holders >= request.site_share * totals[pairs % sources]
            enough &= np.bincount(at[is_frequent], minlength=len(classes)) > 0
        counts.used[classes[~enough]] = 0
        maps.release()
    spilled.delete()
