"""The words of a text for full-text search, and queries made of such words.

Words are the tokens of the canonical form (`text/canonical.py`), so case, punctuation and markup do not matter, and
scripts written without spaces have one word per character. Accents are removed (`cafe` finds `café`): marks above and
below a letter of the decomposed form, by the tables of Unicode 3.2, which never change; vowel signs are kept. A word is
cut at 64 characters, and a text at a million bytes of words, which is PostgreSQL's limit.

Queries::

    climate policy          documents that have both words
    "climate policy"        … one after the other
    climate -policy         … the first and not the second
    clim*                   … a word that begins like this

Any other character is punctuation. A word that has several tokens (`don't`, or any Chinese) is a phrase.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Self
from unicodedata import ucd_3_2_0 as frozen

from roughly.fast_dataclass import dataclass
from roughly.text.canonical import words

LONGEST = 64
"""Characters of a word."""
MOST = 1_000_000
"""Bytes of a text's words, and six for each of them."""
_MOST_TERMS = 64
_CHUNK = re.compile("[0-9A-Za-z\x80-\U0010ffff]+")  # every other ASCII character separates tokens
_SURROGATE = re.compile("[\ud800-\udfff]")
_QUERY_PART = re.compile(r'(-?)"([^"]*)"?|(-?)([^\s"]+)')


def words_of(text: str) -> list[str]:
    """The words of a text, in order."""
    found = _CHUNK.findall(text.lower() if text.isascii() else _SURROGATE.sub("\ufffd", text))
    if not text.isascii():
        found = [word for chunk in found for word in _folded(chunk)]
    if len(text) > LONGEST:
        found = [word if len(word) <= LONGEST else word[:LONGEST] for word in found]
    return found if len(text) * 4 + 6 * len(found) <= MOST else _cut(found)


def _cut(found: list[str]) -> list[str]:
    size = 0
    for place, word in enumerate(found):
        size += len(word.encode()) + 6
        if size > MOST:
            return found[:place]
    return found


@lru_cache(maxsize=1 << 16)
def _folded(chunk: str) -> tuple[str, ...]:
    if chunk.isascii():
        return (chunk.lower(),)
    return tuple(bare for word in words(chunk) if (bare := _bare(word)))


def _bare(word: str) -> str:
    """The word without accents."""
    return word if word.isascii() else frozen.normalize("NFC", _accents().sub("", frozen.normalize("NFKD", word)))


@cache
def _accents() -> re.Pattern[str]:
    """Marks above and below: those of a combining class from 200. Class 0 to 199 are viramas, vowel points and kin."""
    return re.compile("[" + "".join(chr(cp) for cp in range(0x300, 0x10000) if frozen.combining(chr(cp)) >= 200) + "]")


@dataclass(frozen=True, slots=True)
class Term:
    """Words one after the other; with `prefix` the last of them is the beginning of a word."""

    words: tuple[str, ...]
    prefix: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """A query: documents with all wanted terms and no unwanted one."""

    wanted: tuple[Term, ...]
    unwanted: tuple[Term, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read what a person typed; any text is a query."""
        wanted, unwanted = list[Term](), list[Term]()
        for minus, phrase, other, word in _QUERY_PART.findall(text[:10_000]):
            part = phrase or word
            found = tuple(words_of(part))
            if found and len(wanted) + len(unwanted) < _MOST_TERMS:
                term = Term(found[:_MOST_TERMS], part.endswith("*") and len(found[-1]) > 1)
                (unwanted if minus or other else wanted).append(term)
        return cls(tuple(dict.fromkeys(wanted)), tuple(dict.fromkeys(unwanted)))

    def __bool__(self) -> bool:
        return bool(self.wanted)

    def says(self, word: str) -> bool:
        """Whether a word of a text is one of the wanted words."""
        return any(
            word in term.words or (term.prefix and word.startswith(term.words[-1])) for term in self.wanted
        )  # fmt: skip
