"""An index whose texts are made of several columns: the same texts, whoever sends them and whatever they are called."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import roughly
from commands import run_roughly
from roughly import Index
from roughly.errors import InputError, SettingsError

TITLE = "minutes of the council for the third week of march in the year of the flood"
BODY = "present were the mayor and nine members who heard the reports and went home"
WHOLE = f"{TITLE}\n{BODY}"
FIRST = {"doc_id": "first", "title": TITLE, "text": BODY}
OTHER = {"doc_id": "other", "title": "a letter from the mayor to the schools about rain", "text": BODY}


def written(path: Path, *documents: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in documents), encoding="utf-8")
    return path


def best(index: Index, asked: Any) -> list[tuple[str, float | None]]:
    return [(match.doc_id, match.resemblance) for match in index.query(asked)]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with settings as `roughly tune` writes them, and an index that was made with these."""
    (tmp_path / "best.toml").write_text('threshold = 0.7\nshingle_size = 3\ntext_column = "title,text"\n')
    made = run_roughly("index", "create", "a.db", "--settings", "best.toml", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    return tmp_path


def test_files_are_read_as_the_index_says(place: Path) -> None:
    written(place / "in.jsonl", FIRST, OTHER)
    written(place / "named.jsonl", {"id": "named", "headline": TITLE, "body": BODY})
    written(place / "whole.jsonl", {"id": "whole", "text": WHOLE})
    assert run_roughly("index", "add", "a.db", "in.jsonl", cwd=place).returncode == 0
    refused = run_roughly("index", "add", "a.db", "named.jsonl", cwd=place)
    assert refused.returncode == 1 and "its columns are id, headline, body. Name it with --text-col" in refused.stderr
    added = run_roughly("index", "add", "a.db", "named.jsonl", "--text-column", "headline,body", "--each", cwd=place)
    match = json.loads(added.stdout)["match"]
    assert (match["doc_id"], match["resemblance"]) == ("first", 1)
    asked = run_roughly("index", "query", "a.db", "whole.jsonl", "--text-column", "text", cwd=place)
    found = [line.split("\t")[1:4:2] for line in asked.stdout.splitlines()[1:]]
    assert found == [["first", "1.0000"], ["named", "1.0000"]]


def test_documents_from_python_are_joined_once(place: Path) -> None:
    listed = [FIRST, OTHER, {"title": "no id", "text": BODY}, {"doc_id": "bare", "text": BODY}]
    with Index.open(place / "a.db") as index:
        ids = [added.doc_id for added in index.add(listed)]
        assert best(index, WHOLE) == [("first", 1)] == best(index, FIRST)
        assert best(index, f"no id\n{BODY}")[0] == (ids[2], 1)
        assert best(index, BODY)[0] == ("bare", 1) and ids[2].startswith("sha256:")
        again = index.add(pa.Table.from_pylist([FIRST, OTHER]))
        assert [one.status for one in again] == ["updated"] * 2  # whose source is the table
        assert [one.status for one in index.add(listed)] == ["updated"] * 2 + ["unchanged"] * 2
        answers = list(roughly.match(index, [FIRST | {"doc_id": "new"}, OTHER | {"title": ""}]))
        found = [(one.verdict, one.match and one.match.doc_id) for one in answers]
        assert found == [("known", "first"), ("known", "bare")]
    with Index.open(place / "a.db") as index:
        assert best(index, WHOLE) == [("first", 1)] and index.settings.text_column == "title,text"


def test_columns_that_a_document_does_not_have_are_its_title_and_text() -> None:
    with Index.create(":memory:", text_column="headline,body", shingle_size=3) as index:
        index.add({"doc_id": "own", "headline": TITLE, "body": BODY})
        for same in ({"title": TITLE, "text": BODY}, {"headline": TITLE, "text": BODY}, {"text": WHOLE}):
            assert best(index, same) == [("own", 1)]
        assert best(index, {"headline": TITLE, "body": None, "text": "left out"}) != [("own", 1)]
    with Index.create(":memory:", text_column="title,remarks", shingle_size=3) as index:
        index.add({"doc_id": "own", "title": TITLE, "remarks": BODY, "text": "left out"})
        assert best(index, WHOLE) == [("own", 1)]
        assert best(index, {"title": "left out", "text": WHOLE}) == [("own", 1)]  # as none of the columns is the text
        for empty in ({"title": None, "remarks": None}, {"body": BODY}):
            with pytest.raises(InputError, match="'x' has neither the columns of this index, 'title,remarks', nor a t"):
                index.add({"doc_id": "x", **empty})
        with pytest.raises(InputError, match="document 'x': its 'remarks' must be a string, not an object of type int"):
            index.add({"doc_id": "x", "title": TITLE, "remarks": 5})
    with Index.create(":memory:", text_column="title,headline", shingle_size=3) as index:
        index.add({"doc_id": "own", "title": WHOLE, "text": "left out"})  # both columns are the title: joined once
        assert best(index, WHOLE) == [("own", 1)]


def test_a_stream_is_joined_once_and_its_columns_may_be_named(place: Path) -> None:
    first, second = json.dumps(FIRST), json.dumps({"id": "second", "headline": TITLE, "body": BODY})
    assert run_roughly("match", "a.db", "--add", stdin=first, cwd=place).stdout.startswith("new\tfirst")
    found = run_roughly("match", "a.db", "--text-column", "headline,body", stdin=second, cwd=place)
    assert found.stdout.splitlines()[0] == "known\tsecond\tfirst\t1.000"
    with Index.open(place / "a.db") as index:
        assert best(index, WHOLE) == [("first", 1)]


def test_runs_and_indexes_agree_about_columns(place: Path) -> None:
    written(place / "in.jsonl", FIRST, OTHER)
    written(place / "new.jsonl", FIRST | {"doc_id": "new"}, OTHER | {"doc_id": "rain", "title": "snow " * 20})
    roughly.dedupe(place / "in.jsonl", settings=place / "best.toml", output=place / "run", index=place / "run.db")
    Index.import_run(place / "run", place / "imported.db").close()
    with Index.open(place / "a.db") as index:
        index.add([FIRST, OTHER])
        fingerprint = index.fingerprint
    for name in ("a.db", "run.db", "imported.db"):
        with Index.open(place / name) as index:
            assert index.fingerprint == fingerprint and best(index, WHOLE) == [("first", 1)]
        found = roughly.dedupe(place / "new.jsonl", against=place / name)
        assert found.kept_ids == ["rain"]
    (place / "other.toml").write_text('text_column = "text"\n')
    with pytest.raises(SettingsError, match="made with text_column 'title,text', not 'text'"):
        roughly.dedupe(place / "new.jsonl", against=place / "a.db", settings=place / "other.toml")


def test_create_takes_columns_and_refuses_impossible_ones(tmp_path: Path) -> None:
    made = run_roughly("index", "create", "a.db", "--text-column", "title,text", cwd=tmp_path)
    plain = run_roughly("index", "create", "b.db", cwd=tmp_path)
    assert made.returncode == plain.returncode == 0 and made.stdout[-17:] != plain.stdout[-17:]
    with Index.open(tmp_path / "a.db") as index:
        assert index.settings.text_column == "title,text"
    with Index.open(tmp_path / "b.db") as index:
        assert "text_column" not in index.settings.to_dict()  # fingerprints are those of before
    refused = run_roughly("index", "create", "c.db", "--features", "items", "--text-column", "text", cwd=tmp_path)
    assert refused.returncode == 2 and "leave --text-column out" in refused.stderr and not (tmp_path / "c.db").exists()
