"""The tables that `passages` writes, and how they follow from spans and runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Self

import numpy as np
import pyarrow as pa

from roughly.model import Column, Table
from roughly.sources.parquetwriter import ParquetWriter
from roughly.tools.passages.copy_decisions import TokenRuns
from roughly.tools.passages.mapped_arrays import Ints, MappedArrays, positions
from roughly.tools.passages.masked_markup import visible
from roughly.tools.passages.passage_list import PassageList
from roughly.tools.passages.span_finder import ReadTexts, SpanFinder
from roughly.tools.passages.text_spans import Spans
from roughly.tools.passages.token_file import TokenFile

_TEXT, _WHOLE, _FLAG, _SHARE = pa.string(), pa.int64(), pa.bool_(), pa.float64()
EXCERPT = 400
"""Characters of a passage that are shown."""
ROW_GROUP = 1 << 16
"""Spans that are written together, as a row group: the explorer reads one to show a document."""

TABLES = {
    "spans": Table(
        (
            Column("doc_id", _TEXT, "the document", False),
            Column("start", _WHOLE, "where the span starts, in bytes of the text as read (UTF-8)", False),
            Column("end", _WHOLE, "where it ends", False),
            Column("char_start", _WHOLE, "the same in characters", False),
            Column("char_end", _WHOLE, "", False),
            Column("tokens", _WHOLE, "tokens in it", False),
            Column(
                "kept", _FLAG, "whether this place is the one that is kept; with a test set, whether it is there", False
            ),
            Column("witness_id", _TEXT, "the document with the kept place; null where this place is kept"),
            Column("witness_start", _WHOLE, "where the kept place starts, in bytes"),
            Column("witness_char_start", _WHOLE, "the same in characters"),
        )
    ),
    "passages": Table(
        (
            Column("tokens", _WHOLE, "tokens in the passage", False),
            Column("places", _WHOLE, "places where it occurs", False),
            Column("documents", _WHOLE, "documents that contain it", False),
            Column("doc_id", _TEXT, "the first of them in reading order", False),
            Column("start", _WHOLE, "where it starts there, in bytes", False),
            Column("end", _WHOLE, "where it ends there", False),
            Column("excerpt", _TEXT, f"its first {EXCERPT} characters, without markup", False),
        )
    ),
    "documents": Table(
        (
            Column("doc_id", _TEXT, "a document with a span that is not kept", False),
            Column("tokens", _WHOLE, "its tokens", False),
            Column("removed_tokens", _WHOLE, "tokens of its spans that are not kept", False),
            Column("kept", _FLAG, "whether the document is kept, with or without its spans", False),
            Column("witness_id", _TEXT, "the document that most of its spans name", False),
        )
    ),
    "known": Table(
        (
            Column("doc_id", _TEXT, "a document with a span", False),
            Column("part", _WHOLE, "its file, from 0", False),
            Column("row", _WHOLE, "its record there, from 0", False),
        )
    ),
    "items": Table(
        (
            Column("test_id", _TEXT, "an item of the test set", False),
            Column("tokens", _WHOLE, "its tokens", False),
            Column("seen_tokens", _WHOLE, "tokens in passages that occur in the input", False),
            Column("share", _SHARE, "the fraction of its tokens that were seen", False),
            Column("short", _FLAG, "whether it has fewer tokens than a passage, and so cannot be found", False),
            Column("documents", _WHOLE, "documents of the input whose spans name it", False),
        )
    ),
    "removed": Table(
        (
            Column("doc_id", _TEXT, "the document", False),
            Column("start", _WHOLE, "where the span started, in bytes", False),
            Column("text", _TEXT, "what was cut out", False),
        )
    ),
}


class RemovedTexts:
    """Writes what is cut out, so that the input can be put together again."""

    def __init__(self, out: BinaryIO, ids: pa.Array, threads: int, memory: int) -> None:
        self._writer, self._ids = ParquetWriter(out, TABLES["removed"].schema, threads=threads, memory=memory), ids

    def __enter__(self) -> Self:
        self._writer.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, *problem: object) -> None:
        self._writer.__exit__(kind, *problem)

    def take(self, docs: Ints, starts: Ints, texts: list[bytes]) -> None:
        """Append the texts of some spans."""
        columns = [self._ids.take(pa.array(docs)), pa.array(starts), pa.array(texts, _TEXT)]
        self._writer.write(pa.Table.from_arrays(columns, schema=TABLES["removed"].schema))


_RUNS = 1 << 16
"""Runs that are looked at together, about."""


def run_blocks(file: TokenFile, runs: TokenRuns, maps: MappedArrays) -> Iterator[TokenRuns]:
    """Copies of the runs of some documents at a time; memory is given back in between."""
    starts, begin = runs.start, 0
    while begin < len(starts):
        end = min(begin + _RUNS, len(starts))
        if end < len(starts):
            document = int(file.document_of(starts[end]))
            first, beyond = positions(starts, file.offsets[[document, document + 1]].tolist())
            end = first if first > begin else beyond
        yield TokenRuns(runs.rows[begin:end].copy(), runs.whole)
        maps.release()
        begin = end


def write_table(path: Path, name: str, tables: Iterable[pa.Table], threads: int, memory: int) -> int:
    """Write one of `TABLES` that comes in pieces, its row groups on several threads; returns the number of rows."""
    schema, rows = TABLES[name].schema, 0
    waiting = schema.empty_table()
    with path.open("wb") as out, ParquetWriter(out, schema, threads=threads, memory=memory) as writer:
        for table in tables:
            waiting = pa.concat_tables([waiting, table])
            while waiting.num_rows >= ROW_GROUP:
                writer.write(waiting.slice(0, ROW_GROUP).combine_chunks())
                waiting, rows = waiting.slice(ROW_GROUP), rows + ROW_GROUP
        if waiting.num_rows:
            writer.write(waiting.combine_chunks())
    return rows + int(waiting.num_rows)


def spans_table(file: TokenFile, runs: TokenRuns, spans: Spans, ids: pa.Array) -> pa.Table:
    """Some rows of the table `spans`."""
    witness = runs.witness[spans.run]
    is_kept = witness < 0
    columns = [
        ids.take(pa.array(file.document_of(spans.token))),
        *(pa.array(column) for column in (spans.start, spans.end, spans.char_start, spans.char_end, spans.tokens)),
        pa.array(is_kept),
        ids.take(pa.array(np.where(is_kept, 0, file.document_of(np.maximum(witness, 0))), mask=is_kept)),
        pa.array(spans.witness_start, mask=is_kept),
        pa.array(spans.witness_char_start, mask=is_kept),
    ]
    return pa.Table.from_arrays(columns, schema=TABLES["spans"].schema)


def known_table(file: TokenFile, runs: TokenRuns, ids: pa.Array, places: Sequence[Ints]) -> pa.Table:
    """Some rows of the table `known`; `places` has part and row of every document."""
    docs = np.unique(file.document_of(runs.start))
    columns = [ids.take(pa.array(docs)), *(pa.array(column[docs].astype(np.int64)) for column in places)]
    return pa.Table.from_arrays(columns, schema=TABLES["known"].schema)


def documents_table(file: TokenFile, runs: TokenRuns, ids: pa.Array) -> pa.Table:
    """Some rows of the table `documents`: those with a span that is not kept."""
    start, length, witness = runs.rows[runs.witness >= 0].T
    docs = file.document_of(start)
    pairs, inverse = np.unique(docs * len(file) + file.document_of(witness), return_inverse=True)
    tokens = np.bincount(inverse, weights=length, minlength=len(pairs)).astype(np.int64)
    owners, witnesses = np.divmod(pairs, len(file))
    order = np.lexsort((witnesses, -tokens, owners))
    named, first = np.unique(owners[order], return_index=True)
    removed = np.bincount(np.searchsorted(named, docs), weights=length, minlength=len(named)).astype(np.int64)
    columns = [
        ids.take(pa.array(named)),
        pa.array(file.offsets[named + 1] - file.offsets[named]),
        pa.array(removed),
        pa.array(~runs.is_whole(named)),
        ids.take(pa.array(witnesses[order][first])),
    ]
    return pa.Table.from_arrays(columns, schema=TABLES["documents"].schema)


def items_table(file: TokenFile, blocks: Iterable[TokenRuns], ids: pa.Array, reference: int, least: int) -> pa.Table:
    """The table `items`: how much of each document of the reference occurs in the others."""
    first = len(file) - reference
    seen, namers = np.zeros(reference, np.int64), np.zeros(reference, np.int64)
    for runs in blocks:
        docs, found = file.document_of(runs.start), runs.witness >= 0
        np.add.at(seen, docs[docs >= first] - first, runs.length[docs >= first])
        pairs = np.unique(file.document_of(runs.witness[found]) * len(file) + docs[found])
        np.add.at(namers, pairs // len(file) - first, 1)
    sizes = np.diff(file.offsets)[first:]
    columns = [
        ids.slice(first),
        pa.array(sizes),
        pa.array(seen),
        pa.array(np.divide(seen, sizes, out=np.zeros(reference), where=sizes > 0)),
        pa.array(sizes < least),
        pa.array(namers),
    ]
    return pa.Table.from_arrays(columns, schema=TABLES["items"].schema)


def passages_table(finder: SpanFinder, found: PassageList, ids: pa.Array) -> pa.Table:
    """The table `passages`, with an excerpt of each."""
    docs = finder.file.document_of(found.start)
    by_start = np.argsort(found.start, kind="stable")
    runs = np.column_stack([found.start, found.tokens])[by_start]

    def excerpts(read: ReadTexts) -> list[tuple[int, int, int, str]]:
        own = finder.within(runs[:, 0], read.docs)
        spans = finder.spans(read, runs[own], runs[:0, 0], is_divided=False)[0]
        rows = []
        for number, (start, end) in zip(own.tolist(), spans[:, 1:3].tolist(), strict=True):
            passage = int(by_start[number])
            at = int(np.searchsorted(read.docs, docs[passage]))
            text = read.text(at, start, end)
            shown = visible(text) if read.markup[at].as_py() else text.decode("utf-8", "replace")
            rows.append((passage, start, end, shown[:EXCERPT]))
        return rows

    rows = sorted(row for some in finder.read_again(np.unique(docs), excerpts) for row in some)
    columns = [
        pa.array(found.tokens),
        pa.array(found.places),
        pa.array(found.documents),
        ids.take(pa.array(docs)),
        pa.array([row[1] for row in rows], _WHOLE),
        pa.array([row[2] for row in rows], _WHOLE),
        pa.array([row[3] for row in rows], _TEXT),
    ]
    return pa.Table.from_arrays(columns, schema=TABLES["passages"].schema)
