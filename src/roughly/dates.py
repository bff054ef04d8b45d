"""Dates of documents: from what was found to one moment and one day, for batch runs, indexes, sweeps and clusters.

A moment is the number of microseconds since 1970 in UTC, or null where a date is missing or unread; a date that names
no zone is in UTC. A day is counted from 1 January of year 1, as by `datetime.date.toordinal`, and follows from the
moment. `date_forms` says which dates are read.
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
_FEW = 32  # so many are read sooner one by one than by Arrow's kernels
_ISO = r"^\d{4}-\d\d-\d\d([T ]\d\d:\d\d:\d\d(\.\d{1,6})?)?$"
_ISO_ZONE = r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:?\d\d)$"


@lru_cache(maxsize=1 << 14)
def moment_of(text: str | None, form: str | None = None) -> int | None:
    """The moment of one date; `form` is a format of `datetime.strptime` that is tried first."""
    found = None if text is None else read_date(text, form)
    if found is None:
        return None
    offset = found.utcoffset() or timedelta()
    moment = (found.replace(tzinfo=None) - _EPOCH - offset) // timedelta(microseconds=1)
    return moment if _FIRST <= moment <= _LAST else None


def moments(dates: pa.Array, form: str | None = None) -> pa.Array:
    """The moment of each date of a column of strings. Arrow reads ISO 8601, and Python other distinct values once."""
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
    """The day of each moment."""
    known = read.is_valid().to_numpy(zero_copy_only=False)
    numbers = read.fill_null(0).to_numpy(zero_copy_only=False) // _DAY + _EPOCH_DAY
    return np.where(known, numbers, NO_DAY).astype(np.int32)


def day_of(text: str | None, form: str | None = None) -> int:
    """The day of one date."""
    moment = moment_of(text, form)
    return NO_DAY if moment is None else moment // _DAY + _EPOCH_DAY


def days_of(texts: Iterable[str | None], form: str | None = None) -> Days:
    """The day of each date."""
    return np.array([day_of(text, form) for text in texts], np.int32)


def unread(texts: pa.Array, read: pa.Array) -> list[int]:
    """The places of dates that are there and were not read."""
    left = np.flatnonzero(pc.and_(texts.is_valid(), read.is_null()).to_numpy(zero_copy_only=False))
    return [place for place in left.tolist() if texts[place].as_py().strip().lower() not in MISSING]


def midnight(day: int) -> int:
    """The moment at which a day begins."""
    return (day - _EPOCH_DAY) * _DAY


def plausible() -> tuple[int, int]:
    """The first moment of the year 1000 and the last of next year: dates outside are read, and told as suspicious."""
    years = datetime(1000, 1, 1), datetime(datetime.now(UTC).year + 2, 1, 1)
    first, after = ((year - _EPOCH) // timedelta(microseconds=1) for year in years)
    return first, after - 1


def _one_by_one(dates: pa.Array, form: str | None) -> pa.Array:
    if len(dates) <= _FEW:
        return pa.array([moment_of(text, form) for text in dates.to_pylist()], pa.int64())
    coded = dates.dictionary_encode()
    return pa.array([moment_of(text, form) for text in coded.dictionary.to_pylist()], pa.int64()).take(coded.indices)


def _by_arrow(dates: pa.Array, which: pa.Array, zone: str | None) -> pa.Array:
    """The moments of the dates that have the form; null for all where one of these is no date."""
    nothing = pa.scalar(None, dates.type)
    try:
        read = pc.if_else(which, dates, nothing).cast(pa.timestamp("us", zone)).cast(pa.int64())
    except pa.ArrowInvalid:
        return pa.nulls(len(dates), pa.int64())
    possible = pc.and_(pc.greater_equal(read, _FIRST), pc.less_equal(read, _LAST))
    return pc.if_else(possible, read, pa.scalar(None, pa.int64()))
