"""Documents as Kołcz 2008 prepares them, and the documents that share a signature with a query."""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.tools.corpus import Corpus

FEWEST_WORDS = 5
_WORD = re.compile(r"[^\W_]+")


@lru_cache(maxsize=4)
def prepare(corpus: Corpus, copies: bool = False) -> Corpus:
    """§6.3: words of four characters or more, at most one digit in each; documents of five such words or more.

    Exact copies of mail are left out too, unless `copies` is true.
    """
    kept, texts, seen = [], [], set()
    for place in range(len(corpus)):
        subject = f"{corpus.titles[place] or ''} {corpus.texts[place].as_py()}"
        words = [
            w
            for w in _WORD.findall(subject.lower())
            if len(w) >= 4 and (w.isalpha() or sum(c.isdigit() for c in w) <= 1)
        ]
        text = " ".join(words)
        if len(set(words)) >= FEWEST_WORDS and (copies or text not in seen):
            seen.add(text)
            kept.append(place)
            texts.append(text)
    chosen = corpus.take(kept)
    return Corpus(
        chosen.name, chosen.ids, pa.array(texts, pa.large_string()), chosen.titles, chosen.dates, chosen.labels
    )


def matches(keys: npt.NDArray[np.uint64], queries: list[int]) -> list[set[int]]:
    """For each query, the other documents that share one of its signatures."""
    found: list[set[int]] = [set() for _ in queries]
    for band in range(keys.shape[1]):
        owners: dict[int, list[int]] = {}
        for document, value in enumerate(keys[:, band].tolist()):
            if value:
                owners.setdefault(value, []).append(document)
        for number, query in enumerate(queries):
            found[number].update(owners.get(int(keys[query, band]), ()))
    for number, query in enumerate(queries):
        found[number].discard(query)
    return found


def name_of(count: int) -> str:
    """The name of a row in Tables 2 and 3: K randomised lexicons beside the first."""
    return "1" if count == 0 else f"1 + {count}-bag"
