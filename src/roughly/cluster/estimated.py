"""Who stays, from sketches alone: Broder 1997, §4.1 and §5, in memory.

    collapse shingle-equivalent documents → values in 2 to `common` documents → compare what shares one → who stays

Documents with the same sketch are *shingle-equivalent* (§5.2). They are one document until the end, so a page that is
in a collection five thousand times does not make its own shingles too common. A value in more than `common` documents
forms no pairs (§5.1), and counts in the estimate all the same.

Scores are estimates from the sketches, or exact where the full sets are given beside them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from roughly.features.sketch import Hashes, Ints, Sketch, limits_of

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Buckets:
    """Which documents hold which value, as rows of documents; values in one document, or in too many, are left out."""

    doc_offsets: Ints
    doc_buckets: Ints
    count: int
    common: int  # values that are in too many

    def by_bucket(self) -> tuple[Ints, Ints]:
        """(offsets, documents) of each bucket, documents ascending."""
        owners = np.repeat(np.arange(len(self.doc_offsets) - 1), np.diff(self.doc_offsets))
        sizes = np.bincount(self.doc_buckets, minlength=self.count)
        return np.r_[0, np.cumsum(sizes)].astype(np.int64), owners[np.argsort(self.doc_buckets, kind="stable")]


@dataclass(frozen=True)
class Stars:
    """The verdict on each document, by its number."""

    kept: Flags
    witness: Ints  # who stays in its place; itself where kept
    root: Ints  # the best document of its cluster
    pairs: Ints  # rows (document, better document, shared, mine, theirs), of documents that differ in their sketches
    compared: int
    common: int  # values left out because too many documents hold them
    equivalent: int  # documents collapsed because their sketches are equal
    empty: int  # documents of whose shingles none was sampled: nothing can be said of them


def buckets(values: Hashes, offsets: Ints, common: int) -> Buckets:
    """Documents by value."""
    documents = len(offsets) - 1
    owners = np.repeat(np.arange(documents), np.diff(offsets))
    values = values[offsets[0] : offsets[-1]]
    order = np.argsort(values, kind="stable")
    new = np.ones(len(values), np.bool_)
    new[1:] = values[order][1:] != values[order][:-1]
    number = np.empty(len(values), np.int64)
    number[order] = np.cumsum(new) - 1
    sizes = np.bincount(number) if len(number) else np.zeros(0, np.int64)
    used = (sizes >= 2) & (sizes <= common)
    entry = used[number]
    renumbered = np.cumsum(used) - 1
    doc_offsets = np.r_[0, np.cumsum(np.bincount(owners[entry], minlength=documents))].astype(np.int64)
    return Buckets(doc_offsets, renumbered[number[entry]], int(used.sum()), int((sizes > common).sum()))


def stars(
    sketch: Sketch,
    rank: Ints,
    *,
    measure: str,
    threshold: float,
    common: int,
    components: bool = False,
    full: Sketch | None = None,
) -> Stars:
    """Decide who stays. `rank` lists the documents, best first; with `full`, their full sets, scores are exact."""
    from roughly.kernels import stars as kernel
    from roughly.kernels.judging import CONTAINMENT, RESEMBLANCE

    first = equivalent(sketch if full is None else full, rank)  # exact scores: only equal sets are equivalent
    leaders = rank[first[rank] == rank]
    held = chosen(sketch, leaders)
    scored = held if full is None else chosen(full, leaders)
    shared = buckets(held.values, held.offsets, common)
    code = CONTAINMENT if measure == "containment" else RESEMBLANCE
    kept, pairs, compared = kernel.star(
        shared.doc_offsets, shared.doc_buckets, shared.count, scored.values, scored.offsets, limits_of(scored),
        scored.most, code, threshold, components,
    )  # fmt: skip
    witness = _witnesses(kept.astype(np.bool_), pairs, code == CONTAINMENT)
    root = _roots(pairs, len(leaders)) if components else witness
    place = np.empty(len(sketch), np.int64)  # of each document's leader among the leaders
    place[leaders] = np.arange(len(leaders))
    place = place[first]
    own = first == np.arange(len(sketch))
    sizes = np.diff(sketch.offsets)
    pairs[:, 0], pairs[:, 1] = leaders[pairs[:, 0]], leaders[pairs[:, 1]]
    return Stars(
        kept.astype(np.bool_)[place] & own, leaders[witness[place]], leaders[root[place]], pairs,
        int(compared), shared.common, int((~own).sum()), int((sizes == 0).sum()),
    )  # fmt: skip


def equivalent(sketch: Sketch, rank: Ints) -> Ints:
    """The best document with the same sketch as each; itself where none was sampled."""
    from roughly.kernels.hashing import hash_sequences

    prints = hash_sequences(sketch.values, sketch.offsets)
    alike = np.column_stack((prints, limits_of(sketch)))
    _, group = np.unique(alike, axis=0, return_inverse=True)
    group = group.ravel()
    best = np.full(len(sketch), len(sketch), np.int64)
    order = np.empty(len(sketch), np.int64)
    order[rank] = np.arange(len(rank))
    np.minimum.at(best, group, order)
    return np.where(np.diff(sketch.offsets) == 0, np.arange(len(sketch)), rank[best[group]])


def chosen(sketch: Sketch, docs: Ints) -> Sketch:
    """The sketches of these documents, in this order."""
    from roughly.kernels.gathering import gather_ranges

    offsets = np.r_[0, np.cumsum(np.diff(sketch.offsets)[docs])].astype(np.int64)
    values = gather_ranges(sketch.values, sketch.offsets[docs], offsets)
    return Sketch(values, offsets, limits_of(sketch)[docs], sketch.most)


def _witnesses(kept: Flags, pairs: Ints, containment: bool) -> Ints:
    """The most alike kept document of each that goes, the better ranked of equals; itself where it stays."""
    witness = np.arange(len(kept))
    usable = pairs[kept[pairs[:, 1]]]
    whole = usable[:, 3] if containment else usable[:, 3] + usable[:, 4] - usable[:, 2]
    best = usable[np.lexsort((usable[:, 1], -usable[:, 2] / np.maximum(whole, 1), usable[:, 0]))]
    first = np.ones(len(best), np.bool_)
    first[1:] = best[1:, 0] != best[:-1, 0]
    best = best[first]
    best = best[~kept[best[:, 0]]]
    witness[best[:, 0]] = best[:, 1]
    return witness


def _roots(pairs: Ints, documents: int) -> Ints:
    """The best document of each document's component."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    graph = coo_matrix((np.ones(len(pairs), np.bool_), (pairs[:, 0], pairs[:, 1])), shape=(documents, documents))
    count, label = connected_components(graph, directed=False)
    least = np.full(count, documents, np.int64)
    np.minimum.at(least, label, np.arange(documents))
    roots: Ints = least[label]
    return roots
