"""What happens to documents: added, added again, changed, removed, revoked, expired."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import roughly
from roughly import Index, Settings
from roughly.errors import InputError, InputMissing, OutputExists, SettingsError
from roughly.index.storage.contents import count_rows
from roughly.index.storage.schema import BODIES, CONTENTS, KEYS

WORDS = (
    "the",
    "quick",
    "brown",
    "fox",
    "jumps",
    "over",
    "a",
    "lazy",
    "dog",
    "and",
    "runs",
    "away",
    "from",
    "angry",
    "bears",
)


def text(seed: int, *, words: int = 60, changed: int = 0) -> str:
    """Words of a document, some of them changed."""
    made = [f"{WORDS[(seed * 7 + i * (seed % 5 + 1)) % len(WORDS)]}{seed * i % 97}" for i in range(words)]
    for at in range(changed):
        made[at * 7 % words] = f"changed{at}"
    return " ".join(made)


def document(name: str, seed: int, **more: Any) -> dict[str, Any]:
    facts = {key: more.pop(key) for key in ("title", "url", "date", "source") if key in more}
    return {"doc_id": name, "text": text(seed, **more), **facts}


@pytest.fixture
def index(place: str) -> Any:
    with Index.create(place, Settings(threshold=0.7)) as made:
        yield made


def rows_left(index: Index) -> tuple[int, ...]:
    with index.read_transaction() as connection:
        return tuple(count_rows(connection, table) for table in (CONTENTS, BODIES, KEYS))


def test_a_document_joins_the_cluster_of_the_best_match(index: Index) -> None:
    first, other, near, same = index.add(
        [document("a", 1), document("b", 2), document("c", 1, changed=1), document("d", 1)]
    )
    assert (first.status, first.match) == ("added", None) and other.cluster_id != first.cluster_id
    assert near.match is not None and near.match.doc_id == "a" and near.cluster_id == first.cluster_id
    assert 0.7 < near.match.resemblance < 1 and not near.match.estimated  # type: ignore[operator]
    assert same.match is not None and (same.match.doc_id, same.match.resemblance) == ("a", 1.0)
    assert [entry.doc_id for entry in index.cluster(first.cluster_id)] == ["a", "c", "d"]
    found = index.query(text(1, changed=1))
    assert [match.doc_id for match in found] == ["c", "a", "d"]
    assert found[1] == index.query({"text": text(1, changed=1)})[1]
    assert roughly.resemblance(text(1), text(1, changed=1)) == found[1].resemblance


def test_the_same_again_changes_nothing(index: Index) -> None:
    documents = [document("a", 1, url="http://a"), document("b", 1, changed=1)]
    before = index.add(documents), index.stats()
    again = index.add(documents)
    assert [added.status for added in again] == ["unchanged"] * 2
    assert [added.cluster_id for added in again] == [added.cluster_id for added in before[0]]
    assert index.stats() == before[1]


def test_a_changed_text_replaces_and_a_changed_url_is_kept(index: Index) -> None:
    index.add([document("a", 1), document("b", 2)])
    (changed,) = index.add(document("a", 2, changed=1))
    assert changed.status == "updated" and changed.match is not None and changed.match.doc_id == "b"
    assert index.query(text(1)) == [] and index.text("a") == text(2, changed=1)
    (moved,) = index.add(document("b", 2, url="http://new"))
    assert moved.status == "updated" and moved.cluster_id == changed.cluster_id
    assert [entry.doc_id for entry in index.by_url("http://new")] == ["b"]
    assert rows_left(index)[:2] == (2, 2)
    # two documents exchange their texts
    index.add([document("a", 2, url="x"), document("b", 2, changed=1)])
    assert rows_left(index)[:2] == (2, 2) and index.text("b") == text(2, changed=1)


def test_one_id_twice_in_a_batch_is_an_update(index: Index) -> None:
    told = index.add([document("a", 1), document("b", 3), document("a", 2)])
    assert [added.status for added in told] == ["added", "added", "updated"]
    assert index.query(text(1)) == [] and index.stats().documents == 2


def test_removal_takes_all_away_and_renames_nothing(index: Index) -> None:
    added = index.add([document("a", 1), document("b", 1), document("c", 1, changed=1)])
    assert index.remove(["a", "never there"]) == ["a"]
    assert [m.doc_id for m in index.query(text(1))] == ["b", "c"]
    assert index.cluster(added[0].cluster_id)[0].doc_id == "b" and index.get("a") is None
    index.remove(["b", "c"])
    assert rows_left(index) == (0, 0, 0) and index.query(text(1)) == []
    (again,) = index.add(document("a", 1))
    assert again.cluster_id > added[0].cluster_id  # numbers are never given again


def test_a_revoked_text_never_matches_again(index: Index) -> None:
    index.add([document("spam", 1), document("also", 1), document("near", 1, changed=1)])
    assert index.revoke("spam") == ["spam"]
    assert [m.doc_id for m in index.query(text(1))] == ["near"]
    assert index.get("spam").state == index.get("also").state == "revoked"  # type: ignore[union-attr]
    (again,) = index.add(document("spam again", 1))
    assert again.match is None and [m.doc_id for m in index.query(text(1))] == ["near"]
    index.remove(["spam", "also", "spam again"])
    index.add(document("spam", 1))
    assert [m.doc_id for m in index.query(text(1))] == ["near"] and index.stats().revoked == 1


def test_dates_bound_a_query_and_expire(index: Index) -> None:
    days = ["2024-01-01", "2024-02-01", "Fri, 01 Mar 2024 23:30:00 -0500", None, "no date at all"]
    index.add([document(str(i), 1, date=day) for i, day in enumerate(days)])
    assert [m.doc_id for m in index.query(text(1), since="2024-02-01")] == ["1", "2"]
    assert [m.doc_id for m in index.query(text(1), until="2024-02-01")] == ["0", "1"]
    assert (index.stats().oldest, index.stats().newest) == ("2024-01-01", "2024-03-02")
    assert index.expire(before="2024-02-01") == 1 and index.get("0") is None
    assert index.expire(older_than=-10) == 4 and rows_left(index) == (0, 0, 0)
    with pytest.raises(SettingsError, match="since must be a date"):
        index.query("x", since="soon")
    with pytest.raises(SettingsError, match="by the documents' date"):
        index.expire()


def test_limit_minimum_and_measure(index: Index) -> None:
    index.add([document(f"d{n}", 1, changed=n) for n in range(4)])
    index.add({"doc_id": "longer", "text": text(1) + " and a few words more than it had"})
    assert len(index.query(text(1), limit=2)) == 2
    found = index.query(text(1), measure="containment")
    assert {m.doc_id for m in found[:2]} == {"d0", "longer"} and found[1].containment == 1.0
    assert found[1].contained_in < 1.0  # type: ignore[operator]
    assert {m.doc_id for m in index.query(text(1), minimum=0.99)} == {"d0"}
    assert {m.doc_id for m in index.query(text(1), minimum=0.99, measure="containment")} == {"d0", "longer"}
    for wrong in ({"limit": 0}, {"measure": "taste"}):
        with pytest.raises(SettingsError):
            index.query("x", **wrong)


def test_documents_come_in_many_forms(index: Index) -> None:
    table = pa.table({"id": ["t1", "t2"], "body": [text(1), text(2)], "url": ["u1", None]})
    assert [added.doc_id for added in index.add(table)] == ["t1", "t2"]
    index.add({"id": 7, "text": f"<p>{text(3)}</p>", "markup": True})
    assert index.text("7") is not None and "<p>" not in index.text("7")  # type: ignore[operator]
    assert [a.doc_id for a in index.add(iter([document("i", 4)]))] == ["i"]
    for wrong, told in (
        ({"doc_id": "", "text": "x"}, "has no doc_id"),
        ({"doc_id": "x"}, "its text must be a string, not nothing"),
        (b"text", "cannot be read from an object of type bytes"),
        ([1], "a mapping with doc_id and text is wanted"),
        (pa.table({"id": ["z"], "text": pa.array([None], pa.string())}), "is null"),
    ):
        with pytest.raises(InputError, match=told):
            index.add(wrong)
    assert index.stats().documents == 4


def test_what_is_there_is_not_made_again(tmp_path: Path, place: str, index: Index) -> None:
    with pytest.raises(OutputExists, match=r"already (exists|has an index)"):
        Index.create(place)
    with pytest.raises(InputMissing, match="no index at"):
        Index.open(tmp_path / "b.db")
    with pytest.raises(SettingsError, match="store must be one of text, shingles, sketch"):
        Index.create(tmp_path / "b.db", store="everything")
    with pytest.raises(SettingsError, match="bound to a frozen lexicon"):
        Index.create(tmp_path / "b.db", Settings(method="imatch", options={"lexicon": "collection"}))
    assert not (tmp_path / "b.db").exists()


def test_empty_documents_match_empty_documents_only(index: Index) -> None:
    index.add([{"doc_id": "e1", "text": ""}, {"doc_id": "e2", "text": " … "}, document("a", 1)])
    assert index.query("") == []
    assert {m.doc_id for m in index.query("", match_empty=True)} == {"e1", "e2"}
    assert {m.doc_id for m in index.query(text(1))} == {"a"}


def test_odd_names(index: Index) -> None:
    url = "http://host/" + "x" * 5000
    index.add([document("ü\n'\"%s", 1, title="a\0b", url=url), document("x" * 2000, 2)])
    assert index.by_url(url)[0].title == "a\ufffdb" and index.get("ü\n'\"%s") is not None
    assert index.remove(["ü\n'\"%s", "x" * 2000]) and index.verify().whole
    for name, told in (("a\0b", "contains the character NUL"), ("x" * 2001, "has more than 2,000 bytes")):
        with pytest.raises(InputError, match=told):
            index.add(document(name, 1))
