"""Checks of values that callers give: one complaint per kind of value, all reported together.

checks.refuse([*checks.threshold(0.8), *checks.shingle_size(5)])
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from roughly.errors import SettingsError, did_you_mean


def whole(name: str, value: Any, least: int, most: int) -> Iterator[str]:
    """A complaint unless the value is a whole number in a range."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        yield f"{name} must be a whole number from {least} to {most}, not {value!r}"


def share(name: str, value: Any, *, most: float = 1.0) -> Iterator[str]:
    """A complaint unless the value is a number from 0 to `most`."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= most:
        yield f"{name} must be a number from 0 to {most:g}, not {value!r}"


def above_zero(name: str, value: Any) -> Iterator[str]:
    """A complaint unless the value is a number above 0 and at most 1."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= 1:
        yield f"{name} must be above 0 and at most 1, not {value!r}"


def threshold(value: Any) -> Iterator[str]:
    """A complaint unless the value can be a threshold."""
    yield from above_zero("threshold", value)


def shingle_size(value: Any) -> Iterator[str]:
    """A complaint unless the value can be the size of shingles."""
    yield from whole("shingle_size", value, 1, 64)


def common(value: Any) -> Iterator[str]:
    """A complaint unless the value can be the number of documents above which a key is too common."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 2:
        yield f"common must be a whole number from 2, not {value!r}: two documents make a pair"


def one_of(name: str, value: Any, allowed: Iterable[str]) -> Iterator[str]:
    """A complaint unless the value is one of several."""
    listed = list(allowed)
    if value not in listed:
        yield f"{name} must be one of {', '.join(listed)}, not {value!r}{did_you_mean(value, listed)}"


def refuse(problems: Iterable[str]) -> None:
    """Raise all complaints together, if there are any."""
    found = list(problems)
    if found:
        raise SettingsError(*found)
