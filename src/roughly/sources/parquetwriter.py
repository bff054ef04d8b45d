"""Parquet files written with their row groups encoded on several threads: the bytes that pyarrow's own writer gives.

pyarrow encodes one row group after another. Here each table is encoded by a thread into a Parquet file in memory; its
pages go to the end of the file in the order of the tables, and one footer is made of all footers (`parquetfooter`).
How many tables are held at once is bounded by the number of threads and by the memory.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import BinaryIO, Self

import pyarrow as pa
import pyarrow.parquet as pq

from roughly.sources.parquetfooter import MAGIC, JoinedFooter, split

_TIMES = 3
"""Memory that a table takes until it is written, in times of its own: as it is, prepared, and encoded."""


class ParquetWriter:
    """Writes tables of one schema to a stream, each as row groups of its own."""

    def __init__(
        self,
        out: BinaryIO,
        schema: pa.Schema,
        *,
        compression: str = "zstd",
        threads: int = 1,
        memory: int = 0,
        prepare: Callable[[pa.Table], pa.Table] | None = None,
    ) -> None:
        """At most `threads` tables are held at once, or as many as fit into `memory`, but always one.

        `prepare` is called with each table by the thread that encodes it.
        """
        self._out, self._schema, self._compression, self._prepare = out, schema, compression, prepare
        self._threads, self._memory, self._held = threads, memory, 0
        self._pool = ThreadPoolExecutor(threads, "roughly-parquet") if threads > 1 else None
        self._pending: deque[tuple[Future[pa.Buffer], int]] = deque()
        self._first: bytes | None = None  # the first footer: alone it is that of the file
        self._joined: JoinedFooter | None = None
        self._at = out.write(MAGIC)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *problem: object) -> None:
        try:
            if kind is None:
                self._finish()
        finally:
            if self._pool is not None:
                self._pool.shutdown(wait=True, cancel_futures=True)

    def write(self, table: pa.Table) -> None:
        """Take a table; waits for earlier ones where enough is held."""
        if self._pool is None:
            self._append(self._encode(table))
            return
        size = _TIMES * table.nbytes
        while self._pending and (len(self._pending) >= self._threads or self._held + size > self._memory):
            self._append_first()
        self._pending.append((self._pool.submit(self._encode, table), size))
        self._held += size

    def _finish(self) -> None:
        while self._pending:
            self._append_first()
        if self._first is None:  # nothing was written: the schema is in the footer all the same
            self._append(self._encode(None))
        footer = self._joined.to_bytes() if self._joined is not None else self._first
        assert footer is not None
        self._out.write(footer + len(footer).to_bytes(4, "little") + MAGIC)

    def _append_first(self) -> None:
        encoded, size = self._pending.popleft()
        self._append(encoded.result())
        self._held -= size

    def _append(self, encoded: pa.Buffer) -> None:
        pages, footer = split(memoryview(encoded))
        if self._first is None:
            self._first = footer
        else:
            if self._joined is None:
                self._joined = JoinedFooter()
                self._joined.add(self._first, 0)
            self._joined.add(footer, self._at - len(MAGIC))
        self._out.write(pages)
        self._at += len(pages)

    def _encode(self, table: pa.Table | None) -> pa.Buffer:
        target = pa.BufferOutputStream()
        with pq.ParquetWriter(target, self._schema, compression=self._compression) as writer:
            if table is not None:
                writer.write_table(table if self._prepare is None else self._prepare(table))
        return target.getvalue()
