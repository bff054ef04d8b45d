"""Pairs of duplicates from the groups of a run, whatever its method (I-Match 2002, §4.6 audits with I-Match).

The exact join of `audit qrels` finds every pair that reaches a threshold. With the output of `roughly dedupe`, or a
file of pairs or clusters, the groups decide instead: two documents are duplicates if they are in one group. Only pairs
with a document that was judged are formed. They have no scores.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from roughly.errors import TooManyPairs
from roughly.model import EXACT_SCORES
from roughly.tools.labels import LabelPairs, read_labels

_FILE = "documents.parquet"


def grouped_pairs(path: Path, judged: pa.Array, limit: int) -> tuple[pa.Array, pa.Table]:
    """All ids that the groups name, and the pairs of one group of which at least one document is in `judged`."""
    found = read_labels(path / _FILE if path.is_dir() else path)
    if isinstance(found, LabelPairs):
        same = slice(None) if found.same is None else np.flatnonzero(found.same)
        left, right = (np.array(side.to_pylist(), object)[same] for side in (found.left, found.right))
        return found.ids, _table(left.tolist(), right.tolist())
    named = pc.is_in(found.ids, judged).to_numpy(zero_copy_only=False)
    codes = found.cluster.dictionary_encode().indices.to_numpy(zero_copy_only=False)
    order = np.argsort(codes, kind="stable")
    bounds = np.flatnonzero(np.r_[True, np.diff(codes[order]) != 0, True])
    ids = found.ids.to_pylist()
    pairs: list[tuple[str, str]] = []
    for first, last in pairwise(bounds.tolist()):
        pairs += _pairs([(ids[place], bool(named[place])) for place in order[first:last]])
        if len(pairs) > limit:
            raise TooManyPairs(f"the groups of {path} make more than {limit:,} pairs with judged documents")
    return found.ids, _table([left for left, _ in pairs], [right for _, right in pairs])


def _pairs(members: list[tuple[str, bool]]) -> Iterator[tuple[str, str]]:
    members.sort()
    for place, (left, left_judged) in enumerate(members):
        for right, right_judged in members[place + 1 :]:
            if left_judged or right_judged:
                yield left, right


def _table(left: list[str], right: list[str]) -> pa.Table:
    columns = {"left_id": pa.array(left, pa.string()), "right_id": pa.array(right, pa.string())}
    scores = {column.field.name: pa.nulls(len(left), column.field.type) for column in EXACT_SCORES}
    return pa.table(columns | scores)
