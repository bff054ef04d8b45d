"""Dates as people and programs write them, with what they mean in UTC; and some that cannot be read."""

from __future__ import annotations

import datetime as dt
import gzip
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from roughly import model

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"

FORMS = {
    "2020-03-05": "2020-03-05",
    "2020-03-05T10:00:00": "2020-03-05T10:00:00",
    "2020-03-05 10:00": "2020-03-05T10:00:00",
    "2020-03-05T10:00:00Z": "2020-03-05T10:00:00",
    "2020-03-05T10:00:00.123456789+01:00": "2020-03-05T09:00:00.123456",
    "2020-03-05T24:00:00": "2020-03-06T00:00:00",
    "2016-12-31T23:59:60Z": "2017-01-01T00:00:00",
    "2020-03-05+01:00": "2020-03-04T23:00:00",
    "20200305T100000Z": "2020-03-05T10:00:00",
    "20200305T1000+0100": "2020-03-05T09:00:00",
    "2020-W10-4": "2020-03-05",
    "2020W104T10:00": "2020-03-05T10:00:00",
    "2020-065": "2020-03-05",
    "2020065": "2020-03-05",
    "2020-03": "2020-03-01",
    "2020": "2020-01-01",
    "Thu, 05 Mar 2020 10:00:00 -0500": "2020-03-05T15:00:00",
    "Thu, 5 Mar 2020 10:00:00 +0000 (UTC)": "2020-03-05T10:00:00",
    "Mon, 5 Apr 93": "1993-04-05",
    "Mon, 5 Apr 93 10:00 EST": "1993-04-05T15:00:00",
    "5 Apr 49 10:00:00 EDT": "2049-04-05T14:00:00",
    "5 Apr 50 10:00:00 CST": "1950-04-05T16:00:00",
    "5 Apr 120": "2020-04-05",
    "21 APR 93 15:16:56 GMT": "1993-04-21T15:16:56",
    "Fri, 30 Apr 93 15:20:29 BST": "1993-04-30T14:20:29",
    "Fri, 23 Apr 93 01:21:09 CET": "1993-04-23T00:21:09",
    "Fri, 23 Apr 93 17:54:49 EDT(-0400)": "1993-04-23T21:54:49",
    "Wed, 21 Apr 93 01:13:32 ACST": "1993-04-20T15:43:32",
    "Monday, 17 May 1993 17:21:36 TUR": "1993-05-17T17:21:36",
    "25 Apr 93 00:02:34 GMT+12": "1993-04-24T12:02:34",
    "Tue, 20 Apr 1993 16:06:45 +02": "1993-04-20T14:06:45",
    "Thu Mar 05 10:00:00 2020": "2020-03-05T10:00:00",
    "Thu Mar  5 10:00:00 EST 2020": "2020-03-05T15:00:00",
    "Thu Mar 05 2020 10:00:00 GMT+0100 (Central European Standard Time)": "2020-03-05T09:00:00",
    "Mar 5, 2020": "2020-03-05",
    "5 March 2020": "2020-03-05",
    "March 5th, 2020": "2020-03-05",
    "the 5th of March 2020 at 10:00 PM": "2020-03-05T22:00:00",
    "Sept. 5, 2020, 12 a.m.": "2020-09-05",
    "2020 March 5": "2020-03-05",
    "2020-Mar-05": "2020-03-05",
    "March 2020": "2020-03-01",
    "26-FEB-1987 15:01:01.79": "1987-02-26T15:01:01.790",
    "27-MAR-1987 00:02:59.13RM": "1987-03-27T00:02:59.130",
    "27-MAR-1987 04:38:47.18M C F": "1987-03-27T04:38:47.180",
    "05/Mar/2020:10:00:00 +0000": "2020-03-05T10:00:00",
    "2020/03/05 10:00:00": "2020-03-05T10:00:00",
    "2020.3.5": "2020-03-05",
    "20200305": "2020-03-05",
    "20200305100000": "2020-03-05T10:00:00",
    "202003051000": "2020-03-05T10:00:00",
    "03/31/2020": "2020-03-31",
    "31/03/2020": "2020-03-31",
    "31.03.2020": "2020-03-31",
    "5.3.2020": "2020-03-05",
    "31. 3. 2020": "2020-03-31",
    "03/03/2020": "2020-03-03",
    "3/31/93 10:00 am": "1993-03-31T10:00:00",
    "93/03/31": "1993-03-31",
    "1583402400": "2020-03-05T10:00:00",
    "1583402400.5": "2020-03-05T10:00:00.500",
    "1.5834024e+09": "2020-03-05T10:00:00",
    "733968000": "1993-04-05",
    "1583402400000": "2020-03-05T10:00:00",
    "1583402400123456": "2020-03-05T10:00:00.123456",
    "1583402400123456789": "2020-03-05T10:00:00.123456",
}

UNREAD = (
    None, "", "-", "NaT", "yesterday", "Mar 5", "03/04/2020", "03-04-2020", "03/04/05", "25/12/05", "5 3 2020",
    "2020 03",
    "2020-13-05", "2020-02-30", "30-FEB-1987", "2021-366", "2020-000", "2020-03-05T25:00:00", "2020-03-05 13:00 PM",
    "10:00:00", "12", "123456", "05032020", "99999999999", "-1583402400", "infinity", "5 Apr 9", "5 Mar Apr 2020",
    "2020-03-05 10:00:00 Europe/Paris", "19 Apr 93 16:15:19 +3000", "0001-01-01T00:00:00+01:00", "9" * 5000,
)  # fmt: skip

EPOCH = dt.datetime(1970, 1, 1)
NAMED_ZONES = {"GMT": 0, "EST": -300, "EDT": -240, "CET": 60, "ACST": 570, "JST": 540, "NDT": -150, "XYZ": 0}
"""Minutes east of UTC; the last one is not known, and counts as UTC."""
DATE_FORMATS = (None, "%d/%m/%Y", "%m/%d/%Y", "%d%m%Y", "%Y-%d-%m")


@dataclass(frozen=True)
class When:
    """A time as a clock shows it, in a zone by its offset and in one by its name."""

    clock: dt.datetime
    minutes: int
    zone: str

    @property
    def offset(self) -> str:
        """Such as +0130."""
        return f"{'-' if self.minutes < 0 else '+'}{abs(self.minutes) // 60:02d}{abs(self.minutes) % 60:02d}"

    @property
    def since_1970(self) -> int:
        """Microseconds, where the clock shows UTC."""
        return (self.clock - EPOCH) // dt.timedelta(microseconds=1)


def _th(day: int) -> str:
    return f"{day}{'th' if day in (11, 12, 13) else {1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10, 'th')}"


def _week(w: When, form: str) -> str:
    return form.format(*w.clock.isocalendar())


WRITERS: dict[str, tuple[Callable[[When], str], str]] = {
    "ISO day": (lambda w: f"{w.clock:%Y-%m-%d}", "day"),
    "ISO": (lambda w: f"{w.clock:%Y-%m-%dT%H:%M:%S}", "second"),
    "ISO minutes": (lambda w: f"{w.clock:%Y-%m-%d %H:%M}", "minute"),
    "ISO Z": (lambda w: w.clock.isoformat() + "Z", "all"),
    "ISO offset": (lambda w: f"{w.clock.isoformat()}{w.offset[:3]}:{w.offset[3:]}", "all offset"),
    "ISO nanoseconds": (lambda w: f"{w.clock:%Y-%m-%dT%H:%M:%S.%f}789{w.offset}", "all offset"),
    "XML day": (lambda w: f"{w.clock:%Y-%m-%d}{w.offset[:3]}:{w.offset[3:]}", "day offset"),
    "ISO basic": (lambda w: f"{w.clock:%Y%m%dT%H%M%S}Z", "second"),
    "ISO basic offset": (lambda w: f"{w.clock:%Y%m%dT%H%M}{w.offset}", "minute offset"),
    "ISO week": (lambda w: _week(w, "{:04d}-W{:02d}-{}"), "day"),
    "ISO week basic": (lambda w: _week(w, "{:04d}W{:02d}{}") + f"T{w.clock:%H:%M}", "minute"),
    "ISO day of year": (lambda w: f"{w.clock:%Y-%j}", "day"),
    "day of year": (lambda w: f"{w.clock:%Y%j}", "day"),
    "ISO month": (lambda w: f"{w.clock:%Y-%m}", "month"),
    "year": (lambda w: f"{w.clock:%Y}", "year"),
    "mail": (lambda w: f"{w.clock:%a, %d %b %Y %H:%M:%S} {w.offset}", "second offset"),
    "mail with zone": (lambda w: f"{w.clock:%a, %d %b %Y %H:%M:%S} {w.zone}", "second zone"),
    "mail of two digits": (lambda w: f"{w.clock:%d %b %y %H:%M} {w.zone}", "minute zone two"),
    "mail of three digits": (lambda w: f"{w.clock:%d %b} {w.clock.year - 1900}", "day three"),
    "C": (lambda w: f"{w.clock:%a %b} {w.clock.day:2d} {w.clock:%H:%M:%S %Y}", "second"),
    "Unix": (lambda w: f"{w.clock:%a %b} {w.clock.day:2d} {w.clock:%H:%M:%S} {w.zone} {w.clock:%Y}", "second zone"),
    "JavaScript": (lambda w: f"{w.clock:%a %b %d %Y %H:%M:%S} GMT{w.offset} (Its Time)", "second offset"),
    "month, day, year": (lambda w: f"{w.clock:%b} {w.clock.day}, {w.clock:%Y}", "day"),
    "day month year": (lambda w: f"{w.clock.day} {w.clock:%B %Y}", "day"),
    "ordinal day": (lambda w: f"{w.clock:%B} {_th(w.clock.day)}, {w.clock:%Y}", "day"),
    "sentence": (lambda w: f"the {_th(w.clock.day)} of {w.clock:%B %Y at %I:%M %p}", "minute"),
    "year month day": (lambda w: f"{w.clock:%Y %B} {w.clock.day}", "day"),
    "VMS": (lambda w: f"{w.clock:%d-%b-%Y %H:%M:%S.%f}".upper(), "all"),
    "month year": (lambda w: f"{w.clock:%B %Y}", "month"),
    "Apache": (lambda w: f"{w.clock:%d/%b/%Y:%H:%M:%S} {w.offset}", "second offset"),
    "slashes": (lambda w: f"{w.clock:%Y/%m/%d %H:%M:%S}", "second"),
    "dots": (lambda w: f"{w.clock.day}.{w.clock.month}.{w.clock.year}", "day"),
    "dots, year first": (lambda w: f"{w.clock.year}.{w.clock.month}.{w.clock.day}", "day"),
    "eight digits": (lambda w: f"{w.clock:%Y%m%d}", "day"),
    "twelve digits": (lambda w: f"{w.clock:%Y%m%d%H%M}", "minute"),
    "fourteen digits": (lambda w: f"{w.clock:%Y%m%d%H%M%S}", "second"),
    "American": (lambda w: f"{w.clock:%m/%d/%Y}", "day numbers"),
    "British": (lambda w: f"{w.clock:%d/%m/%Y %H:%M}", "minute numbers"),
    "seconds": (lambda w: f"{w.since_1970 // 10**6}", "second 1974"),
    "seconds with fraction": (lambda w: f"{w.since_1970 // 10**6}.{w.clock:%f}", "all 1974"),
    "milliseconds": (lambda w: f"{w.since_1970 // 1000}", "millisecond 2002"),
    "microseconds": (lambda w: f"{w.since_1970}", "all 2002"),
    "nanoseconds": (lambda w: f"{w.since_1970}123", "all 2002"),
}
"""For each form: a date written in it, and what it says (up to the day, minute, second, …), in which zone, and which
years it can say."""
_ZEROS = {
    "year": {"month": 1, "day": 1, "hour": 0, "minute": 0, "second": 0, "microsecond": 0},
    "month": {"day": 1, "hour": 0, "minute": 0, "second": 0, "microsecond": 0},
    "day": {"hour": 0, "minute": 0, "second": 0, "microsecond": 0},
    "minute": {"second": 0, "microsecond": 0},
    "second": {"microsecond": 0},
    "all": {},
}
_YEARS = {"two": (1950, 2049), "three": (2000, 2899), "1974": (1974, 2285), "2002": (2002, 2285)}


def write_date(form: str, when: When) -> tuple[str, int | None]:
    """A date in one of the forms, and the microseconds since 1970 that it says; None where it can mean two days."""
    write, (precision, *more) = WRITERS[form][0], WRITERS[form][1].split()
    clock = when.clock
    for name, (first, last) in _YEARS.items():
        if name in more:
            clock = clock.replace(year=first + clock.year % (last - first + 1), day=min(clock.day, 28))
    when = When(clock, when.minutes, when.zone)
    text = write(when)
    if "numbers" in more and clock.day <= 12 and clock.day != clock.month:
        return text, None
    if precision == "millisecond":
        said = clock.replace(microsecond=clock.microsecond // 1000 * 1000)
    else:
        said = clock.replace(**_ZEROS[precision])
    east = when.minutes if "offset" in more else NAMED_ZONES[when.zone] if "zone" in more else 0
    return text, When(said, 0, "").since_1970 - east * 60_000_000


def some_dates(seed: int, count: int) -> list[str | None]:
    """Dates of every form in turn, some of them with a character that does not belong there; and some of `ALL`."""
    chance = random.Random(seed)
    found: list[str | None] = []
    for n in range(count):
        seconds = chance.randrange(-30_000_000_000, 220_000_000_000)
        clock = EPOCH + dt.timedelta(seconds=seconds, microseconds=chance.randrange(10**6))
        when = When(clock, 30 * chance.randrange(-24, 25), chance.choice(list(NAMED_ZONES)))
        text, _ = write_date(list(WRITERS)[n % len(WRITERS)], when)
        if n % 5 == 4:
            at = chance.randrange(len(text))
            text = text[:at] + chance.choice("09 -/.:TZé\0") + text[at + chance.randrange(2) :]
        found.append(text if n % 7 else chance.choice([*FORMS, *UNREAD]))
    return found


ALL = [*FORMS, *(text for text in UNREAD if text)]


def dated_documents(seed: int, groups: int = 60) -> list[dict[str, Any]]:
    """Groups of three documents of equal length that resemble each other, with dates in all forms."""
    chance = random.Random(seed)
    with gzip.open(EXAMPLES / "policies.jsonl.gz", "rt", encoding="utf-8") as stream:
        words = sorted({word for line in stream for word in re.findall(r"\b[a-z]{6,}\b", line)})
    rows = []
    for group in range(groups):
        shared = chance.sample(words, 80)
        for copy in range(3):
            date = ALL[(3 * group + copy) % len(ALL)] if group <= len(ALL) // 3 else chance.choice(ALL)
            doc_id = f"{chance.randrange(10**6)}-{group}-{copy}"
            rows.append({"doc_id": doc_id, "text": " ".join([*shared, chance.choice(words)]), "date": date})
    return rows


def documents_for_rules(seed: int, groups: int = 20) -> list[dict[str, Any]]:
    """Dated documents with what every keep rule looks at."""
    rows = dated_documents(seed, groups)
    for n, row in enumerate(rows):
        row |= {"source": "abca"[n % 4], "url": "http://a.org/" + "x" * (n % 5) if n % 7 else None}
    return rows


def kept_of_pairs(pairs: set[tuple[str, str]], ids: list[str]) -> set[str]:
    """Who is kept by pairs (lower, higher): a document without a kept one above it."""
    above: dict[str, list[str]] = {}
    for lower, higher in pairs:
        above.setdefault(lower, []).append(higher)
    kept: dict[str, bool] = {}

    def is_kept(doc_id: str) -> bool:
        if doc_id not in kept:
            kept[doc_id] = not any(is_kept(other) for other in above.get(doc_id, ()))
        return kept[doc_id]

    return {doc_id for doc_id in ids if is_kept(doc_id)}


def with_timestamps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have runs write the timestamp of every document to known.parquet."""
    columns = (*model.WRITTEN["known"].columns, model.Column("published", pa.int64(), sql="f.published"))
    monkeypatch.setitem(model.WRITTEN, "known", model.Table(columns))


def timestamps_of_run(folder: Path) -> dict[str, int | None]:
    """The timestamps that a run wrote, by the ids of the documents."""
    return {row["doc_id"]: row["published"] for row in pq.read_table(folder / "known.parquet").to_pylist()}
