"""Dates as found, as days: what a window of so many days is measured on."""

from __future__ import annotations

import email.utils
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache

import numpy as np
import numpy.typing as npt

UNKNOWN = -(2**31)  # as `cluster.candidates.NO_DAY`
_FORMATS = ("%d-%b-%Y %H:%M:%S", "%Y/%m/%d", "%Y%m%d", "%d.%m.%Y", "%d %b %Y", "%d %B %Y", "%B %d, %Y", "%Y")
_SINCE_1970 = re.compile(r"[0-9]{10}([0-9]{3})?")
_FRACTION = re.compile(r"(?<=:\d\d)\.\d+")


def days_of(dates: Iterable[str | None]) -> npt.NDArray[np.int32]:
    """The number of each day, counted from 1 January of year 1; UNKNOWN where a date is missing or not understood."""
    return np.array([day_of(text) for text in dates], np.int32)


@lru_cache(maxsize=4096)
def day_of(text: str | None) -> int:
    """The same for one date: ISO 8601, that of mail, and a few that are common in collections; the day in UTC, where
    it names a zone."""
    if text is None or not text.strip():
        return UNKNOWN
    clean = text.strip()
    for parse in (_by_seconds, datetime.fromisoformat, email.utils.parsedate_to_datetime, _by_format):
        try:
            moment = parse(clean)
            return (moment if moment.tzinfo is None else moment.astimezone(UTC)).toordinal()
        except (ValueError, TypeError, IndexError, OverflowError):
            continue  # the next way to write a date
    return UNKNOWN


def _by_seconds(text: str) -> datetime:
    """Seconds or milliseconds since 1970."""
    if not _SINCE_1970.fullmatch(text):
        raise ValueError(text)
    return datetime.fromtimestamp(int(text[:10]), UTC)


def _by_format(text: str) -> datetime:
    clean = _FRACTION.sub("", text).title()
    for pattern in _FORMATS:
        try:
            return datetime.strptime(clean, pattern)
        except ValueError:
            continue
    raise ValueError(text)
