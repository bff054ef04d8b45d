"""A whole run put into a new index at once: documents as they are read, keys at the end, sorted.

Clusters are those of the run; nothing is compared again. Keys are spooled to disk in shares by their highest bits, and
each share is sorted and appended, so the tree of keys is written once, from left to right. Memory is that of a chunk a
thread, of one share of keys, and of a few numbers a document.

A file is built beside its place without a journal, and put there when it is whole and on disk. On a server all of it is
one transaction. Either way an index is there completely or not at all.
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
from pyarrow.dataset import dataset
from sqlalchemy import Connection, bindparam, update

from roughly.errors import InputError, OutputExists
from roughly.index import config as binding
from roughly.index.config import IndexConfig
from roughly.index.matching.signed_batch import KeyRows, SignedBatch, sign
from roughly.index.storage import contents
from roughly.index.storage import hot_keys as crowds
from roughly.index.storage import stored_keys as keys_
from roughly.index.storage.failures import plainly
from roughly.index.storage.schema import CONTENTS, METADATA
from roughly.index.storage.store import IndexStore, check_place, is_postgres, path_of
from roughly.sources.part import Chunk, Part
from roughly.text.canonical import buffers
from roughly.threads import map_in_order

Ints = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]

SHARES = 64
_ROW = np.dtype([("key", np.int64), ("member", np.int64)])
_COLUMNS = ("document", "doc_id", "content", "added", "bytes", "day", "title", "url", "date", "source")


class ClusterLabels:
    """The cluster of each document, by the hashes of both names. `documents` is a file, or a folder of files."""

    def __init__(self, documents: Path) -> None:
        doc, cluster = [], []
        for batch in dataset(documents, format="parquet").to_batches(columns=["doc_id", "cluster_id"]):
            doc.append(hashed(batch.column("doc_id")))
            cluster.append(hashed(batch.column("cluster_id")))
        self._doc, self._cluster = (np.concatenate([np.empty(0, np.uint64), *some]) for some in (doc, cluster))
        order = np.argsort(self._doc)
        self._doc, self._cluster = self._doc[order], self._cluster[order]

    def __len__(self) -> int:
        return len(self._doc)

    def of(self, ids: pa.Array) -> Hashes:
        """The cluster of each of these documents; all must be there."""
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
    """64 bits of each name."""
    from roughly.kernels.hashing import hash_bytes

    return np.ascontiguousarray(hash_bytes(*buffers(names.cast(pa.large_string())))[:, 0])


def load(
    where: str | os.PathLike[str],
    bound: IndexConfig,
    parts: Sequence[Part],
    verdicts: Path,
    *,
    threads: int = 1,
    temp: Path | None = None,
    advance: Callable[[int], None] = lambda done: None,
) -> int:
    """Build an index of all documents of the parts, clustered as `verdicts` says; returns how many there are."""
    check_place(where, new=True)
    labels = ClusterLabels(verdicts)
    with (
        tempfile.TemporaryDirectory(prefix="roughly-index-", dir=temp) as spool,
        _building(where) as store,
        plainly(str(where)),
        _KeySpool(Path(spool)) as keys,
        store.writing() as connection,
    ):
        if store.postgres:
            _refuse_used(connection, store)
        METADATA.create_all(connection)
        binding.write(connection, store, bound, fresh=True)
        loader = _Loader(store, connection, bound, labels, keys)
        for signed in _signed(parts, bound, threads):
            loader.take(signed)
            advance(loader.documents)
        if loader.documents != len(labels):
            raise InputError(
                f"the run has {len(labels):,} documents, and its input {loader.documents:,}; "
                "it has changed: run dedupe again"
            )
        loader.finish()
    return loader.documents


def _refuse_used(connection: Connection, store: IndexStore) -> None:
    from sqlalchemy import inspect as inspected

    if inspected(connection).has_table("meta"):
        raise OutputExists(f"{store.name} already holds an index; use another database")


@contextmanager
def _building(where: str | os.PathLike[str]) -> Iterator[IndexStore]:
    """A store to build in; it is at its place when the block ends well, and leaves nothing otherwise."""
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
            raise OutputExists(f"{path} was made by someone else meanwhile; choose another name")
        partial.rename(path)
        folder = os.open(path.absolute().parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    finally:
        store.close()
        partial.unlink(missing_ok=True)


def _signed(parts: Sequence[Part], bound: IndexConfig, threads: int) -> Iterator[SignedBatch]:
    items = ((part, chunk) for part in parts for chunk in part.chunks())

    def work(item: tuple[Part, Chunk]) -> SignedBatch | None:
        batch = item[0].parse(item[1]).batch
        return sign(batch, bound.method, bound.settings) if batch.num_rows else None

    for signed in map_in_order(work, items, threads):
        if signed is not None:
            yield signed


class _Loader:
    """Takes documents in, a chunk at a time."""

    def __init__(
        self, store: IndexStore, connection: Connection, bound: IndexConfig, labels: ClusterLabels, keys: _KeySpool
    ) -> None:
        self.store, self.connection, self.bound, self.labels = store, connection, bound, labels
        self.documents = 0
        self._contents = 0
        self._labels: list[Hashes] = []  # of each content
        self._now = int(time.time())
        self._keys = keys

    def take(self, signed: SignedBatch) -> None:
        """Put a chunk's documents in; texts that are there already are not stored again."""
        digests = list(zip(signed.hi.tolist(), signed.lo.tolist(), strict=True))
        known = {d: k.content for d, k in contents.known(self.store, self.connection, signed.hi, signed.lo).items()}
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
            contents.put(self.store, self.connection, self.bound, signed, rows, numbers, keys=False)
            self._keys.add(signed.keys, rows, numbers)
            self._labels.append(labels[rows])
        listed = zip(
            range(self.documents + 1, self.documents + 1 + len(signed)),
            signed.column("doc_id"),
            (known[digest] for digest in digests),
            [self._now] * len(signed),
            signed.bytes.tolist(),
            signed.days,
            *(signed.column(name) for name in ("title", "url", "date", "source")),
            strict=True,
        )
        self.store.insert(self.connection, "documents", _COLUMNS, listed)
        self.documents += len(signed)

    def finish(self) -> None:
        """Keys and clusters."""
        for keys, members in self._keys.shares():
            keys_.insert(self.store, self.connection, "keys", keys, members)
            order = np.lexsort((members, keys))
            crowds.pack(self.store, self.connection, keys[order], members[order])
        labels = np.concatenate([np.empty(0, np.uint64), *self._labels])
        _, first, place = np.unique(labels, return_index=True, return_inverse=True)
        founder = first[place] + 1  # the earliest text of the cluster gives it its number
        numbers = np.arange(1, len(labels) + 1)
        joined = np.flatnonzero(founder != numbers)
        statement = update(CONTENTS).where(CONTENTS.c.content == bindparam("b_content"))
        for at in range(0, len(joined), 50_000):
            some = joined[at : at + 50_000]
            self.connection.execute(
                statement.values(cluster=bindparam("b_cluster")),
                [
                    {"b_content": n + 1, "b_cluster": c}
                    for n, c in zip(some.tolist(), founder[some].tolist(), strict=True)
                ],
            )
        contents.take_numbers(self.connection, "next_content", self._contents)
        contents.take_numbers(self.connection, "next_document", self.documents)
        if self.store.postgres:
            self.connection.exec_driver_sql("ANALYZE")


class _KeySpool:
    """Keys on disk, in shares that follow each other in the order of SQL's signed numbers."""

    def __init__(self, folder: Path) -> None:
        self._files = [(folder / f"{share:03d}").open("w+b") for share in range(SHARES)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        for stream in self._files:
            stream.close()

    def add(self, keys: KeyRows, rows: Ints, numbers: Ints) -> None:
        found, members = contents.numbered(keys, rows, numbers)
        table = np.empty(len(found), _ROW)
        table["key"], table["member"] = found, members
        share = (table["key"] >> np.int64(58)) + SHARES // 2
        order = np.argsort(share, kind="stable")
        cuts = np.searchsorted(share[order], np.arange(SHARES + 1)).tolist()
        for number, stream in enumerate(self._files):
            if cuts[number] < cuts[number + 1]:
                stream.write(table[order[cuts[number] : cuts[number + 1]]].tobytes())

    def shares(self) -> Iterator[tuple[Ints, Ints]]:
        """(keys, members) of each share."""
        for stream in self._files:
            stream.seek(0)
            table: Any = np.frombuffer(stream.read(), _ROW)
            if len(table):
                yield np.ascontiguousarray(table["key"]), np.ascontiguousarray(table["member"])
