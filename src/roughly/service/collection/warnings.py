"""What looks wrong about a cluster, from its row in the list; `explorer/cluster_similarity.py` has rules on texts.

| name | rule | why |
|---|---|---|
| `large` | 1,000 documents, or 50 and a hundredth of all | often a template, an error page, a notice |
| `loose` | lowest resemblance 0.15 below the mean, or below the threshold | a member that hardly belongs |
| `chained` | more than one kept document | connected by links, not by similarity to one document |
| `sparse` | fewer than 0.3 of the possible pairs verified, if all were looked for | a chain or a star, not a clique |
| `sources` | five sources or more | syndication, or a phrase that everyone uses |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from roughly.fast_dataclass import dataclass
from roughly.report.wording import count, counted, plain, score, share
from roughly.service.collection.collection_types import ClusterWarning

LARGE, LARGE_SHARE, LARGE_LEAST = 1_000, 0.01, 50
APART = 0.15
SPARSE, SPARSE_LEAST = 0.3, 4
SOURCES = 5


@dataclass(frozen=True)
class WarningRules:
    """The rules, for a collection of this size and threshold."""

    documents: int
    threshold: float | None = None  # on resemblance
    every_pair: bool = False  # all pairs were looked for

    @property
    def large(self) -> int:
        """The number of documents from which a cluster is large."""
        return min(LARGE, max(LARGE_LEAST, -int(-LARGE_SHARE * self.documents // 1)))

    def conditions(self) -> dict[str, tuple[str, list[Any]]]:
        """The rules as SQL over the clusters of a run."""
        below = 0.0 if self.threshold is None else self.threshold
        found: dict[str, tuple[str, list[Any]]] = {
            "large": ("size >= ?", [self.large]),
            "loose": ("min_resemblance < mean_resemblance - ? OR min_resemblance < ?", [APART, below]),
            "chained": ("kept > 1", []),
            "sparse": (
                "size >= ? AND pairs < ? * (size::DOUBLE * (size - 1) / 2)" if self.every_pair else "false AND ? < ?",
                [SPARSE_LEAST, SPARSE],
            ),
            "sources": ("sources >= ?", [SOURCES]),
        }
        found["any"] = (
            " OR ".join(f"({sql})" for sql, _ in found.values()),
            [value for _, values in found.values() for value in values],
        )
        return found

    def warnings(self, row: Mapping[str, Any]) -> tuple[ClusterWarning, ...]:
        """The warnings about one cluster."""
        found = []
        size, kept, low, mean = row["size"], row["kept"], row["min_resemblance"], row["mean_resemblance"]
        if size >= self.large:
            part = share(size, self.documents)
            text = f"Very large: {part} of all documents. Often a template, an error page or a notice, not one text."
            found.append(ClusterWarning("large", text, size / max(self.documents, 1)))
        if low is not None and mean is not None and low < mean - APART:
            text = f"Loose: the lowest resemblance is {score(low, 2)}, the mean {score(mean, 2)}."
            found.append(ClusterWarning("loose", text, mean - low))
        elif low is not None and self.threshold is not None and low < self.threshold:
            text = f"Loose: the lowest resemblance, {score(low, 2)}, is below the threshold {plain(self.threshold)}."
            found.append(ClusterWarning("loose", text, low))
        if kept is not None and kept > 1:
            text = (
                f"Chained: {count(kept)} of its documents are kept, because they do not resemble each other enough; "
                "links through others connect the cluster."
            )
            found.append(ClusterWarning("chained", text, kept / size))
        pairs, possible = row["pairs"], size * (size - 1) / 2
        if self.every_pair and size >= SPARSE_LEAST and pairs is not None and pairs < SPARSE * possible:
            text = f"Sparse: {share(pairs, possible)} of its {counted(possible, 'possible pair')} reach the threshold."
            found.append(ClusterWarning("sparse", text, pairs / possible))
        if row["sources"] is not None and row["sources"] >= SOURCES:
            text = f"Many sources: its documents come from {count(row['sources'])}."
            found.append(ClusterWarning("sources", text, row["sources"]))
        return tuple(found)
