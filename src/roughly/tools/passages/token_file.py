"""The tokens of all documents in one file, in reading order, and what is known of each document.

Documents of a reference (`--against`) are read after the others. In units other than windows the file is divided into
units; each is a run of tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.dates import timestamps
from roughly.fast_dataclass import dataclass
from roughly.meter import Meter, Stage
from roughly.model import Reject
from roughly.pipeline import DOCUMENT_MEMORY, check_sizes
from roughly.sources.part import Chunk, Part, coarse_chunks, find_landmarks, located, pieces_of
from roughly.text import tables
from roughly.text.canonical import buffers, tokenise
from roughly.threads import map_in_order
from roughly.tools.passages.document_facts import KNOWN, FactsWriter, check_documents, held_memory
from roughly.tools.passages.mapped_arrays import Ints, MappedArrays, Words
from roughly.tools.passages.masked_markup import mask_column
from roughly.tools.passages.token_numbers import TokenNumbers


@dataclass
class TokenFile:
    """The collection as tokens: document d has tokens[offsets[d]:offsets[d + 1]]."""

    tokens: Words  # by number, mapped; empty where they are no longer needed
    offsets: Ints
    unit_lengths: Ints | None  # tokens of every unit, in order, mapped; None for windows
    facts: pa.Table  # one row per document, mapped
    rejects: list[Reject]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def document_of(self, tokens: Ints) -> Ints:
        """The document of each token."""
        return np.searchsorted(self.offsets, tokens, "right") - 1

    def forget_tokens(self, maps: MappedArrays) -> None:
        """Delete the tokens: the places that are found say which of them are equal."""
        self.tokens = np.empty(0, np.uint32)
        maps.delete("tokens")

    def blocks(self, memory: int) -> Ints:
        """Documents from 0 to their number, at which a pass over the tokens may stop to give back memory."""
        step = min(1 << 24, max(1 << 10, memory // 256))
        at = np.searchsorted(self.offsets, np.arange(0, self.offsets[-1], step))
        return np.unique(np.concatenate([[0], at, [len(self)]]))


@dataclass(frozen=True)
class _ReadChunk:
    nbytes: int
    hashes: npt.NDArray[np.uint64]
    numbers: Words
    unit_lengths: Ints | None
    facts: pa.RecordBatch
    rejects: list[Reject]


def read_tokens(
    parts: Sequence[Part],
    maps: MappedArrays,
    meter: Meter,
    *,
    unit: str,
    date_format: str | None,
    threads: int,
    memory: int,
) -> TokenFile:
    """Read all parts; a resumed run uses what an earlier one has stored."""
    with meter.stage("read", sum(part.size or 0 for part in parts), "bytes") as stage:
        work = maps.workspace
        # tokens are deleted when the places are known, and places when the runs are
        stage.reused = work.found("read") is not None and any(
            work.found(name) is not None for name in ("runs", "places", "tokens")
        )
        if stage.reused:
            for _ in map_in_order(find_landmarks, parts, threads):
                pass
        else:
            for name in ("read", "tokens", "places", "runs"):
                work.discard(name)
            _write(parts, maps, meter, stage, unit=unit, date_format=date_format, threads=threads, memory=memory)
        return _open(maps, unit, memory)


def _write(
    parts: Sequence[Part],
    maps: MappedArrays,
    meter: Meter,
    stage: Stage,
    *,
    unit: str,
    date_format: str | None,
    threads: int,
    memory: int,
) -> None:
    largest = memory // (DOCUMENT_MEMORY * threads)

    def items() -> Iterator[tuple[int, Chunk]]:
        for number, part in enumerate(parts):
            with located(part, 0):
                for chunk in coarse_chunks(part):
                    yield number, chunk

    def read(item: tuple[int, Chunk]) -> list[_ReadChunk]:
        number, chunk = item
        with located(parts[number], chunk.first_row):
            pieces = pieces_of(parts[number], chunk)
            return [
                _read_chunk(number, parts[number], piece, numbers, unit=unit, date_format=date_format, largest=largest)
                for piece in pieces
            ]

    names = ["tokens"] if unit == "window" else ["tokens", "units"]
    rejects: list[Reject] = []
    numbers = TokenNumbers(maps)
    with ExitStack() as stack:
        facts = stack.enter_context(FactsWriter(maps, memory))
        files = [stack.enter_context(maps.path(name).open("wb", buffering=0)) for name in names]
        for done in chain.from_iterable(map_in_order(read, items(), threads)):
            numbers.add(done.hashes, done.numbers)
            arrays: list[npt.NDArray[Any]] = [done.numbers]
            if done.unit_lengths is not None:
                arrays.append(done.unit_lengths)
            maps.workspace.space.check(sum(array.nbytes for array in arrays))
            for array, file in zip(arrays, files, strict=True):
                maps.append(file, array)
            facts.take(done.facts)
            rejects += done.rejects
            stage.bytes += done.nbytes
            meter.advance(stage, stage.bytes)
            maps.release()
    numbers.delete()
    info = {"rejects": [[r.file, r.record, r.reason, r.excerpt] for r in rejects]}
    maps.workspace.commit("tokens", [maps.path("tokens")], {})
    maps.workspace.commit("read", [maps.path(name) for name in ("facts", *names[1:])], info)


def _read_chunk(
    number: int,
    part: Part,
    chunk: Chunk,
    numbers: TokenNumbers,
    *,
    unit: str,
    date_format: str | None,
    largest: int,
) -> _ReadChunk:
    from roughly.kernels.hashing import hash_bytes

    parsed = part.parse(chunk)
    batch = parsed.batch
    column = mask_column(batch.column("text"), batch.column("markup"))
    data, positions = buffers(column)
    sizes = np.diff(positions)
    check_sizes(sizes, part, batch, largest)
    lengths = None
    if unit == "window":
        found = tokenise(column)
        hashes, counts = found.hashes, np.diff(found.offsets)
    else:
        hashes, lengths, offsets = unit_tokens(data, positions, unit)
        counts = np.diff(np.concatenate([[0], np.cumsum(lengths)])[offsets])
    facts = pa.RecordBatch.from_arrays(
        [
            pa.array(np.full(batch.num_rows, number, np.uint32)),
            *(batch.column(name) for name in ("row", "doc_id", "url")),
            timestamps(batch.column("date"), date_format),
            batch.column("source"),
            pa.array(sizes),
            pa.array(counts),
            pa.array(np.ascontiguousarray(hash_bytes(*buffers(batch.column("text")))[:, 1])),
        ],
        schema=KNOWN,
    )
    return _ReadChunk(chunk.nbytes, hashes, numbers.find(hashes), lengths, facts, parsed.rejects)


def unit_tokens(data: npt.NDArray[np.uint8], positions: Ints, unit: str) -> tuple[npt.NDArray[np.uint64], Ints, Ints]:
    """The tokens of texts, the number of tokens of each unit, and the n + 1 offsets of the texts in the units."""
    from roughly.kernels.repeats import unit_ends
    from roughly.kernels.tokens import tokenise as tokenise_bytes

    table = tables.load()
    ends, offsets = unit_ends(data, positions, unit)
    edges = np.concatenate([positions[:1], ends])  # units follow each other, and so do texts
    hashes, found = tokenise_bytes(data, edges, table.stage1, table.stage2)
    return hashes, np.diff(found), offsets


def _open(maps: MappedArrays, unit: str, memory: int) -> TokenFile:
    info = maps.workspace.info("read")
    facts = maps.open_table("facts")
    check_documents(len(facts), held_memory(facts), memory)
    offsets = np.concatenate([[0], np.cumsum(facts["tokens"].to_numpy())]).astype(np.int64)
    units = None if unit == "window" else maps.open("units", np.int64)
    tokens = maps.open("tokens", np.uint32) if maps.path("tokens").exists() else np.empty(0, np.uint32)
    return TokenFile(tokens, offsets, units, facts, [Reject(*row) for row in info["rejects"]])
