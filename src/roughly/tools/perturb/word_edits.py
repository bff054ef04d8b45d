"""The word edits of I-Match 2002, §4.3.

At every i-th word a number from one to ten is drawn; if it is above alpha, one from one to three decides what is done
there: the word is removed, it is exchanged with the next one, or a word "from the term list" is inserted before it. The
paper does not state i and alpha; here they are `every` and `alpha`.
"""

from __future__ import annotations

import random
from collections.abc import Sequence


def is_unchanged(chance: random.Random, alpha: float) -> bool:
    """Whether nothing happens: a draw from one to ten is not above alpha, which may be a fraction."""
    if alpha == int(alpha):
        return chance.randint(1, 10) <= alpha
    return 10 * chance.random() < alpha


def word_edits(size: int, terms: int, chance: random.Random, every: int, alpha: float) -> list[int]:
    """The positions of the words of a copy, in order; ~k (below 0) is the inserted term k."""
    out: list[int] = []
    at = 0
    while at < size:
        if (at + 1) % every or is_unchanged(chance, alpha):
            out.append(at)
            at += 1
            continue
        deed = chance.randint(1, 3)
        if deed == 1:
            at += 1
        elif deed == 2:
            out += [at + 1, at] if at + 1 < size else [at]
            at += 2
        else:
            out += [~chance.randrange(terms), at]
            at += 1
    return out


def changed(listed: Sequence[str], terms: Sequence[str], dice: random.Random, every: int, alpha: float) -> list[str]:
    """A copy of a list of words with some removed, some flipped and some added."""
    places = word_edits(len(listed), len(terms), dice, every, alpha)
    return [listed[at] if at >= 0 else terms[~at] for at in places]
