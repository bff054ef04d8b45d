"""In what order documents are kept, and which runs of tokens are removed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from roughly.fast_dataclass import dataclass
from roughly.keep_rules import sort_keys
from roughly.kernels.repeats import KeptArrays, WalkRules, repeated_runs, walk_copies
from roughly.tools.passages.class_counts import ClassCounts
from roughly.tools.passages.joined_runs import joined_runs
from roughly.tools.passages.mapped_arrays import Ints, MappedArrays
from roughly.tools.passages.repeated_places import PlaceBlock, RepeatedPlaces
from roughly.tools.passages.request import PassagesRequest
from roughly.tools.passages.token_file import TokenFile

_WALKED = 1 << 14
"""Documents that are walked through before memory is given back."""


@dataclass(frozen=True)
class TokenRuns:
    """Repeated runs of tokens, by document and start: those to be removed, which have a witness, and those kept."""

    rows: Ints  # start, length, witness
    whole: Ints  # documents that are removed whole

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
        own = removed[slice(*np.searchsorted(removed[:, 0], [block.first, block.last]))]
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
        for at in range(0, len(order), _WALKED):
            some = order[at : at + _WALKED]
            rows, gone = walk_copies(
                file.offsets, some, is_reference, places.arrays, counts.used, kept, rules, places.threads
            )
            maps.workspace.space.check(rows.nbytes)
            rows.tofile(out)
            whole.append(gone)
            maps.release()
    del kept
    maps.delete(*names)
    removed = maps.open("removed", np.int64).reshape(-1, 3)
    if (np.diff(removed[:, 0]) < 0).any():
        removed = removed[np.argsort(removed[:, 0], kind="stable")]
    return removed, np.sort(np.concatenate([np.empty(0, np.int64), *whole]))
