"""Reading on the workers: our own readers, one task for a part or a share of its chunks.

The readers are the local engine's, so ids, canonical form and rejects are the same by construction. Parts are opened
once, by the driver, and sent to the workers as they are; a worker reads the chunks of its share and skips the others,
which costs little more than I/O (`sources.part`). A document is found again by part, chunk and row.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import pickle
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from roughly import pipeline
from roughly.dates import days, timestamps
from roughly.engines.spark.schemas import (
    COUNTS,
    DOCUMENT,
    FETCHED,
    REJECT,
    ROW_BITS,
    SIGNED,
    filled,
    signed,
    signed_type,
    to_spark,
    unsigned,
)  # fmt: skip
from roughly.fast_dataclass import dataclass
from roughly.kernels.grouping import gather
from roughly.settings import Settings
from roughly.sources.part import Part

SHARE_BYTES = 64 << 20
"""Bytes of input per task: large files are divided among tasks, small ones combined."""
MOST_SHARES = 256
"""Most tasks per part: each of them scans the whole file."""


@dataclass(frozen=True)
class Task:
    """Chunks `share`, `share + shares`, … of a part."""

    part: int
    share: int
    shares: int


def tasks_of(parts: Sequence[Part]) -> list[Task]:
    """What there is to read, in order."""
    tasks = []
    for number, part in enumerate(parts):
        shares = max(1, min(MOST_SHARES, -(-(part.size or 0) // SHARE_BYTES)))
        tasks += [Task(number, share, shares) for share in range(shares)]
    return tasks


def packed(parts: Sequence[Part], spark: Any) -> Any:
    """The parts, for all workers."""
    return spark.sparkContext.broadcast([pickle.dumps(part) for part in parts])


def read(spark: Any, parts: Sequence[Part], packed_parts: Any, work: Any, schema: pa.Schema = SIGNED) -> Any:
    """A frame of the batches, of this schema, that `work(part, number, chunk number, chunk)` yields for every chunk."""
    tasks = tasks_of(parts)
    size = sum(part.size or 0 for part in parts)
    slices = min(len(tasks), max(2 * spark.sparkContext.defaultParallelism, -(-size // SHARE_BYTES)))
    rows = spark.sparkContext.parallelize([dataclasses.astuple(task) for task in tasks], max(1, slices))

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for task in batch.to_pylist():
                part = opened(packed_parts, task["part"])
                for number, chunk in enumerate(part.chunks()):
                    if number % task["shares"] == task["share"]:
                        yield from work(part, task["part"], number, chunk)

    frame = spark.createDataFrame(rows, "part int, share int, shares int")
    return frame.mapInArrow(run, to_spark(schema))


def signing(method: Any, settings: Any) -> Any:
    """The work of the first reading: facts, keys and sketch of every document. `method` is a broadcast."""

    def work(part: Part, number: int, index: int, chunk: Any) -> Iterator[pa.RecordBatch]:
        found = pipeline.sign(number, part, index, chunk, method.value, settings)
        count = found.facts.num_rows
        if count:
            yield _documents(found, number, index, count)
        notes = [(REJECT, json.dumps(dataclasses.asdict(reject), ensure_ascii=False)) for reject in found.rejects]
        if found.counts:
            notes.append((COUNTS, json.dumps(found.counts)))
        if notes:
            yield filled(
                SIGNED, len(notes), what=[what for what, _ in notes], note=[note for _, note in notes],
                part=[number] * len(notes), chunk=[index] * len(notes), row=range(len(notes)),
            )  # fmt: skip

    return work


def _documents(found: pipeline.SignedChunk, number: int, index: int, count: int) -> pa.RecordBatch:
    facts = found.facts
    columns: dict[str, Any] = {
        field.name: facts.column(field.name).view(signed_type(field.type))
        if pa.types.is_integer(field.type)
        else facts.column(field.name)
        for field in facts.schema
    }
    columns |= {
        "what": np.full(count, DOCUMENT, np.int8),
        "chunk": np.full(count, index, np.int32),
        "doc": (number << ROW_BITS) + facts.column("row").to_numpy(),
        "day": days(facts.column("published")),
    }
    if found.keys is not None:
        values, offsets = found.keys.values, found.keys.offsets
        if offsets is None:
            offsets = np.arange(count + 1, dtype=np.int64) * values.shape[1]
        values, offsets = values.ravel()[offsets[0] : offsets[-1]], offsets - offsets[0]
        columns["keys"] = _lists(pa.array(in_order_of_buckets(values)), offsets)
        if found.keys.probes is not None:
            columns["probes"] = _lists(pa.array(found.keys.probes), offsets)
    if found.sketch is not None:
        sketch = found.sketch
        limits = np.full(count, ~np.uint64(0)) if sketch.limits is None else sketch.limits
        columns["sketch"] = binary(sketch.values, sketch.offsets)
        columns["limit"] = signed(limits)
    return filled(SIGNED, count, **columns)


def in_order_of_buckets(keys: Any) -> Any:
    """Keys as signed numbers in the order of the local engine's buckets (`kernels.grouping.spread`); 0 is none."""
    spread = (keys ^ (keys >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
    return signed(spread ^ np.uint64(1 << 63))


def from_order_of_buckets(keys: Any) -> Any:
    """The keys that `in_order_of_buckets` made these numbers of."""
    return gather(unsigned(keys) ^ np.uint64(1 << 63))


NO_KEY = -(2**63)
"""What the key 0 becomes."""


def binary(values: Any, offsets: Any) -> pa.Array:
    """The 64-bit values of each document as bytes."""
    first, last = int(offsets[0]), int(offsets[-1])
    data = np.ascontiguousarray(values[first:last])
    ends = ((offsets - first) * 8).astype(np.int64)
    large = pa.Array.from_buffers(
        pa.large_binary(), len(ends) - 1, [None, pa.py_buffer(ends), pa.py_buffer(data.view(np.uint8))]
    )
    return large.cast(pa.binary())


def _lists(values: pa.Array, offsets: Any) -> pa.Array:
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), values)


@lru_cache(maxsize=1)
def _last(content: bytes) -> Part:
    part: Part = pickle.loads(content)
    return part


def opened(packed_parts: Any, number: int) -> Part:
    return _last(packed_parts.value[number])


def fetch(wanted: Any, packed_parts: Any, settings: Settings) -> Any:
    """Read candidate documents again: `wanted` has part, chunk, row, rank, root, tokens and day of each.

    Its partitions hold whole chunks and are sorted by part and row.
    """

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for part, rows in by_part(batches):
            yield from _tokens(opened(packed_parts, part), rows, settings)

    return wanted.mapInArrow(run, to_spark(FETCHED))


def by_part(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, pa.Table]]:
    """Rows of one part at a time."""
    batches_of_part: list[pa.RecordBatch] = []
    number = -1
    for batch in batches:
        part = batch.column("part").to_numpy()
        cuts = np.r_[0, np.flatnonzero(np.diff(part)) + 1, len(part)].tolist() if len(part) else []
        for start, stop in itertools.pairwise(cuts):
            if int(part[start]) != number:
                if batches_of_part:
                    yield number, pa.Table.from_batches(batches_of_part)
                number, batches_of_part = int(part[start]), []
            batches_of_part.append(batch.slice(start, stop - start))
    if batches_of_part:
        yield number, pa.Table.from_batches(batches_of_part)


def _tokens(part: Part, wanted: pa.Table, settings: Settings) -> Iterator[pa.RecordBatch]:
    from roughly.text.canonical import units_of
    from roughly.text.markup import strip_column

    row_numbers = wanted["row"].to_numpy()
    for chunk in part.chunks(row_numbers):
        batch = part.parse(chunk).batch
        rows = batch.column("row").to_numpy()
        at = np.minimum(np.searchsorted(row_numbers, rows), len(row_numbers) - 1)
        use = row_numbers[at] == rows
        batch = batch.filter(pa.array(use))
        if not batch.num_rows:
            continue
        texts = strip_column(batch.column("text"), batch.column("markup"), settings.page_text)
        tokens = units_of(texts, settings.shingle_unit)
        facts = (
            wanted.select(["rank", "root", "tokens", "day"]).take(pa.array(at[use])).combine_chunks().to_batches()[0]
        )
        columns = [*facts.columns, binary(tokens.hashes, tokens.offsets), _fields(batch, settings)]
        yield pa.RecordBatch.from_arrays(columns, schema=FETCHED)


def _fields(batch: pa.RecordBatch, settings: Settings) -> pa.Array:
    """What the verdict compares of documents beside their texts; null where that is nothing."""
    if not settings.compared_fields:
        return pa.nulls(batch.num_rows, pa.binary())
    from roughly.cluster.fields import Fields

    published = days(timestamps(batch.column("date"), settings.date_format))
    return binary(*Fields.of(settings.compared_fields, batch, published).packed())
