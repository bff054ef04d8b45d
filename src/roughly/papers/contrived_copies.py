"""Duplicates made on purpose and added to a collection, to be found again (I-Match 2002, §4.3).

Each of ten documents of average length gets ten copies; `perturb/word_edits.py` makes the copies,
`perturb/inserted_terms.py` chooses the words that are inserted. Documents that have a duplicate already (the same set
of words) are not chosen, so that everything else that is found is false.
"""

from __future__ import annotations

import random

import numpy as np

from roughly.errors import InputError
from roughly.fast_dataclass import dataclass
from roughly.methods.syntactic import Syntactic
from roughly.papers.detectors import signatures
from roughly.signing.text_batch import TextBatch
from roughly.text.canonical import words
from roughly.tools.corpus import Corpus
from roughly.tools.perturb.inserted_terms import term_list
from roughly.tools.perturb.word_edits import changed


@dataclass(frozen=True)
class Contrived:
    """A collection with copies in it: document `originals[k]` has the copies `copies[k]`."""

    corpus: Corpus
    originals: list[int]
    copies: list[list[int]]

    def family(self, number: int) -> list[int]:
        """An original and its copies."""
        return [self.originals[number], *self.copies[number]]


def contrive(
    corpus: Corpus,
    *,
    seed: int = 0,
    documents: int = 10,
    copies: int = 10,
    every: int = 10,
    alpha: int = 9,
    added: str = "terms",
) -> Contrived:
    """Add copies of some documents to a collection; the same seed gives the same copies."""
    collection = TextBatch(corpus.texts)
    lengths, keys = collection.lengths, signatures(Syntactic(), collection)[:, 0]
    _, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
    alone = (counts[inverse] == 1) & (keys != 0)
    average = lengths.mean() if len(lengths) else 0.0
    order = np.lexsort((np.array(corpus.ids), np.abs(lengths - average)))
    chosen = sorted([int(i) for i in order if alone[i]][:documents])
    if len(chosen) < documents:
        raise InputError(f"{corpus.name} has {len(chosen)} documents without a duplicate; {documents} are needed")
    terms = term_list(corpus, added, seed)
    ids, texts = [], []
    for place in chosen:
        listed = words(corpus.texts[place].as_py())
        for number in range(1, copies + 1):
            dice = random.Random(f"{seed} {corpus.ids[place]} {number}")
            ids.append(f"{corpus.ids[place]}+{number}")
            texts.append(" ".join(changed(listed, terms or listed, dice, every, alpha)))
    first = len(corpus)
    numbers = [list(range(first + k * copies, first + (k + 1) * copies)) for k in range(documents)]
    return Contrived(corpus.joined(ids, texts), chosen, numbers)
