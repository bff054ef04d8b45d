"""Which documents are kept, share by share: the local engine's own resolution, on every worker.

**Why the answer is the same.** Draw a line between two documents that share a bucket, and let C be a connected
component of what is drawn. Resolution (`cluster.star`) takes documents in order of rank and compares each with the
kept documents of its buckets; all of these are in its own component. So by induction over the rank, whether a document
is kept depends only on the documents of its component, their order and their buckets: resolving any union of components
gives each of them the verdict that resolving all of them together gives it. The same holds for evidence (at most
sixteen pairs *per document*), for hot buckets (a bucket is hot by the number of its own members, and is split among the
documents that a chain of hot buckets connects: `cluster.hot_buckets`) and for the links of `components`. A worker may
therefore resolve any number of components at once, with the same code.

A bucket of n near-copies costs n comparisons, as on one machine. Buckets are in memory (12 bytes per entry), tokens in
a file on the worker's disk, so a component may be much larger than the worker's memory.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly import pipeline
from roughly.cluster.candidates import Candidates, Ints, PairConstraints, SetLoader
from roughly.cluster.evidence import together
from roughly.cluster.fields import Fields
from roughly.cluster.grouping import Buckets
from roughly.cluster.scoring import ResolveBudget
from roughly.engines.spark.schemas import decided_rows, filled, unsigned
from roughly.fast_dataclass import dataclass
from roughly.features.shingle_sets import Sets
from roughly.methods import Judge
from roughly.model import Column
from roughly.settings import Settings


@dataclass(frozen=True)
class ResolveRules:
    """What every worker needs, the same for all."""

    judge: Judge  # without a window of dates, where no document of the collection has one
    settings: Settings
    has_probes: bool
    memory: int  # memory of a task in bytes
    complete: bool = True  # whether all sketches of the collection have one limit
    most: int = 0  # of sketches: see `features.shingles.Sets`
    reasons: tuple[Column, ...] = ()  # further columns of pairs, of a learned verdict


@dataclass
class _Share:
    """The documents of a task, in order of rank, and their buckets."""

    ranks: Ints
    lengths: Ints
    days: npt.NDArray[np.int32]
    limits: npt.NDArray[np.uint64]
    starts: Ints  # offset of the content in the file
    counts: Ints
    fields: Fields | None
    buckets: Buckets


def resolving(rules: ResolveRules) -> Any:
    """The work of a task over rows of SHARE, sorted by band, key and rank."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with tempfile.TemporaryDirectory(prefix="roughly-share-") as folder:
            share = _take(batches, rules, Path(folder) / "content")
            if share is not None:
                yield from _resolve(share, rules, Path(folder))

    return run


def _take(batches: Iterator[pa.RecordBatch], rules: ResolveRules, path: Path) -> _Share | None:
    """Read the documents, then the buckets; contents are written to disk."""
    from roughly.kernels.grouping import buckets_of

    once = rules.judge.on != "keys" or rules.judge.threshold <= 1
    buckets = Buckets(rules.memory // 2, rules.has_probes, once)
    documents: list[tuple[Any, ...]] = []
    ranks = np.empty(0, np.int64)
    rest: tuple[int, npt.NDArray[np.int64], npt.NDArray[np.uint32]] | None = None

    def add(band: int, keys: Any, members: Any) -> None:
        del band  # a key belongs to its band; rows of two bands are never added together
        buckets.add(buckets_of(unsigned(keys).copy(), members, rules.has_probes, 0))

    with path.open("wb") as stream:
        for batch in batches:
            band = batch.column("band").to_numpy()
            cut = int(np.searchsorted(band, 0))
            if cut:
                documents.append(_documents(batch.slice(0, cut), stream))
            if cut == len(band):
                continue
            if not len(ranks):
                ranks = np.concatenate([some[0] for some in documents])
            rows = batch.slice(cut)
            band, key, rank = (rows.column(name).to_numpy() for name in ("band", "key", "rank"))
            members = np.searchsorted(ranks, rank).astype(np.uint32)
            if rules.has_probes:
                probes = rows.column("probes").to_numpy(zero_copy_only=False)
                members = members << np.uint32(1) | probes.astype(np.uint32)
            for start, stop in _runs(band):
                this, keys, owners = int(band[start]), key[start:stop], members[start:stop]
                if rest is not None and rest[0] == this:
                    keys, owners = np.r_[rest[1], keys], np.r_[rest[2], owners]
                elif rest is not None:
                    add(*rest)
                # the last bucket may go on in the next batch
                last = int(np.searchsorted(keys, keys[-1]))
                add(this, keys[:last], owners[:last])
                rest = this, keys[last:], owners[last:]
        if rest is not None:
            add(*rest)
    if not documents:
        return None
    columns = [np.concatenate([some[i] for some in documents]) for i in range(7)]
    starts = np.cumsum(columns[4]) - columns[4]
    fields = None
    if rules.settings.compared_fields:
        fields = Fields.unpacked(columns[5], np.r_[0, np.cumsum(columns[6])])
    return _Share(columns[0], columns[1], columns[2], unsigned(columns[3]), starts, columns[4], fields, buckets)


def _runs(band: Any) -> Iterator[tuple[int, int]]:
    cuts = np.r_[0, np.flatnonzero(np.diff(band)) + 1, len(band)].tolist()
    yield from itertools.pairwise(cuts)


def _documents(batch: pa.RecordBatch, stream: Any) -> tuple[Any, ...]:
    """(rank, tokens, day, limit, values) of each document, the fields of all, and their number of each; the values are
    written to the file."""
    content, sizes = _bytes(batch.column("content"))
    stream.write(content)
    fields, counts = _bytes(batch.column("fields"))
    return (
        batch.column("rank").to_numpy(),
        batch.column("tokens").to_numpy(),
        batch.column("day").to_numpy(),
        batch.column("limit").fill_null(-1).to_numpy(),
        sizes // 8,
        np.frombuffer(fields, np.uint64),
        counts // 8,
    )


def _bytes(column: pa.Array) -> tuple[memoryview, Ints]:
    """(The bytes of a column, how many there are of each row)."""
    column = column.fill_null(b"")
    _, ends, data = column.buffers()
    offsets = np.frombuffer(ends, np.int32, len(column) + 1, column.offset * 4).astype(np.int64)
    return memoryview(b"" if data is None else data)[int(offsets[0]) : int(offsets[-1])], np.diff(offsets)


def _resolve(share: _Share, rules: ResolveRules, folder: Path) -> Iterator[pa.RecordBatch]:
    from roughly.engines.local.token_store import TokenStore, kinds_of
    from roughly.engines.relational.decision_tables import tables_of

    judge, settings = rules.judge, rules.settings
    chosen, candidates = share.buckets.candidates(len(share.ranks))
    if len(chosen) != len(share.ranks):
        raise RuntimeError("a document without a bucket came to a worker")
    store = None
    if judge.on == "text":
        path = folder / "content"
        store = TokenStore(
            [path], share.starts, share.counts, shingle_size=settings.shingle_size, threads=1, fields=share.fields
        )
    sets: SetLoader = store if store is not None else _sets(share, candidates, rules, folder / "content")
    constraints = PairConstraints.of_judge(judge, share.days, share.lengths)
    work = ResolveBudget(max(rules.memory // 2, 64 << 20), 1, folder)
    try:
        decision = pipeline.decide(candidates, sets, judge, settings, constraints, work)
        pairs = together(decision.resolution.pairs, decision.links)
        kinds = None if store is None else kinds_of(store, pairs).cast(pa.string())
    finally:
        if store is not None:
            store.close()
    tables = tables_of(decision, pairs, share.ranks, kinds, settings.cluster == "components")
    rows = decided_rows(rules.reasons)
    for name, table in tables.items():
        for batch in table.to_batches(1 << 16):
            yield _as_decided(name, batch, rows)
    resolution = decision.resolution
    counts = {name: [getattr(resolution, name)] for name in ("compared", "hot", "equivalent")}
    yield filled(rows, 1, table=["counts"], **counts)


def _as_decided(name: str, batch: pa.RecordBatch, rows: pa.Schema) -> pa.RecordBatch:
    """Rows of a table of `model.DECISION`, whose first two columns are ranks, as rows of `decided_rows`."""
    left, right, *rest = batch.columns
    columns = dict(zip(batch.schema.names[2:], rest, strict=True))
    return filled(rows, batch.num_rows, table=[name] * batch.num_rows, left_rank=left, right_rank=right, **columns)


def _sets(share: _Share, candidates: Candidates, rules: ResolveRules, path: Path) -> SetLoader:
    """What pairs are judged on where it is not the text: common keys, or sketches."""
    if rules.judge.on == "keys":
        return candidates.key_sets()
    values = np.fromfile(path, np.uint64)
    offsets = np.r_[share.starts, share.starts[-1] + share.counts[-1]]
    return _Sketches(values, offsets, share.limits, rules)


class _Sketches:
    """Sketches in memory. Whether they are complete depends on the whole collection, not on this share."""

    def __init__(self, values: Any, offsets: Ints, limits: Any, rules: ResolveRules) -> None:
        self.complete = rules.complete
        self._sets = Sets(values, offsets, None if rules.complete else limits, rules.most)

    def weight(self) -> Ints:
        """Bytes of each document's sketch."""
        return 8 * np.diff(self._sets.offsets) + 24

    def load(self, docs: Ints) -> Sets:
        """The sketches of these documents, in this order."""
        from roughly.cluster.scoring import slice_of

        return slice_of(self._sets, docs)
