"""Documents are read again, and runs of tokens are found in their texts, in bytes and in characters.

A span of a window reaches from its first token to the token that follows it, so that what is left is joined at the
edges of words and no separator is doubled; a span of a unit is the whole unit with its line break. In HTML a span is
divided at tags, which are never part of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.engines.local.second_reading import changed_input
from roughly.fast_dataclass import dataclass
from roughly.kernels.run_spans import MaskedTexts, run_spans
from roughly.sources.part import Chunk, Part, coarse_chunks, located, pieces_of
from roughly.text import tables
from roughly.text.canonical import buffers
from roughly.threads import map_in_order
from roughly.tools.passages.mapped_arrays import Ints, positions
from roughly.tools.passages.masked_markup import markup_bytes, mask_column
from roughly.tools.passages.token_file import TokenFile

R = TypeVar("R")
_CHUNK = 1 << 20
"""Bytes of texts whose spans are found together, at least."""
_SPANS = 1 << 16
"""Tokens that are looked at together."""
_NO_BYTES = np.empty(0, np.uint8)


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
        for at in range(0, len(tokens), _SPANS):
            is_wanted[self.file.document_of(tokens[at : at + _SPANS])] = True
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

        def read(item: tuple[int, Ints, Ints, list[Chunk]]) -> list[R]:
            number, own, rows, chunks = item
            part, waiting, made = self.parts[number], _ReadTogether(), []
            for chunk in chunks:
                with located(part, chunk.first_row):
                    for piece in pieces_of(part, chunk):
                        waiting.take(_wanted(part.parse(piece).batch, own, rows))
                        if waiting.nbytes >= _CHUNK:
                            made.append(use(waiting.joined()))
            if waiting.nbytes:
                made.append(use(waiting.joined()))
            return made

        yield from chain.from_iterable(map_in_order(read, items(), self.threads))


class _ReadTogether:
    """Documents that are read in pieces, small ones together."""

    def __init__(self) -> None:
        self._pieces: list[ReadTexts] = []
        self.nbytes = 0

    def take(self, some: ReadTexts) -> None:
        """Add some documents."""
        if len(some.docs):
            self._pieces.append(some)
            self.nbytes += some.texts.nbytes

    def joined(self) -> ReadTexts:
        """All of them, which are then forgotten."""
        docs = np.concatenate([some.docs for some in self._pieces])
        texts, markup = (
            pa.concat_arrays([getattr(some, name) for some in self._pieces]) for name in ("texts", "markup")
        )
        self._pieces, self.nbytes = [], 0
        return ReadTexts(docs, texts, markup)


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
