"""Dates: what is read, what is not, and that a column says the same as its values one by one."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from date_texts import FORMS, NAMED_ZONES, UNREAD, WRITERS, When, write_date
from roughly import Settings, dates
from roughly.date_forms import read_date
from roughly.errors import SettingsError


def timestamp(iso: str) -> int:
    read = dt.datetime.fromisoformat(iso).replace(tzinfo=dt.UTC)
    return (read - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) // dt.timedelta(microseconds=1)


@pytest.mark.parametrize(("text", "iso"), FORMS.items())
def test_every_form_is_read(text: str, iso: str) -> None:
    assert dates.timestamp_of(text) == timestamp(iso)
    assert dates.day_of(text) == dt.date.fromisoformat(iso[:10]).toordinal()


@pytest.mark.parametrize("text", UNREAD)
def test_what_is_ambiguous_or_impossible_is_unread(text: str | None) -> None:
    assert dates.timestamp_of(text) is None and dates.day_of(text) == dates.NO_DAY


@pytest.mark.parametrize(
    ("form", "text", "iso"),
    [
        ("%d/%m/%Y", "03/04/2020", "2020-04-03"),
        ("%m/%d/%Y", "03/04/2020", "2020-03-04"),
        ("%d%m%Y", "03042020", "2020-04-03"),
        ("%d/%m/%Y %H:%M %z", "03/04/2020 10:00 +0200", "2020-04-03T08:00:00"),
        ("%d/%m/%Y", "5 March 2020", "2020-03-05"),  # does not fit, and can be read without
    ],
)
def test_a_format_says_how_numbers_are_meant(form: str, text: str, iso: str) -> None:
    assert dates.timestamp_of(text, form) == timestamp(iso)
    assert dates.timestamps(pa.array([text] * 50), form).to_pylist() == [timestamp(iso)] * 50


@pytest.mark.parametrize("form", ["%d.%m.", "no date", "%Q", "", 5])
def test_a_format_without_a_year_is_refused(form: object) -> None:
    with pytest.raises(SettingsError, match="date_format"):
        Settings(date_format=form)  # type: ignore[arg-type]


def test_a_format_changes_the_fingerprint_only_where_it_is_set() -> None:
    assert Settings().fingerprint() == "060f7f2b48ded3f0"
    assert "date_format" not in Settings().to_dict()
    settings = Settings(date_format="%d/%m/%Y")
    assert settings.fingerprint() != Settings().fingerprint()
    assert Settings.from_dict(settings.to_dict()) == settings


MOMENTS = st.datetimes(dt.datetime(1, 1, 2), dt.datetime(9999, 12, 30))
OFFSETS = st.integers(-14 * 60, 14 * 60).map(lambda m: dt.timezone(dt.timedelta(minutes=m)))


@given(MOMENTS, st.one_of(st.none(), OFFSETS))
def test_iso_is_read_as_python_reads_it(when: dt.datetime, zone: dt.timezone | None) -> None:
    found = read_date(when.replace(tzinfo=zone).isoformat())
    assert found is not None and found == when.replace(tzinfo=zone)


@given(MOMENTS.map(lambda when: when.replace(microsecond=0)), OFFSETS)
def test_mail_and_asctime(when: dt.datetime, zone: dt.timezone) -> None:
    when = when.replace(tzinfo=zone)
    day = f"{when:%a}, {when.day} {when:%b} {when.year:04d} {when:%H:%M:%S %z}"
    assert read_date(day) == when
    assert read_date(f"{when:%a %b} {when.day:2d} {when:%H:%M:%S} {when.year:04d}") == when.replace(tzinfo=None)


CLOCKS = st.datetimes(dt.datetime(1000, 1, 2), dt.datetime(9998, 12, 30))
WHEN = st.builds(When, CLOCKS, st.integers(-14 * 60, 14 * 60), st.sampled_from(list(NAMED_ZONES)))


@given(WHEN)
def test_every_form_says_what_was_written(when: When) -> None:
    for form in WRITERS:
        text, expected = write_date(form, when)
        assert (form, text, dates.timestamp_of(text)) == (form, text, expected)


@given(st.lists(st.one_of(st.none(), st.text(), st.sampled_from([*FORMS, *(t for t in UNREAD if t)])), max_size=80))
def test_a_column_says_what_its_values_say(texts: list[str | None]) -> None:
    texts = [text if text is None else text.encode("utf-8", "replace").decode() for text in texts]
    expected = [dates.timestamp_of(text) for text in texts]
    column = pa.array(texts, pa.string())
    assert dates.timestamps(column).to_pylist() == expected
    many = pa.array([*texts, *["2020-03-05"] * 40], pa.string())  # long enough for Arrow to read it
    assert dates.timestamps(many).to_pylist()[: len(texts)] == expected
    days = dates.days(dates.timestamps(column))
    assert days.tolist() == dates.days_of(texts).tolist() and days.dtype == np.int32


@given(st.lists(MOMENTS, min_size=40, max_size=60), st.sampled_from(["seconds", "milliseconds", "auto"]), st.booleans())
@pytest.mark.slow
def test_arrow_and_python_read_the_same_iso(timestamps: list[dt.datetime], precision: str, zoned: bool) -> None:
    texts = [when.isoformat(timespec=precision) + ("Z" if zoned else "") for when in timestamps]
    assert dates.timestamps(pa.array(texts)).to_pylist() == [dates.timestamp_of(text) for text in texts]


@pytest.mark.parametrize(
    "kind",
    [
        pa.date32(), pa.date64(), *(pa.timestamp(unit) for unit in ("s", "ms", "us", "ns")),
        *(pa.timestamp("us", zone) for zone in ("UTC", "Europe/Paris", "America/New_York", "+05:30")),
    ],
    ids=str,
)  # fmt: skip
def test_typed_columns(kind: pa.DataType, tmp_path: Path) -> None:
    from roughly.settings import ReadOptions
    from roughly.sources import parts_from_objects

    when = dt.datetime(2020, 3, 5, 0 if pa.types.is_date(kind) else 10, tzinfo=dt.UTC)
    values = pa.array([when.replace(tzinfo=None), None] * 40, pa.timestamp("us"))
    if pa.types.is_timestamp(kind) and kind.tz:
        values = values.cast(pa.timestamp("us", "UTC"))
    table = pa.table({"text": ["a text"] * 80, "date": values.cast(kind)})
    (part,) = parts_from_objects(table, ReadOptions(), tmp_path)
    (chunk,) = part.chunks()
    read = dates.timestamps(part.parse(chunk).batch.column("date")).to_pylist()
    assert read == [timestamp(when.replace(tzinfo=None).isoformat()), None] * 40


def test_every_date_of_newsgroups_that_people_can_read(corpora: Path) -> None:
    found = pq.read_table(corpora / "newsgroups20.parquet", columns=["date"])["date"].combine_chunks().cast(pa.string())
    read = dates.timestamps(found)
    unread = [found[place].as_py() for place in dates.unread(found, read)]
    assert unread == ["19 Apr 93 16:15:19 +3000"]  # no place on earth is thirty hours ahead
    years = {dt.date.fromordinal(day).year for day in dates.days(read).tolist() if day != dates.NO_DAY}
    assert years == {1992, 1993}
