"""Indexes as earlier versions made them: they open with the answers of that version, or are refused in plain words.

`old_index.py` made each file in `formats` with the commit that is named here. No commit ever wrote format 1.
"""

from __future__ import annotations

import gzip
import json
import sqlite3
from pathlib import Path

import pytest
from old_index import answers, documents

from roughly import Index
from roughly.errors import IndexRefused
from roughly.index.storage.schema import FORMAT
from roughly.settings import ANSWER_VERSION

FORMATS = Path(__file__).with_name("formats")
MADE_BY = {(2, 1): "ea6f60c", (2, 2): "87ddf0d", (3, 2): "ba1895e", (3, 3): "86282bc"}
"""(format, version of the answers) → the commit whose code made the file."""
OTHER_ANSWERS = [made for made in MADE_BY if made[1] != ANSWER_VERSION]


def unpacked(made: tuple[int, int], folder: Path) -> Path:
    path = folder / "index.db"
    path.write_bytes(gzip.decompress((FORMATS / f"format-{made[0]}-answers-{made[1]}.db.gz").read_bytes()))
    return path


def test_every_file_is_what_its_name_says(tmp_path: Path) -> None:
    assert {path.name for path in FORMATS.glob("*.db.gz")} == {f"format-{f}-answers-{a}.db.gz" for f, a in MADE_BY}
    for made in MADE_BY:
        with sqlite3.connect(unpacked(made, tmp_path)) as connection:
            found = connection.execute("SELECT value FROM meta WHERE name = 'format'").fetchone()
            tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        connection.close()
        assert found == (str(made[0]),) and ("recent" in tables) == (made[0] >= 3)


def test_there_is_a_file_of_the_current_format() -> None:
    assert (FORMAT, ANSWER_VERSION) in MADE_BY


@pytest.mark.parametrize("made", [made for made in MADE_BY if made not in OTHER_ANSWERS], ids=str)
def test_an_index_with_these_answers_opens_and_answers_as_then(made: tuple[int, int], tmp_path: Path) -> None:
    path = unpacked(made, tmp_path)
    expected = json.loads((FORMATS / f"format-{made[0]}-answers-{made[1]}.json").read_text(encoding="utf-8"))
    assert len(expected["pairs"]) >= 8 and all(expected["matches"].values())
    assert "d3" not in {match["doc_id"] for match in expected["matches"]["d3"]}  # it was revoked
    assert Index.upgrade(path) == (made[0], FORMAT)
    with Index.open(path) as index:
        assert index.verify().whole and answers(index) == expected
        added = index.add({"doc_id": "new", "text": documents()[1]["text"]})[0]
        assert added.match is not None and added.match.doc_id == "d1"
        assert index.verify().whole


@pytest.mark.parametrize("made", OTHER_ANSWERS, ids=str)
def test_an_index_with_other_answers_is_refused_and_left_as_it_is(made: tuple[int, int], tmp_path: Path) -> None:
    path = unpacked(made, tmp_path)
    before = dump(path)
    refusal = (
        r"was made by a roughly whose answers differ from this one's .*; use that version, or make the index again"
    )
    if made[0] < FORMAT:
        with pytest.raises(IndexRefused, match=f"has the old format {made[0]}; bring it to format {FORMAT}"):
            Index.open(path)
        with pytest.raises(IndexRefused, match=refusal):
            Index.upgrade(path)
    else:
        assert Index.upgrade(path) == (made[0], FORMAT)  # there is nothing to do
        with pytest.raises(IndexRefused, match=refusal):
            Index.open(path)
    assert dump(path) == before


def dump(path: Path) -> list[str]:
    with sqlite3.connect(path) as connection:
        lines = list(connection.iterdump())
    connection.close()
    return lines
