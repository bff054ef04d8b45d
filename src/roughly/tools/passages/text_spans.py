"""From runs of tokens to spans of the original text, in a mapped array."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from roughly.meter import Stage
from roughly.tools.passages.copy_decisions import TokenRuns
from roughly.tools.passages.mapped_arrays import Ints, MappedArrays
from roughly.tools.passages.span_finder import ReadTexts, SpanFinder

_SPANS = 1 << 16
"""Spans, or runs, that are looked at together."""


class Spans(NamedTuple):
    """One row per span, by document and start; the columns are views of a mapped array."""

    run: Ints  # the run of tokens that it belongs to
    start: Ints
    end: Ints
    char_start: Ints
    char_end: Ints
    token: Ints  # its first token in the collection
    tokens: Ints
    witness_start: Ints  # in bytes of the witness; −1 where the span is kept
    witness_char_start: Ints


_COLUMNS = len(Spans._fields)


Removed = Callable[[Ints, Ints, list[bytes]], None]


def write_spans(
    finder: SpanFinder, runs: TokenRuns, maps: MappedArrays, stage: Stage, take: Removed | None = None
) -> None:
    """Write the spans of all runs. `take` gets the documents, starts and texts of those to be removed, in order."""
    file, rows = finder.file, runs.rows[:, :2]
    is_wanted = np.zeros(len(file), np.bool_)

    def witnesses() -> Iterator[Ints]:
        for some in _blocks(runs.rows):
            found = some[some[:, 2] >= 0, 2]
            for tokens in (some[:, 0], found):
                is_wanted[file.document_of(tokens)] = True
            yield found

    asked = _ascending(maps, "asked", witnesses())
    wanted = np.flatnonzero(is_wanted)

    def use(read: ReadTexts) -> tuple[Ints, Ints, tuple[Ints, Ints, list[bytes]] | None]:
        own = finder.within(runs.start, read.docs)
        found, places = finder.spans(read, rows[own], asked[finder.within(asked, read.docs)])
        found[:, 0] = own[found[:, 0]]
        return found, places, None if take is None else _removed(read, runs, file.document_of(found[:, 5]), found)

    with maps.path("spans").open("wb") as out, maps.path("asked_starts").open("wb") as starts_out:
        for found, places, removed in finder.read_again(wanted, use):
            maps.workspace.space.check(8 * _COLUMNS * len(found) + places.nbytes)
            np.pad(found, ((0, 0), (0, 2)), constant_values=-1).tofile(out)
            places.tofile(starts_out)
            stage.done += len(found)
            if take is not None and removed is not None and len(removed[0]):
                take(*removed)
            maps.release()
    spans = maps.open("spans", np.int64).reshape(-1, _COLUMNS)
    _put_witnesses(spans, runs, asked, maps.open("asked_starts", np.int64).reshape(-1, 2), maps)
    # those of the second and later pieces of divided spans
    missing = (witness[(witness >= 0) & (some[:, -1] < 0)] for some, witness in _with_witnesses(spans, runs, _SPANS))
    more = _ascending(maps, "more", missing)
    with maps.path("more_starts").open("wb") as out:
        for places in maps.releasing(finder.starts(more)):
            maps.workspace.space.check(places.nbytes)
            places.tofile(out)
    _put_witnesses(spans, runs, more, maps.open("more_starts", np.int64).reshape(-1, 2), maps)
    maps.delete("asked", "asked_starts", "more", "more_starts")


def _put_witnesses(spans: Ints, runs: TokenRuns, tokens: Ints, starts: Ints, maps: MappedArrays) -> None:
    """Write where the kept places start, of those spans whose kept place starts with one of the tokens."""
    if not len(tokens):
        return
    for some, witness in maps.releasing(_with_witnesses(spans, runs, maps.at_once(_SPANS))):
        at = np.minimum(np.searchsorted(tokens, witness), len(tokens) - 1)
        is_found = tokens[at] == witness
        some[is_found, -2:] = starts[at[is_found]]


def _with_witnesses(spans: Ints, runs: TokenRuns, step: int) -> Iterator[tuple[Ints, Ints]]:
    return ((some, _witness(runs, some)) for some in _blocks(spans, step))


def _ascending(maps: MappedArrays, name: str, pieces: Iterable[Ints]) -> Ints:
    """A mapped array of the distinct values in order."""
    with maps.path(name).open("wb") as out:
        for piece in maps.releasing(pieces):
            values = np.unique(piece)
            maps.workspace.space.check(values.nbytes)
            values.tofile(out)
    values = maps.open(name, np.int64)
    values.sort()
    count = 0
    for some in maps.releasing(_blocks(values)):
        last = values[count - 1] if count else -1
        distinct = some[np.diff(some, prepend=last) != 0]
        values[count : count + len(distinct)] = distinct
        count += len(distinct)
    return values[:count]


def open_spans(maps: MappedArrays) -> Spans:
    """The spans that were written."""
    return Spans(*maps.open("spans", np.int64).reshape(-1, _COLUMNS).T)


def span_blocks(spans: Spans, maps: MappedArrays) -> Iterator[Spans]:
    """Copies of some spans at a time; memory is given back in between."""
    for at in maps.releasing(range(0, len(spans.run), _SPANS)):
        yield Spans(*(np.ascontiguousarray(column[at : at + _SPANS]) for column in spans))


def _blocks(rows: Ints, step: int = _SPANS) -> Iterator[Ints]:
    return (rows[at : at + step] for at in range(0, len(rows), step))


def _witness(runs: TokenRuns, spans: Ints) -> Ints:
    """The first token of the kept place of each span; −1 where the span is kept."""
    own = runs.rows[spans[:, 0]]
    return np.where(own[:, 2] < 0, -1, own[:, 2] + spans[:, 5] - own[:, 0])


def _removed(read: ReadTexts, runs: TokenRuns, docs: Ints, found: Ints) -> tuple[Ints, Ints, list[bytes]]:
    """Documents, starts and texts of what is cut out of some documents: spans, or the whole text.

    `docs` has the document of each span that was found.
    """
    is_cut = (runs.witness[found[:, 0]] >= 0) & ~runs.is_whole(docs)
    spans, whole = found[is_cut], np.flatnonzero(runs.is_whole(read.docs))
    at = np.concatenate([np.searchsorted(read.docs, docs[is_cut]), whole])
    starts = np.concatenate([spans[:, 1], np.zeros(len(whole), np.int64)])
    ends = np.concatenate([spans[:, 2], np.full(len(whole), np.iinfo(np.int64).max)])
    order = np.argsort(at, kind="stable")
    texts = [
        read.text(*row) for row in zip(at[order].tolist(), starts[order].tolist(), ends[order].tolist(), strict=True)
    ]
    return read.docs[at[order]], starts[order], texts
