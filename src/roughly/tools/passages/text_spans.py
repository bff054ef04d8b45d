"""From runs of tokens to spans of the original text, in bytes and in characters.

The documents concerned are read again. A span of a window reaches from its first token to the token that follows it, so
that what is left is joined at the edges of words and no separator is doubled; a span of a unit is the whole unit with
its line break. In HTML a span is divided at tags, which are never part of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.engines.local.second_reading import changed_input
from roughly.fast_dataclass import dataclass
from roughly.kernels.run_spans import MaskedTexts, run_spans
from roughly.meter import Stage
from roughly.sources.part import Chunk, Part, coarse_chunks, located, pieces_of
from roughly.text import tables
from roughly.text.canonical import buffers
from roughly.threads import map_in_order
from roughly.tools.passages.copy_decisions import TokenRuns
from roughly.tools.passages.mapped_arrays import Ints, MappedArrays, positions
from roughly.tools.passages.masked_markup import markup_bytes, mask_column
from roughly.tools.passages.token_file import TokenFile

R = TypeVar("R")
_CHUNK = 1 << 20
"""Bytes of the input whose spans are found together, at least."""
_SPANS = 1 << 16
"""Spans, or runs, that are looked at together."""
_NO_BYTES = np.empty(0, np.uint8)


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


@dataclass(frozen=True)
class ReadTexts:
    """Some documents, read again: their numbers in ascending order, their texts, and which of them are HTML."""

    docs: Ints
    texts: pa.Array
    markup: pa.Array

    def text(self, at: int, start: int = 0, end: int | None = None) -> bytes:
        """A part of a text."""
        return bytes(memoryview(self.texts[at].as_buffer())[start:end])

    def masked(self, is_divided: bool) -> MaskedTexts:
        """The texts with their markup overwritten; whether spans are divided at tags."""
        data, offsets = _own_bytes(self.texts)
        masked = _own_bytes(mask_column(self.texts, self.markup))[0]
        if not is_divided or self.markup.true_count == 0:
            return MaskedTexts(data, masked, _NO_BYTES, _NO_BYTES, offsets)
        flags = self.markup.to_numpy(zero_copy_only=False).astype(np.uint8)
        hidden = np.zeros(len(data), np.uint8)
        for at in np.flatnonzero(flags).tolist():
            hidden[offsets[at] : offsets[at + 1]] = markup_bytes(self.text(at))
        return MaskedTexts(data, masked, hidden, flags, offsets)


def _own_bytes(texts: pa.Array) -> tuple[npt.NDArray[np.uint8], Ints]:
    """The bytes of a column and the offsets of its texts, from 0."""
    data, offsets = buffers(texts)
    return data[offsets[0] : offsets[-1]], offsets - offsets[0]


class SpanFinder:
    """Finds runs and tokens of the collection in the texts of their documents."""

    def __init__(self, parts: Sequence[Part], file: TokenFile, unit: str, threads: int) -> None:
        self.parts, self.file, self.unit, self.threads = parts, file, unit, threads

    def spans(self, read: ReadTexts, runs: Ints, asked: Ints, *, is_divided: bool = True) -> tuple[Ints, Ints]:
        """The spans of runs, rows (start, length), and the starts of tokens; all lie in the documents, in order.

        Spans are rows as in `Spans`, with the number of the run among `runs`.
        """
        offsets, stages = self.file.offsets, tables.load()
        bases = offsets[read.docs]
        at, asked_at = (np.searchsorted(bases, starts, "right") - 1 for starts in (runs[:, 0], asked))
        found, places, changed = run_spans(
            read.masked(is_divided),
            (stages.stage1, stages.stage2),
            self.unit,
            offsets[read.docs + 1] - bases,
            np.column_stack([at, runs[:, 0] - bases[at], runs[:, 1]]),
            np.column_stack([asked_at, asked - bases[asked_at]]),
        )
        if changed >= 0:
            doc = int(read.docs[changed])
            raise changed_input(self.parts[self.file.facts["part"][doc].as_py()], self.file.facts["row"][doc].as_py())
        found[:, 5] += bases[at[found[:, 0]]]
        return found, places

    def starts(self, tokens: Ints) -> Iterator[Ints]:
        """Rows (byte, character): where tokens of the collection, in ascending order, start in their document."""

        def use(read: ReadTexts) -> Ints:
            return self.spans(read, np.empty((0, 2), np.int64), tokens[self.within(tokens, read.docs)])[1]

        is_wanted = np.zeros(len(self.file), np.bool_)
        for some in _blocks(tokens):
            is_wanted[self.file.document_of(some)] = True
        return self.read_again(np.flatnonzero(is_wanted), use)

    def within(self, starts: Ints, docs: Ints) -> Ints:
        """The numbers of those of the starts, which ascend, that lie in the documents."""
        first, last = positions(starts, self.file.offsets[[docs[0], docs[-1] + 1]].tolist())
        is_in = np.isin(self.file.document_of(starts[first:last]), docs)
        return np.arange(first, last)[is_in]

    def read_again(self, docs: Ints, use: Callable[[ReadTexts], R]) -> Iterator[R]:
        """What `use` makes of some documents, given in ascending order, batch by batch."""
        part_of, row_of = (self.file.facts[name].to_numpy() for name in ("part", "row"))

        def items() -> Iterator[tuple[int, Ints, Ints, list[Chunk]]]:
            numbers, firsts = np.unique(part_of[docs], return_index=True)
            ends = np.append(firsts, len(docs))[1:]
            for number, first, end in zip(numbers.tolist(), firsts, ends, strict=True):
                own = docs[first:end]
                rows = np.ascontiguousarray(row_of[own])
                for chunks in _joined(coarse_chunks(self.parts[number], rows)):
                    yield number, own, rows, chunks

        def read(item: tuple[int, Ints, Ints, list[Chunk]]) -> R | None:
            number, own, rows, chunks = item
            part, found = self.parts[number], []
            for chunk in chunks:
                with located(part, chunk.first_row):
                    found += [_wanted(part.parse(piece).batch, own, rows) for piece in pieces_of(part, chunk)]
            docs = np.concatenate([some.docs for some in found])
            if not len(docs):
                return None
            texts, markup = (pa.concat_arrays([getattr(some, name) for some in found]) for name in ("texts", "markup"))
            return use(ReadTexts(docs, texts, markup))

        yield from (made for made in map_in_order(read, items(), self.threads) if made is not None)


def _wanted(batch: pa.RecordBatch, own: Ints, rows: Ints) -> ReadTexts:
    """The documents of a batch whose rows are wanted; `own` has their numbers."""
    found = batch.column("row").to_numpy()
    at = np.minimum(np.searchsorted(rows, found), len(rows) - 1)
    is_asked = rows[at] == found
    if not is_asked.all():
        batch = batch.filter(pa.array(is_asked))
    return ReadTexts(own[at[is_asked]], batch.column("text"), batch.column("markup"))


def _joined(chunks: Iterable[Chunk]) -> Iterator[list[Chunk]]:
    """The chunks, small ones together: a source may cut its files finely."""
    waiting: list[Chunk] = []
    for chunk in chunks:
        waiting.append(chunk)
        if sum(some.nbytes for some in waiting) >= _CHUNK:
            yield waiting
            waiting = []
    if waiting:
        yield waiting


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
    missing = (witness[(witness >= 0) & (some[:, -1] < 0)] for some, witness in _with_witnesses(spans, runs))
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
    for some, witness in maps.releasing(_with_witnesses(spans, runs)):
        at = np.minimum(np.searchsorted(tokens, witness), len(tokens) - 1)
        is_found = tokens[at] == witness
        some[is_found, -2:] = starts[at[is_found]]


def _with_witnesses(spans: Ints, runs: TokenRuns) -> Iterator[tuple[Ints, Ints]]:
    return ((some, _witness(runs, some)) for some in _blocks(spans))


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


def _blocks(rows: Ints) -> Iterator[Ints]:
    return (rows[at : at + _SPANS] for at in range(0, len(rows), _SPANS))


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
