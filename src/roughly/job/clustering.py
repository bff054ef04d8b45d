"""Clusters found on sketches, as tables: who stays, with estimates in place of exact scores.

The columns are those of `roughly dedupe`. Scores are estimates unless the texts were given, and `resemblance_error` is
the standard error of the resemblance. An estimate of which nothing was sampled is null.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from roughly.cluster.estimated import Stars, stars
from roughly.errors import DuplicateIds, SettingsError
from roughly.features.sketch import Ints, Sketch, estimate
from roughly.settings import CLUSTERINGS, MEASURES

DOCUMENTS = pa.schema(
    [
        pa.field("doc_id", pa.string(), nullable=False),
        pa.field("cluster_id", pa.string(), nullable=False),
        pa.field("kept", pa.bool_(), nullable=False),
        pa.field("kept_id", pa.string(), nullable=False),
        pa.field("resemblance", pa.float64()),
        pa.field("resemblance_error", pa.float64()),
        pa.field("containment", pa.float64()),
        pa.field("contained_in", pa.float64()),
    ]
)
PAIRS = pa.schema(
    [
        pa.field("left_id", pa.string(), nullable=False),
        pa.field("right_id", pa.string(), nullable=False),
        pa.field("resemblance", pa.float64()),
        pa.field("resemblance_error", pa.float64()),
        pa.field("containment", pa.float64()),
        pa.field("contained_in", pa.float64()),
    ]
)


@dataclass(frozen=True)
class Clustering:
    """What was found: `documents` sorted by doc_id, `pairs` by their ids, and `counts`."""

    documents: pa.Table
    pairs: pa.Table
    counts: dict[str, Any]

    @property
    def kept(self) -> list[str]:
        """The ids of those that stay."""
        ids: list[str] = self.documents.filter(pc.field("kept"))["doc_id"].to_pylist()
        return ids

    @cached_property
    def removed(self) -> pa.Table:
        """Those that go, with who stays in their place."""
        return self.documents.filter(~pc.field("kept"))

    @cached_property
    def clusters(self) -> dict[str, list[str]]:
        """The members of each cluster of two or more, by the id of its best document."""
        found: dict[str, list[str]] = {}
        for doc_id, cluster_id in zip(*(self.documents[n].to_pylist() for n in ("doc_id", "cluster_id")), strict=True):
            found.setdefault(cluster_id, []).append(doc_id)
        return {name: members for name, members in found.items() if len(members) > 1}


def cluster_sketches(
    ids: pa.Array,
    tokens: Ints,
    sketch: Sketch,
    *,
    threshold: float,
    measure: str,
    common: int,
    cluster: str,
    full: Sketch | None = None,
) -> Clustering:
    """Cluster documents by their sketches; the longest stays, then the first by id. With `full` scores are exact."""
    check_asked(threshold, measure, common, cluster)
    counted = pc.value_counts(ids)
    twice = counted.filter(pc.greater(counted.field("counts"), 1))
    if len(twice):
        raise DuplicateIds(f"{len(twice):,} ids stand there more than once, {twice[0]['values'].as_py()!r} for one")
    by_id = pc.sort_indices(ids).to_numpy().astype(np.int64)
    place = np.empty(len(ids), np.int64)
    place[by_id] = np.arange(len(ids))
    rank = np.lexsort((place, -tokens))
    found = stars(
        sketch, rank, measure=measure, threshold=threshold, common=common, components=cluster == "components", full=full
    )
    scored = sketch if full is None else full
    return Clustering(_documents(ids, found, scored, by_id), _pairs(ids, found, scored), _counts(found))


def check_asked(threshold: float, measure: str, common: int, cluster: str) -> None:
    """Refuse what makes no sense, all of it at once."""
    problems = []
    if not 0 < threshold <= 1:
        problems.append(f"threshold must be above 0 and at most 1, not {threshold!r}")
    if measure not in MEASURES:
        problems.append(f"measure must be one of {', '.join(MEASURES)}, not {measure!r}")
    if cluster not in CLUSTERINGS:
        problems.append(f"cluster must be one of {', '.join(CLUSTERINGS)}, not {cluster!r}")
    if common < 2:
        problems.append(f"common must be a whole number from 2, not {common!r}")
    if problems:
        raise SettingsError(*problems)


def _documents(ids: pa.Array, found: Stars, sketch: Sketch, by_id: Ints) -> pa.Table:
    columns = [ids, ids.take(pa.array(found.root)), pa.array(found.kept), ids.take(pa.array(found.witness))]
    own = np.arange(len(ids))
    scores = _scores(sketch, own, found.witness)
    table = pa.Table.from_arrays([*columns, *scores], schema=DOCUMENTS)
    return table.take(pa.array(by_id))


def _pairs(ids: pa.Array, found: Stars, sketch: Sketch) -> pa.Table:
    left, right = np.ascontiguousarray(found.pairs[:, 0]), np.ascontiguousarray(found.pairs[:, 1])
    columns = [ids.take(pa.array(left)), ids.take(pa.array(right)), *_scores(sketch, left, right)]
    return pa.Table.from_arrays(columns, schema=PAIRS).sort_by([("left_id", "ascending"), ("right_id", "ascending")])


def _scores(sketch: Sketch, left: Ints, right: Ints) -> list[pa.Array]:
    found = estimate(sketch, left, right)
    same = left == right  # a document wholly resembles itself, sampled or not
    values = [np.where(same, 1.0, found.resemblance), np.where(same, 0.0, found.resemblance_error)]
    values += [np.where(same, 1.0, found.containment), np.where(same, 1.0, found.contained_in)]
    return [pa.array(value, from_pandas=True) for value in values]


def _counts(found: Stars) -> dict[str, Any]:
    kept = int(found.kept.sum())
    return {
        "documents": len(found.kept), "kept": kept, "removed": len(found.kept) - kept, "pairs": len(found.pairs),
        "compared": found.compared, "equivalent": found.equivalent, "common": found.common, "empty": found.empty,
    }  # fmt: skip
