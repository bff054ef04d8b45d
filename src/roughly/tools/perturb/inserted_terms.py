"""The words that are inserted into copies (I-Match 2002, §4.3: "from the term list").

The paper does not say which list that is, and it matters more than anything else: `added` says whether words come from
the collection's distinct terms (`terms`), nearly all of them rare, from its running text (`text`), nearly all of them
common, or from the document itself (`document`), where they change no set of terms at all.
"""

from __future__ import annotations

import random

from roughly import checks
from roughly.text.canonical import words
from roughly.tools.corpus import Corpus
from roughly.tools.perturb.request import ADDED

_SAMPLE = 200
"""Number of documents whose words represent the running text of a collection."""


def term_list(corpus: Corpus, added: str, seed: int) -> list[str]:
    """The words to draw from; none if the document itself is the list."""
    checks.refuse(checks.one_of("added", added, ADDED))
    if added == "document":
        return []
    return _terms(corpus) if added == "terms" else _sample(corpus, seed)


def _sample(corpus: Corpus, seed: int) -> list[str]:
    """The words of some documents, with repeats: the running text of the collection."""
    places = random.Random(seed).sample(range(len(corpus)), min(len(corpus), _SAMPLE))
    return [word for place in sorted(places) for word in words(corpus.texts[place].as_py())]


def _terms(corpus: Corpus) -> list[str]:
    from roughly.text.vocabulary import Vocabulary

    vocabulary = Vocabulary()
    vocabulary.number(corpus.texts)
    return sorted(vocabulary.words())
