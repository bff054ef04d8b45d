"""Test documents that are in the training set.

| kind | |
|---|---|
| whole | the fraction of the test document that the training document contains reaches the threshold |
| part | only the fraction of the *training* document that is in the test document does: part of the latter is known |

Each comes with the passages that the two share.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from roughly.model import EXACT_SCORES
from roughly.verify.passages import shared_passages

PASSAGE = pa.struct(
    [
        pa.field("test_start", pa.int64()), pa.field("test_end", pa.int64()),
        pa.field("train_start", pa.int64()), pa.field("train_end", pa.int64()),
        pa.field("words", pa.int64()), pa.field("text", pa.string()),
    ]
)  # fmt: skip
FINDINGS = pa.schema(
    [
        pa.field("test_id", pa.string(), nullable=False),
        pa.field("train_id", pa.string(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        *(column.field for column in EXACT_SCORES),  # left is the test document, right the one of the training set
        pa.field("passages", pa.list_(PASSAGE)),  # null: not looked up
    ]
)
EXCERPT = 200
TEST, TRAIN = "test:", "train:"
"""Prefixes of ids while both sides are in one collection; the first sorts before the second."""


def leaks(pairs: pa.Table, threshold: float) -> pa.Table:
    """The findings without passages, sorted, from pairs across the two sides."""
    whole = pairs["containment"].to_numpy() >= threshold
    kind = np.where(whole, "whole", "part").astype(str)
    columns = [
        pa.array([name.removeprefix(TEST) for name in pairs["left_id"].to_pylist()], pa.string()),
        pa.array([name.removeprefix(TRAIN) for name in pairs["right_id"].to_pylist()], pa.string()),
        pa.array(kind, pa.string()),
        *(pairs[name].combine_chunks() for name in ("resemblance", "containment", "contained_in")),
        pa.nulls(len(pairs), pa.list_(PASSAGE)),
    ]  # fmt: skip
    return pa.Table.from_arrays(columns, schema=FINDINGS)


def with_passages(findings: pa.Table, test: Mapping[str, str], train: Mapping[str, str], size: int) -> pa.Table:
    """The findings with the passages of those whose texts are given."""
    listed: list[list[dict[str, object]] | None] = []
    for row in findings.to_pylist():
        one, other = test.get(row["test_id"]), train.get(row["train_id"])
        if one is None or other is None:
            listed.append(None)
            continue
        listed.append(
            [
                {
                    "test_start": p.left_start, "test_end": p.left_end, "train_start": p.right_start,
                    "train_end": p.right_end, "words": p.words, "text": one[p.left_start : p.left_end][:EXCERPT],
                }
                for p in shared_passages(one, other, size)
            ]
        )  # fmt: skip
    place = findings.column_names.index("passages")
    return findings.set_column(place, FINDINGS.field("passages"), pa.array(listed, pa.list_(PASSAGE)))
