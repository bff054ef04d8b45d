"""Agreement of two groupings of the same documents.

With n_ij documents in true set i and found group j, a_i in the set, b_j in the group, n in all and C(x) = x·(x − 1)/2:

| measure | formula | source |
|---|---|---|
| adjusted Rand | (Σ C(n_ij) − E) / ((Σ C(a_i) + Σ C(b_j))/2 − E), E = Σ C(a_i)·Σ C(b_j)/C(n) | Hubert and Arabie 1985 |
| B-cubed precision | mean over documents of n_ij / b_j | Bagga and Baldwin 1998 |
| B-cubed recall | mean over documents of n_ij / a_i | |
| purity | Σ_j max_i n_ij / Σ_j b_j over groups of two or more | |
| clusters per true set | mean, over true sets of two or more, of the groups they are in | I-Match 2002, Table IV |

Purity is computed over groups of two or more, since a group of one is pure whatever was found.
"""

from __future__ import annotations

import numpy as np

from roughly.fast_dataclass import dataclass
from roughly.tools.metrics.overlap import Ints, Overlap, numbered
from roughly.tools.metrics.pair_accuracy import harmonic


@dataclass(frozen=True)
class ClusterScores:
    """The result of `score_clusters`; None where a denominator is 0."""

    adjusted_rand: float | None
    bcubed_precision: float | None
    bcubed_recall: float | None
    bcubed_f1: float | None
    purity: float | None
    clusters_per_set: float | None
    sets: int  # true sets of two or more
    clusters: int  # found groups of two or more
    whole: int  # true sets that equal one found group


def score_clusters(found: Ints, true: Ints) -> ClusterScores:
    """All scores, from the group and the true set of each document."""
    group, true_set = numbered(found), numbered(true)
    if not len(group):
        return ClusterScores(None, None, None, None, None, None, 0, 0, 0)
    of_group, of_set = np.bincount(group), np.bincount(true_set)
    cells, sizes = np.unique(true_set * len(of_group) + group, return_counts=True)
    cell_set, cell_group = np.divmod(cells, len(of_group))
    overlap = Overlap.of_groups(group, true_set)
    precision = float(((overlap.both + 1) / (overlap.found + 1)).mean())
    recall = float(((overlap.both + 1) / (overlap.true + 1)).mean())
    largest = np.zeros(len(of_group), np.int64)
    np.maximum.at(largest, cell_group, sizes)
    many, real = of_group > 1, of_set > 1
    groups_of_set = np.bincount(cell_set, minlength=len(of_set))
    whole = (sizes == of_set[cell_set]) & (sizes == of_group[cell_group]) & (sizes > 1)
    return ClusterScores(
        _adjusted_rand(sizes, of_set, of_group),
        precision, recall, harmonic(precision, recall),
        float(largest[many].sum() / of_group[many].sum()) if many.any() else None,
        float(groups_of_set[real].mean()) if real.any() else None,
        int(real.sum()), int(many.sum()), int(whole.sum()),
    )  # fmt: skip


def _adjusted_rand(cells: Ints, sets: Ints, groups: Ints) -> float:
    together, in_sets, in_groups = (float(_pairs(sizes)) for sizes in (cells, sets, groups))
    documents = int(sets.sum())
    everything = documents * (documents - 1) / 2
    expected = in_sets * in_groups / everything if everything else 0.0
    most = (in_sets + in_groups) / 2
    return 1.0 if most == expected else (together - expected) / (most - expected)


def _pairs(sizes: Ints) -> int:
    sizes = sizes.astype(np.int64)
    return int((sizes * (sizes - 1) // 2).sum())
