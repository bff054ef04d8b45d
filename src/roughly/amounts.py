"""Numbers as people write them: a count with its noun, and a percentage."""

from __future__ import annotations


def plural(word: str, number: float) -> str:
    """The word as it is written after the number: ``document`` after 1, ``documents`` after 0 or 2."""
    return word if number == 1 else word + "s"


def counted(number: int, word: str) -> str:
    """``1 document``, ``37,071 documents``."""
    return f"{number:,} {plural(word, number)}"


def records_were(number: int) -> str:
    """``1 record was``, ``5 records were``: the beginning of a sentence."""
    return f"{counted(number, 'record')} {'was' if number == 1 else 'were'}"


def share(part: float, whole: float = 1, digits: int = 1) -> str:
    """The part as a percentage of the whole: ``15.8 %``; an empty whole has no share (``–``).

    It never rounds to ``0 %`` or ``100 %`` unless it is exactly that.
    """
    if whole <= 0:
        return "–"
    percent, least = 100.0 * part / whole, 10.0**-digits
    if part > 0 and percent < least:
        return f"< {least:.{digits}f} %"
    if part < whole and percent > 100 - least:
        return f"> {100 - least:.{digits}f} %"
    return f"{percent:.0f} %" if percent in (0.0, 100.0) else f"{percent:.{digits}f} %"
