"""`roughly index …`: every command does what its help says, with JSON and exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from test_index_and_batch import write
from test_index_upkeep import as_format_2, run_sql

from commands import run_roughly
from roughly import Index, lexicon
from roughly.cli.app import app
from roughly.errors import RoughlyError, SettingsError

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A command in a folder of its own: (exit code, standard output)."""
    monkeypatch.chdir(tmp_path)

    def call(*words: object, stdin: str | None = None) -> tuple[int, str]:
        done = CliRunner().invoke(app, ["index", *map(str, words)], input=stdin)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return done.exit_code, done.stdout

    return call


def test_a_life(run: Run, rows: list[dict[str, Any]], tmp_path: Path) -> None:
    write(rows, tmp_path / "in.jsonl")
    assert run("create", "a.db", "--threshold", 0.7, "--json")[0] == 0
    code, told = run("add", "a.db", "in.jsonl", "--json")
    counts = json.loads(told)
    assert code == 0 and counts["added"] == len(rows) and counts["matched"] > 10
    code, told = run("add", "a.db", "in.jsonl", "--each")
    assert {json.loads(line)["status"] for line in told.splitlines()} == {"unchanged"}
    line = json.dumps({"id": "asked", "text": rows[0]["text"]})
    code, told = run("query", "a.db", "-", "--json", "--limit", 2, stdin=line)
    assert [m["resemblance"] for m in json.loads(told)["matches"]] == [1.0, 1.0]
    code, told = run("query", "a.db", "-", "--minimum", 0.99, stdin=line)
    assert code == 0 and told.splitlines()[1].split("\t")[:2] == ["asked", rows[0]["id"]]
    assert run("remove", "a.db", rows[0]["id"]) == (0, "removed     1\n")
    code, told = run("revoke", "a.db", "-", "--json", stdin=f"{rows[1]['id']}\nnobody\n")
    assert (code, json.loads(told)) == (3, {"revoked": 1, "missing": ["nobody"]})
    code, told = run("stats", "a.db", "--json")
    assert json.loads(told)["documents"] == len(rows) - 1 and json.loads(told)["revoked"] == 1
    assert "revoked     1 text" in run("stats", "a.db")[1]
    code, told = run("expire", "a.db", "--before", "2015-01-01", "--json")
    assert code == 0 and json.loads(told)["expired"] >= 0
    assert run("expire", "a.db", "--older-than", "2w") == (0, "expired     0\n")
    assert run("verify", "a.db")[0] == 0
    assert json.loads(run("verify", "a.db", "--json", "--sample", 5)[1])["compared"] == 5
    assert run("export", "a.db", "-o", "all.parquet", "--pairs", "pairs.parquet")[0] == 0
    assert pq.read_table("all.parquet").num_rows == json.loads(run("stats", "a.db", "--json")[1])["documents"]
    assert pq.read_table("pairs.parquet").num_rows > 10
    assert run("upgrade", "a.db") == (0, "format      3, as it was\n")
    with Index.open("a.db") as index:
        run_sql(index, "DELETE FROM bodies")
    code, told = run("verify", "a.db")
    assert code == 3 and "contents have no body" in told and "whole       no" in told


def test_an_old_one_and_a_new_lexicon(
    run: Run, rows: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (1, 3):
        lexicon.build(rows[::number], output=tmp_path / f"{number}.lexicon")
    write(rows, tmp_path / "in.jsonl")
    run("create", "a.db", "--method", "imatch", "--lexicon", "1.lexicon", "--filter", "IDF-L-20")
    run("add", "a.db", "in.jsonl", "--quiet")
    code, told = run("refresh", "a.db", "--lexicon", "3.lexicon", "--json")
    done = json.loads(told)
    assert code == 0 and 0 < done["changed"] <= done["contents"] and not done["resumed"]
    with Index.open("a.db") as index:
        as_format_2(index, monkeypatch)
    assert json.loads(run("upgrade", "a.db", "--json")[1]) == {"before": 2, "now": 3}
    assert run("verify", "a.db")[0] == 0


def test_a_run_imported(run: Run, rows: list[dict[str, Any]], tmp_path: Path) -> None:
    write(rows, tmp_path / "in.jsonl")
    with_index = CliRunner().invoke(app, ["dedupe", "in.jsonl", "-o", "out", "--index", "a.db", "--quiet"])
    assert with_index.exit_code == 0, with_index.output
    code, told = run("import", "b.db", "out", "--json", "--store", "shingles")
    assert code == 0 and json.loads(told)["documents"] == len(rows)
    with Index.open("a.db") as one, Index.open("b.db") as other:
        assert one.pairs().equals(other.pairs())
    against = CliRunner().invoke(app, ["dedupe", "in.jsonl", "-o", "rest", "--against", "a.db", "--quiet"])
    assert against.exit_code == 0 and pq.read_table("rest/documents.parquet")["in_archive"].to_pylist() == [True] * len(
        rows
    )


def test_bad_records_and_bad_words(run: Run, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text('{"id": "a", "text": "one two three"}\n{"id": "b"}\n', encoding="utf-8")
    run("create", "a.db")
    assert run("add", "a.db", "in.jsonl", "--quiet")[0] == 3
    with Index.open("a.db") as index:
        assert index.stats().documents == 1
    for words, told in (
        (("expire", "a.db", "--older-than", "soon"), "older-than must be a time such as 42d"),
        (("expire", "a.db"), "expire by the documents' date"),
        (("query", "a.db", "in.jsonl", "--measure", "size"), "measure must be one of"),
        (("create", "b.db", "--store", "all"), "store must be one of"),
        (("create", "b.db", "--method", "imatch", "--lexicon", "collection"), "bound to a frozen lexicon"),
    ):
        with pytest.raises(SettingsError, match=told):
            run(*words)
    with pytest.raises(RoughlyError, match="no index at"):
        run("stats", "none.db")


def test_documents_without_ids_replace_nothing(tmp_path: Path) -> None:
    """A file of the same name with other lines, the next day: every document is there."""
    where, source = tmp_path / "days.db", tmp_path / "today.jsonl"
    assert run_roughly("index", "create", where).returncode == 0
    for day in ("Monday", "Tuesday"):
        lines = [f"What happened on {day}, as number {i} tells it." for i in range(3)]
        source.write_text("".join(json.dumps({"text": line}) + "\n" for line in lines))
        done = run_roughly("index", "add", where, source)
        assert done.stdout.startswith("added       3, 0 updated, 0 unchanged"), done.stdout
    again = run_roughly("index", "add", where, source)
    assert again.stdout.startswith("added       0, 0 updated, 3 unchanged")
    line = json.dumps({"text": "What happened on Monday, as number 0 tells it."})
    assert json.loads(run_roughly("match", where, "--json", stdin=line + "\n").stdout)["verdict"] == "known"
    named = run_roughly("index", "add", where, source, "--id-prefix", "tuesday/", "--each")
    assert [json.loads(line)["doc_id"] for line in named.stdout.splitlines()] == [
        f"tuesday/today.jsonl:{number}" for number in (1, 2, 3)
    ]
    (tmp_path / "ids.jsonl").write_text('{"id": "mine", "text": "An id of its own."}\n')
    kept = run_roughly("index", "add", where, tmp_path / "ids.jsonl", "--id-prefix", "x", "--each")
    assert json.loads(kept.stdout)["doc_id"] == "mine"
