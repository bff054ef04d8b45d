"""How similar the documents of a cluster are to each other, measured on their texts: for the picture and warnings.

A run stores for each removed document its witness, not every pair. So the texts of some members are read and every two
of them are compared exactly. With S the set of shingles that all of them have and U those that only one of them has:

    core = |S| / mean size        own = |U| / (all shingles outside S)

A *template* has a large core and differs in what only one document has: core ≥ 0.3, own ≥ 0.8 and a mean resemblance
below 0.95, for five texts or more.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.fast_dataclass import dataclass
from roughly.features.shingle_sets import shingle_sets
from roughly.report.wording import share
from roughly.service.collection.collection_types import ClusterWarning, DocumentText, Edge
from roughly.text.canonical import tokenise

MOST = 60  # documents in a picture
LONGEST = 400_000  # characters of a text that is measured
ALL = 4_000_000  # characters measured per picture
TEMPLATE_TEXTS = 5
CORE, OWN, NEARLY_EQUAL = 0.3, 0.8, 0.95

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ClusterSimilarity:
    """Resemblances of some documents, NaN where unknown; and what they have in common."""

    ids: tuple[str, ...]
    matrix: Floats
    measured: int  # documents whose text was read
    core: float | None = None
    own: float | None = None

    def reach(self, threshold: float | None) -> tuple[int, int]:
        """(pairs that reach the threshold, pairs measured)."""
        upper = self.matrix[np.triu_indices(len(self.ids), 1)]
        known = upper[~np.isnan(upper)]
        return int((known >= (threshold or 0.0)).sum()), len(known)

    def warnings(self, threshold: float | None) -> list[ClusterWarning]:
        """What looks wrong about the texts."""
        found = []
        reach, pairs = self.reach(threshold)
        if threshold is not None and self.measured >= 4 and pairs and reach < 0.5 * pairs:
            text = (
                f"Low density: {share(reach, pairs)} of the {pairs} pairs among {self.measured} of its documents reach "
                "the threshold. Many resemble the kept document and not each other."
            )
            found.append(ClusterWarning("density", text, reach / pairs))
        if self.core is not None and self.own is not None and self.measured >= TEMPLATE_TEXTS:
            upper = self.matrix[np.triu_indices(len(self.ids), 1)]
            mean = float(np.nanmean(upper)) if not np.isnan(upper).all() else 1.0
            if self.core >= CORE and self.own >= OWN and mean < NEARLY_EQUAL:
                text = (
                    f"Template-like: all {self.measured} texts that were compared contain {share(self.core, 1)} of the "
                    f"words, and {share(self.own, 1)} of the rest occur in one text only. See whether what differs is "
                    "what matters."
                )
                found.append(ClusterWarning("template", text, self.core))
        return found


def measure(
    ids: Sequence[str], texts: dict[str, DocumentText], edges: Sequence[Edge], shingle_size: int
) -> ClusterSimilarity:
    """Measure the texts that there are; for the others, use the verified pairs."""
    chosen = list(ids)[:MOST]
    at = {name: number for number, name in enumerate(chosen)}
    matrix = np.full((len(chosen), len(chosen)), np.nan)
    np.fill_diagonal(matrix, 1.0)
    for edge in edges:
        if edge.left_id in at and edge.right_id in at and edge.resemblance is not None:
            i, j = at[edge.left_id], at[edge.right_id]
            matrix[i, j] = matrix[j, i] = edge.resemblance
    measured: list[tuple[int, str]] = []
    budget = ALL
    for name in chosen:
        text = texts[name].text if name in texts else None
        if text is not None and len(text) <= min(LONGEST, budget):
            measured.append((at[name], text))
            budget -= len(text)
    if len(measured) < 2:
        return ClusterSimilarity(tuple(chosen), matrix, len(measured))
    sets = shingle_sets(tokenise(pa.array([text for _, text in measured], pa.large_string())), shingle_size)
    own = [sets.values[sets.offsets[n] : sets.offsets[n + 1]] for n in range(len(measured))]
    for n, (i, _) in enumerate(measured):
        for m in range(n + 1, len(measured)):
            j = measured[m][0]
            matrix[i, j] = matrix[j, i] = _resemblance(own[n], own[m])
    distinct = _distinct(own)
    values, times = np.unique(np.concatenate(distinct), return_counts=True)
    core = int((times == len(distinct)).sum())
    rest = len(values) - core
    mean = float(np.mean([len(one) for one in distinct]))
    return ClusterSimilarity(
        tuple(chosen), matrix, len(distinct), core / mean if mean else None,
        float((times == 1).sum()) / rest if rest else 0.0,
    )  # fmt: skip


def _distinct(sets: Sequence[npt.NDArray[np.uint64]]) -> list[npt.NDArray[np.uint64]]:
    """Equal texts once: ten copies of one page do not make a template."""
    return list({one.tobytes(): one for one in sets}.values())


def _resemblance(left: npt.NDArray[np.uint64], right: npt.NDArray[np.uint64]) -> float:
    if not len(left) and not len(right):
        return 1.0
    both = len(np.intersect1d(left, right, assume_unique=True))
    return both / (len(left) + len(right) - both)
