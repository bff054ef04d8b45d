"""The plan of a grown collection: who belongs to which cluster, and where everyone stands.

Everything follows from (documents, seed), so that any worker can make any document alone, in any order, and
a parent can be made again wherever a child is. Slots 0 … N − 1 are the clusters end to end, the founder of
each first; a random permutation spreads them over the collection, as copies are spread over a crawl.

Cluster sizes follow P(size ≥ k) = k^−2: three clusters in four are single documents and the tail is heavy. On
top come giants of N / 50 documents, at most 100,000: the clusters that break tools which expand a bucket to
all its pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
import numpy.typing as npt

Places = npt.NDArray[np.int64]

TAIL = 2.0
GIANT = 100_000
CHAIN = 0.1  # share of copies that were made from a copy
LONGEST_CHAIN = 4
_ALL = 2**64 - 1
_SEED, _PURPOSE, _NUMBER = map(np.uint64, (0x9E3779B97F4A7C15, 0xD1342543DE82EF95, 0xA0761D6478BD642F))
_MIX_1, _MIX_2 = map(np.uint64, (0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
_CHAIN, _CLUSTER, _MEMBER = 1, 2, 3  # purposes: no two random streams are the same


@dataclass(frozen=True, slots=True)
class Plan:
    """`offsets[c]` is the slot of the founder of cluster c; slots and positions map to each other."""

    seed: int
    offsets: Places
    slot_at: npt.NDArray[np.uint32]
    position_of: npt.NDArray[np.uint32]

    @property
    def documents(self) -> int:
        """How many documents the collection has."""
        return len(self.slot_at)

    def clusters_of(self, slots: npt.NDArray[np.uint32]) -> Places:
        """The clusters that slots belong to."""
        return np.searchsorted(self.offsets, slots, side="right") - 1

    def cluster_draws(self, clusters: Places, count: int) -> npt.NDArray[np.float64]:
        """Numbers from 0 to 1 that founders are made with: a row of `count` for each cluster."""
        numbers: npt.NDArray[np.uint64] = np.add.outer(clusters * 64, np.arange(count)).astype(np.uint64)
        start = np.uint64((self.seed * int(_SEED) + _CLUSTER * int(_PURPOSE) + 1) & _ALL)
        mixed = numbers * _NUMBER + start
        mixed = (mixed ^ (mixed >> np.uint64(30))) * _MIX_1
        mixed = (mixed ^ (mixed >> np.uint64(27))) * _MIX_2
        drawn: npt.NDArray[np.float64] = (mixed ^ (mixed >> np.uint64(31))).astype(np.float64) / 2.0**64
        return drawn

    def member_chance(self, slot: int) -> Random:
        """The random stream that a copy is made with."""
        return Random(_scatter(self.seed, _MEMBER, slot))

    def parent_of(self, slot: int, founder: int) -> int:
        """The slot a copy was made from: its founder, or the copy before it, in chains of at most four."""
        if (slot - founder) % LONGEST_CHAIN and _scatter(self.seed, _CHAIN, slot) < CHAIN * 2**64:
            return slot - 1
        return founder


def make_plan(documents: int, seed: int) -> Plan:
    """Draw cluster sizes and the places of all documents."""
    if not 1 <= documents < 2**32:
        raise ValueError(f"--documents must be from 1 to 4,294,967,295, not {documents:,}")
    stream = np.random.default_rng([seed, documents])
    giant = min(GIANT, documents // 50)
    giants = [giant] * (1 + documents // 5_000_000) if giant > 1 else []
    left = documents - sum(giants)
    sizes = np.floor((1 - stream.random(left)) ** (-1 / TAIL)).astype(np.int64)
    sizes = np.minimum(sizes, max(giant, 10))
    ends = np.cumsum(sizes)
    used = int(np.searchsorted(ends, left)) + 1 if left else 0
    sizes, ends = sizes[:used], ends[:used]
    if used:
        sizes[-1] -= int(ends[-1]) - left
    order = stream.permutation(documents).astype(np.uint32)
    position_of = np.empty_like(order)
    position_of[order] = np.arange(documents, dtype=np.uint32)
    return Plan(seed, np.cumsum(np.concatenate([[0], giants, sizes]), dtype=np.int64), order, position_of)


def save_plan(plan: Plan, folder: Path) -> None:
    """Write the plan's arrays where `open_plan` maps them."""
    np.save(folder / "offsets.npy", plan.offsets)
    np.save(folder / "slot_at.npy", plan.slot_at)
    np.save(folder / "position_of.npy", plan.position_of)


def open_plan(folder: Path, seed: int) -> Plan:
    """Map a plan that `save_plan` wrote."""
    names = ("offsets", "slot_at", "position_of")
    return Plan(seed, *(np.load(folder / f"{name}.npy", mmap_mode="r").view(np.ndarray) for name in names))


def _scatter(seed: int, purpose: int, number: int) -> int:
    """64 bits that look random and differ for each (seed, purpose, number): splitmix64 over their mixture."""
    value = (seed * int(_SEED) + purpose * int(_PURPOSE) + number * int(_NUMBER) + 1) & _ALL
    value = ((value ^ (value >> 30)) * int(_MIX_1)) & _ALL
    value = ((value ^ (value >> 27)) * int(_MIX_2)) & _ALL
    return value ^ (value >> 31)
