"""How spammers make many versions of one message (Kołcz 2008, §5).

`insertion`: random characters in front, a neutral passage of other text inside, paragraphs in another order, and other
characters than letters and digits replaced at random. `version`: *list splitting*: one campaign is written in a few
versions, and each version is sent many times as it is.
"""

from __future__ import annotations

from random import Random

from roughly.tools.perturb.cut_text import CutText
from roughly.tools.perturb.edits import extra, substituted, swapped
from roughly.tools.perturb.noise import random_string
from roughly.tools.perturb.recipe import Ground, New, Own, Piece, Recipe, Spliced

_MARKS = ("!", "*", "~", "-", "...", "|", "_", "+", "=", "#")
_GAPS = 0.3
"""The fraction of gaps between words that are filled at random."""


def insertion(ground: Ground, paragraphs: list[int]) -> Recipe:
    """Random characters first, then the paragraphs in another order with a foreign passage between two of them."""
    chance = ground.chance
    pieces: list[Piece] = [Own(a, b) for a, b in zip(paragraphs, [*paragraphs[1:], len(ground)], strict=True)]
    at = chance.randrange(max(1, len(pieces) - 1))
    pieces[at : at + 2] = pieces[at : at + 2][::-1]
    pieces.insert(chance.randrange(len(pieces) + 1), ground.foreign(extra(ground)))
    return Spliced([New(random_string(chance)), *pieces])


def garnished(text: str, chance: Random) -> str:
    """The same tokens with marks inserted between some of them."""
    passage = CutText(text)
    parts = [text[: passage.starts[0]]]
    for at in range(len(passage)):
        between = text[passage.ends[at] : passage.starts[at + 1]]
        if between and "\n" not in between and chance.random() < _GAPS:
            between = f" {chance.choice(_MARKS)} "
        parts += [text[passage.starts[at] : passage.ends[at]], between]
    return "".join(parts)


def version(ground: Ground) -> Recipe:
    """The campaign in other words, or in another order."""
    return substituted(ground) if ground.chance.random() < 0.5 else swapped(ground)
