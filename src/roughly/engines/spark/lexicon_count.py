"""The lexicon of the collection itself, counted on the workers.

A task counts its chunks and yields (hash, documents, term); the driver receives the sums in order of their hashes, one
partition at a time, and writes them to the file. That is the vocabulary, not the collection; every worker then gets
this file. Its bytes are those of the local engine.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from roughly.engines.spark import reading
from roughly.engines.spark.schemas import signed, unsigned
from roughly.errors import InputMissing
from roughly.lexicon.counter import Counter, Runs
from roughly.lexicon.format import LexiconFacts
from roughly.lexicon.lexicon import Lexicon
from roughly.lexicon.lexicon_writer import write_lexicon
from roughly.lexicon.term_table import RANGE, TermTable, add_documents
from roughly.sources.part import Part
from roughly.text.filters import Filters
from roughly.text.markup import PageText

_COUNTED = pa.schema(
    [
        pa.field("place", pa.int64()),  # the hash, as a signed number of the same order
        pa.field("documents", pa.int64()),
        pa.field("term", pa.binary()),  # null: `documents` is the number of documents counted
    ]
)
_FLIP = np.uint64(1 << 63)


def count_collection(
    spark: Any, parts: Sequence[Part], path: Path, *, filters: Filters, page: PageText, memory: int
) -> Lexicon:
    """Count the documents that contain each term, and write the lexicon."""
    from pyspark.sql import functions as f

    packed = reading.packed(parts, spark)
    frame = reading.read(spark, parts, packed, _counting(filters, page, memory), _COUNTED)
    sums = frame.groupBy("place").agg(f.sum("documents").alias("documents"), f.min("term").alias("term"))
    # the row without a term has no hash: null
    sums = sums.orderBy(f.col("place").asc_nulls_first()).persist()
    try:
        total = sums.where("place IS NULL").collect()
        documents = add_documents([int(row["documents"]) for row in total])
        if not documents:
            names = ", ".join(part.name for part in parts[:3])
            raise InputMissing(f"no documents in {names}: a lexicon needs at least one")
        with tempfile.TemporaryDirectory(prefix="roughly-lexicon-", dir=path.parent) as scratch:
            rows = sums.where("place IS NOT NULL").toLocalIterator()
            write_lexicon(path, LexiconFacts(documents=documents, filters=str(filters)), _tables(rows), Path(scratch))
    finally:
        sums.unpersist()
        packed.destroy()
    return Lexicon.open(path)


def _tables(rows: Iterator[Any]) -> Iterator[TermTable]:
    waiting: list[tuple[int, int, bytes]] = []
    for row in rows:
        waiting.append((row["place"], row["documents"], bytes(row["term"])))
        if len(waiting) == RANGE:
            yield _table(waiting)
            waiting = []
    yield _table(waiting)


def _table(rows: list[tuple[int, int, bytes]]) -> TermTable:
    hashes = unsigned(np.array([row[0] for row in rows], np.int64)) ^ _FLIP
    offsets = np.cumsum([0, *(len(row[2]) for row in rows)]).astype(np.int64)
    text = np.frombuffer(b"".join(row[2] for row in rows), np.uint8)
    return TermTable(hashes, np.array([row[1] for row in rows], np.uint32), offsets, text)


def _counting(filters: Filters, page: PageText, memory: int) -> Any:
    def work(part: Part, number: int, index: int, chunk: Any) -> Iterator[pa.RecordBatch]:
        from roughly.text.markup import strip_column

        batch = part.parse(chunk).batch
        texts = strip_column(batch.column("text"), batch.column("markup"), page)
        with tempfile.TemporaryDirectory(prefix="roughly-count-") as scratch:
            runs = Runs(Path(scratch), LexiconFacts(documents=0, filters=str(filters)))
            counter = Counter(filters, runs, memory // 2)
            counter.add(texts)
            for table in (*runs.tables(), counter.drain()):
                yield _record_batch(table)
        yield pa.RecordBatch.from_arrays(
            [pa.nulls(1, pa.int64()), pa.array([counter.documents], pa.int64()), pa.nulls(1, pa.binary())],
            schema=_COUNTED,
        )

    return work


def _record_batch(table: TermTable) -> pa.RecordBatch:
    ends = table.offsets.astype(np.int32)
    terms = pa.Array.from_buffers(
        pa.binary(), len(table.hashes), [None, pa.py_buffer(ends), pa.py_buffer(np.ascontiguousarray(table.text))]
    )
    places = signed(table.hashes ^ _FLIP)
    return pa.RecordBatch.from_arrays(
        [pa.array(places), pa.array(table.counts.astype(np.int64)), terms], schema=_COUNTED
    )  # fmt: skip
