"""Duplicates that carry different labels: one of each two is wrong, or the classes cannot be told apart."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

FINDINGS = pa.schema(
    [
        pa.field("left_id", pa.string(), nullable=False),
        pa.field("left_label", pa.string(), nullable=False),
        pa.field("right_id", pa.string(), nullable=False),
        pa.field("right_label", pa.string(), nullable=False),
        pa.field("resemblance", pa.float64(), nullable=False),
        pa.field("containment", pa.float64(), nullable=False),
        pa.field("contained_in", pa.float64(), nullable=False),
    ]
)


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
    """How often each two labels meet, the commonest first."""
    if not len(findings):
        return {}
    both = [
        " / ".join(sorted(pair))
        for pair in zip(*(findings[n].to_pylist() for n in ("left_label", "right_label")), strict=True)
    ]
    counted = pc.value_counts(pa.array(both)).to_pylist()
    return {row["values"]: row["counts"] for row in sorted(counted, key=lambda row: (-row["counts"], row["values"]))}
