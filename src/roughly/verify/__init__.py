"""Exact comparison of two documents: scores, kind of duplicate, shared passages, diff.

Every candidate pair is decided here, on the full shingle sets. Nothing in this folder does I/O.
"""

from roughly.verify.comparison import Comparison, compare, containment, contains, resemblance, same
from roughly.verify.diff import Segment, word_diff
from roughly.verify.kinds import KINDS, kind_of, kinds_of_pairs, kinds_of_tokens
from roughly.verify.passages import Passage, shared_passages
from roughly.verify.scores import Scores, score_sets, score_texts

__all__ = [
    "KINDS",
    "Comparison",
    "Passage",
    "Scores",
    "Segment",
    "compare",
    "containment",
    "contains",
    "kind_of",
    "kinds_of_pairs",
    "kinds_of_tokens",
    "resemblance",
    "same",
    "score_sets",
    "score_texts",
    "shared_passages",
    "word_diff",
]
