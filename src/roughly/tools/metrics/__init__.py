"""How well duplicates were found, measured against what is true. Arrays in, numbers out; no Python object a pair.

| module | what |
|---|---|
| `overlap` | of each document, how many partners were found, are true, and both: what the others are made of |
| `pairs` | precision, recall and F1 of pairs and of documents; recall by resemblance |
| `clusters` | adjusted Rand, B-cubed, purity, clusters a true set |
| `queries` | recall, precision and utility of queries (Kołcz 2008, §6.4) |
| `families` | originals and their copies found again (I-Match 2002, §4.3) |
| `intervals` | confidence intervals by bootstrap over true sets |
| `figures` | all of them together, as `roughly evaluate` prints them |

A share of nothing is None, never 0 or 1.
"""

from roughly.tools.metrics.cluster_scores import ClusterScores, score_clusters
from roughly.tools.metrics.families import FamilyScore, score_family
from roughly.tools.metrics.intervals import Interval, bootstrap
from roughly.tools.metrics.measure import EvaluationFigures, measure
from roughly.tools.metrics.overlap import Overlap, components_of
from roughly.tools.metrics.pair_scores import Bin, Shares, recall_by_bin, score_documents, score_pairs
from roughly.tools.metrics.query_scores import QueryScores, score_matches, score_queries
from roughly.tools.metrics.utility import Removal, score_removal

__all__ = [
    "Bin",
    "ClusterScores",
    "EvaluationFigures",
    "FamilyScore",
    "Interval",
    "Overlap",
    "QueryScores",
    "Removal",
    "Shares",
    "bootstrap",
    "components_of",
    "measure",
    "recall_by_bin",
    "score_clusters",
    "score_documents",
    "score_family",
    "score_matches",
    "score_pairs",
    "score_queries",
    "score_removal",
]  # fmt: skip
