"""In what order documents are kept, and which runs of tokens are removed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from roughly.fast_dataclass import dataclass
from roughly.keep_rules import sort_keys
from roughly.kernels.repeats import KeptArrays, WalkRules, repeated_runs, walk_copies
from roughly.tools.passages.class_counts import ClassCounts
from roughly.tools.passages.joined_runs import joined_runs
from roughly.tools.passages.mapped_arrays import Ints, MappedArrays, positions
from roughly.tools.passages.repeated_places import PlaceBlock, RepeatedPlaces
from roughly.tools.passages.request import PassagesRequest
from roughly.tools.passages.spilled_rows import SpilledRows
from roughly.tools.passages.token_file import TokenFile

_WALKED = 1 << 14
"""Documents that are walked through together, at most."""
_PLACES = 8
"""Places anywhere that a document is compared with, about."""
_SORTED = 1 << 16
"""Runs that are read together to be sorted."""


@dataclass(frozen=True)
class TokenRuns:
    """Repeated runs of tokens, by document and start: those to be removed, which have a witness, and those kept."""

    rows: Ints  # start, length, witness
    whole: Ints  # documents that are removed whole, ascending

    @property
    def start(self) -> Ints:
        """The first token of each run."""
        return self.rows[:, 0]

    @property
    def length(self) -> Ints:
        """The tokens of each run."""
        return self.rows[:, 1]

    @property
    def witness(self) -> Ints:
        """The first token of the kept place; −1 where the run itself is kept."""
        return self.rows[:, 2]

    def is_whole(self, docs: Ints) -> npt.NDArray[np.bool_]:
        """Which of some documents are removed whole."""
        if not len(self.whole):
            return np.zeros(len(docs), np.bool_)
        at = np.minimum(np.searchsorted(self.whole, docs), len(self.whole) - 1)
        return np.equal(self.whole[at], docs)


def keep_order(file: TokenFile, rules: tuple[str, ...], reference: int) -> Ints:
    """The documents, those of the reference first, then by the rules."""
    count = len(file)
    if rules in ((), ("first",)):
        order = np.arange(count, dtype=np.int64)
    else:
        table = file.facts.append_column("doc", pa.array(np.arange(count)))
        keys = []
        for number, key in enumerate(sort_keys(rules, "resemblance")):
            column = table[key.column]
            if key.length:
                column = pc.utf8_length(column)
            if key.order:
                column = pc.fill_null(pc.index_in(column, pa.array(key.order)), len(key.order))
            table = table.append_column(f"key{number}", column)
            keys.append((f"key{number}", "descending" if key.descending else "ascending"))
        order = pc.sort_indices(table, sort_keys=keys).to_numpy().astype(np.int64)  # nulls last
    if not reference:
        return order
    is_reference = order >= count - reference
    return np.concatenate([order[is_reference], order[~is_reference]])


def write_runs(
    file: TokenFile,
    places: RepeatedPlaces,
    counts: ClassCounts,
    request: PassagesRequest,
    reference: int,
    maps: MappedArrays,
) -> Ints:
    """Write the runs that are removed, and those that are repeated and kept; the documents that are removed whole."""
    removed, whole = _walk(file, places, counts, request, reference, maps)
    with maps.path("runs").open("wb") as out:
        for rows in (
            joined_runs(file, places, removed, request, maps)
            if request.gap
            else _with_kept(file, places, counts, removed)
        ):
            maps.workspace.space.check(rows.nbytes)
            rows.tofile(out)
            maps.release()
    del removed
    maps.delete("removed")
    return whole


def _with_kept(file: TokenFile, places: RepeatedPlaces, counts: ClassCounts, removed: Ints) -> Iterator[Ints]:
    """The removed runs and those that are repeated and kept, block after block."""

    def runs_of(block: PlaceBlock) -> Ints:
        own = removed[slice(*positions(removed[:, 0], [block.first, block.last]))]
        return repeated_runs(file.offsets, places.arrays, counts.used, own, block.begin, block.end)

    return places.map_blocks(runs_of)


def open_runs(maps: MappedArrays, whole: Ints) -> TokenRuns:
    """The runs that were written."""
    return TokenRuns(maps.open("runs", np.int64).reshape(-1, 3), whole)


def _walk(
    file: TokenFile,
    places: RepeatedPlaces,
    counts: ClassCounts,
    request: PassagesRequest,
    reference: int,
    maps: MappedArrays,
) -> tuple[Ints, Ints]:
    """The removed runs by start, and the documents that are removed whole: a walk in keep order."""
    is_reference = np.zeros(len(file), np.uint8)
    is_reference[len(file) - reference :] = 1
    order = keep_order(file, request.keep, reference)
    names = ("kept_first", "kept_bits")
    kept = KeptArrays(
        maps.new(names[0], np.int64, places.classes), maps.new(names[1], np.uint64, len(places) // 64 + 1)
    )
    rules = WalkRules(request.least_left if request.do == "remove" and not request.gap else 0, reference > 0)
    whole: list[Ints] = []
    with maps.path("removed").open("wb") as out:
        step = maps.at_once(_PLACES * _WALKED) // _PLACES
        for at in range(0, len(order), step):
            some = order[at : at + step]
            rows, gone = walk_copies(
                file.offsets, some, is_reference, places.arrays, counts.used, kept, rules, places.threads
            )
            maps.workspace.space.check(rows.nbytes)
            rows.tofile(out)
            whole.append(gone)
            maps.release()
    del kept
    maps.delete(*names)
    if (order[1:] < order[:-1]).any():
        _sort(maps, int(file.offsets[-1]), places.threads)
    removed = maps.open("removed", np.int64).reshape(-1, 3)
    return removed, np.sort(np.concatenate([np.empty(0, np.int64), *whole]))


def _sort(maps: MappedArrays, tokens: int, threads: int) -> None:
    """Sort the removed runs by their starts."""
    rows = maps.open("removed", np.int64).reshape(-1, 3)
    spilled = SpilledRows(maps, "order", len(rows), threads)
    for begin in range(0, len(rows), _SORTED):
        starts = rows[begin : begin + _SORTED, 0].copy()
        numbers = np.arange(len(starts), dtype=np.uint32)
        spilled.append((starts * spilled.shares // tokens).astype(np.uint32), starts, numbers, begin)
    with maps.path("sorted").open("wb") as out:
        for share in range(spilled.shares):
            own = spilled.of_share(share)
            maps.workspace.space.check(24 * len(own))
            rows[own[np.argsort(own[:, 0]), 1]].tofile(out)
            maps.release()
    del rows
    spilled.delete()
    maps.delete("removed")
    maps.path("sorted").rename(maps.path("removed"))
