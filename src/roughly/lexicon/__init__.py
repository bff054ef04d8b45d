"""Collection statistics: in how many documents each term stands, frozen in a file.

    from roughly import lexicon

    news = lexicon.build("news.parquet", output="news.lexicon")     # or lexicon.Lexicon.open("news.lexicon")
    news.idf(hashes)                                                # of a batch of token hashes
    news.with_thresholds(min_df=5, letters_only=True, min_length=3)
    lexicon.default()                                               # English, needs no collection

`docs/lexicon.md` says what is counted, how idf is normalised and what a file holds.
"""

from __future__ import annotations

import dataclasses
from functools import cache
from importlib import resources
from pathlib import Path

from roughly.lexicon.builder import build, merge, prune
from roughly.lexicon.lexicon import Lexicon
from roughly.lexicon.lexicon_comparison import LexiconComparison, compare
from roughly.lexicon.thresholds import Thresholds

__all__ = ["Lexicon", "LexiconComparison", "Thresholds", "build", "compare", "default", "merge", "prune"]


@cache
def default() -> Lexicon:
    """The English lexicon that comes with the package: 271,298 documents, terms that stand in five of them or more."""
    file = resources.files("roughly.lexicon").joinpath("english.lexicon")
    found = Lexicon.open(file) if isinstance(file, Path) else Lexicon.from_bytes(file.read_bytes())
    return dataclasses.replace(found, name="the default lexicon")
