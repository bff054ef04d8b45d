"""The tables that `passages` writes, and how they follow from spans and runs."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO, Self

import numpy as np
import pyarrow as pa

from roughly.model import Column, Table
from roughly.sources.parquetwriter import ParquetWriter
from roughly.threads import map_in_order
from roughly.tools.passages.copy_decisions import TokenRuns
from roughly.tools.passages.mapped_arrays import Ints
from roughly.tools.passages.passage_list import PassageList
from roughly.tools.passages.text_spans import ReadTexts, SpanFinder, Spans
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
            Column("excerpt", _TEXT, f"its first {EXCERPT} characters", False),
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


def document_of(file: TokenFile, tokens: Ints) -> Ints:
    """The document of each token of the collection."""
    return np.searchsorted(file.offsets, tokens, "right") - 1


def write_spans_table(
    path: Path, file: TokenFile, runs: TokenRuns, spans: Spans, ids: pa.Array, *, threads: int, memory: int
) -> None:
    """Write the table `spans`, its row groups on several threads."""
    schema = TABLES["spans"].schema

    def group(at: int) -> pa.Table:
        some = Spans(*(np.ascontiguousarray(column[at : at + ROW_GROUP]) for column in spans))
        witness = runs.witness[some.run]
        is_kept = witness < 0
        witness_docs = np.where(is_kept, 0, document_of(file, np.maximum(witness, 0)))
        columns = [
            ids.take(pa.array(document_of(file, some.token))),
            *(pa.array(column) for column in (some.start, some.end, some.char_start, some.char_end, some.tokens)),
            pa.array(is_kept),
            ids.take(pa.array(witness_docs, mask=is_kept)),
            pa.array(some.witness_start, mask=is_kept),
            pa.array(some.witness_char_start, mask=is_kept),
        ]
        return pa.Table.from_arrays(columns, schema=schema)

    with path.open("wb") as out, ParquetWriter(out, schema, threads=threads, memory=memory) as writer:
        for table in map_in_order(group, range(0, max(1, len(spans.run)), ROW_GROUP), threads):
            writer.write(table)


def known_table(file: TokenFile, runs: TokenRuns, ids: pa.Array) -> pa.Table:
    """The table `known`: where the documents with spans are in the input."""
    docs = np.unique(document_of(file, runs.start))
    places = (pa.array(file.facts[name].to_numpy()[docs], _WHOLE) for name in ("part", "row"))
    return pa.Table.from_arrays([ids.take(pa.array(docs)), *places], schema=TABLES["known"].schema)


def documents_table(file: TokenFile, runs: TokenRuns, ids: pa.Array) -> pa.Table:
    """The table `documents`: those with a span that is not kept."""
    at = runs.witness >= 0
    docs, witnesses = document_of(file, runs.start[at]), document_of(file, runs.witness[at])
    pairs, inverse = np.unique(docs * len(file) + witnesses, return_inverse=True)
    tokens = np.bincount(inverse, weights=runs.length[at], minlength=len(pairs)).astype(np.int64)
    order = np.lexsort((pairs % max(1, len(file)), -tokens, pairs // max(1, len(file))))
    named, first = np.unique((pairs // max(1, len(file)))[order], return_index=True)
    removed = np.bincount(docs, weights=runs.length[at], minlength=len(file)).astype(np.int64)[named]
    columns = [
        ids.take(pa.array(named)),
        pa.array(np.diff(file.offsets)[named]),
        pa.array(removed),
        pa.array(~np.isin(named, runs.whole)),
        ids.take(pa.array((pairs % max(1, len(file)))[order][first])),
    ]
    return pa.Table.from_arrays(columns, schema=TABLES["documents"].schema)


def items_table(file: TokenFile, runs: TokenRuns, ids: pa.Array, reference: int, least: int) -> pa.Table:
    """The table `items`: how much of each document of the reference occurs in the others."""
    first = len(file) - reference
    docs = document_of(file, runs.start)
    inside = docs >= first
    seen = np.bincount(docs[inside] - first, weights=runs.length[inside], minlength=reference).astype(np.int64)
    sizes = np.diff(file.offsets)[first:]
    found = runs.witness >= 0
    pairs = np.unique(document_of(file, runs.witness[found]) * len(file) + docs[found])
    namers = np.bincount(pairs // max(1, len(file)) - first, minlength=reference) if len(pairs) else np.zeros(reference)
    columns = [
        ids.slice(first),
        pa.array(sizes),
        pa.array(seen),
        pa.array(np.divide(seen, sizes, out=np.zeros(reference), where=sizes > 0)),
        pa.array(sizes < least),
        pa.array(namers.astype(np.int64)),
    ]
    return pa.Table.from_arrays(columns, schema=TABLES["items"].schema)


def passages_table(finder: SpanFinder, found: PassageList, ids: pa.Array) -> pa.Table:
    """The table `passages`, with an excerpt of each."""
    docs = document_of(finder.file, found.start)
    by_start = np.argsort(found.start, kind="stable")
    runs = np.column_stack([found.start, found.tokens])[by_start]

    def excerpts(read: ReadTexts) -> list[tuple[int, int, int, str]]:
        own = finder.within(np.arange(len(runs)), runs[:, 0], read.docs)
        spans = finder.spans(read, runs[own], runs[:0, 0], is_divided=False)[0]
        rows = []
        for at, (start, end) in zip(own.tolist(), spans[:, 1:3].tolist(), strict=True):
            passage = int(by_start[at])
            text = read.text(int(np.searchsorted(read.docs, docs[passage])), start, end)
            rows.append((passage, start, end, text.decode("utf-8", "replace")[:EXCERPT]))
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
