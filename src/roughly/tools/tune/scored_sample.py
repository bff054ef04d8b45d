"""All pairs of a sample scored once, from which the clusters at every threshold are read.

For one size and unit of shingles, posting lists give the number of shingles that each pair shares
(`kernels/scored_pairs.py`). Resemblance and containment follow from it, and from these the clusters at any threshold:
what `roughly dedupe --method minhash` would find with a recall of 1. Documents with the same tokens are one until the
end, as in a run.

Low thresholds give more pairs than are worth storing. A setting that finds f pairs of which at most T can be true has
an F1 of at most 2·T / (T + f), so pairs are stored down to the lowest threshold with at most `most` pairs above it, per
measure; thresholds below that *floor* are not tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from roughly.cluster.comparisons import WordsInMemory
from roughly.cluster.in_memory import first_of
from roughly.fast_dataclass import dataclass
from roughly.features.shingle_sets import Sets, shingle_sets
from roughly.kernels.scored_pairs import SCORE_BINS, posting_lists, scored_block, threshold_clusters
from roughly.methods import bands
from roughly.signing.text_batch import TextBatch
from roughly.text.canonical import Tokens
from roughly.threads import map_in_order
from roughly.tools.tune.draw import DrawnSample, Ints

LOWEST = 0.05
"""The lowest threshold."""
_BLOCK = 512

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class PairScores:
    """Pairs of leaders (the best document among equal ones), numbered by rank."""

    offsets: Ints  # the pairs of leader d: others[offsets[d]:offsets[d + 1]]
    others: npt.NDArray[np.int32]
    scores: dict[str, Floats]  # by measure
    floors: dict[str, float]  # pairs are complete from here on, by measure
    values: float  # mean number of shingles of a document


class ScoredSample:
    """A sample whose pairs can be scored on shingles of any size and unit."""

    def __init__(self, sample: DrawnSample, threads: int, most: int, *, with_fields: bool = False) -> None:
        self._batch, self._threads, self._most = TextBatch(sample.texts), threads, most
        self.lengths = lengths = self._batch.lengths  # in words
        self.rank = np.lexsort((np.arange(len(lengths)), -sample.sizes, -lengths))  # as `--keep longest` has it
        digests = self._batch.digests("lexical")
        self.fields = sample.known.fields if with_fields and sample.known is not None else None
        self._equal = first_of(digests if self.fields is None else self.fields.mixed(digests), self.rank)
        self._leaders = self.rank[self._equal[self.rank] == self.rank]

    @cached_property
    def _tokens(self) -> dict[str, Tokens]:
        leaders = self._batch.texts.take(self._leaders)
        batch = TextBatch(leaders)
        return {"word": batch.tokens, "character": batch.characters}

    def sets(self, unit: str, size: int) -> Sets:
        """The shingles of each leader."""
        return shingle_sets(self._tokens[unit], size)

    def score(self, unit: str, size: int) -> PairScores:
        """Every pair that shares a shingle, down to the floors."""
        sets = self.sets(unit, size)
        lists, sizes = posting_lists(sets.values, sets.offsets), np.diff(sets.offsets)
        histogram, floors = np.zeros((2, SCORE_BINS), np.int64), [LOWEST, LOWEST]
        found = []

        def block(start: int) -> tuple[npt.NDArray[np.int32], Ints]:
            return scored_block(start, min(start + _BLOCK, len(sizes)), lists, sizes, (floors[0], floors[1]))

        for pairs, more in map_in_order(block, range(0, len(sizes), _BLOCK), self._threads):
            histogram += more
            floors[:] = [max(LOWEST, _floor(row, self._most)) for row in histogram]
            found.append(pairs)
        pairs = np.concatenate(found) if found else np.empty((0, 3), np.int32)
        c, m, n = pairs[:, 2].astype(np.float64), sizes[pairs[:, 0]], sizes[pairs[:, 1]]
        scores = {"resemblance": c / (m + n - c), "containment": c / m}
        use = (scores["resemblance"] >= floors[0]) | (scores["containment"] >= floors[1])
        offsets = np.zeros(len(sizes) + 1, np.int64)
        np.cumsum(np.bincount(pairs[use, 0], minlength=len(sizes)), out=offsets[1:])
        return PairScores(
            offsets, np.ascontiguousarray(pairs[use, 1]), {name: own[use] for name, own in scores.items()},
            dict(zip(scores, floors, strict=True)), len(sets.values) / max(len(sizes), 1),
        )  # fmt: skip

    def leader_pairs(self, pairs: PairScores) -> tuple[npt.NDArray[np.int32], Ints]:
        """The pairs (leader, better leader) by rank, and the documents that the leaders are."""
        own = np.repeat(np.arange(len(self._leaders), dtype=np.int32), np.diff(pairs.offsets))
        return np.column_stack((own, pairs.others)), self._leaders

    @property
    def words(self) -> WordsInMemory:
        """The words of all leaders, and their fields."""
        fields = None if self.fields is None else self.fields.take(self._leaders)
        return WordsInMemory(self._tokens["word"], fields)

    def expanded(self, groups: npt.NDArray[np.int32]) -> Ints:
        """The best document of each document's cluster, from that of each leader (…, leaders)."""
        place = np.empty(len(self._equal), np.int64)
        place[self._leaders] = np.arange(len(self._leaders))
        roots: Ints = self._leaders[groups[..., place[self._equal]]]
        return roots

    def groups(self, pairs: PairScores, measure: str, thresholds: Sequence[float], *, linked: bool) -> Ints:
        """The best document of each document's cluster, (thresholds, documents)."""
        found = threshold_clusters(
            pairs.offsets, pairs.others, pairs.scores[measure], np.array(thresholds, np.float64), linked=linked
        )
        return self.expanded(found)

    def stored_bytes(self, pairs: PairScores, measure: str, threshold: float, unit: str) -> float:
        """Bytes per document that a run would store: keys, and the tokens of candidates, taken as the documents of
        pairs that reach the threshold."""
        reached = pairs.scores[measure] >= threshold
        own = np.repeat(np.arange(len(self._leaders)), np.diff(pairs.offsets))
        candidates = np.unique(np.concatenate((own[reached], pairs.others[reached])))
        tokens = 8 * float(np.diff(self._tokens[unit].offsets)[candidates].sum()) / max(len(self._equal), 1)
        keys = pairs.values if measure == "containment" else bands.choose(threshold, 0.99)[0]
        return 16.0 + 8 * keys + tokens


def _floor(row: Ints, most: int) -> float:
    """The lowest threshold, in steps of a bin, with at most `most` pairs at or above it."""
    above = np.cumsum(row[::-1])[::-1]
    few = np.flatnonzero(above <= most)
    return float(few[0]) / SCORE_BINS if len(few) else 1.0
