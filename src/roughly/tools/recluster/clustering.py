"""Clusters found in memory, on sketches, signatures or features, as tables of verdicts and scores.

The columns are those of `roughly dedupe`. Scores are estimates unless the texts were given, and `resemblance_error` is
the standard error of the resemblance. An estimate without samples is null, and so is every score if pairs were judged
by common keys.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from roughly import checks
from roughly.cluster import in_memory as resolution
from roughly.cluster.in_memory import ClusterRules, ClusterVerdict, DocumentFacts, resolve_in_memory
from roughly.cluster.leader_pairs import expanded
from roughly.cluster.scoring import ResolveBudget
from roughly.errors import DuplicateIds, MemoryTooSmall
from roughly.fast_dataclass import dataclass
from roughly.features.sketch import Ints, Sketch, estimate
from roughly.features.sketch_spool import SketchSpool
from roughly.methods.method import Judge, Keys
from roughly.model import ESTIMATED_DOCUMENTS, ESTIMATED_PAIRS
from roughly.result_table import ResultTable, table_html
from roughly.settings import CLUSTERINGS, MEASURES, Resources
from roughly.settings import PAIRS as PAIRS_KEPT
from roughly.tools.recluster.request import FeatureRequest

_BYTES, _BYTES_PER_DOCUMENT, _BYTES_PER_VALUE = 160 << 20, 900, 90
"""Memory of a process that clusters nothing, of each document, and of each shingle, key or feature in memory."""


def check_room(count: int, resources: Resources, what: str = "documents", each: int = _BYTES_PER_DOCUMENT) -> None:
    """Refuse to cluster this many documents, or values in memory, if they do not fit."""
    needed = _BYTES + each * count
    if needed > resources.memory:
        raise MemoryTooSmall(
            f"{count:,} {what} are clustered in memory, which takes up to {-(-needed >> 20):,}MB, and --memory is "
            f"{resources.memory >> 20:,}MB; raise it, or use `roughly dedupe`"
        )


def check_values(count: int, resources: Resources) -> None:
    """Refuse signatures, whose keys are in memory, if they do not fit."""
    check_room(count, resources, "values", _BYTES_PER_VALUE)


def spool_for(resources: Resources) -> SketchSpool:
    """Sketches to be clustered: in memory as far as they fit, beyond that in a temporary file."""
    return SketchSpool((resources.memory - _BYTES) // _BYTES_PER_VALUE, resources.temp)


def _work_of(documents: int, resources: Resources) -> ResolveBudget:
    """Half of the memory that the process and its documents leave."""
    left = resources.memory - _BYTES - _BYTES_PER_DOCUMENT * documents
    return ResolveBudget(max(left, 0) // 2, resources.threads)


@dataclass(frozen=True)
class Clustering:
    """The result: `documents` sorted by doc_id, `pairs` by their ids, and `counts`."""

    documents: ResultTable
    pairs: ResultTable
    counts: dict[str, Any]
    scores: Literal["exact", "estimated", "none"]  # none: judged by common keys, nothing was measured

    @cached_property
    def kept(self) -> ResultTable:
        """The rows of `documents` that are kept."""
        return ResultTable(self.documents.filter(pc.field("kept")))

    @cached_property
    def removed(self) -> ResultTable:
        """The rows of `documents` that are removed, with their witnesses."""
        return ResultTable(self.documents.filter(~pc.field("kept")))

    @property
    def kept_ids(self) -> list[str]:
        """The ids of the kept documents, sorted."""
        ids: list[str] = self.kept["doc_id"].to_pylist()
        return ids

    def _repr_html_(self) -> str:
        names = ("documents", "kept", "removed", "pairs")
        return table_html(names, [self.counts], 1) + self.removed._repr_html_()

    @cached_property
    def clusters(self) -> dict[str, list[str]]:
        """The members of each cluster of two or more, by the id of its best document."""
        found: dict[str, list[str]] = {}
        for doc_id, cluster_id in zip(*(self.documents[n].to_pylist() for n in ("doc_id", "cluster_id")), strict=True):
            found.setdefault(cluster_id, []).append(doc_id)
        return {name: members for name, members in found.items() if len(members) > 1}


@dataclass(frozen=True)
class InMemoryCollection:
    """Documents in memory to be clustered."""

    ids: pa.Array
    tokens: Ints
    keys: Keys
    sketch: Sketch | None = None
    equal: npt.NDArray[np.uint64] | None = None  # the same for equal documents; None: those with the same sketch are
    days: npt.NDArray[np.int32] | None = None  # of publication


def cluster_sketches(ids: pa.Array, tokens: Ints, sketch: Sketch, request: FeatureRequest) -> Clustering:
    """Cluster objects by their sketches."""
    check_options(request.threshold, request.measure, request.common, request.cluster, request.pairs)
    collection = InMemoryCollection(ids, tokens, Keys(sketch.values, sketch.offsets), sketch)
    judge = Judge("sketch", request.measure, request.threshold)  # type: ignore[arg-type]
    return cluster_collection(
        collection, judge, common=request.common, cluster=request.cluster, pairs=request.pairs,
        resources=request.resources,
    )  # fmt: skip


def cluster_collection(
    collection: InMemoryCollection,
    judge: Judge,
    *,
    common: int,
    cluster: str,
    pairs: str,
    resources: Resources,
    full: Sketch | None = None,
) -> Clustering:
    """Cluster documents; the longest is kept, ties by id. A judge on text needs the `full` shingle sets."""
    check_room(len(collection.ids), resources)
    by_id = sorted_ids(collection.ids)
    rank = ranked(collection.tokens, by_id)
    scored = {"keys": None, "sketch": collection.sketch, "text": full}[judge.on]
    if collection.equal is not None:
        first = resolution.first_of(collection.equal, rank)
    else:
        alike = collection.sketch if scored is None else scored  # if scores are exact, only equal sets are equivalent
        first = np.arange(len(collection.ids)) if alike is None else resolution.equivalent(alike, rank)
    found = resolve_in_memory(
        collection.keys, judge, DocumentFacts(scored, collection.tokens, collection.days), rank=rank, first=first,
        work=_work_of(len(collection.ids), resources),
        rules=ClusterRules(common=common, linked=cluster == "components", every_pair=pairs == "all"),
    )  # fmt: skip
    if pairs == "all":
        found = replace(found, pairs=_of_documents(found.pairs, first, rank))
    empty = int(collection.keys.missing().sum())
    return as_tables(collection.ids, by_id, found, first, scored, exact=judge.on == "text", empty=empty)


def _of_documents(pairs: Ints, first: Ints, rank: Ints) -> Ints:
    """Pairs of documents, equal ones included, from pairs of the best of equal ones; the better is the second."""
    listed = expanded(pairs[:, :2], first)
    place = np.empty(len(rank), np.int64)
    place[rank] = np.arange(len(rank))
    swap = place[listed[:, 0]] < place[listed[:, 1]]
    listed[swap] = listed[swap][:, ::-1]
    return listed


def check_options(threshold: float, measure: str, common: int, cluster: str, pairs: str) -> None:
    """Refuse invalid options, all problems together."""
    checks.refuse(
        [
            *checks.threshold(threshold),
            *checks.one_of("measure", measure, MEASURES),
            *checks.one_of("cluster", cluster, CLUSTERINGS),
            *checks.common(common),
            *checks.one_of("pairs", pairs, PAIRS_KEPT),
        ]
    )


def sorted_ids(ids: pa.Array) -> Ints:
    """The documents in the order of their ids, which must differ."""
    counted = pc.value_counts(ids)
    twice = counted.filter(pc.greater(counted.field("counts"), 1))
    if len(twice):
        raise DuplicateIds(f"{len(twice):,} ids occur more than once, {twice[0]['values'].as_py()!r} for one")
    order: Ints = pc.sort_indices(ids).to_numpy().astype(np.int64)
    return order


def ranked(tokens: Ints, by_id: Ints) -> Ints:
    """The documents in order of rank: the longest first, then by id."""
    place = np.empty(len(by_id), np.int64)
    place[by_id] = np.arange(len(by_id))
    return resolution.longest_first(tokens, place)


def as_tables(
    ids: pa.Array, by_id: Ints, found: ClusterVerdict, first: Ints, scored: Sketch | None, *, exact: bool, empty: int
) -> Clustering:
    """The result as tables; without `scored`, nothing was measured."""
    columns = [ids, ids.take(pa.array(found.root)), pa.array(found.kept), ids.take(pa.array(found.witness))]
    scores = _scores(scored, np.arange(len(ids)), found.witness, first)
    documents = pa.Table.from_arrays([*columns, *scores], schema=ESTIMATED_DOCUMENTS).take(pa.array(by_id))
    left, right = np.ascontiguousarray(found.pairs[:, 0]), np.ascontiguousarray(found.pairs[:, 1])
    columns = [ids.take(pa.array(left)), ids.take(pa.array(right)), *_scores(scored, left, right, first)]
    pairs = pa.Table.from_arrays(columns, schema=ESTIMATED_PAIRS)
    kept = int(found.kept.sum())
    counts = {
        "documents": len(ids), "kept": kept, "removed": len(ids) - kept, "pairs": len(found.pairs),
        "compared": found.compared, "equivalent": int((first != np.arange(len(ids))).sum()), "common": found.common,
        "mostly_common": found.mostly_common, "empty": empty,
    }  # fmt: skip
    listed = pairs.sort_by([("left_id", "ascending"), ("right_id", "ascending")])
    measured: Literal["none", "exact", "estimated"] = "none" if scored is None else "exact" if exact else "estimated"
    return Clustering(ResultTable(documents), ResultTable(listed), counts, measured)


def _scores(scored: Sketch | None, left: Ints, right: Ints, first: Ints) -> list[pa.Array]:
    """Resemblance, its error and both containments; a document wholly resembles itself, sampled or not."""
    if scored is None:
        same, found = first[left] == first[right], [np.full(len(left), np.nan)] * 4
    else:
        same, guess = first[left] == first[right], estimate(scored, left, right)
        found = [guess.resemblance, guess.resemblance_error, guess.containment, guess.contained_in]
    values = (np.where(same, own, value) for own, value in zip((1.0, 0.0, 1.0, 1.0), found, strict=True))
    return [pa.array(value, from_pandas=True) for value in values]
