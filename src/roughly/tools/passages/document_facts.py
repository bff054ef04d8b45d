"""What is known of each document, in a mapped table; and the memory that documents take while passages are found."""

from __future__ import annotations

from typing import Self

import pyarrow as pa

from roughly.engines.local.memory_budget import BASE_MEMORY
from roughly.errors import MemoryTooSmall
from roughly.model import FACTS
from roughly.tools.passages.mapped_arrays import MappedArrays

KNOWN = pa.schema(
    [FACTS.field(name) for name in ("part", "row", "doc_id", "url", "published", "source", "bytes", "tokens", "raw_lo")]
)
_FACTS_AT_ONCE = 1 << 16
"""Documents whose facts are written together."""
_HELD = 64
"""Bytes in memory per document, without its id: where its tokens begin, its record, its rank."""


class FactsWriter:
    """Writes what is known of documents, many of them together."""

    def __init__(self, maps: MappedArrays, memory: int) -> None:
        self._maps, self._memory = maps, memory
        self._writer = pa.ipc.new_file(str(maps.path("facts")), KNOWN)
        self._waiting: list[pa.RecordBatch] = []
        self._rows = self._documents = self._held = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *problem: object) -> None:
        if kind is None:
            self._write()
        self._writer.close()

    def take(self, batch: pa.RecordBatch) -> None:
        """Append some documents."""
        self._waiting.append(batch)
        self._rows += batch.num_rows
        if self._rows >= _FACTS_AT_ONCE:
            self._write()

    def _write(self) -> None:
        table = pa.Table.from_batches(self._waiting, KNOWN).combine_chunks()
        self._documents += table.num_rows
        self._held += held_memory(table)
        check_documents(self._documents, self._held, self._memory)
        self._maps.workspace.space.check(table.nbytes)
        self._writer.write_table(table)
        self._waiting, self._rows = [], 0


def held_memory(facts: pa.Table) -> int:
    """Bytes that documents take in memory while passages are found."""
    return _HELD * int(facts.num_rows) + int(facts["doc_id"].nbytes)


def check_documents(documents: int, held: int, memory: int) -> None:
    """Refuse more documents than half of the memory can hold."""
    if 2 * held > memory:
        raise MemoryTooSmall(
            f"{documents:,} documents or more take {held >> 20}MB of memory; {(2 * held + BASE_MEMORY >> 20) + 1}MB "
            "is the minimum for --memory"
        )
