"""The ways in which real copies differ from what they were copied from, each a small function from a text to a recipe.

Most aim at a resemblance by the arithmetic of 5-token shingles: appending a share f leaves J = 1 / (1 + f), changing a
word spoils five shingles. The actual resemblance is measured exactly when copies are labelled.

`template`, `form`, `numbers` and `quoted` are not duplicates although they look it: pages of one site that share a
frame around different bodies; one form filled in differently, in which nine words of ten agree but J is below 0.8; a
text with other numbers; a reply that quotes the text.
"""

from __future__ import annotations

import math
from itertools import pairwise
from random import Random

from roughly.tools.perturb.noise import misread, mistyped
from roughly.tools.perturb.recipe import Foreign, Ground, New, Own, Recipe, Respaced, Rewritten, Spliced, Substituted

SHINGLE_SIZE = 5
FRAME_TOKENS = 600


def extra(ground: Ground) -> int:
    """The number of foreign tokens that lower the resemblance to the aim: n · (1/J − 1)."""
    return max(1, round(len(ground) * (1 / ground.aim - 1)))


def changed_words(ground: Ground) -> int:
    """The number of single changed words that lower the resemblance to the aim: n · (1 − (2J / (1 + J))^(1/5))."""
    surviving = 2 * ground.aim / (1 + ground.aim)
    return max(1, round(len(ground) * (1 - math.pow(surviving, 1 / SHINGLE_SIZE))))


def copy(ground: Ground) -> Recipe:
    """The same bytes."""
    return Spliced([Own(0, len(ground))])


def rewrapped(ground: Ground) -> Recipe:
    """The same words, other line breaks: equal in canonical form."""
    return Respaced()


def appended(ground: Ground) -> Recipe:
    """Foreign text after the end."""
    return Spliced([Own(0, len(ground)), ground.foreign(extra(ground))])


def inserted(ground: Ground) -> Recipe:
    """Foreign text somewhere inside."""
    place = ground.chance.randrange(len(ground))
    return Spliced([Own(0, place), ground.foreign(extra(ground)), Own(place, len(ground))])


def truncated(ground: Ground) -> Recipe:
    """Only the beginning."""
    return Spliced([Own(0, max(1, round(len(ground) * ground.aim)))])


def deleted(ground: Ground) -> Recipe:
    """One to five runs of whole sentences or lines left out."""
    size, chance = len(ground), ground.chance
    begins = [*ground.sentences(), size]
    stretches = chance.randint(1, 5)
    each = max(1, round(size * (1 - ground.aim) / stretches))
    pieces, done = [], 0
    for first in sorted(int(chance.random() * size) for _ in range(stretches)):
        begin, end = _next(begins, first), _next(begins, min(first + each, size))
        if done < begin < end:
            pieces.append(Own(done, begin))
            done = end
    if not pieces:  # a text of one sentence
        return truncated(ground)
    return Spliced([*pieces, Own(done, size)])


def swapped(ground: Ground) -> Recipe:
    """Paragraphs in another order: cut at a few sentence ends and shuffled."""
    size, chance = len(ground), ground.chance
    breaks = [place for place in ground.sentences() if place]
    if len(breaks) < 2:
        breaks = [size // 3, 2 * size // 3]
    cuts = round(size * (1 - ground.aim) / (4 * (1 + ground.aim)))
    edges = [0, *sorted(chance.sample(breaks, min(len(breaks), max(2, min(cuts, 12))))), size]
    runs = list(pairwise(edges))
    chance.shuffle(runs)
    return Spliced([Own(*run) for run in (runs if runs != sorted(runs) else runs[::-1])])


def substituted(ground: Ground) -> Recipe:
    """Single words replaced by other real words."""
    places = _places(ground)
    return Substituted(places, ground.donors(len(places)))


def noisy(ground: Ground) -> Recipe:
    """Words misread as by character recognition: confused, lost or split letters."""
    places = _places(ground)
    return Rewritten(places, [misread(word, ground.chance) for word in ground.spelled(places)])


def typed(ground: Ground) -> Recipe:
    """Words with a slip of the keyboard each."""
    places = _places(ground)
    return Rewritten(places, [mistyped(word, ground.chance) for word in ground.spelled(places)])


def framed(ground: Ground) -> Recipe:
    """The same body inside the frame (navigation, notices) of some site."""
    head, foot = ground.frame(min(extra(ground), FRAME_TOKENS))
    return Spliced([head, Own(0, len(ground)), foot])


def template(ground: Ground) -> Recipe:
    """Not a duplicate: the text's first and last part around another body."""
    size = len(ground)
    edge = max(1, round(size * (0.1 + 0.3 * ground.chance.random())))
    body: Foreign = ground.foreign(max(5, size - 2 * edge))
    return Spliced([Own(0, edge), body, Own(size - edge, size)])


def form(ground: Ground) -> Recipe:
    """Not a duplicate: the same form with all its blanks, one word in 6 to 18, filled in differently."""
    size, chance = len(ground), ground.chance
    step = chance.randint(6, 18)
    places = list(range(chance.randrange(min(step, size)), size, step))
    return Rewritten(places, [str(chance.randrange(10**7)) for _ in places])


def numbers(ground: Ground) -> Recipe:
    """Not a duplicate: the same text with other numbers; if it has none, its first word becomes one."""
    words = ground.spelled(list(range(len(ground))))
    places = [at for at, word in enumerate(words) if word.isdecimal()] or [0]
    return Rewritten(places, [_other_number(words[at], ground.chance) for at in places])


def _other_number(word: str, chance: Random) -> str:
    low, high = 10 ** (len(word) - 1), 10 ** len(word)
    found = str(chance.randrange(low, high - 1))
    return found if found != word else str(high - 1)


def quoted(ground: Ground) -> Recipe:
    """Not a duplicate: a reply that quotes the text, below text of another document."""
    return Spliced([ground.foreign(extra(ground)), New(" wrote:\n\n"), Own(0, len(ground))])


def _places(ground: Ground) -> list[int]:
    return sorted(ground.chance.sample(range(len(ground)), min(changed_words(ground), len(ground))))


def _next(begins: list[int], place: int) -> int:
    from bisect import bisect_left

    return begins[bisect_left(begins, place)]
