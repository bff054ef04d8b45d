"""Resolution with a learned verdict: the pairs that it accepts take the place of those that reach the threshold.

Every pair of candidates that reaches the threshold is compared, so n near-copies of one page cost n² comparisons, where
resemblance alone costs n. The rules are those of `star` and `components`: in order of rank, a document is removed if a
kept one is accepted with it, and its witness is the accepted kept document it resembles most.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from roughly.cluster.candidates import Ints
from roughly.cluster.comparisons import Words, compared_blocks, threads_within
from roughly.cluster.ranked_walk import EVIDENCE, Resolution
from roughly.cluster.scoring import NO_PAIRS, ResolveBudget, ScoredPairs, scores_of
from roughly.fast_dataclass import dataclass
from roughly.kernels.judging import MEASURES
from roughly.kernels.scored_pairs import threshold_clusters
from roughly.verdict import Verdict

Roots = npt.NDArray[np.int32]


@dataclass(frozen=True)
class AcceptedPairs:
    """The pairs that a verdict accepts, sorted, and why."""

    pairs: ScoredPairs
    probability: npt.NDArray[np.float64]
    adds: npt.NDArray[np.float32]  # (pairs, comparisons that have a weight)
    comparisons: list[str]

    def reasons(self, pairs: ScoredPairs) -> dict[str, npt.NDArray[np.float64] | npt.NDArray[np.float32]]:
        """The columns of `model.reason_columns` for some of them."""
        at = np.searchsorted(_numbers(self.pairs), _numbers(pairs))
        adds = {f"adds_{name}": self.adds[at, n] for n, name in enumerate(self.comparisons)}
        return {"probability": self.probability[at], **adds}


def accept(
    found: Resolution, verdict: str, words: Words, measure: str, *, linked: bool, every_pair: bool, work: ResolveBudget
) -> tuple[Resolution, Roots, ScoredPairs, AcceptedPairs]:
    """(The resolution of candidates of which every pair was found, if the verdict decides; the best document of each
    one's cluster; the pairs that link clusters; all accepted pairs)."""
    threads = threads_within(work.budget, work.threads)
    accepted = accepted_pairs(found.pairs, Verdict.parse(verdict), words, threads)
    kept, pairs, roots = resolve_accepted(accepted.pairs, found.candidates.documents, measure, linked=linked)
    resolution = replace(found, kept=kept, pairs=accepted.pairs if every_pair else pairs)
    return resolution, roots, accepted.pairs if linked else NO_PAIRS, accepted


def accepted_pairs(pairs: ScoredPairs, verdict: Verdict, words: Words, threads: int = 1) -> AcceptedPairs:
    """The pairs that a verdict accepts."""
    if verdict.fields and words.fields is None:
        raise TypeError("this learned verdict needs the fields of documents")
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    use, probability, adds = [np.empty(0, np.int64)], [np.empty(0)], [np.empty((0, len(verdict.weights)), np.float32)]
    for start, comparisons in compared_blocks(pairs[:, :2].astype(np.int64), words, threads):
        parts = verdict.parts(comparisons)
        found = verdict.probability_of(parts)
        accepted = np.flatnonzero(found >= verdict.probability)
        use.append(start + accepted)
        probability.append(found[accepted])
        adds.append(parts[accepted].astype(np.float32))
    chosen = np.concatenate(use)
    return AcceptedPairs(pairs[chosen], np.concatenate(probability), np.concatenate(adds), verdict.names)


def _numbers(pairs: ScoredPairs) -> Ints:
    """Each pair as one number."""
    return pairs[:, 0].astype(np.int64) << 32 | pairs[:, 1].astype(np.int64)


def resolve_accepted(
    accepted: ScoredPairs, documents: int, measure: str, *, linked: bool
) -> tuple[npt.NDArray[np.bool_], ScoredPairs, Roots]:
    """(which documents are kept, the pairs that are evidence for it, the best document of each one's cluster); of stars
    each document is its own."""
    scores = scores_of(accepted, MEASURES[measure])
    star = groups_of(accepted, scores, documents, linked=False)
    kept: npt.NDArray[np.bool_] = star == np.arange(documents)
    own = np.arange(documents, dtype=np.int32)
    roots = groups_of(accepted, scores, documents, linked=True) if linked else own
    use = np.flatnonzero(~kept[accepted[:, 0]] & kept[accepted[:, 1]])
    order = use[np.lexsort((accepted[use, 1], -scores[use], accepted[use, 0]))]
    left = accepted[order, 0]
    place = np.arange(len(order)) - np.searchsorted(left, left)
    return kept, accepted[np.sort(order[place < EVIDENCE])], roots


def groups_of(
    pairs: npt.NDArray[np.int32], scores: npt.NDArray[np.float64], documents: int, *, linked: bool
) -> npt.NDArray[np.int32]:
    """The best document of each document's cluster, if all of these pairs are duplicates."""
    offsets: Ints = np.zeros(documents + 1, np.int64)
    np.cumsum(np.bincount(pairs[:, 0], minlength=documents), out=offsets[1:])
    others = np.ascontiguousarray(pairs[:, 1])
    groups: Roots = threshold_clusters(offsets, others, scores, np.zeros(1), linked=linked)[0]
    return groups
