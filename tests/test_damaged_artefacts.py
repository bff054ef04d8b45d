"""Artefacts that were damaged or changed: one sentence about each, never a traceback, never a crash.

Fifty seeded places of every file of an index, a file of signatures, a folder of sketches and a run's folder are cut,
flipped, overwritten, filled with zeros or pushed aside; what reads the file then gives an answer or a `RoughlyError`.
"""

from __future__ import annotations

import json
import pickle
import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import roughly
from commands import run_roughly
from roughly import Index, lexicon
from roughly.engines.local.kept_parts import _runs
from roughly.errors import IndexDamaged, InputError, InputMissing, RoughlyError, ServiceRefused, SettingsError
from roughly.service.collection.collection_types import ClusterQuery
from roughly.service.collection.passages_collection import PassagesCollection
from roughly.service.collection.run_collection import RunCollection

PLACES = 50
ROWS = [
    {"id": f"d{n}", "title": f"t{n}", "text": " ".join(f"w{n // 3 * 50 + i}" for i in range(60)) + f" x{n % 3}"}
    for n in range(60)
]


@pytest.fixture(scope="module")
def artefacts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one artefact of each kind."""
    folder = tmp_path_factory.mktemp("artefacts")
    given = folder / "in.jsonl"
    given.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    roughly.dedupe(given, output=folder / "run", pairs="all")
    for command in (("sign", given, "-o", folder / "signatures.parquet"), ("sketch", given, "-o", folder / "sketches")):
        assert run_roughly(*map(str, command), "--quiet").returncode == 0
    with Index.create(folder / "index.db", search=True) as index:
        index.add(ROWS)
    return folder


def damaged(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data))
    how = chance.choice(["cut", "flip", "flip", "overwrite", "insert", "zeros"])
    if how == "cut":
        return data[:at]
    if how == "flip":
        return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]
    if how == "insert":
        return data[:at] + chance.randbytes(3) + data[at:]
    return data[:at] + (chance.randbytes(16) if how == "overwrite" else bytes(64)) + data[at + 16 :]


def search(path: Path) -> None:
    with Index.open(path) as index:
        index.query(ROWS[3]["text"])
        index.search("w3")
        index.text("d3")
        index.stats()


def verify(path: Path) -> None:
    with Index.open(path) as index:
        index.verify()


def add(path: Path) -> None:
    with Index.open(path) as index:
        index.add({"doc_id": "new", "text": ROWS[3]["text"] + " more"})
        index.remove("d4")


def export(path: Path) -> None:
    with Index.open(path) as index:
        index.export(path.with_name("out.parquet"))


def cluster(path: Path) -> None:
    roughly.recluster(path)


def import_run(path: Path) -> None:
    Index.import_run(path, path.with_name("imported.db")).close()


def browse(path: Path) -> None:
    run = RunCollection(path)
    try:
        run.statistics()
        run.clusters(ClusterQuery())
        run.texts(["d1", "d2"])
    finally:
        run.close()


def outcome(work: Callable[[Path], None], path: Path) -> str:
    """`answered`, or the sentence that says why not."""
    try:
        work(path)
    except RoughlyError as problem:
        sentence = str(problem)
        assert sentence and "\n" not in sentence.strip(), sentence
        return sentence
    return "answered"


@pytest.mark.parametrize(
    ("name", "file", "work"),
    [
        ("index.db", "", search),
        ("index.db", "", verify),
        ("signatures.parquet", "", cluster),
        ("sketches", "sketches.parquet", cluster),
        ("run", "run.json", import_run),
        ("run", "run.json", browse),
        ("run", "documents.parquet", import_run),
        ("run", "documents.parquet", browse),
        ("run", "known.parquet", browse),
        ("run", "landmarks.json", browse),
    ],
)
@pytest.mark.slow
def test_damage_at_any_place_is_one_sentence(
    artefacts: Path, tmp_path: Path, name: str, file: str, work: Callable[[Path], None]
) -> None:
    outcomes = []
    for place in range(PLACES):
        copy = tmp_path / str(place) / name
        copy.parent.mkdir()
        if (artefacts / name).is_dir():
            shutil.copytree(artefacts / name, copy)
        else:
            shutil.copy(artefacts / name, copy)
        target = copy / file if file else copy
        target.write_bytes(damaged(target.read_bytes(), random.Random(f"{name} {file} {place}")))
        outcomes.append(outcome(work, copy))
        shutil.rmtree(copy.parent)
    refused = [one for one in outcomes if one != "answered"]
    assert refused or file == "landmarks.json", "landmarks are not needed, so damaged ones are not used"


@pytest.mark.parametrize("value", [None, "x", "", b"\xff\xfe", -1, 2**62, 1.5, "[]"])
def test_values_that_no_index_has_are_told(artefacts: Path, tmp_path: Path, value: object) -> None:
    """SQLite stores anything in any column: verify names the column, and nothing else gives a traceback."""
    columns = [
        ("meta", "value"), ("contents", "tokens"), ("contents", "size"), ("contents", "marks"), ("contents", "cluster"),
        ("documents", "content"), ("documents", "day"), ("documents", "title"), ("bodies", "body"), ("keys", "member"),
    ]  # fmt: skip
    for table, column in columns:
        path = tmp_path / f"{table}.{column}.db"
        shutil.copy(artefacts / "index.db", path)
        connection = sqlite3.connect(path)
        try:
            with connection:
                connection.execute(f"UPDATE {table} SET {column} = ?", [value])
        except sqlite3.IntegrityError:
            continue
        finally:
            connection.close()
        for work in (search, verify, export, add):
            outcome(work, path)


def test_verify_names_the_column(artefacts: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    shutil.copy(artefacts / "index.db", path)
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE contents SET tokens = 'many' WHERE content < 4")
    connection.close()
    with Index.open(path) as index:
        assert any("values of contents.tokens cannot be those of an index" in one for one in index.verify().problems)
        with pytest.raises(IndexDamaged, match=r"contents\.tokens .*restore it from a copy, or import it again"):
            index.query(ROWS[0]["text"])


@pytest.mark.parametrize(("options", "table"), [({"store": "packed"}, "signs"), ({}, "bodies")])
def test_contents_that_lack_what_is_stored_for_them(options: dict[str, str], table: str, tmp_path: Path) -> None:
    words = [word for word, _ in lexicon.default().terms() if word.isalpha() and len(word) > 2][2000:2090]
    path = tmp_path / "a.db"
    with Index.create(path, **({"method": "term-vector"} | options if options else {})) as index:
        index.add([{"doc_id": f"d{n}", "text": " ".join(words[n:])} for n in range(5)])
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(f"DELETE FROM {table}")
    connection.close()
    with Index.open(path) as index:
        assert index.verify().problems
        with pytest.raises(IndexDamaged, match=r"nothing stored for \d+ contents?; restore the index from a copy"):
            index.query(" ".join(words[1:]) + " more")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("counts", {"tokens": "x"}), ("counts", {"tokens": []}), ("counts", None), ("request", {"do": "\0"}),
        ("request", {"do": []}),
    ],
)  # fmt: skip
def test_an_account_of_passages_that_someone_changed(name: str, value: object, artefacts: Path, tmp_path: Path) -> None:
    folder = tmp_path / "passages"
    roughly.passages(artefacts / "in.jsonl", output=folder, least=20)
    account = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    account[name] = account[name] | value if isinstance(value, dict) else value
    (folder / "run.json").write_text(json.dumps(account), encoding="utf-8")
    with pytest.raises(InputError, match=r"run\.json is damaged .*; run passages again"):
        PassagesCollection(folder)


@pytest.mark.parametrize("column", ["resemblance", "left_id"])
def test_decisions_about_pairs_that_lack_a_column(column: str, artefacts: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(artefacts / "run", folder)
    pairs = pq.read_table(folder / "pairs.parquet")
    pq.write_table(pairs.drop_columns([column]), folder / "pairs.parquet")
    with roughly.Decisions(folder) as decisions:
        removed = roughly.Result(folder).removed.to_list()[0]["doc_id"]
        decisions.keep(removed, by="someone")
        with pytest.raises(InputError, match=r"damaged|cannot be read"):
            decisions.effects()


def test_errors_pass_from_process_to_process() -> None:
    for problem in (ServiceRefused("no", 429), SettingsError("a", "b"), InputMissing("x"), IndexDamaged("y")):
        again = pickle.loads(pickle.dumps(problem))
        assert type(again) is type(problem) and str(again) == str(problem) and vars(again) == vars(problem)


@pytest.mark.parametrize("file", ["run.json", "documents.parquet", "pairs.parquet", "clusters.parquet"])
def test_tables_of_a_damaged_run_are_refused(artefacts: Path, tmp_path: Path, file: str) -> None:
    folder = tmp_path / "run"
    shutil.copytree(artefacts / "run", folder)
    (folder / file).write_bytes(b"[" * 100_000)
    table = file.removesuffix(".parquet")
    if file == "run.json":
        with pytest.raises(InputError, match=r"run\.json is damaged .*; run dedupe again"):
            _ = roughly.Result(folder).summary
        return
    with pytest.raises(InputError, match=rf"{file} is damaged .*; run dedupe again"):
        _ = getattr(roughly.Result(folder), table)
    shown = run_roughly("show", folder, table)
    assert shown.returncode == 1 and shown.stderr.count("\n") == 1 and f"{file} is damaged" in shown.stderr


@pytest.mark.parametrize("column", ["part", "row"])
def test_documents_without_a_place_are_not_copied(column: str) -> None:
    places = {"part": [0], "row": [0]} | {column: [None]}
    with pytest.raises(InputError, match=r"known\.parquet is damaged; run dedupe again"):
        list(_runs([pa.record_batch({name: pa.array(values, pa.int64()) for name, values in places.items()})]))
