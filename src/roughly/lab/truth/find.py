"""The whole road: parts → features → the join → a table of pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from roughly.cluster.candidates import Ints
from roughly.cluster.scoring import Work
from roughly.errors import DuplicateIds, InputMissing
from roughly.lab.truth.asked import Asked, Counted
from roughly.lab.truth.collection import Collection
from roughly.lab.truth.expand import COSINE, SETS, Families, set_columns, table_of
from roughly.lab.truth.sets import join_sets
from roughly.lab.truth.vectors import join_vectors, vectors_of
from roughly.meter import Meter
from roughly.model import Reject
from roughly.settings import Resources
from roughly.sources.part import Chunk, Part
from roughly.threads import in_order

Features = tuple[npt.NDArray[np.uint64], Ints, "npt.NDArray[np.float64] | None", npt.NDArray[np.uint64]]

_OURS = 320 << 20
"""What the process takes before it has read anything: Python, Arrow, the kernels."""


@dataclass
class Found:
    """Every pair, and what it took to find them."""

    asked: Asked
    table: pa.Table
    counted: Counted
    rejects: list[Reject] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    meter: Meter = field(default_factory=Meter)

    def summary(self) -> dict[str, Any]:
        """As plain values."""
        asked = self.asked
        values: dict[str, Any] = {"measure": asked.measure, "threshold": asked.threshold}
        if asked.measure == "cosine":
            values |= {"weights": asked.weights, "lexicon": asked.lexicon.fingerprint if asked.lexicon else None}
        else:
            values["shingle_size"] = asked.shingle_size
        return values | vars(self.counted) | {
            "rejected": len(self.rejects), "guesses": self.notes,
            "seconds": {stage.name: round(stage.seconds, 3) for stage in self.meter.stages},
            "peak_memory": max((stage.peak_memory for stage in self.meter.stages), default=0),
        }  # fmt: skip


def find_pairs(
    parts: Sequence[Part],
    asked: Asked,
    *,
    resources: Resources,
    scratch: Path,
    meter: Meter,
    sides: Sequence[bool] | None = None,
) -> Found:
    """Every pair of documents at or above the threshold; with the side of each part, only pairs across."""
    weighted = asked.measure == "cosine"
    memory = max(64 << 20, resources.memory - _OURS)
    counted, rejects, ids, side = Counted(), [], [], []
    with Collection(scratch, weighted) as collection:
        for part, names, features, refused in _read(parts, asked, resources.threads, meter):
            values, offsets, weights, prints = features
            collection.add(values, offsets, weights, prints)
            ids.append(names)
            rejects += refused
            if sides is not None:
                side.append(np.full(len(names), sides[part]))
        if not ids or not sum(map(len, ids)):
            raise InputMissing(f"no documents in {', '.join(part.name for part in parts[:3])}: nothing to join")
        names = pa.concat_arrays(ids)
        by_id = _by_id(names)
        collection.finish(2 * memory // 5)
        counted.documents, counted.distinct = len(names), len(collection.leaders)
        counted.empty = int((collection.sizes == 0).sum())
        counted.features = int(collection.leader_sizes.sum())
        use = np.ones(len(names), np.bool_) if asked.empty else collection.sizes > 0
        families = Families(
            collection.leader_of, len(collection.leaders), asked.pairs_limit, use,
            np.concatenate(side) if sides else None,
        )  # fmt: skip
        with meter.stage("join", len(collection.leaders), "documents") as stage:
            work = Work(memory // 2, resources.threads, scratch, lambda done: meter.advance(stage, done))
            table = _joined(collection, asked, work, counted, families, names, by_id)
    counted.pairs = families.pairs
    return Found(asked, table, counted, rejects, sorted({note for part in parts for note in part.notes}), meter)


def _joined(
    collection: Collection, asked: Asked, work: Work, counted: Counted, families: Families, names: pa.Array, by_id: Ints
) -> pa.Table:
    left, right = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    columns: list[list[npt.NDArray[np.float64]]] = []
    if asked.measure == "cosine":
        schema = COSINE
        for one, other, cosine in join_vectors(collection, asked, work, counted):
            families.took(one, other)
            left.append(one)
            right.append(other)
            columns.append([cosine])
    else:
        schema = SETS
        for rows in join_sets(collection, asked, work, counted):
            one, other = rows[:, 0].astype(np.int64), rows[:, 1].astype(np.int64)
            families.took(one, other)
            left.append(one)
            right.append(other)
            columns.append(list(set_columns(rows)))
    width = len(schema) - 2
    scores = [np.concatenate([np.empty(0), *(some[i] for some in columns)]) for i in range(width)]
    one, other, row = families.across(np.concatenate(left), np.concatenate(right))
    equal_one, equal_other = families.equal()
    values = [np.concatenate((score[row], np.ones(len(equal_one)))) for score in scores]
    pairs = np.concatenate((one, equal_one)), np.concatenate((other, equal_other))
    return table_of(names, by_id, *pairs, values, schema)


def _read(
    parts: Sequence[Part], asked: Asked, threads: int, meter: Meter
) -> Iterator[tuple[int, pa.Array, Features, list[Reject]]]:
    """(part, ids, features, rejects) of each chunk of documents, in order."""
    from roughly.text.canonical import tokenise
    from roughly.text.markup import strip_column

    def make(item: tuple[int, Part, Chunk]) -> tuple[int, pa.Array, Features, list[Reject], int]:
        number, part, chunk = item
        parsed = part.parse(chunk)
        texts = strip_column(parsed.batch.column("text"), parsed.batch.column("markup"), asked.main_text)
        return number, parsed.batch.column("doc_id"), features_of(tokenise(texts), asked), parsed.rejects, chunk.nbytes

    items = ((number, part, chunk) for number, part in enumerate(parts) for chunk in part.chunks())
    with meter.stage("read", sum(part.size or 0 for part in parts), "bytes") as stage:
        for number, names, features, rejects, nbytes in in_order(make, items, threads):
            stage.bytes += nbytes
            meter.advance(stage, stage.bytes)
            yield number, names.cast(pa.string()), features, rejects


def features_of(tokens: Any, asked: Asked) -> Features:
    """(values, offsets, weights, fingerprints) of a batch of documents."""
    from roughly.features.shingles import shingle_sets
    from roughly.kernels.hashing import hash_sequences

    if asked.measure != "cosine":
        sets = shingle_sets(tokens, asked.shingle_size)
        return sets.values, sets.offsets, None, hash_sequences(sets.values, sets.offsets)
    terms, offsets, weights = vectors_of(tokens, asked)
    prints = hash_sequences(terms, offsets)
    prints[:, 1] ^= hash_sequences(weights.view(np.uint64), offsets)[:, 0]
    return terms, offsets, weights, prints


def _by_id(ids: pa.Array) -> Ints:
    counted = pc.value_counts(ids)
    twice = counted.filter(pc.greater(counted.field("counts"), 1))
    if len(twice):
        raise DuplicateIds(
            f"{len(twice):,} ids stand there more than once, {twice[0]['values'].as_py()!r} for one; a pair is named "
            "by its ids, so name another column with --id-column"
        )
    order: Ints = pc.sort_indices(ids).to_numpy().astype(np.int64)
    return order
