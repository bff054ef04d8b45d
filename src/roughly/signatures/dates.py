"""Dates as found, as days: what a window of so many days is measured on."""

from __future__ import annotations

import email.utils
import re
from collections.abc import Iterable
from datetime import datetime

import numpy as np
import numpy.typing as npt

from roughly.cluster.candidates import NO_DAY

UNKNOWN = NO_DAY
_FORMATS = ("%d-%b-%Y %H:%M:%S", "%Y/%m/%d", "%Y%m%d", "%d.%m.%Y", "%d %b %Y", "%d %B %Y", "%B %d, %Y", "%Y")
_FRACTION = re.compile(r"(?<=:\d\d)\.\d+")


def days_of(dates: Iterable[str | None]) -> npt.NDArray[np.int32]:
    """The number of each day, counted from 1 January of year 1; UNKNOWN where a date is missing or not understood."""
    return np.array([day_of(text) for text in dates], np.int32)


def day_of(text: str | None) -> int:
    """The same for one date: ISO 8601, that of mail, and a few that are common in collections."""
    if text is None or not text.strip():
        return UNKNOWN
    clean = text.strip()
    for parse in (datetime.fromisoformat, email.utils.parsedate_to_datetime, _by_format):
        try:
            return parse(clean).toordinal()
        except (ValueError, TypeError, IndexError):
            continue  # the next way to write a date
    return UNKNOWN


def _by_format(text: str) -> datetime:
    clean = _FRACTION.sub("", text).title()
    for pattern in _FORMATS:
        try:
            return datetime.strptime(clean, pattern)
        except ValueError:
            continue
    raise ValueError(text)
