"""Bulk load of a run into a new index: documents as they are read, then the keys, sorted.

Clusters are those of the run; nothing is compared again. Keys are spooled to disk in parts by their highest bits, and
each part is sorted and appended, so the tree of keys is written once, from left to right. Memory holds one chunk per
thread, one part of the keys, and a few numbers per document.

A file is built under another name without a journal, and renamed when it is complete and on disk. On a server, one
transaction does all of it. Either way an index exists completely or not at all.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlalchemy import Connection

from roughly.errors import InputError, OutputExists
from roughly.features.metadata import refuse_damage
from roughly.index.content_writes import put_contents
from roughly.index.index_config import IndexConfig, create_tables
from roughly.index.matching.packed_keys import members_of
from roughly.index.matching.signed_batch import KeyRows, SignedBatch, sign
from roughly.index.storage import hot_keys, stored_keys
from roughly.index.storage.contents import find_by_digest, set_clusters, take_numbers
from roughly.index.storage.failures import translate_errors
from roughly.index.storage.store import IndexStore, check_place, is_postgres, path_of
from roughly.index.writes import DOCUMENT_COLUMNS, facts_of
from roughly.settings import Resources
from roughly.sources.parquet_open import parquet_batches
from roughly.sources.part import Chunk, Part
from roughly.temporary_space import TemporarySpace
from roughly.text.canonical import buffers
from roughly.threads import map_in_order

Ints = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]

PARTS = 64
_ROW = np.dtype([("key", np.int64), ("member", np.int64)])
_UPDATED = 50_000  # contents whose cluster is set at once


class ClusterLabels:
    """The cluster of each document of a run, by the hashes of their ids, from a file or a folder of files."""

    def __init__(self, documents: Path) -> None:
        doc, cluster = [], []
        with refuse_damage(documents, "run dedupe again"):
            for batch in parquet_batches(documents, ["doc_id", "cluster_id"]):
                doc.append(hashed(batch.column("doc_id")))
                cluster.append(hashed(batch.column("cluster_id")))
        self._doc, self._cluster = (np.concatenate([np.empty(0, np.uint64), *some]) for some in (doc, cluster))
        order = np.argsort(self._doc)
        self._doc, self._cluster = self._doc[order], self._cluster[order]

    def __len__(self) -> int:
        return len(self._doc)

    def of(self, ids: pa.Array) -> Hashes:
        """The clusters of these documents; refuses a document that the run does not have."""
        wanted = hashed(ids)
        at = np.minimum(np.searchsorted(self._doc, wanted), max(len(self._doc) - 1, 0))
        missing = np.flatnonzero(self._doc[at] != wanted) if len(self._doc) else np.arange(len(wanted))
        if len(missing):
            raise InputError(
                f"the run knows no document {ids[int(missing[0])].as_py()!r}; its input has changed: run dedupe again"
            )
        found: Hashes = self._cluster[at]
        return found


def hashed(names: pa.Array) -> Hashes:
    """A hash of 64 bits per name."""
    from roughly.kernels.hashing import hash_bytes

    return np.ascontiguousarray(hash_bytes(*buffers(names.cast(pa.large_string())))[:, 0])


def load(
    where: str | os.PathLike[str],
    config: IndexConfig,
    parts: Sequence[Part],
    verdicts: Path,
    *,
    resources: Resources,
    advance: Callable[[int], None] = lambda done: None,
) -> int:
    """Build an index of all documents of the parts, clustered as `verdicts` says; returns the number of documents."""
    check_place(where, new=True)
    labels = ClusterLabels(verdicts)
    with (
        tempfile.TemporaryDirectory(prefix="roughly-index-", dir=resources.temp) as spool,
        _building(where) as store,
        translate_errors(str(where)),
        _KeySpool(Path(spool)) as keys,
        store.write_transaction() as connection,
    ):
        create_tables(store, connection, config)
        loader = _Loader(store, connection, config, labels, keys)
        output = None if is_postgres(where) else path_of(where).parent
        space = TemporarySpace(resources.temp_limit, Path(spool), output=output)
        for signed in _signed(parts, config, resources.threads):
            loader.add(signed)
            space.check()
            advance(loader.documents)
        if loader.documents != len(labels):
            raise InputError(
                f"the run has {len(labels):,} documents, and its input {loader.documents:,}; "
                "it has changed: run dedupe again"
            )
        loader.finish()
    return loader.documents


@contextmanager
def _building(where: str | os.PathLike[str]) -> Iterator[IndexStore]:
    """A store to build in: renamed to `where` when the block ends well, deleted when it fails."""
    if is_postgres(where):
        store = IndexStore(where, new=True)
        try:
            yield store
        finally:
            store.close()
        return
    path = path_of(where)
    partial = path.with_name(path.name + ".partial")
    partial.unlink(missing_ok=True)
    store = IndexStore(partial, new=True, bulk=True)
    try:
        yield store
        store.close()
        with partial.open("rb") as stream:
            os.fsync(stream.fileno())
        if path.exists():
            raise OutputExists(f"another process has made {path} meanwhile; choose another name")
        partial.rename(path)
        folder = os.open(path.absolute().parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    finally:
        store.close()
        partial.unlink(missing_ok=True)


def _signed(parts: Sequence[Part], config: IndexConfig, threads: int) -> Iterator[SignedBatch]:
    items = ((part, chunk) for part in parts for chunk in part.chunks())

    def work(item: tuple[Part, Chunk]) -> SignedBatch | None:
        batch = item[0].parse(item[1]).batch
        return sign(batch, config.method, config.settings) if batch.num_rows else None

    for signed in map_in_order(work, items, threads):
        if signed is not None:
            yield signed


class _Loader:
    """Adds documents, one chunk at a time."""

    def __init__(
        self, store: IndexStore, connection: Connection, config: IndexConfig, labels: ClusterLabels, keys: _KeySpool
    ) -> None:
        self.store, self.connection, self.config, self.labels = store, connection, config, labels
        self.documents = 0
        self._contents = 0
        self._labels: list[Hashes] = []  # of each content
        self._now = int(time.time())
        self._keys = keys

    def add(self, signed: SignedBatch) -> None:
        """Add the documents of a chunk; a text that is stored already is not stored again."""
        digests = list(zip(signed.hi.tolist(), signed.lo.tolist(), strict=True))
        stored = find_by_digest(self.store, self.connection, signed.hi, signed.lo)
        known = {digest: content.content for digest, content in stored.items()}
        firsts: dict[tuple[int, int], int] = {}
        for row, digest in enumerate(digests):
            if digest not in known and digest not in firsts:
                firsts[digest] = row
        rows = np.array(list(firsts.values()), np.int64)
        numbers = np.arange(self._contents + 1, self._contents + 1 + len(rows))
        known |= dict(zip(firsts, numbers.tolist(), strict=True))
        self._contents += len(rows)
        labels = self.labels.of(signed.batch.column("doc_id"))
        if len(rows):
            put_contents(self.store, self.connection, self.config, signed, rows, numbers, keys=False)
            self._keys.add(signed.keys, rows, numbers)
            self._labels.append(labels[rows])
        columns = (signed.column("doc_id"), digests, facts_of(signed))
        rows_of_documents = (
            (number, doc_id, known[digest], self._now, *facts)
            for number, (doc_id, digest, facts) in enumerate(zip(*columns, strict=True), self.documents + 1)
        )
        self.store.insert(self.connection, "documents", DOCUMENT_COLUMNS, rows_of_documents)
        self.documents += len(signed)

    def finish(self) -> None:
        """Insert the keys, set the clusters and reserve the numbers."""
        for keys, members in self._keys.parts():
            stored_keys.insert(self.store, self.connection, "keys", keys, members)
            order = np.lexsort((members, keys))
            hot_keys.pack(self.store, self.connection, keys[order], members[order])
        labels = np.concatenate([np.empty(0, np.uint64), *self._labels])
        _, first, place = np.unique(labels, return_index=True, return_inverse=True)
        founder = first[place] + 1  # the earliest text of the cluster gives it its number
        numbers = np.arange(1, len(labels) + 1)
        joined = np.flatnonzero(founder != numbers)
        for at in range(0, len(joined), _UPDATED):
            some = joined[at : at + _UPDATED]
            set_clusters(self.connection, zip(numbers[some].tolist(), founder[some].tolist(), strict=True))
        take_numbers(self.connection, "next_content", self._contents)
        take_numbers(self.connection, "next_document", self.documents)
        if self.store.postgres:
            self.connection.exec_driver_sql("ANALYZE")


class _KeySpool:
    """Keys on disk, in parts that follow each other in the order of SQL's signed numbers."""

    def __init__(self, folder: Path) -> None:
        self._files = [(folder / f"{part:03d}").open("w+b") for part in range(PARTS)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        for stream in self._files:
            stream.close()

    def add(self, keys: KeyRows, rows: Ints, numbers: Ints) -> None:
        """Add the keys of the documents at these rows, whose contents have these numbers."""
        found, members = members_of(keys, rows, numbers)
        table = np.empty(len(found), _ROW)
        table["key"], table["member"] = found, members
        part = (table["key"] >> np.int64(58)) + PARTS // 2
        order = np.argsort(part, kind="stable")
        cuts = np.searchsorted(part[order], np.arange(PARTS + 1)).tolist()
        for number, stream in enumerate(self._files):
            if cuts[number] < cuts[number + 1]:
                stream.write(table[order[cuts[number] : cuts[number + 1]]].tobytes())
                stream.flush()  # so that its size is known

    def parts(self) -> Iterator[tuple[Ints, Ints]]:
        """(keys, members) of each part."""
        for stream in self._files:
            stream.seek(0)
            table: Any = np.frombuffer(stream.read(), _ROW)
            if len(table):
                yield np.ascontiguousarray(table["key"]), np.ascontiguousarray(table["member"])
