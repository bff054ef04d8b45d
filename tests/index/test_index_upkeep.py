"""An index that is checked, brought to a newer format, given another lexicon, and written out."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from test_index_parity import ASKED, made, scored

import roughly
from roughly import Index, Settings, lexicon
from roughly.errors import IndexRefused, SettingsError
from roughly.index.index_config import IndexConfig
from roughly.index.storage.meta import write_meta
from roughly.index.storage.store import IndexStore
from roughly.index.upkeep import refresh as refreshing
from roughly.index.upkeep import upgrade as upgrading
from roughly.lexicon.lexicon import Lexicon


def run_sql(index: Index, *statements: str) -> None:
    with index.transactions.store.write_transaction() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


@pytest.mark.parametrize(
    ("name", "store"), [("minhash", "text"), ("minhash contained", "shingles"), ("shingles", "sketch"),
                        ("identical", "text"), ("term-vector", "text"), ("minhash", "sketch")],
)  # fmt: skip
@pytest.mark.slow
def test_a_used_index_is_whole(name: str, store: str, rows: list[dict[str, Any]], place: str, tmp_path: Path) -> None:
    with made(place, name, rows, tmp_path, store) as index:
        index.add(rows)
        index.add([{**row, "text": row["text"] + " changed"} for row in rows[:20]])
        index.remove([row["doc_id"] for row in rows[10:30]])
        index.revoke([row["doc_id"] for row in rows[40:45]])
        check = index.verify()
        assert check.whole, check.problems
        assert check.documents == len(rows) - 20 and check.compared > 30
        assert (check.keys > 0) == (name != "identical")
        assert index.verify(sample=10).compared == 10


BREAK = {
    "DELETE FROM keys WHERE key IN (SELECT min(key) FROM keys)": "other keys than their texts",
    "UPDATE keys SET key = key + 1 WHERE key IN (SELECT max(key) FROM keys)": "other keys than their texts",
    "INSERT INTO keys VALUES (1, 99999998)": "keys belong to no content",
    "DELETE FROM bodies WHERE content = 3": "contents have no body",
    "DELETE FROM documents WHERE content = 3": "contents belong to no document",
    "DELETE FROM contents WHERE content = 3": "documents have no content",
    "UPDATE contents SET marks = NULL": "contents have no bitmap",
    "UPDATE contents SET lo = lo + 1 WHERE content = 3": "another digest than their texts",
    "UPDATE contents SET state = 1 WHERE content = 3": "keys belong to contents that were deleted or revoked",
    "UPDATE meta SET value = '2' WHERE name = 'next_document'": "next_document is 2, and",
}


@pytest.mark.parametrize("statement", BREAK)
def test_what_is_broken_is_found(statement: str, rows: list[dict[str, Any]], tmp_path: Path) -> None:
    with Index.create(tmp_path / "a.db") as index:
        index.add(rows[:30])
        assert index.verify().whole
        run_sql(index, statement)
        assert any(BREAK[statement] in problem for problem in index.verify().problems)


def as_format_2(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    """Say that an index has the format before this one, and how it is brought to this one."""

    def step(store: IndexStore, config: IndexConfig) -> None:
        with store.write_transaction() as connection:
            write_meta(connection, {"format": 3})

    monkeypatch.setitem(upgrading.STEPS, 2, step)
    run_sql(index, "UPDATE meta SET value = '2' WHERE name = 'format'")


def test_an_old_format_is_refused_and_upgraded(
    rows: list[dict[str, Any]], place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Index.create(place) as index:
        index.add(rows)
        expected = scored(index.pairs())
        as_format_2(index, monkeypatch)
    with pytest.raises(IndexRefused, match=r"old format 2; bring it to format 3 with `roughly index upgrade"):
        Index.open(place)
    with monkeypatch.context() as patched, pytest.raises(IndexRefused, match="has format 2, which this version cannot"):
        patched.delitem(upgrading.STEPS, 2)
        Index.upgrade(place)
    assert Index.upgrade(place) == (2, 3) and Index.upgrade(place) == (3, 3)
    with Index.open(place) as index:
        assert index.verify().whole and scored(index.pairs()) == expected
        run_sql(index, "UPDATE meta SET value = '4' WHERE name = 'format'")
    for work in (Index.open, Index.upgrade):
        with pytest.raises(IndexRefused, match="has format 4, and this version knows formats up to 3; use a newer"):
            work(place)


@pytest.fixture
def lexicons(rows: list[dict[str, Any]], tmp_path: Path) -> tuple[Path, Path]:
    paths = tmp_path / "one.lexicon", tmp_path / "other.lexicon"
    lexicon.build(rows, output=paths[0])
    lexicon.build(rows[::3], output=paths[1])
    return paths


def test_another_lexicon(
    rows: list[dict[str, Any]], lexicons: tuple[Path, Path], place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = lexicons
    settings = {"method": "imatch", "filter": "IDF-L-20", "lexicons": 3}
    expected = {name: scored(roughly.dedupe(rows, pairs="all", **settings, lexicon=name).pairs) for name in lexicons}
    assert expected[one] != expected[other]
    monkeypatch.setattr(refreshing, "STEP", 30)
    with Index.create(place, Settings.gather(settings, {"lexicon": one})) as index, Index.open(place) as reader:
        index.add(rows[:100])
        steps: list[int] = []

        def meanwhile(done: int) -> None:
            steps.append(done)
            if len(steps) == 1:  # others go on; they notice nothing until the exchange
                reader.add(rows[100:])
                reader.add({"doc_id": "gone", "text": rows[0]["text"] + " gone"})
                reader.remove("gone")
                assert scored(reader.pairs()) == expected[one]

        done = index.refresh(other, advance=meanwhile)
        assert done.contents == index.stats().contents and 0 < done.changed <= done.contents
        assert not done.resumed and len(steps) > 3
        assert {(p[:2]) for p in scored(reader.pairs())} == {(p[:2]) for p in expected[other]}
        assert reader.fingerprint == index.fingerprint and index.verify().whole and reader.verify().whole
        again = index.refresh(one)  # names of tables and indexes are free again
        assert again.changed > 0
        assert scored(index.pairs()) == expected[one]
    one.unlink()  # the index has its own copy
    with Index.open(place) as index:
        assert scored(index.pairs()) == expected[one]


class Stop(Exception):
    pass


def test_a_refresh_goes_on_where_it_was_stopped(
    rows: list[dict[str, Any]], lexicons: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refreshing, "STEP", 30)
    settings = Settings(method="imatch", options={"lexicon": lexicons[0]})

    def stop(done: int) -> None:
        raise Stop

    with Index.create(tmp_path / "a.db", settings) as index:
        index.add(rows)
        before = index.pairs()
        with pytest.raises(Stop):
            index.refresh(lexicons[1], advance=stop)
        assert index.pairs().equals(before) and index.verify().whole
        seen: list[int] = []
        assert index.refresh(lexicons[1], advance=seen.append).resumed and seen[0] == 60
        assert index.verify().whole and index.config.generation == 2


def test_what_cannot_be_refreshed(rows: list[dict[str, Any]], lexicons: tuple[Path, Path], tmp_path: Path) -> None:
    with Index.create(tmp_path / "a.db") as index, pytest.raises(SettingsError, match="takes no lexicon to refresh"):
        index.refresh(lexicons[0])
    settings = Settings(method="imatch", options={"lexicon": lexicons[0]})
    with (
        Index.create(tmp_path / "b.db", settings, store="sketch") as index,
        pytest.raises(SettingsError, match="stores no texts"),
    ):
        index.refresh(lexicons[1])


def test_export_and_back(rows: list[dict[str, Any]], place: str, tmp_path: Path) -> None:
    with made(place, "minhash", rows, tmp_path) as index:
        index.add(rows)
        index.revoke(rows[3]["doc_id"])
        assert index.export(tmp_path / "all.parquet") == len(rows)
        table = pq.read_table(tmp_path / "all.parquet")
        assert table["text"].null_count == sum(index.get(r["doc_id"]).state == "revoked" for r in rows)  # type: ignore[union-attr]
        live = table.filter(table["text"].is_valid())
        with Index.create(tmp_path / "b.db") as copy:
            copy.add(live.select(["doc_id", "text", "title", "date", "source"]))
            # of texts that differ in punctuation only one is stored, so which of them is longer may be forgotten
            assert {frozenset(p) for p in scored(copy.pairs())} == {frozenset(p) for p in scored(index.pairs())}


def test_settings_are_stored_and_others_refused(rows: list[dict[str, Any]], tmp_path: Path) -> None:
    from roughly.index.index_config import check_same

    for name in ASKED:
        where = tmp_path / f"{name}.db"
        with made(where, name, rows, tmp_path) as index, Index.open(where) as again:
            assert again.fingerprint == index.fingerprint and again.config.judge == index.config.judge
    with Index.open(tmp_path / "minhash.db") as index:
        check_same(index.config, Settings(keep=("newest",), pairs="all"), index.name)
        with pytest.raises(SettingsError) as refused:
            check_same(index.config, Settings(threshold=0.9, shingle_size=4), index.name)
        assert [p.split(" was made with ")[1].split(";")[0] for p in refused.value.problems] == [
            "threshold 0.8, not 0.9",
            "shingle_size 5, not 4",
        ]
        assert "give the settings of the index" in str(refused.value)
    with Index.open(tmp_path / "imatch.db") as index, pytest.raises(SettingsError, match="lexicon"):
        path = tmp_path / "x.lexicon"
        lexicon.build(rows, output=path)
        given = Settings.gather(ASKED["imatch"], {"lexicon": Lexicon.open(path)})
        check_same(index.config, given, index.name)


def test_a_secret_key_is_asked_for_and_never_stored(rows: list[dict[str, Any]], tmp_path: Path) -> None:
    secret, wrong = tmp_path / "secret", tmp_path / "wrong"
    secret.write_bytes(b"thirty-two bytes that nobody knows")
    wrong.write_bytes(b"thirty-two bytes that someone knows")
    settings = Settings(method="imatch", options={"lexicons": 3, "key_file": str(secret)})
    with Index.create(tmp_path / "a.db", settings) as index:
        index.add(rows[:5])
    assert b"nobody" not in (tmp_path / "a.db").read_bytes() and str(secret) not in dump(tmp_path / "a.db")
    with pytest.raises(SettingsError, match="made with a secret key; give it again with --key-file"):
        Index.open(tmp_path / "a.db")
    with pytest.raises(SettingsError, match="made with another key"):
        Index.open(tmp_path / "a.db", key_file=wrong)
    with Index.open(tmp_path / "a.db", key_file=secret) as index:
        assert random.Random(1).choice(rows[:5])["doc_id"] in {m.doc_id for row in rows[:5] for m in index.query(row)}


def dump(path: Path) -> str:
    with sqlite3.connect(path) as connection:
        found = "\n".join(str(row) for row in connection.execute("SELECT * FROM meta"))
    connection.close()
    return found
