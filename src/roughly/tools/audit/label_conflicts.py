"""Duplicates with different labels: one of the two is wrong, or the classes cannot be distinguished."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from roughly.model import EXACT_SCORES, Column, Table

_NAMES = ("left_id", "left_label", "right_id", "right_label")
FINDINGS = Table((*(Column(name, pa.string(), nullable=False) for name in _NAMES), *EXACT_SCORES)).schema


def disagreements(ids: pa.Array, labels: pa.Array, pairs: pa.Table) -> pa.Table:
    """Pairs of duplicates whose labels differ; documents without a label are left out."""
    sides = [labels.take(pc.index_in(pairs[name].combine_chunks(), ids)) for name in ("left_id", "right_id")]
    differ = pc.fill_null(pc.not_equal(*sides), False)
    chosen = pairs.filter(differ)
    columns = [
        chosen["left_id"].combine_chunks(), sides[0].filter(differ),
        chosen["right_id"].combine_chunks(), sides[1].filter(differ),
        *(chosen[name].combine_chunks() for name in ("resemblance", "containment", "contained_in")),
    ]  # fmt: skip
    return pa.Table.from_arrays(columns, schema=FINDINGS)


def kinds_of(findings: pa.Table) -> dict[str, int]:
    """How often each two labels conflict, the most frequent first."""
    if not len(findings):
        return {}
    both = [
        " / ".join(sorted(pair))
        for pair in zip(*(findings[n].to_pylist() for n in ("left_label", "right_label")), strict=True)
    ]
    counted = pc.value_counts(pa.array(both)).to_pylist()
    return {row["values"]: row["counts"] for row in sorted(counted, key=lambda row: (-row["counts"], row["values"]))}
