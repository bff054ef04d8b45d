"""From runs of tokens to spans of the original text, in bytes and in characters.

The documents concerned are read again. A span of a window reaches from its first token to the token that follows it, so
that what is left is joined at the edges of words and no separator is doubled; a span of a unit is the whole unit with
its line break. In HTML a span is divided at tags, which are never part of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.kernels.tokens import spans as token_spans
from roughly.pipeline import changed_input
from roughly.sources.part import Chunk, Part, coarse_chunks, located, pieces_of
from roughly.text import tables
from roughly.threads import map_in_order
from roughly.tools.passages.copy_decisions import TokenRuns
from roughly.tools.passages.masked_markup import markup_bytes, mask
from roughly.tools.passages.token_file import Ints, TokenFile, unit_tokens

R = TypeVar("R")


@dataclass(frozen=True)
class Spans:
    """One row per span, by document and start."""

    run: Ints  # the run of tokens that it belongs to
    start: Ints
    end: Ints
    char_start: Ints
    char_end: Ints
    token: Ints  # its first token in the collection
    tokens: Ints
    witness_start: Ints  # in bytes of the witness; −1 where the span is kept
    witness_char_start: Ints


class TextPositions:
    """Where the tokens of one document are, in bytes and in characters."""

    def __init__(self, text: bytes, is_markup: bool, unit: str) -> None:
        self.text, self.is_markup = text, is_markup
        table = tables.load()
        masked = np.frombuffer(mask(text) if is_markup else text, np.uint8)
        self.spans = token_spans(masked, table.stage1, table.stage2)
        self._edges: Ints | None = None
        if unit != "window":
            from roughly.kernels.repeats import unit_ends

            positions = np.array([0, len(text)], np.int64)
            self._edges = np.concatenate([[0], unit_ends(masked, positions, unit)[0]]).astype(np.int64)
            lengths = unit_tokens(masked, positions, unit)[1]
            self._unit_tokens = np.cumsum(lengths)
        self._markup = markup_bytes(text) if is_markup else None
        data = np.frombuffer(text, np.uint8)
        self._characters = None if text.isascii() else np.cumsum((data & 0xC0) != 0x80)

    def character(self, byte: int) -> int:
        """The number of characters before a byte."""
        if self._characters is None or byte == 0:
            return byte
        return int(self._characters[byte - 1])

    def bytes_of(self, first: int, last: int) -> tuple[int, int]:
        """Start and end of the tokens first … last − 1 and of what separates them from the next one."""
        if self._edges is not None:
            units = np.searchsorted(self._unit_tokens, [first, last - 1], "right")
            return int(self._edges[units[0]]), int(self._edges[units[1] + 1])
        start = int(self.spans[first, 0])
        if first > 0:
            start = max(start, int(self.spans[first - 1, 1]))
        end = int(self.spans[last, 0]) if last < len(self.spans) else len(self.text)
        return start, max(start, end)

    def start_of(self, token: int) -> int:
        """The byte at which the span of a token starts."""
        return self.bytes_of(token, token + 1)[0]

    def pieces(self, first: int, last: int) -> Iterator[tuple[int, int, int, int]]:
        """(start, end, first token, tokens) of each piece of a run; one piece, unless there are tags in it."""
        start, end = self.bytes_of(first, last)
        if self._markup is None:
            yield start, end, first, last - first
            return
        end = min(end, int(self.spans[last - 1, 1]))
        inside = np.concatenate([[False], ~self._markup[start:end], [False]])
        edges = np.flatnonzero(inside[1:] != inside[:-1]) + start
        for begin, stop in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            at = int(np.searchsorted(self.spans[:, 1], begin, "right"))
            after = int(np.searchsorted(self.spans[:, 0], stop, "left"))
            if after > at:
                yield begin, stop, max(at, first), min(after, last) - max(at, first)


@dataclass
class _Found:
    rows: list[tuple[int, int, int, int, int, int, int]] = field(default_factory=list)
    removed: list[tuple[int, int, bytes]] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    starts: list[tuple[int, int]] = field(default_factory=list)


Removed = Callable[[Ints, Ints, list[bytes]], None]


def find_spans(
    parts: Sequence[Part], file: TokenFile, runs: TokenRuns, unit: str, threads: int, take: Removed | None = None
) -> Spans:
    """The spans of all runs. `take` gets the documents, starts and texts of those to be removed, in order."""
    docs = np.searchsorted(file.offsets, runs.start, "right") - 1
    firsts = np.searchsorted(docs, np.arange(len(file) + 1))
    asked = np.unique(runs.witness[runs.witness >= 0])
    known: dict[int, tuple[int, int]] = {}
    is_whole = np.zeros(len(file), np.bool_)
    is_whole[runs.whole] = True
    rows: list[tuple[int, int, int, int, int, int, int]] = []

    def positions(doc: int, text: bytes, is_markup: bool) -> _Found:
        found, base, at = _Found(), int(file.offsets[doc]), TextPositions(text, is_markup, unit)
        if len(at.spans) != file.offsets[doc + 1] - base:
            raise changed_input(*_place(parts, file, doc))
        for run in range(int(firsts[doc]), int(firsts[doc + 1])):
            begin = int(runs.start[run]) - base
            for start, end, token, tokens in at.pieces(begin, begin + int(runs.length[run])):
                found.rows.append((run, start, end, at.character(start), at.character(end), base + token, tokens))
                if take is not None and runs.witness[run] >= 0 and not is_whole[doc]:
                    found.removed.append((doc, start, text[start:end]))
        if take is not None and is_whole[doc]:
            found.removed.append((doc, 0, text))
        for token in _between(asked, base, int(file.offsets[doc + 1])).tolist():
            byte = at.start_of(token - base)
            found.tokens.append(token)
            found.starts.append((byte, at.character(byte)))
        return found

    wanted = np.union1d(docs, np.searchsorted(file.offsets, asked, "right") - 1)
    for found in read_again(parts, file, wanted, positions, threads):
        rows += found.rows
        known.update(zip(found.tokens, found.starts, strict=True))
        if take is not None and found.removed:
            doc_numbers, starts, texts = zip(*found.removed, strict=True)
            take(np.array(doc_numbers, np.int64), np.array(starts, np.int64), list(texts))
    table = np.array(rows, np.int64).reshape(len(rows), 7)
    witness = np.where(
        runs.witness[table[:, 0]] < 0, -1, runs.witness[table[:, 0]] + table[:, 5] - runs.start[table[:, 0]]
    )
    missing = np.setdiff1d(witness[witness >= 0], np.fromiter(known, np.int64, len(known)))
    if len(missing):
        known.update(_token_starts(parts, file, missing, unit, threads))
    places = np.array([known[token] if token >= 0 else (-1, -1) for token in witness.tolist()], np.int64)
    places = places.reshape(len(rows), 2)
    return Spans(*(np.ascontiguousarray(column) for column in (*table.T, *places.T)))


def _token_starts(
    parts: Sequence[Part], file: TokenFile, tokens: Ints, unit: str, threads: int
) -> dict[int, tuple[int, int]]:
    """The byte and the character at which tokens of the collection start."""

    def starts(doc: int, text: bytes, is_markup: bool) -> dict[int, tuple[int, int]]:
        at, base = TextPositions(text, is_markup, unit), int(file.offsets[doc])
        some = _between(tokens, base, int(file.offsets[doc + 1])).tolist()
        places = [at.start_of(token - base) for token in some]
        return {token: (byte, at.character(byte)) for token, byte in zip(some, places, strict=True)}

    docs = np.unique(np.searchsorted(file.offsets, tokens, "right") - 1)
    return {key: value for some in read_again(parts, file, docs, starts, threads) for key, value in some.items()}


def read_again(
    parts: Sequence[Part], file: TokenFile, docs: Ints, use: Callable[[int, bytes, bool], R], threads: int
) -> Iterator[R]:
    """What `use` makes of (number, text as read, whether it is HTML) of some documents, in order."""
    part_of, row_of = file.facts["part"].to_numpy(), file.facts["row"].to_numpy()

    def items() -> Iterator[tuple[int, Ints, Ints, Chunk]]:
        numbers, firsts = np.unique(part_of[docs], return_index=True)
        ends = np.append(firsts, len(docs))[1:]
        for number, first, end in zip(numbers.tolist(), firsts, ends, strict=True):
            own = docs[first:end]
            rows = np.ascontiguousarray(row_of[own])
            for chunk in coarse_chunks(parts[number], rows):
                yield number, own, rows, chunk

    def read(item: tuple[int, Ints, Ints, Chunk]) -> list[R]:
        number, own, rows, chunk = item
        with located(parts[number], chunk.first_row):
            batches = [parts[number].parse(piece).batch for piece in pieces_of(parts[number], chunk)]
        return [made for batch in batches for made in used(batch, own, rows)]

    def used(batch: pa.RecordBatch, own: Ints, rows: Ints) -> list[R]:
        found = batch.column("row").to_numpy()
        at = np.minimum(np.searchsorted(rows, found), len(rows) - 1)
        texts = batch.column("text").cast(pa.large_binary())
        markup = batch.column("markup")
        return [
            use(int(own[place]), texts[i].as_py(), bool(markup[i].as_py()))
            for i, place in enumerate(at.tolist())
            if rows[place] == found[i]
        ]

    for some in map_in_order(read, items(), threads):
        yield from some


def _place(parts: Sequence[Part], file: TokenFile, doc: int) -> tuple[Part, int]:
    return parts[file.facts["part"][doc].as_py()], file.facts["row"][doc].as_py()


def _between(values: Ints, first: int, last: int) -> npt.NDArray[np.int64]:
    begin, end = np.searchsorted(values, [first, last])
    return values[begin:end]
