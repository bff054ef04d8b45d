"""All steps: parts → features → the join → a table of pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from roughly.cluster.candidates import Ints
from roughly.cluster.scoring import ResolveBudget
from roughly.errors import DuplicateIds, InputMissing
from roughly.fast_dataclass import dataclass
from roughly.meter import Meter
from roughly.model import Reject
from roughly.settings import Resources
from roughly.sources.part import Chunk, Part
from roughly.threads import map_in_order
from roughly.tools.truth.expand import CosineScores, DocumentPairs, Families, PairScorer, SetScores
from roughly.tools.truth.feature_files import FeatureFiles
from roughly.tools.truth.request import JoinCounts, TruthRequest
from roughly.tools.truth.set_join import join_sets
from roughly.tools.truth.vector_join import join_vectors, vectors_of

Features = tuple[npt.NDArray[np.uint64], Ints, "npt.NDArray[np.float64] | None", npt.NDArray[np.uint64]]

_OURS = 360 << 20
"""Memory of the process before reading: Python, Arrow, the kernels."""


@dataclass
class FoundPairs:
    """Every pair, and the cost of finding them."""

    request: TruthRequest
    counted: JoinCounts
    ids: pa.Array  # in the order of reading
    titles: pa.Array
    part: npt.NDArray[np.int32]  # position of each document: the part and its row
    row: Ints
    rejects: list[Reject] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    meter: Meter = field(default_factory=Meter)

    def summary(self) -> dict[str, Any]:
        """As plain values."""
        wanted = self.request
        values: dict[str, Any] = {"measure": wanted.measure, "threshold": wanted.threshold}
        if wanted.measure == "cosine":
            values |= {"weights": wanted.weights, "lexicon": wanted.lexicon.fingerprint if wanted.lexicon else None}
        else:
            values["shingle_size"] = wanted.shingle_size
        return values | vars(self.counted) | {
            "rejected": len(self.rejects), "guesses": self.notes,
            "seconds": {stage.name: round(stage.seconds, 3) for stage in self.meter.stages},
            "peak_memory": max((stage.peak_memory for stage in self.meter.stages), default=0),
        }  # fmt: skip


def find_pairs(
    parts: Sequence[Part],
    wanted: TruthRequest,
    *,
    resources: Resources,
    scratch: Path,
    meter: Meter,
    take: Callable[[pa.Table], None],
    sides: Sequence[bool] | None = None,
    prefixes: tuple[str, str] = ("", ""),
) -> FoundPairs:
    """Every pair of documents at or above the threshold; with the side of each part, only pairs across, and ids begin
    with the prefix of their side.

    `take` gets the pairs, sorted, table by table.
    """
    weighted = wanted.measure == "cosine"
    memory = max(64 << 20, 9 * resources.memory // 10 - _OURS)
    counted, rejects = JoinCounts(), []
    ids, titles, part_of, row_of = [], [], [], []
    with FeatureFiles(scratch, weighted) as collection:
        for part, batch, features, refused in _read(parts, wanted, resources.threads, meter):
            collection.add(*features)
            names = batch.column("doc_id").cast(pa.string())
            if sides is not None:
                names = pc.binary_join_element_wise(prefixes[sides[part]], names, "")
            ids.append(names)
            titles.append(batch.column("title").cast(pa.string()))
            part_of.append(np.full(len(names), part, np.int32))
            row_of.append(batch.column("row").to_numpy())
            rejects += refused
        if not ids or not sum(map(len, ids)):
            raise InputMissing(f"no documents in {', '.join(part.name for part in parts[:3])}: nothing to join")
        names = pa.concat_arrays(ids)
        by_id = _by_id(names)
        collection.finish(2 * memory // 5)
        counted.documents, counted.distinct = len(names), len(collection.leaders)
        counted.empty = int((collection.sizes == 0).sum())
        counted.features = int(collection.leader_sizes.sum())
        use = np.ones(len(names), np.bool_) if wanted.empty else collection.sizes > 0
        families = Families(
            collection.leader_of, len(collection.leaders), wanted.pairs_limit, use,
            None if sides is None else np.array(sides)[np.concatenate(part_of)],
        )  # fmt: skip
        with meter.stage("join", len(collection.leaders), "documents") as stage:
            left = memory - (collection.nbytes if collection.in_memory else 0)
            work = ResolveBudget(left, resources.threads, scratch, lambda done: meter.advance(stage, done))
            pairs = _joined(collection, wanted, work, counted, families, names, by_id)
    with meter.stage("write", len(pairs), "pairs") as stage:
        for table in pairs.tables():
            take(table)
            meter.advance(stage, stage.done + len(table))
    counted.pairs = families.pairs
    return FoundPairs(
        wanted, counted, names, pa.concat_arrays(titles), np.concatenate(part_of), np.concatenate(row_of), rejects,
        sorted({note for part in parts for note in part.notes}), meter,
    )  # fmt: skip


def _joined(
    collection: FeatureFiles,
    wanted: TruthRequest,
    work: ResolveBudget,
    counted: JoinCounts,
    families: Families,
    names: pa.Array,
    by_id: Ints,
) -> DocumentPairs:
    left, right = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    scores: PairScorer
    if wanted.measure == "cosine":
        cosines = [np.empty(0)]
        for one, other, cosine in join_vectors(collection, wanted, work, counted):
            families.took(one, other)
            left.append(one)
            right.append(other)
            cosines.append(cosine)
        scores = CosineScores(np.concatenate(cosines))
    else:
        counts = [np.empty((0, 3), np.int32)]
        for rows in join_sets(collection, wanted, work, counted, families.useful):
            one, other = rows[:, 0].astype(np.int64), rows[:, 1].astype(np.int64)
            families.took(one, other)
            left.append(one)
            right.append(other)
            counts.append(rows[:, 2:])
        scores = SetScores(np.concatenate(counts))
    return DocumentPairs(names, by_id, families, np.concatenate(left), np.concatenate(right), scores)


def _read(
    parts: Sequence[Part], wanted: TruthRequest, threads: int, meter: Meter
) -> Iterator[tuple[int, pa.RecordBatch, Features, list[Reject]]]:
    """(part, documents without their texts, features, rejects) of each chunk of documents, in order."""
    from roughly.text.canonical import tokenise
    from roughly.text.markup import page_text, strip_column

    def make(item: tuple[int, Part, Chunk]) -> tuple[int, pa.RecordBatch, Features, list[Reject], int]:
        number, part, chunk = item
        parsed = part.parse(chunk)
        texts = strip_column(parsed.batch.column("text"), parsed.batch.column("markup"), page_text(wanted.main_text))
        facts = parsed.batch.select(["doc_id", "title", "row"])
        return number, facts, features_of(tokenise(texts), wanted), parsed.rejects, chunk.nbytes

    items = ((number, part, chunk) for number, part in enumerate(parts) for chunk in part.chunks())
    with meter.stage("read", sum(part.size or 0 for part in parts), "bytes") as stage:
        for number, facts, features, rejects, nbytes in map_in_order(make, items, threads):
            stage.bytes += nbytes
            meter.advance(stage, stage.bytes)
            yield number, facts, features, rejects


def features_of(tokens: Any, wanted: TruthRequest) -> Features:
    """(values, offsets, weights, fingerprints) of a batch of documents."""
    from roughly.features.shingle_sets import shingle_sets
    from roughly.kernels.hashing import hash_sequences

    if wanted.measure != "cosine":
        sets = shingle_sets(tokens, wanted.shingle_size)
        return sets.values, sets.offsets, None, hash_sequences(sets.values, sets.offsets)
    terms, offsets, weights = vectors_of(tokens, wanted)
    prints = hash_sequences(terms, offsets)
    prints[:, 1] ^= hash_sequences(weights.view(np.uint64), offsets)[:, 0]
    return terms, offsets, weights, prints


def _by_id(ids: pa.Array) -> Ints:
    counted = pc.value_counts(ids)
    twice = counted.filter(pc.greater(counted.field("counts"), 1))
    if len(twice):
        raise DuplicateIds(
            f"{len(twice):,} ids occur more than once, {twice[0]['values'].as_py()!r} for one; a pair is named "
            "by its ids, so name another column with --id-column"
        )
    order: Ints = pc.sort_indices(ids).to_numpy().astype(np.int64)
    return order
