"""Duplicates made on purpose, put into a collection to be found again (I-Match 2002, §4.3).

Ten documents as long as the average become eleven each. A copy is made by going through the words of a document: at
every i-th word a number from one to ten is drawn; if it is above alpha, one from one to three says what is done there:
the word is removed, it changes places with the next one, or a word "from the term list" is put before it.

The paper does not tell i and alpha; here they are `every` and `alpha`. Nor does it tell which list that is, and it
matters more than anything else: `added` says whether words come from the collection's distinct terms (`terms`),
nearly all of them rare, from its running text (`text`), nearly all of them common, or from the document itself
(`document`), where they change no set of terms at all. Documents that have a duplicate already (the same set of
words) are not chosen, so that whatever else is found is false.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from roughly.errors import InputError
from roughly.lab.corpus import Corpus
from roughly.methods import checks
from roughly.methods.syntactic import Syntactic
from roughly.text.canonical import tokenise, words

ADDED = ("terms", "text", "document")
_SAMPLE = 200
"""Documents whose words stand for the running text of a collection."""


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
    """Put copies of some documents into a collection; the same seed gives the same copies."""
    tokens = tokenise(corpus.texts)
    lengths = np.diff(tokens.offsets)
    keys = Syntactic().keys(tokens).values[:, 0]
    _, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
    alone = (counts[inverse] == 1) & (keys != 0)
    average = lengths.mean() if len(lengths) else 0.0
    order = np.lexsort((np.array(corpus.ids), np.abs(lengths - average)))
    chosen = sorted([int(i) for i in order if alone[i]][:documents])
    if len(chosen) < documents:
        raise InputError(f"{corpus.name} has {len(chosen)} documents without a duplicate; {documents} are needed")
    checks.refuse(checks.one_of("added", added, ADDED))
    terms = _terms(corpus) if added == "terms" else _sample(corpus, seed) if added == "text" else []
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


def changed(listed: Sequence[str], terms: Sequence[str], dice: random.Random, every: int, alpha: int) -> list[str]:
    """A copy of a list of words with some removed, some flipped and some added."""
    out: list[str] = []
    at = 0
    while at < len(listed):
        if (at + 1) % every or dice.randint(1, 10) <= alpha:
            out.append(listed[at])
            at += 1
            continue
        deed = dice.randint(1, 3)
        if deed == 1:
            at += 1
        elif deed == 2:
            out += [*listed[at + 1 : at + 2], listed[at]]
            at += 2
        else:
            out += [terms[dice.randrange(len(terms))], listed[at]]
            at += 1
    return out


def _sample(corpus: Corpus, seed: int) -> list[str]:
    """The words of some documents, with repeats: the running text of the collection."""
    places = random.Random(seed).sample(range(len(corpus)), min(len(corpus), _SAMPLE))
    return [word for place in sorted(places) for word in words(corpus.texts[place].as_py())]


def _terms(corpus: Corpus) -> list[str]:
    from roughly.text.vocabulary import Vocabulary

    vocabulary = Vocabulary()
    vocabulary.number(corpus.texts)
    return sorted(vocabulary.words())
