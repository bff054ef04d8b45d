"""Numbers as text: counts, shares, sizes, times and scores, written the same way everywhere.

Two rules keep the text honest:

* a share never rounds to "0 %" or "100 %" unless it is exactly that;
* a score is rounded *down*, so "1.0000" means that the two sets are equal, and a pair below the
  threshold never looks as if it had reached it.

Sizes use powers of 1024 under the names MB and GB, as the settings do: a run that was given 4GB and
took all of it shows 4 GB. There is a no-break space between a number and its unit.
"""

from __future__ import annotations

from decimal import ROUND_DOWN, Decimal

from roughly import amounts
from roughly.amounts import plural

NBSP = "\N{NO-BREAK SPACE}"
_UNITS = ("", "KB", "MB", "GB", "TB", "PB")


def count(number: int | float) -> str:
    """A whole number with thousands separated: ``37,071``."""
    return f"{round(number):,}"


def counted(number: int | float, word: str) -> str:
    """``1 document``, ``37,071 documents``."""
    return f"{count(number)}{NBSP}{plural(word, number)}"


def share(part: int | float, whole: int | float) -> str:
    """The part as a percentage of the whole: ``15.8 %``; an empty whole has no share (``–``)."""
    return amounts.share(part, whole).replace(" ", NBSP)


def size(number: int | float) -> str:
    """Bytes in the unit that gives one to three digits before the point: ``41 MB``, ``1.4 GB``."""
    if abs(number) < 1000:
        return f"{round(number)}{NBSP}{plural('byte', round(number))}"
    value, unit = float(number), 0
    while abs(value) >= 999.5 and unit < len(_UNITS) - 1:
        value /= 1024.0
        unit += 1
    digits = plain(round(value, 1)) if abs(value) < 9.95 else f"{value:,.0f}"
    return f"{digits}{NBSP}{_UNITS[unit]}"


def duration(seconds: int | float) -> str:
    """A duration: ``420 ms``, ``12.3 s``, ``3 min 5 s``, ``2 h 14 min``."""
    if seconds < 0.001:
        return f"<{NBSP}1{NBSP}ms" if seconds > 0 else f"0{NBSP}s"
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f}{NBSP}ms"
    if seconds < 59.95:
        return f"{seconds:.1f}{NBSP}s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60}{NBSP}min {whole % 60}{NBSP}s"
    minutes = round(seconds / 60)
    if minutes < 48 * 60:
        return f"{minutes // 60}{NBSP}h {minutes % 60}{NBSP}min"
    hours = round(seconds / 3600)
    return f"{hours // 24}{NBSP}d {hours % 24}{NBSP}h"


def score(value: float, digits: int = 4) -> str:
    """A resemblance or containment, rounded down: 0.79999 is ``0.7999``, never ``0.8000``."""
    return str(Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-digits), rounding=ROUND_DOWN))


def plain(value: float) -> str:
    """A number in its shortest form: ``0.8``, ``12``; for thresholds and axis labels."""
    return f"{value:,.10g}"


def short(number: int | float) -> str:
    """A count for an axis: ``20``, ``5k``, ``3M``."""
    for limit, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(number) >= limit:
            return f"{number / limit:.10g}{letter}"
    return f"{number:.10g}"
