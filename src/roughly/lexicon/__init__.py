"""Collection statistics: the number of documents that contain each term, frozen in a file.

    from roughly import lexicon

    news = lexicon.build("news.parquet", output="news.lexicon")     # or lexicon.Lexicon.open("news.lexicon")
    news.idf(hashes)                                                # for a batch of token hashes
    news.with_thresholds(min_df=5, letters_only=True, min_length=3)
    lexicon.default()                                               # English, needs no collection

`docs/lexicon.md` says what is counted, how idf is normalised and what a file holds.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from roughly.lexicon.builder import build, merge, prune
    from roughly.lexicon.lexicon import Lexicon
    from roughly.lexicon.lexicon_comparison import LexiconComparison, compare
    from roughly.lexicon.thresholds import Thresholds

_HOMES = {
    "Lexicon": "lexicon", "LexiconComparison": "lexicon_comparison", "Thresholds": "thresholds", "build": "builder",
    "compare": "lexicon_comparison", "merge": "builder", "prune": "builder",
}  # fmt: skip

__all__ = ["Lexicon", "LexiconComparison", "Thresholds", "build", "compare", "default", "merge", "prune"]


def __getattr__(name: str) -> Any:
    """Imported when first used: the command line reads the request of `lexicon build` and nothing else."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


@cache
def default() -> Lexicon:
    """The English lexicon that comes with the package: 271,298 documents, terms in five of them or more."""
    import dataclasses
    from importlib import resources
    from pathlib import Path

    from roughly.lexicon.lexicon import Lexicon

    file = resources.files("roughly.lexicon").joinpath("english.lexicon")
    found = Lexicon.open(file) if isinstance(file, Path) else Lexicon.from_bytes(file.read_bytes())
    return dataclasses.replace(found, name="the default lexicon")
