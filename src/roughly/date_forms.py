"""Parsing one date: the forms, the zones and the rules for years.

| form | examples |
|---|---|
| ISO 8601 | `2020-03-05`, `2020-03-05T10:00:00+01:00`, `20200305T1000Z`, `2020-W10-4`, `2020-065`, `2020-03`, `2020` |
| mail (RFC 2822) | `Thu, 05 Mar 2020 10:00:00 -0500`, `5 Mar 93 10:00 EST` |
| C and Unix | `Thu Mar  5 10:00:00 2020`, `Thu Mar  5 10:00:00 EST 2020` |
| month by name | `Mar 5, 2020`, `5th of March 2020 10:00 PM`, `05-MAR-2020`, `March 2020` |
| numbers | `2020/03/05`, `20200305100000`, `31/03/2020`, `03/31/2020`, `5.3.2020` |
| time since 1970 | seconds and milliseconds from 1973 to 2286, micro- and nanoseconds from 2001 to 2286 |

A zone whose name is not known counts as UTC (RFC 2822, §4.3). A year of two digits is one from 1950 to 2049, and 1900
is added to a year of three (the same paragraph). Numbers are read only where one reading is possible: `03/04/2020` is
the third of April or the fourth of March, so it is unread. Between dots the day comes first, as it does in every
locale that writes dots (Unicode CLDR). `dateutil` would guess all of these, and `email.utils` has another rule for
years of two digits; so neither is used.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from functools import lru_cache

MISSING = ("", "-", "nan", "nat", "none", "null")
"""Values that mean that there is no date, in lower case."""

_MONTH_NAMES = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_MONTHS = {name: number for number, name in enumerate(_MONTH_NAMES, 1)}
_MONTHS |= {name[:3]: number for name, number in _MONTHS.items()} | {"sept": 9}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_IGNORED = {day[:length] for day in _WEEKDAYS for length in (3, 4, 5, 9)} | {"st", "nd", "rd", "th", "of", "the", "at"}
_HOURS = {
    "UT": 0, "UTC": 0, "GMT": 0, "Z": 0, "WET": 0, "BST": 1, "WEST": 1, "CET": 1, "MET": 1, "MEZ": 1, "CEST": 2,
    "MEST": 2, "MESZ": 2, "EET": 2, "SAST": 2, "EEST": 3, "IDT": 3, "MSK": 3, "MSD": 4, "PKT": 5, "HKT": 8, "SGT": 8,
    "AWST": 8, "JST": 9, "KST": 9, "ACST": 9.5, "AEST": 10, "ACDT": 10.5, "AEDT": 11, "NZST": 12, "NZDT": 13,
    "NDT": -2.5, "BRT": -3, "ADT": -3, "NST": -3.5, "AST": -4, "EDT": -4, "EST": -5, "CDT": -5, "CST": -6, "MDT": -6,
    "MST": -7, "PDT": -7, "PST": -8, "AKDT": -8, "AKST": -9, "HST": -10,
}  # fmt: skip
"""Zones by name, in hours east of UTC. A name with several meanings (IST) counts as unknown."""

_SINCE_1970 = ((8, 10, 0), (11, 13, 3), (15, 16, 6), (18, 19, 9))
"""(a, b, e): a number from 10^a to 10^b counts units of 10^-e seconds."""

_LONGEST = 200
_COMMENT = re.compile(r"\(([^()]*)\)")
_NUMBER = re.compile(r"\d+(?:\.\d*)?(?:e\+?\d{1,3})?", re.IGNORECASE)
_MERIDIEM = r"\s*([ap])\.?m\b\.?"
_CLOCKS = (
    re.compile(r"(?<=-\d\d-\d\d)()()()()()(?=(?:Z|[+-]\d\d:\d\d)$)"),
    re.compile(rf"(?<!\d)(\d{{1,2}}):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?![\d:])(?:{_MERIDIEM})?", re.IGNORECASE),
    re.compile(rf"(?<![\d:./-])(\d{{1,2}})()()(){_MERIDIEM}", re.IGNORECASE),
    re.compile(r"(?:(?<=\dT)|(?<=-\d\d-\d\d )|(?<=\d{8} ))(\d\d)(?:(\d\d)(?:(\d\d)(?:[.,](\d+))?)?)?()(?=$|Z|[+-]\d)"),
)
"""A day with a zone and no time, as XML has it; a time with colons; by am and pm; in ISO's basic form. The groups are
hour, minute, second, fraction and the first letter of am or pm."""
_OFFSET = re.compile(r"\s*(?:GMT|UTC|UT)?([+-])(\d{1,2})(?::?(\d\d))?(?!\d)", re.IGNORECASE)
_ZONE = re.compile(r"\s*([A-Za-z]{1,5})(?![A-Za-z\d])")
_YEAR_FIRST = re.compile(r"(\d{4})(?:-?(\d\d)-?(\d\d)|-(\d\d)|-?(\d{3})|(-?W\d\d(?:-?[1-7])?))?")
_NUMBERS = re.compile(r"(\d{1,4})([-/. ])(\d{1,2})\2(\d{1,4})\.?")
_STRANGE = re.compile(r"[^\sA-Za-z\d,./:'’_-]")
_WORD = re.compile(r"\d+|[A-Za-z]+")


def read_date(text: str, form: str | None = None) -> datetime | None:
    """The time of a date, naive if it names no zone; None if it is not understood.

    `form` is a format of `datetime.strptime` that is tried first.
    """
    clean = " ".join(text.split())
    if len(clean) > _LONGEST:
        return None
    if form is not None:
        try:
            return datetime.strptime(clean, form)
        except ValueError:
            pass  # other documents may have other dates
    try:
        return _read_number(clean) if _NUMBER.fullmatch(clean) else _read_words(clean)
    except (ValueError, OverflowError, ArithmeticError):
        return None  # there is no such day or hour


def format_problem(form: object) -> str | None:
    """What is wrong with a format for dates, if anything."""
    example = datetime(2021, 11, 23)
    try:
        if isinstance(form, str) and datetime.strptime(example.strftime(form), form).year == example.year:
            return None
    except ValueError:
        pass
    return f"date_format must be a format such as %d/%m/%Y that contains the year, not {form!r}"


def _read_number(text: str) -> datetime | None:
    """A date without separators, or the time since 1970."""
    value = Decimal(text)
    digits = str(int(value)) if text[0] != "0" else text
    if value == int(value) and len(digits) in (4, 7, 8, 12, 14):
        clock = "%H%M%S"[: max(0, len(digits) - 8)]
        try:
            return datetime.combine(_day(digits[:8]), datetime.strptime(digits[8:], clock).time())
        except ValueError:
            pass  # twelve digits may be milliseconds
    for low, high, places in _SINCE_1970:
        if 10**low <= value < 10**high:
            return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=int(value.scaleb(6 - places)))
    return None


def _read_words(text: str) -> datetime | None:
    comments = tuple(_COMMENT.findall(text)) if "(" in text else ()
    text = _COMMENT.sub(" ", text).strip() if comments else text
    for pattern in _CLOCKS:
        if clock := pattern.search(text):
            break
    else:
        return datetime.combine(_day(text), datetime.min.time())
    zone, rest = _zone(text[clock.end() :], comments)
    day = _day(f"{text[: clock.start()].rstrip('Tt')} {rest}")
    return datetime.combine(day, datetime.min.time(), zone) + _since_midnight(*clock.groups())


def _since_midnight(*clock: str | None) -> timedelta:
    hour, minute, second = (int(number or 0) for number in clock[:3])
    fraction, half = clock[3:]
    if half:
        if not 1 <= hour <= 12:
            raise ValueError(hour)
        hour = hour % 12 + (12 if half in "pP" else 0)
    if hour > 24 or minute > 59 or second > 60 or (hour == 24 and (minute or second)):  # there are leap seconds
        raise ValueError(hour)
    microseconds = int((fraction or "0")[:6].ljust(6, "0"))
    return timedelta(hours=hour, minutes=minute, seconds=second, microseconds=microseconds)


@lru_cache(maxsize=256)
def _zone(text: str, comments: tuple[str, ...]) -> tuple[timezone | None, str]:
    """The zone after a time of day, and what follows it.

    An offset decides, then a known name, there or in a comment; other names, such as the codes of a news agency, mean
    that the zone is unknown.
    """
    hours = None
    if found := _OFFSET.match(text):
        hours = (int(found[2]) + int(found[3] or 0) / 60) * (-1 if found[1] == "-" else 1)
        text = text[found.end() :]
    names = []
    while (found := _ZONE.match(text)) and found[1].lower() not in _MONTHS and found[1].lower() not in _IGNORED:
        if found[1].upper() not in _HOURS and found[1] != found[1].upper():
            break
        names.append(found[1])
        text = text[found.end() :]
    known = [_HOURS[name.strip().upper()] for name in (*names, *comments) if name.strip().upper() in _HOURS]
    if hours is None and (known or names):
        hours = known[0] if known else 0
    return None if hours is None else timezone(timedelta(hours=hours)), text


@lru_cache(maxsize=4096)
def _day(text: str) -> date:
    """The day of a date without its time; ValueError if there is none, or more than one."""
    text = text.strip(" ,:")
    if found := _YEAR_FIRST.fullmatch(text):
        year, month, day, only_month, ordinal, week = found.groups()
        if week is not None:
            return date.fromisoformat(text)
        if ordinal is not None:
            found_day = date(int(year), 1, 1) + timedelta(days=int(ordinal) - 1)
            if found_day.year != int(year):
                raise ValueError(text)
            return found_day
        return date(int(year), int(month or only_month or 1), int(day or 1))
    if found := _NUMBERS.fullmatch(re.sub(r"([./-]) ", r"\1", text)):
        return _day_of_numbers(*found.groups())
    return _day_of_words(text)


def _day_of_numbers(first: str, separator: str, middle: str, last: str) -> date:
    if len(first) > 2:
        return date(_year(first, least=4), int(middle), int(last))
    readings = [(last, middle, first), (last, first, middle)]
    if len(first) == len(last) == 2:
        readings.append((first, middle, last))
    possible = []
    for year, month, day in readings:
        try:
            possible.append(date(_year(year), int(month), int(day)))
        except ValueError:
            continue
        if separator == ".":
            readings[1] = ("0", "0", "0")  # the day comes first, if possible
    if len(set(possible)) != 1:
        raise ValueError(f"{first}, {middle}, {last}")
    return possible[0]


def _day_of_words(text: str) -> date:
    """A month by its name, a year, and usually a day."""
    if _STRANGE.search(text):
        raise ValueError(text)
    words = [word for word in _WORD.findall(text) if word.lower() not in _IGNORED]
    numbers = [word for word in words if word.isdigit()]
    months = [_MONTHS[word.lower()] for word in words if word.lower() in _MONTHS]
    if len(months) != 1 or len(numbers) + 1 != len(words) or not 1 <= len(numbers) <= 2:
        raise ValueError(text)
    if len(numbers) == 1:
        return date(_year(numbers[0], least=4), months[0], 1)
    day, year = numbers
    if len(day) > 2 or int(day) > 31:
        day, year = year, day
    return date(_year(year), months[0], int(day))


def _year(digits: str, least: int = 2) -> int:
    if len(digits) < least or len(digits) > 4:
        raise ValueError(digits)
    year = int(digits)
    return year + 1900 if len(digits) == 3 or (len(digits) == 2 and year > 49) else year + 2000 * (len(digits) == 2)
