"""What goes wrong is told clearly, and nothing is lost."""

from __future__ import annotations

import os
import sqlite3
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from index_worker import document
from postgres_server import Server
from sqlalchemy import event
from sqlalchemy.exc import OperationalError

from roughly import Index, Settings
from roughly.errors import DiskFull, IndexAway, IndexDamaged, IndexRefused, InputError, OutputError, SettingsError
from roughly.index.storage import failures
from roughly.index.storage.store import IndexStore

SOME = [document(n) for n in range(40)]


@pytest.fixture
def made(tmp_path: Path) -> Path:
    path = tmp_path / "a.db"
    with Index.create(path) as index:
        index.add(SOME)
    return path


def test_a_file_that_is_no_index(tmp_path: Path) -> None:
    text, empty, other = tmp_path / "text.db", tmp_path / "empty.db", tmp_path / "other.db"
    text.write_text("not a database at all, but long enough to be looked at " * 40, encoding="utf-8")
    empty.touch()
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE meta (name TEXT, value TEXT)")
    connection.commit()
    connection.close()
    for path in (text, empty, other):
        before = path.read_bytes()
        with pytest.raises(
            IndexRefused,
            match=r"is not an index of roughly, nor the folder of a run; make one|holds no index of roughly; make one",
        ):
            Index.open(path)
        if path != empty:
            assert path.read_bytes()[100:] == before[100:]  # an empty database may get its header
    with pytest.raises(InputError, match="is a folder, not an index"):
        Index.open(tmp_path)
    for wrong in ("mysql://host/x", "postgresql://host:port/x"):
        with pytest.raises(SettingsError, match=r"(cannot be an index|is no address)"):
            Index.open(wrong)


def test_a_truncated_database(made: Path) -> None:
    whole = made.read_bytes()
    made.write_bytes(whole[: len(whole) // 3])
    with pytest.raises((IndexDamaged, IndexRefused)) as told, Index.open(made) as index:
        for row in SOME:
            index.query(row)
        index.verify()
    assert "restore it from a copy" in str(told.value)


def test_a_damaged_page_is_found(made: Path) -> None:
    data = bytearray(made.read_bytes())
    for at in range(len(data) // 2 + 8, len(data) - 4096, 4096):
        data[at : at + 200] = os.urandom(200)
    made.write_bytes(data)
    try:
        with Index.open(made) as index:
            check = index.verify()
    except IndexDamaged as problem:
        assert "is damaged" in str(problem)
    else:
        assert not check.whole


def test_a_read_only_file(made: Path) -> None:
    if os.getuid() == 0:  # for root no file is read-only, so the connection is
        with Index.open(made) as index:
            event.listen(index.transactions.store.engine, "connect", lambda c, _: c.execute("PRAGMA query_only=ON"))
            index.transactions.store.engine.dispose()
            with pytest.raises(OutputError, match=r"cannot write to .*: it is read-only; ask for the right"):
                index.remove("d1")
            assert index.query(SOME[1])
    else:
        made.chmod(0o444)
        made.parent.chmod(0o555)
        try:
            with pytest.raises(OutputError, match="cannot"), Index.open(made) as index:
                index.remove("d1")
        finally:
            made.parent.chmod(0o755)
            made.chmod(0o644)
    with Index.open(made) as index:
        assert index.get("d1") is not None and index.verify().whole


def test_a_full_disk(made: Path) -> None:
    with Index.open(made) as index:
        before = index.stats()
        limit = index.transactions.store.engine

        def shrink(connection: Any, _: Any) -> None:
            connection.execute(f"PRAGMA max_page_count={before.bytes // 4096 + 3}").fetchall()

        event.listen(limit, "connect", shrink)
        limit.dispose()
        with pytest.raises(DiskFull, match=r"no space left for .*: what was acknowledged is safe; free some"):
            index.add(
                [{"doc_id": f"n{n}", "text": f"{document(n)['text']} {os.urandom(4000).hex()}"} for n in range(99)]
            )
        assert index.stats().documents == before.documents and index.verify().whole
    with Index.open(made) as index:
        assert len(index.add([document(1000)])) == 1


def test_another_writer_for_too_long(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "_FIRST_WAIT", 0.01)
    monkeypatch.setattr("roughly.index.storage.store.BUSY_SECONDS", 0.05)
    holder = sqlite3.connect(made, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with Index.open(made) as index:
        with pytest.raises(IndexAway, match="another process has been writing"):
            index.add(document(100))
        assert index.query(SOME[0])  # readers do not wait
        holder.execute("ROLLBACK")
        assert index.add(document(100))[0].status == "added"
    holder.close()


def test_a_wrong_password_and_a_database_that_is_not_there(server: Server) -> None:
    server.sql("CREATE ROLE locked LOGIN PASSWORD 'right'")
    rules = server.data / "pg_hba.conf"
    content = rules.read_text(encoding="utf-8")
    rules.write_text(f"local all locked scram-sha-256\n{content}", encoding="utf-8")
    server.sql("SELECT pg_reload_conf()")
    time.sleep(0.3)
    wrong = f"postgresql://locked:wrong@/postgres?host={server.home}"
    start = time.perf_counter()
    for work in (Index.open, Index.create):
        with pytest.raises(IndexAway, match="the server refuses the user or the password; check both") as told:
            work(wrong)
        assert "wrong" not in str(told.value)
    with pytest.raises(IndexAway, match='database "nowhere" does not exist; make it first'):
        Index.open(server.address("nowhere"))
    assert time.perf_counter() - start < 5  # such things are not tried again and again
    with pytest.raises(IndexRefused, match="holds no index of roughly"):
        Index.open(server.database())


@pytest.mark.slow
def test_a_server_that_is_away_and_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server()
    try:
        where = server.database()
        with Index.create(where) as index:
            index.add(SOME[:20])
            server.stop("immediate")
            with monkeypatch.context() as patched:
                patched.setattr(failures, "_FIRST_WAIT", 0.01)
                with pytest.raises(IndexAway, match=r"cannot be reached: .*; nothing was written, try again"):
                    index.add(SOME[20:])
                with pytest.raises(IndexAway, match="cannot be reached"):
                    Index.open(where)
            back = threading.Timer(0.5, server.start)
            back.start()
            assert len(index.add(SOME[20:])) == 20  # tried again until it was back
            back.join()
            assert index.stats().documents == 40 and index.verify().whole
    finally:
        server.close()


def test_what_passes_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "_FIRST_WAIT", 0.001)
    tries = []

    def work() -> int:
        tries.append(1)
        if len(tries) < 3:
            raise OperationalError("x", {}, sqlite3.OperationalError("database is locked"))
        return 7

    assert failures.attempt("a.db", work) == 7 and len(tries) == 3
    with pytest.raises(IndexAway, match="tell me"):
        failures.attempt("a.db", lambda: (_ for _ in ()).throw(OperationalError("x", {}, Exception("tell me"))))


def test_an_import_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import roughly
    from roughly.index.upkeep import bulk_load as loading

    def fail(*_: Any) -> None:
        raise OperationalError("x", {}, sqlite3.OperationalError("database or disk is full"))

    monkeypatch.setattr(loading._Loader, "finish", fail)
    with pytest.raises(OutputError, match=r"no space left for .*; the run itself is in .*roughly index import"):
        roughly.dedupe(SOME, output=tmp_path / "out", index=tmp_path / "a.db")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    monkeypatch.undo()
    with pytest.raises(DiskFull):
        monkeypatch.setattr(loading._Loader, "finish", fail)
        roughly.dedupe(SOME, index=tmp_path / "a.db")


def test_settings_without_psycopg(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(SettingsError, match=r"install it with roughly\[postgres\]"):
        IndexStore("postgresql://host/x")
    assert Settings() is not None
