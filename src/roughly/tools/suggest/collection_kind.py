"""What kind of collection a sample is: its scripts, whether it is English, and how much of it is a template.

**English**: at least `ENGLISH` of the tokens are words of two letters or more among the `COMMONEST` of the default
lexicon (about a third of English text is, and less than a tenth of German, French and Spanish). Learned verdicts and
the lexicon's methods take the words of other languages as rare.

**Template**: the shingles of a document that a tenth of all documents have, and at least `LEAST`. Where they are much
of the text, as in pages of one web site or filled-in forms, resemblance does not distinguish copies from neighbours.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

import numpy as np

from roughly import lexicon
from roughly.amounts import share
from roughly.fast_dataclass import dataclass
from roughly.features.shingle_sets import Sets
from roughly.text.canonical import words

COMMONEST, ENGLISH = 50, 0.15
SPREAD, LEAST, MUCH = 0.1, 10, 0.2
_RARE_SCRIPT = 0.05
_LONGER = {"Cjk": "Han", "Hiragana": "Kana", "Katakana": "Kana"}


@dataclass(frozen=True)
class CollectionKind:
    """The kind of a sample."""

    scripts: dict[str, float]  # share of the letters, the commonest script first
    english: float  # share of the texts that are English
    template: float  # median share of a document's shingles that are in many documents

    def lines(self) -> list[str]:
        """The kind, for people."""
        found = ", ".join(f"{name} {share(part)}" for name, part in self.scripts.items() if part >= _RARE_SCRIPT)
        return [
            f"letters     {found or 'none'}; {share(self.english)} of the texts are English",
            f"template    {share(self.template)} of the shingles of the document in the middle are in a tenth of them",
        ]

    def reasons(self, unit: str) -> list[str]:
        """What follows from it."""
        found = []
        if self.template >= MUCH:
            found.append(
                "much of each text is that of many others, as on pages of one template: such pages resemble each other "
                "without being copies; compare --main-text of HTML, or learn a verdict from labels"
            )
        if self.english < 0.5 and unit == "word":
            found.append("few texts are English: lexicon, presets and learned verdicts take their words as rare")
        return found


def kind_of(texts: Iterable[str], sets: Sets) -> CollectionKind:
    """The kind of a collection with these texts, and these shingles of its documents."""
    letters: Counter[str] = Counter()
    common = {word for word, _ in lexicon.default().top(COMMONEST) if len(word) > 1}
    is_english = []
    for text in texts:
        letters.update(_script(letter) for letter in text if letter.isalpha())
        own = words(text)
        is_english.append(bool(own) and sum(word in common for word in own) >= ENGLISH * len(own))
    total = max(letters.total(), 1)
    scripts = {name: count / total for name, count in letters.most_common()}
    return CollectionKind(scripts, float(np.mean(is_english)) if is_english else 0.0, template_share(sets))


def template_share(sets: Sets) -> float:
    """The median, over documents, of the share of their shingles that many documents have."""
    _, inverse, counts = np.unique(sets.values, return_inverse=True, return_counts=True)
    is_spread = counts[inverse] >= max(LEAST, SPREAD * len(sets))
    sums = np.concatenate((np.zeros(1), np.cumsum(is_spread)))[sets.offsets]
    sizes = np.diff(sets.offsets)
    return float(np.median((np.diff(sums) / np.maximum(sizes, 1))[sizes > 0])) if (sizes > 0).any() else 0.0


@lru_cache(maxsize=65536)
def _script(letter: str) -> str:
    first = unicodedata.name(letter, "other").split()[0].split("-")[0].capitalize()
    return _LONGER.get(first, first)
