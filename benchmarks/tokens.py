"""What a token and a shingle are in every benchmark: one plain definition that all tools are measured by.

A token is a run of letters and digits of the lower-cased text (`[^\\W_]+`); a shingle is five tokens in a
row; a document shorter than that is one shingle; a document without tokens has none. On text without
combining marks and without scripts written without spaces this is Roughly's canonical form too, and
`is_plain` tells those texts: the sets that carry recall columns hold no others, so that no tool is judged by
another's idea of a word.

Standard library only: the peers import this file inside their own virtual environments.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

SHINGLE_SIZE = 5

TOKEN = re.compile(r"[^\W_]+")

# Scripts in which Roughly makes a token of every character, or whose words hold marks that `\w` does not.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u30ff\u3130-\u318f\u31a0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff]"
)
# Characters whose lower case depends on the context or changes the length, and joiners that some tools drop.
_AWKWARD = re.compile("[\u00ad\u0130\u03a3\u03c2\u200b-\u200f\u2060\ufeff]")


def tokens_of(text: str) -> list[str]:
    """The tokens of a text, in order."""
    return TOKEN.findall(text.lower())


def shingles_of(tokens: Sequence[str], size: int = SHINGLE_SIZE) -> set[str]:
    """The distinct shingles of a token sequence, each joined by spaces."""
    if not tokens:
        return set()
    if len(tokens) < size:
        return {" ".join(tokens)}
    return {" ".join(tokens[start : start + size]) for start in range(len(tokens) - size + 1)}


def resemblance(left: str, right: str, size: int = SHINGLE_SIZE) -> float:
    """Exact resemblance |A ∩ B| / |A ∪ B| of two texts; 0 where either has no token."""
    first, second = shingles_of(tokens_of(left), size), shingles_of(tokens_of(right), size)
    if not first or not second:
        return 0.0
    shared = len(first & second)
    return shared / (len(first) + len(second) - shared)


def is_plain(text: str) -> bool:
    """Whether `[^\\W_]+` and Roughly's canonical form see the same tokens in this text."""
    if text.isascii():
        return True
    if _UNSPACED.search(text) or _AWKWARD.search(text):
        return False
    return not any(unicodedata.category(character).startswith("M") for character in set(text))
