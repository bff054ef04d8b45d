"""Parquet written on several threads has the bytes that pyarrow's own writer gives."""

from __future__ import annotations

import io
import string
import threading
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roughly.model import DECISION, NUMBERED_FACTS, WRITTEN
from roughly.sources.parquetwriter import ParquetWriter

TEXT = st.text(string.printable, max_size=40)
VALUES: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.string(): TEXT,
    pa.large_string(): TEXT,
    pa.binary(): st.binary(max_size=40),
    pa.bool_(): st.booleans(),
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.uint32(): st.integers(0, 2**32 - 1),
    pa.float64(): st.floats(),
    pa.timestamp("us", "UTC"): st.integers(0, 2**50),
    pa.decimal128(9, 2): st.decimals(-1000, 1000, places=2),
    pa.list_(pa.string()): st.lists(st.none() | TEXT, max_size=4),
    pa.list_(pa.list_(pa.int32())): st.lists(st.none() | st.lists(st.integers(0, 9), max_size=3), max_size=3),
    pa.struct({"a": pa.int64(), "b": pa.list_(pa.bool_())}): st.fixed_dictionaries(
        {"a": st.none() | st.integers(0, 9), "b": st.lists(st.booleans(), max_size=3)}
    ),
    pa.map_(pa.string(), pa.int64()): st.lists(st.tuples(TEXT, st.integers(0, 9)), max_size=3),
    pa.dictionary(pa.int32(), pa.string()): st.sampled_from(["red", "green", "blue"]),
    pa.null(): st.none(),
}  # fmt: skip


def plain(tables: Sequence[pa.Table], schema: pa.Schema, codec: str) -> bytes:
    out = io.BytesIO()
    with pq.ParquetWriter(out, schema, compression=codec) as writer:
        for table in tables:
            writer.write_table(table)
    return out.getvalue()


def written(tables: Sequence[pa.Table], schema: pa.Schema, codec: str, threads: int, memory: int = 1 << 30) -> bytes:
    out = io.BytesIO()
    with ParquetWriter(out, schema, compression=codec, threads=threads, memory=memory) as writer:
        for table in tables:
            writer.write(table)
    return out.getvalue()


@st.composite
def some_tables(draw: st.DrawFn) -> list[pa.Table]:
    """A few tables of one schema, of every type that is written, with nulls."""
    kinds = draw(st.lists(st.sampled_from(list(VALUES)), min_size=1, max_size=5))
    fields = [pa.field(f"column {n}", kind) for n, kind in enumerate(kinds)]
    schema = pa.schema(fields, draw(st.none() | st.dictionaries(TEXT, TEXT, max_size=2)))
    made = []
    for _ in range(draw(st.integers(1, 4))):
        rows = draw(st.integers(0, 30))
        columns = [draw(st.lists(st.none() | VALUES[kind], min_size=rows, max_size=rows)) for kind in kinds]
        arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
        made.append(pa.Table.from_arrays(arrays, schema=schema))
    return made


@settings(max_examples=60, deadline=None)
@given(some_tables(), st.sampled_from(["zstd", "snappy", "gzip", "lz4", "none"]), st.integers(1, 4))
def test_the_bytes_are_those_of_the_plain_writer(tables: list[pa.Table], codec: str, threads: int) -> None:
    schema = tables[0].schema
    assert written(tables, schema, codec, threads) == plain(tables, schema, codec)


@pytest.mark.parametrize("schema", [NUMBERED_FACTS, *DECISION.values(), *(t.schema for t in WRITTEN.values())], ids=str)
def test_a_file_without_rows_has_its_schema(schema: pa.Schema) -> None:
    data = written([], schema, "zstd", 2)
    assert data == plain([], schema, "zstd")
    assert pq.read_table(io.BytesIO(data)).equals(schema.empty_table())
    empty = [schema.empty_table()] * 3
    assert written(empty, schema, "zstd", 2) == plain(empty, schema, "zstd")


@pytest.mark.parametrize("groups", [1, 14, 15, 16, 200])
@pytest.mark.parametrize("memory", [0, 1 << 14, 1 << 30])
def test_any_number_of_row_groups_and_any_memory(groups: int, memory: int) -> None:
    columns = {f"c{n}": pa.array(range(n, n + 50)).cast(pa.string()) for n in range(20)}
    tables = [pa.table(columns).slice(group % 7) for group in range(groups)]
    data = written(tables, tables[0].schema, "zstd", 3, memory)
    assert data == plain(tables, tables[0].schema, "zstd")
    file = pq.ParquetFile(io.BytesIO(data))
    assert file.num_row_groups == groups and file.read().equals(pa.concat_tables(tables))


def test_a_large_table_has_the_pages_and_row_groups_of_the_plain_writer() -> None:
    table = pa.table({"n": range(1_200_000), "text": pa.array(["abc" * 30, "d", None] * 400_000)})
    tables = [table, table.slice(7, 300_000), table]
    data = written(tables, table.schema, "snappy", 3)
    assert data == plain(tables, table.schema, "snappy")
    assert pq.ParquetFile(io.BytesIO(data)).num_row_groups == 5


def test_what_goes_wrong_on_a_thread_reaches_the_caller_and_leaves_no_footer() -> None:
    out, schema = io.BytesIO(), pa.schema({"n": pa.int64()})

    def refuse(table: pa.Table) -> pa.Table:
        raise ValueError("seven")

    with pytest.raises(ValueError, match="seven"), ParquetWriter(out, schema, threads=2, prepare=refuse) as writer:
        for _ in range(9):
            writer.write(pa.table({"n": [7]}))
    assert out.getvalue() == b"PAR1"
    assert not [t for t in threading.enumerate() if t.name.startswith("roughly-parquet")]


def test_no_more_is_held_than_the_memory_allows() -> None:
    table = pa.table({"n": range(1000)})
    held, most, lock = 0, 0, threading.Lock()
    out = io.BytesIO()

    def count(group: pa.Table) -> pa.Table:
        nonlocal held, most
        with lock:
            held += 1
            most = max(most, held)
        threading.Event().wait(0.005)
        with lock:
            held -= 1
        return group

    with ParquetWriter(out, table.schema, threads=8, memory=7 * table.nbytes, prepare=count) as writer:
        for _ in range(20):
            writer.write(table)
    assert most == 2
