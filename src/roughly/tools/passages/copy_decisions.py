"""Which classes count, in what order documents are kept, and which runs of tokens are removed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from roughly.keep_rules import sort_keys
from roughly.kernels.repeats import class_documents, repeated_runs, walk_copies
from roughly.tools.passages.repeated_places import RepeatedPlaces, blocks_of
from roughly.tools.passages.request import PassagesRequest
from roughly.tools.passages.token_file import Ints, TokenFile

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class ClassCounts:
    """How often the places of each class occur, and which classes count."""

    places: Ints
    documents: Ints
    used: Flags


@dataclass(frozen=True)
class TokenRuns:
    """Repeated runs of tokens, by document and start: those to be removed, which have a witness, and those kept."""

    start: Ints
    length: Ints
    witness: Ints  # the first token of the kept place; −1 where the run itself is kept
    whole: Ints  # documents that are removed whole


def count_classes(
    file: TokenFile, places: RepeatedPlaces, request: PassagesRequest, reference: int, threads: int
) -> ClassCounts:
    """Count documents, and sources where that matters; with a reference, a class counts if it is in both."""
    offsets, sizes = places.class_offsets, places.class_sizes
    if len(places.lengths):  # units without tokens at the end lie in no document
        starts = np.minimum(places.starts, max(0, int(file.offsets[-1]) - 1))
    else:
        starts = places.starts
    documents = class_documents(file.offsets, starts, places.members, offsets, threads)
    if reference:
        boundary = file.offsets[len(file) - reference]
        first, last = (places.starts[places.members[at]] for at in (offsets[:-1], offsets[1:] - 1))
        return ClassCounts(sizes, documents, (first < boundary) & (last >= boundary))
    used = (sizes >= request.times) & (documents >= request.documents)
    if request.sources > 1 or request.site_share > 0:
        used &= _by_source(file, places, request)
    return ClassCounts(sizes, documents, used)


def _by_source(file: TokenFile, places: RepeatedPlaces, request: PassagesRequest) -> Flags:
    """Whether each class is in enough sources, and in a large enough share of the documents of one of them."""
    encoded = pc.fill_null(file.facts["source"].combine_chunks(), "").dictionary_encode()
    source_of = encoded.indices.to_numpy().astype(np.int64)
    sources = len(encoded.dictionary)
    totals = np.bincount(source_of, minlength=sources)
    enough = np.zeros(len(places.class_sizes), np.bool_)
    for begin, end in blocks_of(places.class_sizes):
        sizes = places.class_sizes[begin:end]
        members = places.members[places.class_offsets[begin] : places.class_offsets[end]]
        docs = np.searchsorted(file.offsets, places.starts[members], "right") - 1
        rows = np.unique(np.repeat(np.arange(end - begin), sizes) * len(file) + docs)  # one per class and document
        owners, docs = np.divmod(rows, len(file))
        pairs, counts = np.unique(owners * sources + source_of[docs], return_counts=True)
        some = np.bincount(pairs // sources, minlength=end - begin) >= request.sources
        if request.site_share > 0:
            is_frequent = counts >= request.site_share * totals[pairs % sources]
            some &= np.bincount((pairs // sources)[is_frequent], minlength=end - begin) > 0
        enough[begin:end] = some
    return enough


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


def decide(
    file: TokenFile, places: RepeatedPlaces, counts: ClassCounts, request: PassagesRequest, reference: int
) -> TokenRuns:
    """Walk through the documents in keep order; the runs that are removed and those that are repeated and kept."""
    is_reference = np.zeros(len(file), np.uint8)
    is_reference[len(file) - reference :] = 1
    removed, whole = walk_copies(
        file.offsets,
        keep_order(file, request.keep, reference),
        is_reference,
        places.starts,
        places.lengths,
        places.least,
        places.classes,
        counts.used.astype(np.uint8),
        request.least_left if request.do == "remove" and not request.gap else 0,
        reference > 0,
    )
    removed = removed[np.argsort(removed[:, 0], kind="stable")]
    if request.gap:
        return _joined(file, removed, request)
    used = counts.used.astype(np.uint8)
    found = repeated_runs(file.offsets, places.starts, places.lengths, places.least, places.classes, used)
    kept_start, kept_length = _without(found[:, 0], found[:, 1], removed[:, 0], removed[:, 1])
    return _runs(removed, kept_start, kept_length, np.sort(whole))


def _runs(removed: Ints, kept_start: Ints, kept_length: Ints, whole: Ints) -> TokenRuns:
    starts = np.concatenate([removed[:, 0], kept_start])
    lengths = np.concatenate([removed[:, 1], kept_length])
    witness = np.concatenate([removed[:, 2], np.full(len(kept_start), -1, np.int64)])
    order = np.argsort(starts, kind="stable")
    return TokenRuns(starts[order], lengths[order], witness[order], whole)


def _joined(file: TokenFile, removed: Ints, request: PassagesRequest) -> TokenRuns:
    """Runs whose gaps, here and at their witnesses, are small enough are one passage; short passages are dropped.

    What is reported and marked has the changed tokens in it; what is removed has not, since these stand nowhere else.
    The kept runs are the places that are named.
    """
    start, length, witness = removed.T
    near = np.zeros(len(start), np.bool_)
    for here in (start, witness):
        docs = np.searchsorted(file.offsets, here, "right") - 1
        gap = here[1:] - here[:-1] - length[:-1]
        is_near = (docs[1:] == docs[:-1]) & (gap >= 0) & (gap <= request.gap)
        near[1:] = is_near if here is start else near[1:] & is_near
    first = np.flatnonzero(~near)
    last = np.append(first, len(start))[1:] - 1
    spans = start[last] + length[last] - start[first]
    is_long = spans >= request.shortest
    pieces = removed[np.repeat(is_long, last - first + 1)]
    if request.do != "remove":
        removed = np.column_stack([start[first], spans, witness[first]])[is_long]
    else:
        removed = pieces
    return _runs(removed, *_united(file, pieces[:, 2], pieces[:, 1]), np.empty(0, np.int64))


def _united(file: TokenFile, start: Ints, length: Ints) -> tuple[Ints, Ints]:
    """Runs that overlap or touch, in one document, as one."""
    if not len(start):
        return start, length
    order = np.argsort(start, kind="stable")
    start, end = start[order], np.maximum.accumulate((start + length)[order])
    docs = np.searchsorted(file.offsets, start, "right") - 1
    first = np.flatnonzero(np.append(True, (start[1:] > end[:-1]) | (docs[1:] != docs[:-1])))
    last = np.append(first, len(start))[1:] - 1
    return start[first], end[last] - start[first]


def _without(start: Ints, length: Ints, cut: Ints, cut_length: Ints) -> tuple[Ints, Ints]:
    """What is left of disjoint runs when other runs, which lie within them, are cut out."""
    edges = np.concatenate([start, start + length, cut, cut + cut_length])
    steps = np.concatenate([np.ones(len(start)), -np.ones(len(start)), -np.ones(len(cut)), np.ones(len(cut))]).astype(
        np.int64
    )
    places, at = np.unique(edges, return_inverse=True)
    depth = np.cumsum(np.bincount(at, weights=steps, minlength=len(places)).astype(np.int64))
    # a run that ends where another begins, in the next document or unit, is a run of its own
    is_open = depth[:-1] > 0 if len(depth) else np.empty(0, np.bool_)
    left = places[:-1][is_open]
    return left, (places[1:] - places[:-1])[is_open]
