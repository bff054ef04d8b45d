"""Edits of whole sentences or paragraphs: the paper's word edits (`word_edits.py`) on larger units.

Each unit is kept if a draw from one to ten is not above alpha. Otherwise it is removed, it is exchanged with the next
one, or a unit of another document is inserted before it, each equally likely.
"""

from __future__ import annotations

from random import Random

from roughly.tools.perturb.recipe import Foreign, Own, Piece
from roughly.tools.perturb.word_edits import word_edits


def unit_edits(begins: list[int], size: int, alpha: float, chance: Random) -> list[Own | None]:
    """The units of a copy in order, as runs of tokens; None for an inserted foreign one.

    A text of which everything would be removed keeps its first unit.
    """
    units = [Own(first, last) for first, last in zip(begins, [*begins[1:], size], strict=True)]
    chosen = [units[at] if at >= 0 else None for at in word_edits(len(units), 1, chance, 1, alpha)]
    return chosen or list(units[:1])


def filled(units: list[Own | None], foreign: list[Foreign]) -> list[Piece]:
    """The units with foreign ones where they belong."""
    rest = iter(foreign)
    return [next(rest) if unit is None else unit for unit in units]
