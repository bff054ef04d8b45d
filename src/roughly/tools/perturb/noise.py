"""Single words with errors of scanners and typists."""

from __future__ import annotations

from random import Random

_CONFUSED = dict(zip("loemihsunt", ("1", "0", "c", "rn", "l", "b", "5", "v", "ri", "f"), strict=True))
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def misread(word: str, chance: Random) -> str:
    """One word as a scanner might read it (letters confused, lost or split); always another word."""
    confusable = [place for place, letter in enumerate(word) if letter in _CONFUSED]
    if confusable and chance.random() < 0.7:
        place = chance.choice(confusable)
        return word[:place] + _CONFUSED[word[place]] + word[place + 1 :]
    place = chance.randrange(len(word))
    if len(word) > 3 and chance.random() < 0.5:
        return word[: place or 1] + " " + word[place or 1 :]
    return word[:place] + word[place + 1 :] if len(word) > 1 else word + "i"


def mistyped(word: str, chance: Random) -> str:
    """One word with one slip of the keyboard: a letter too many, too few, wrong, or two exchanged; always another."""
    place = chance.randrange(len(word))
    deed = chance.randint(1, 4)
    if deed == 1 and len(word) > 1:
        return word[:place] + word[place + 1 :]
    if deed == 2 and place + 1 < len(word) and word[place].lower() != word[place + 1].lower():
        return word[:place] + word[place + 1] + word[place] + word[place + 2 :]
    letter = chance.choice([one for one in _LETTERS if one != word[place].lower()])
    return word[:place] + letter + (word[place + 1 :] if deed == 3 else word[place:])


def random_string(chance: Random, least: int = 6, most: int = 12) -> str:
    """Random letters and digits, as spam adds to its subject."""
    return "".join(chance.choice(_LETTERS + "0123456789") for _ in range(chance.randint(least, most)))
