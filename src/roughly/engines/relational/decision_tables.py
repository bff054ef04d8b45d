"""What resolution decided, as the Arrow tables that the verdicts are made from (`model.DECISION`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.cluster.evidence import witnesses
from roughly.cluster.scoring import ScoredPairs
from roughly.methods import Judge
from roughly.model import Column, decision_schemas
from roughly.pipeline import Decision

Ranks = npt.NDArray[np.uint32] | npt.NDArray[np.int64]


def links_table(pairs: ScoredPairs, ranks: Ranks, judge: Judge, kinds: pa.Array | None) -> pa.Table:
    """Every pair found, by rank. Pairs judged by common keys have no scores."""
    c, m, n = (pairs[:, column].astype(np.float64) for column in (2, 3, 4))
    scores = {
        "resemblance": c / np.maximum(m + n - c, 1),
        "containment": c / np.maximum(m, 1),
        "contained_in": c / np.maximum(n, 1),
    }
    measured = judge.on != "keys"
    return pa.table(
        {
            "left_rank": ranks[pairs[:, 0]],
            "right_rank": ranks[pairs[:, 1]],
            **{name: pa.array(s) if measured else pa.nulls(len(s), pa.float64()) for name, s in scores.items()},
            "kind": pa.nulls(len(pairs), pa.string()) if kinds is None else kinds,
        }
    )


def tables_of(
    decision: Decision, pairs: ScoredPairs, ranks: Ranks, kinds: pa.Array | None, linked: bool
) -> dict[str, pa.Table]:
    """The decisions of resolution on candidates 0, 1, …, whose ranks are `ranks`; with `linked`, clusters are
    components."""
    resolution, judge = decision.resolution, decision.judge
    tables = empty_tables()
    tables["links"] = links_table(pairs, ranks, judge, kinds)
    best = witnesses(pairs, resolution.kept, judge.measure)
    tables["decided"] = tables["links"].take(pa.array(best)).rename_columns(tables["decided"].column_names)
    if decision.accepted is not None:
        for name, values in decision.accepted.reasons(pairs).items():
            tables["links"] = tables["links"].append_column(name, pa.array(values))
    if linked:
        tables["clustered"] = pa.table({"rank": ranks, "cluster": ranks[decision.cluster]})
    tables["near"] = links_table(resolution.near, ranks, judge, None).drop_columns("kind")
    return tables


def empty_tables(reasons: Sequence[Column] = ()) -> dict[str, pa.Table]:
    """Empty tables, for runs that only test for equality; `reasons` as in `decision_schemas`."""
    return {name: schema.empty_table() for name, schema in decision_schemas(reasons).items()}
