"""Relevance judgments that disagree on duplicates (I-Match 2002, §4.6).

A qrels file of TREC has a line for every judgment: topic, iteration, document, relevance. Of two duplicates, for one
topic,

| kind | |
|---|---|
| differs | one is relevant (above 0), the other was judged and is not |
| grade | both are relevant, in different degrees |
| unjudged | one is relevant, the other was not judged, which counts as not relevant |

The paper looked for the first and the third. A duplicate of a document that is *not* relevant loses nothing by not
being judged, and is not reported.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from roughly.errors import InputError, InputMissing

Ints = npt.NDArray[np.int64]
FINDINGS = pa.schema(
    [
        pa.field("topic", pa.string(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("left_id", pa.string(), nullable=False),
        pa.field("left_relevance", pa.int64()),  # null: not judged
        pa.field("right_id", pa.string(), nullable=False),
        pa.field("right_relevance", pa.int64()),
        pa.field("resemblance", pa.float64(), nullable=False),
        pa.field("containment", pa.float64(), nullable=False),
        pa.field("contained_in", pa.float64(), nullable=False),
    ]
)


@dataclass(frozen=True)
class Qrels:
    """Judgments: topic, document and relevance of each."""

    topics: list[str]
    documents: list[str]
    relevance: Ints


def read_qrels(path: Path) -> Qrels:
    """A qrels file; a line that is none is refused, with its number."""
    if not path.is_file():
        raise InputMissing(
            f"{path} is not there; name a file of relevance judgments (topic iteration document relevance)"
        )
    topics, documents, relevance = [], [], []
    seen: dict[tuple[str, str], int] = {}
    with path.open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            parts = line.split()
            if not parts:
                continue
            if len(parts) != 4:
                raise InputError(
                    f"{path}, line {number}: {len(parts)} fields; it has four: topic iteration document relevance"
                )
            try:
                value = int(parts[3])
            except ValueError:
                raise InputError(f"{path}, line {number}: relevance {parts[3]!r} is no whole number") from None
            if seen.setdefault((parts[0], parts[2]), value) != value:
                raise InputError(
                    f"{path}, line {number}: {parts[2]} was judged {seen[parts[0], parts[2]]} for topic {parts[0]} "
                    f"before, and {value} here; keep one of the lines"
                )
            topics.append(parts[0])
            documents.append(parts[2])
            relevance.append(value)
    if not topics:
        raise InputMissing(f"{path} holds no judgment; its lines should read: topic iteration document relevance")
    return Qrels(topics, documents, np.array(relevance, np.int64))


def disagreements(qrels: Qrels, pairs: pa.Table) -> pa.Table:
    """The findings, sorted by topic and ids, from pairs of duplicates (columns of `lab.truth`)."""
    topic_names = pc.unique(pa.array(qrels.topics))
    names = pc.unique(pa.array(qrels.documents))
    topic = pc.index_in(pa.array(qrels.topics), topic_names).to_numpy().astype(np.int64)
    document = pc.index_in(pa.array(qrels.documents), names).to_numpy().astype(np.int64)
    width = len(topic_names)
    order = np.argsort(document * width + topic, kind="stable")
    codes, relevance = (document * width + topic)[order], qrels.relevance[order]
    keep = np.r_[True, codes[1:] != codes[:-1]] if len(codes) else np.empty(0, np.bool_)
    codes, relevance = codes[keep], relevance[keep]
    sides = [
        pc.fill_null(pc.index_in(pairs[name].combine_chunks(), names), -1)
        .to_numpy(zero_copy_only=False)
        .astype(np.int64)
        for name in ("left_id", "right_id")
    ]
    found: list[tuple[Ints, Ints, Ints, Ints, npt.NDArray[np.bool_], npt.NDArray[np.bool_]]] = []
    for mine, other in (sides, sides[::-1]):
        first, last = np.searchsorted(codes, [mine * width, (mine + 1) * width])
        count = np.where(mine >= 0, last - first, 0)
        pair = np.repeat(np.arange(len(mine)), count)
        at = first[pair] + np.arange(len(pair)) - np.repeat(np.cumsum(count) - count, count)
        about, value = codes[at] % width, relevance[at]
        wanted = np.where(other[pair] >= 0, other[pair] * width + about, -1)
        place = np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)
        judged = codes[place] == wanted
        found.append((pair, about, value, relevance[place], judged, np.full(len(pair), mine is sides[0])))
    # from the left: both judged, or the right one not; from the right: only where the left one was not judged
    pair, about, mine_value, other_value, judged, from_left = (
        np.concatenate(part) for part in zip(*found, strict=True)
    )
    use = (from_left | ~judged) & np.where(
        judged, (mine_value != other_value) & ((mine_value > 0) | (other_value > 0)), mine_value > 0
    )
    pair, about, mine_value, other_value, judged, from_left = (
        part[use] for part in (pair, about, mine_value, other_value, judged, from_left)
    )
    kind = np.where(~judged, "unjudged", np.where((mine_value > 0) & (other_value > 0), "grade", "differs"))
    left_missing, right_missing = ~judged & ~from_left, ~judged & from_left
    left_value = np.where(from_left, mine_value, other_value)
    right_value = np.where(from_left, other_value, mine_value)
    chosen = pairs.take(pa.array(pair))
    table = pa.Table.from_arrays(
        [
            topic_names.take(pa.array(about)), pa.array(kind.astype(str), pa.string()),
            chosen["left_id"].combine_chunks(), pa.array(left_value, mask=left_missing),
            chosen["right_id"].combine_chunks(), pa.array(right_value, mask=right_missing),
            *(chosen[name].combine_chunks() for name in ("resemblance", "containment", "contained_in")),
        ],
        schema=FINDINGS,
    )  # fmt: skip
    return table.sort_by([("topic", "ascending"), ("left_id", "ascending"), ("right_id", "ascending")])
