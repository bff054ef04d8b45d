"""A source format is two files: its reader, and a line in the table of formats."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import roughly
from roughly.sources import formats


@pytest.fixture
def lines_format() -> Iterator[None]:
    table, endings = dict(formats.TABLE), dict(formats.FORMATS)
    formats.register(formats.Format("lines", (".lines",), "plain_lines", "PlainLines"))
    yield
    for kept, before in ((formats.TABLE, table), (formats.FORMATS, endings)):
        kept.clear()
        kept.update(before)


@pytest.mark.usefixtures("lines_format")
def test_a_new_format_is_read_and_copied(tmp_path: Path) -> None:
    text = "a rose is a rose is a rose"
    (tmp_path / "roses.lines").write_text(f"{text}\nsomething else entirely\n{text.upper()}\n", encoding="utf-8")
    result = roughly.dedupe(tmp_path / "roses.lines", output=tmp_path / "out")
    assert result.kept_ids == ["line 1", "line 2"]
    assert (tmp_path / "out" / "kept" / "roses.lines").read_text() == f"{text}\nsomething else entirely\n"


@pytest.mark.usefixtures("lines_format")
def test_it_is_told_by_its_ending_and_by_its_name(tmp_path: Path) -> None:
    assert formats.format_of("news.lines.gz") == "lines" and formats.check_format("lines") == "lines"
    (tmp_path / "roses.txt").write_text("one\ntwo\n", encoding="utf-8")
    assert len(roughly.dedupe(tmp_path / "roses.txt", format="lines").kept_ids) == 2
