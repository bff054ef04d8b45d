"""Relevance judgments that disagree on duplicates (I-Match 2002, §4.6).

A TREC qrels file has one line per judgment: topic, iteration, document, relevance. For two duplicates and one topic:

| kind | |
|---|---|
| differs | one is relevant (above 0), the other was judged and is not |
| grade | both are relevant, in different degrees |
| unjudged | one is relevant, the other was not judged, which counts as not relevant |

The paper looked for the first and the third. A duplicate of a document that is *not* relevant loses nothing by not
being judged, and is not reported.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from roughly.errors import InputError, InputMissing
from roughly.fast_dataclass import dataclass
from roughly.model import EXACT_SCORES

Ints = npt.NDArray[np.int64]
FINDINGS = pa.schema(
    [
        pa.field("topic", pa.string(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("left_id", pa.string(), nullable=False),
        pa.field("left_relevance", pa.int64()),  # null: not judged
        pa.field("right_id", pa.string(), nullable=False),
        pa.field("right_relevance", pa.int64()),
        *(column.field.with_nullable(True) for column in EXACT_SCORES),  # null: grouped by a run, not measured
    ]
)


@dataclass(frozen=True)
class Qrels:
    """Judgments: topic, document and relevance of each."""

    topics: list[str]
    documents: list[str]
    relevance: Ints


def read_qrels(path: Path) -> Qrels:
    """A qrels file; an invalid line is refused, with its number."""
    if not path.is_file():
        raise InputMissing(
            f"{path} does not exist; name a file of relevance judgments (topic iteration document relevance)"
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
                raise InputError(f"{path}, line {number}: relevance {parts[3]!r} is not a whole number") from None
            if seen.setdefault((parts[0], parts[2]), value) != value:
                raise InputError(
                    f"{path}, line {number}: {parts[2]} was judged {seen[parts[0], parts[2]]} for topic {parts[0]} "
                    f"before, and {value} here; keep one of the lines"
                )
            topics.append(parts[0])
            documents.append(parts[2])
            relevance.append(value)
    if not topics:
        raise InputMissing(f"{path} has no judgment; its lines should read: topic iteration document relevance")
    return Qrels(topics, documents, np.array(relevance, np.int64))


def disagreements(qrels: Qrels, pairs: pa.Table) -> pa.Table:
    """The findings, sorted by topic and ids, from pairs of duplicates (columns of `tools.truth`)."""
    judged = _Judgments(qrels)
    left, right = (judged.numbers(pairs[name]) for name in ("left_id", "right_id"))
    rows = np.unique(np.concatenate([judged.rows(side) for side in (left, right)]))  # one pair and topic per row
    pair, topic = np.divmod(rows, judged.width)
    (a, a_judged), (b, b_judged) = (judged.relevance(side[pair], topic) for side in (left, right))
    a_relevant, b_relevant = a_judged & (a > 0), b_judged & (b > 0)
    both = a_judged & b_judged
    kind = np.select(
        [
            both & (a_relevant != b_relevant),
            both & a_relevant & (a != b),
            (a_relevant & ~b_judged) | (b_relevant & ~a_judged),
        ],
        ["differs", "grade", "unjudged"],
        "",
    )
    use = np.flatnonzero(kind != "")
    chosen = pairs.take(pa.array(pair[use]))
    table = pa.Table.from_arrays(
        [
            judged.topics.take(pa.array(topic[use])), pa.array(kind[use].astype(str), pa.string()),
            chosen["left_id"].combine_chunks(), pa.array(a[use], mask=~a_judged[use]),
            chosen["right_id"].combine_chunks(), pa.array(b[use], mask=~b_judged[use]),
            *(chosen[name].combine_chunks() for name in ("resemblance", "containment", "contained_in")),
        ],
        schema=FINDINGS,
    )  # fmt: skip
    return table.sort_by([("topic", "ascending"), ("left_id", "ascending"), ("right_id", "ascending")])


class _Judgments:
    """Judgments sorted by document and topic, each as the number document · width + topic."""

    def __init__(self, qrels: Qrels) -> None:
        self.topics, self._names = (pc.unique(pa.array(names)) for names in (qrels.topics, qrels.documents))
        self.width = len(self.topics)
        topic, document = (
            pc.index_in(pa.array(names), known).to_numpy().astype(np.int64)
            for names, known in ((qrels.topics, self.topics), (qrels.documents, self._names))
        )
        self._codes, first = np.unique(document * self.width + topic, return_index=True)
        self._values = qrels.relevance[first]

    def numbers(self, ids: pa.ChunkedArray) -> Ints:
        """The number of each document among those judged; −1 if it was judged for no topic."""
        places = pc.fill_null(pc.index_in(ids.combine_chunks(), self._names), -1)
        found: Ints = places.to_numpy(zero_copy_only=False).astype(np.int64)
        return found

    def rows(self, documents: Ints) -> Ints:
        """place · width + topic, for every topic that the document at each place was judged for."""
        first, last = np.searchsorted(self._codes, [documents * self.width, (documents + 1) * self.width])
        count = np.where(documents >= 0, last - first, 0)
        place = np.repeat(np.arange(len(documents)), count)
        at = first[place] + np.arange(len(place)) - np.repeat(np.cumsum(count) - count, count)
        found: Ints = place * self.width + self._codes[at] % self.width
        return found

    def relevance(self, documents: Ints, topic: Ints) -> tuple[Ints, npt.NDArray[np.bool_]]:
        """The relevance of documents to topics, and whether each was judged at all."""
        wanted = np.where(documents >= 0, documents * self.width + topic, -1)
        place = np.minimum(np.searchsorted(self._codes, wanted), len(self._codes) - 1)
        return self._values[place], self._codes[place] == wanted
