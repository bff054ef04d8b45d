"""Conrad's 184 bytes from a command: signed, read back, and clustered as the signatures they stand for."""

from __future__ import annotations

import json
import random
import sqlite3
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import roughly
from commands import run_roughly
from roughly import lexicon
from roughly.errors import InputError, SettingsError
from roughly.methods.stored_vector import SIZE, compare, unpack
from roughly.settings import Settings
from roughly.signing.request import SignRequest
from roughly.signing.sign_files import run_sign


@pytest.fixture(scope="module")
def news(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Stories with near-copies of other dates, some before 1980, and stories too short to sign."""
    dice = random.Random(3)
    words = [word for word, _ in lexicon.default().terms() if word.isalpha() and len(word) > 2][2000:6000]
    path = tmp_path_factory.mktemp("news") / "news.jsonl"
    rows = []
    for family in range(12):
        listed = dice.sample(words, 90 if family else 8)
        year = 1950 + 6 * family
        for copy, day in enumerate((1, 20, 28)):
            own = list(listed)
            for at in dice.sample(range(len(own)), copy):
                own[at] = dice.choice(words)
            month = 5 if copy < 2 else 9  # the last is outside the window of six weeks
            rows.append({"id": f"{family:02}{copy}", "text": " ".join(own), "date": f"{year}-{month:02}-{day:02}"})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def clusters(path: Path) -> dict[str, list[str]]:
    return roughly.recluster(path).clusters


def test_packed_signatures_give_the_clusters_of_plain_ones(news: Path, tmp_path: Path) -> None:
    plain, packed = tmp_path / "plain.parquet", tmp_path / "packed.parquet"
    assert run_roughly("sign", str(news), "-o", str(plain), "--method", "term-vector").returncode == 0
    done = run_roughly("sign", str(news), "-o", str(packed), "--method", "term-vector", "--packed")
    assert done.returncode == 0 and "36, 3 of them without a signature" in done.stdout, done.stdout + done.stderr
    table = pq.read_table(packed)
    assert table.column_names == ["doc_id", "packed"] and table["packed"].type.byte_width == SIZE == 184
    found = clusters(packed)
    assert found == clusters(plain) and len(found) == 11 and all(len(own) == 2 for own in found.values())
    rows = dict(zip(table["doc_id"].to_pylist(), table["packed"].to_pylist(), strict=True))
    assert str(unpack(rows["010"]).date) == "1956-05-01"
    for left in rows:
        for right in rows:
            together = any({left, right} <= set(own) for own in found.values())
            assert left == right or compare(rows[left], rows[right]).duplicates == together
    told = run_roughly("cluster", str(packed), str(packed), "--json")
    assert told.returncode != 0 and "two documents have the id" in told.stderr


def test_what_cannot_be_packed_is_refused(news: Path, tmp_path: Path) -> None:
    done = run_roughly("sign", str(news), "-o", str(tmp_path / "x.parquet"), "--method", "imatch", "--packed")
    assert done.returncode != 0 and "--packed is the form of term-vector" in done.stderr
    old = tmp_path / "old.jsonl"
    old.write_text('{"id": "letter", "date": "1850-06-01", "text": "Dear Sir"}\n', encoding="utf-8")
    done = run_roughly("sign", str(old), "-o", str(tmp_path / "x.parquet"), "--method", "term-vector", "--packed")
    assert done.returncode == 1
    assert "document letter: 1850-06-01 does not fit two bytes of --packed (1890-04-15 to 2069-09-17)" in done.stderr
    packed = tmp_path / "packed.parquet"
    preset = run_roughly("sign", str(news), "-o", str(packed), "--preset", "conrad-2003-vector", "--packed")
    assert preset.returncode == 0, preset.stderr
    table = pq.read_table(packed)
    pq.write_table(table.drop(["packed"]), packed)
    with pytest.raises(InputError, match="its column packed is missing"):
        clusters(packed)
    with pytest.raises(SettingsError, match="with 60 terms"):
        run_sign(
            None, [news], Settings.gather({"method": "term-vector", "terms": 30, "shared": 20}),
            SignRequest(output=tmp_path / "y.parquet", packed=True),
        )  # fmt: skip


def test_an_index_of_packed_vectors_has_the_pairs_of_a_run(news: Path, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in news.read_text(encoding="utf-8").splitlines()]
    rows.append({**rows[5], "id": "equal", "date": "1700-01-01"})  # two bytes do not hold its date
    rows.append({**rows[8], "id": "undated", "date": None, "text": rows[8]["text"] + " more"})
    wanted = roughly.dedupe(rows, method="term-vector", pairs="all").pairs.to_pylist()
    with roughly.Index.create(tmp_path / "a.db", method="term-vector", store="packed") as index:
        index.add(rows)
        found = index.pairs().to_pylist()
        assert index.stats().store == "packed" and index.verify().problems == []
    columns = ("left_id", "right_id", "resemblance")
    assert [[row[name] for name in columns] for row in found] == [[row[name] for name in columns] for row in wanted]
    assert len(found) > 11
    with sqlite3.connect(tmp_path / "a.db") as database:
        signs = database.execute("SELECT length(sketch), packed FROM signs").fetchall()
        assert set(signs) == {(SIZE, None)} and not database.execute("SELECT * FROM bodies").fetchall()
        first = database.execute("SELECT sketch FROM signs ORDER BY content").fetchone()[0]
    assert str(unpack(first).date) == "1950-05-01"
    asked = run_roughly("index", "query", "a.db", str(news), cwd=tmp_path).stdout
    assert "\n010\t011\t" in asked and "\n010\t012\t" not in asked
    with roughly.Index.open(tmp_path / "a.db") as index:
        index.remove("010")
        assert [match.doc_id for match in index.query(rows[3])] == ["011"] and index.verify().problems == []
        with pytest.raises(SettingsError, match="no texts"):
            index.make_searchable()


def test_other_methods_have_no_packed_form(tmp_path: Path) -> None:
    made = run_roughly("index", "create", "a.db", "--store", "packed", cwd=tmp_path)
    assert made.returncode == 2 and "packed is the form of term-vector with 60 terms" in made.stderr
    with pytest.raises(SettingsError, match="60 terms"):
        roughly.Index.create(":memory:", store="packed", method="term-vector", terms=50)
