"""Dates of documents: from the text found to a timestamp and a day, for batch runs, indexes, sweeps and clusters.

A timestamp is the number of microseconds since 1970 in UTC, or null if a date is missing or unread; a date without a
zone is in UTC. A day is counted from 1 January of year 1, as by `datetime.date.toordinal`, and follows from the
timestamp. `date_forms` lists the forms that are read.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from roughly.date_forms import MISSING, read_date

Days = npt.NDArray[np.int32]

NO_DAY = -(2**31)
"""The day of a document without a date that was read."""

_EPOCH = datetime(1970, 1, 1)
_EPOCH_DAY = _EPOCH.toordinal()
_DAY = 86_400_000_000
_FIRST, _LAST = (1 - _EPOCH_DAY) * _DAY, (date.max.toordinal() + 1 - _EPOCH_DAY) * _DAY - 1  # years 1 to 9999
_FEW = 32  # up to this number, one by one is faster than Arrow's kernels
_ISO = r"^\d{4}-\d\d-\d\d([T ]\d\d:\d\d:\d\d(\.\d{1,6})?)?$"
_ISO_ZONE = r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:?\d\d)$"


@lru_cache(maxsize=1 << 14)
def timestamp_of(text: str | None, form: str | None = None) -> int | None:
    """The timestamp of one date; `form` is a format of `datetime.strptime` that is tried first."""
    found = None if text is None else read_date(text, form)
    if found is None:
        return None
    offset = found.utcoffset() or timedelta()
    timestamp = (found.replace(tzinfo=None) - _EPOCH - offset) // timedelta(microseconds=1)
    return timestamp if _FIRST <= timestamp <= _LAST else None


def timestamps(dates: pa.Array, form: str | None = None) -> pa.Array:
    """The timestamp of each date of a column of strings. Arrow reads ISO 8601, and Python other distinct values
    once."""
    if len(dates) <= _FEW or form is not None:
        return _one_by_one(dates, form)
    if dates.null_count == len(dates):
        return pa.nulls(len(dates), pa.int64())
    naive = pc.fill_null(pc.match_substring_regex(dates, _ISO), False)
    zoned = pc.fill_null(pc.match_substring_regex(dates, _ISO_ZONE), False)
    read = pc.coalesce(_by_arrow(dates, naive, None), _by_arrow(dates, zoned, "UTC"))
    if read.null_count == dates.null_count:
        return read
    rest = pc.if_else(read.is_valid(), pa.scalar(None, dates.type), dates)
    return pc.coalesce(read, _one_by_one(rest, form))


def days(read: pa.Array) -> Days:
    """The day of each timestamp."""
    known = read.is_valid().to_numpy(zero_copy_only=False)
    numbers = read.fill_null(0).to_numpy(zero_copy_only=False) // _DAY + _EPOCH_DAY
    return np.where(known, numbers, NO_DAY).astype(np.int32)


def day_of(text: str | None, form: str | None = None) -> int:
    """The day of one date."""
    timestamp = timestamp_of(text, form)
    return NO_DAY if timestamp is None else timestamp // _DAY + _EPOCH_DAY


def days_of(texts: Iterable[str | None], form: str | None = None) -> Days:
    """The day of each date."""
    return np.array([day_of(text, form) for text in texts], np.int32)


def unread(texts: pa.Array, read: pa.Array) -> list[int]:
    """The positions of dates that exist and were not read."""
    left = np.flatnonzero(pc.and_(texts.is_valid(), read.is_null()).to_numpy(zero_copy_only=False))
    return [place for place in left.tolist() if texts[place].as_py().strip().lower() not in MISSING]


def midnight(day: int) -> int:
    """The timestamp at which a day begins."""
    return (day - _EPOCH_DAY) * _DAY


def plausible() -> tuple[int, int]:
    """The first timestamp of the year 1000 and the last of next year: dates outside are read, and reported as
    suspicious."""
    years = datetime(1000, 1, 1), datetime(datetime.now(UTC).year + 2, 1, 1)
    first, after = ((year - _EPOCH) // timedelta(microseconds=1) for year in years)
    return first, after - 1


def _one_by_one(dates: pa.Array, form: str | None) -> pa.Array:
    if len(dates) <= _FEW:
        return pa.array([timestamp_of(text, form) for text in dates.to_pylist()], pa.int64())
    coded = dates.dictionary_encode()
    return pa.array([timestamp_of(text, form) for text in coded.dictionary.to_pylist()], pa.int64()).take(coded.indices)


def _by_arrow(dates: pa.Array, which: pa.Array, zone: str | None) -> pa.Array:
    """The timestamps of the dates that have the form; null for all if one of these is not a date."""
    nothing = pa.scalar(None, dates.type)
    try:
        read = pc.if_else(which, dates, nothing).cast(pa.timestamp("us", zone)).cast(pa.int64())
    except pa.ArrowInvalid:
        return pa.nulls(len(dates), pa.int64())
    possible = pc.and_(pc.greater_equal(read, _FIRST), pc.less_equal(read, _LAST))
    return pc.if_else(possible, read, pa.scalar(None, pa.int64()))
