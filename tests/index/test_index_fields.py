"""An index whose verdict compares titles, hosts, sources and dates: the pairs are those of a batch run."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import roughly
from notices import ALL, HOST, SETTINGS, WEEK, notices
from roughly.cli.app import app
from roughly.index import Index
from roughly.settings import Settings


def made(where: Path, verdict: str) -> Index:
    return Index.create(where, Settings.gather(SETTINGS, {"verdict": verdict}))


def pairs_of(table: Any) -> set[tuple[str, str]]:
    return {(row["left_id"], row["right_id"]) for row in table.to_pylist()}


def batch_pairs(rows: list[dict[str, Any]], verdict: str) -> set[tuple[str, str]]:
    return pairs_of(roughly.dedupe(rows, pairs="all", verdict=verdict, **SETTINGS).pairs)


@pytest.mark.parametrize("verdict", [WEEK, HOST, ALL])
def test_the_pairs_are_those_of_a_batch_run(verdict: str, tmp_path: Path) -> None:
    rows = notices(90)
    expected = batch_pairs(rows, verdict)
    assert len(expected) > 50
    with made(tmp_path / "a.db", verdict) as index:
        index.add(random.Random(2).sample(rows, len(rows)), at_once=17)
        assert pairs_of(index.pairs()) == expected
        assert index.verify().whole
        partners = {frozenset(pair) for pair in expected}
        for row, found in zip(rows, index.queries(rows, limit=None), strict=True):
            told = {match.doc_id for match in found} - {row["id"]}
            assert told == {name for pair in partners if row["id"] in pair for name in pair - {row["id"]}}
        index.remove([row["id"] for row in rows[::3]])
        rest = [row for n, row in enumerate(rows) if n % 3]
        assert pairs_of(index.pairs()) == batch_pairs(rest, verdict) and index.verify().whole
    with Index.open(tmp_path / "a.db") as index:
        assert index.settings.verdict == verdict


def test_a_document_that_gets_another_date_is_compared_anew(tmp_path: Path) -> None:
    text = "the library is closed today"
    with made(tmp_path / "a.db", WEEK) as index:
        index.add({"id": "a", "text": text, "date": "2024-03-01"})
        (added,) = index.add({"id": "b", "text": text, "date": "2024-06-01"})
        assert (added.status, added.match) == ("added", None) and not pairs_of(index.pairs())
        (added,) = index.add({"id": "b", "text": text, "date": "2024-03-03"})
        assert added.status == "updated" and added.match is not None and added.match.doc_id == "a"
        assert pairs_of(index.pairs()) == {("b", "a")} and index.stats().contents == 2
        (added,) = index.add({"id": "b", "text": text, "date": "2024-03-01"})
        assert added.status == "updated" and index.stats().contents == 1 and index.verify().whole
        near, far, unknown = index.queries(
            [{"id": n, "text": text, "date": day} for n, day in enumerate(("2024-03-06", "2024-05-01", None))]
        )
        assert {match.doc_id for match in near} == {"a", "b"} and not far and not unknown


def test_a_damaged_date_is_found(tmp_path: Path) -> None:
    with made(tmp_path / "a.db", WEEK) as index:
        index.add(notices(20))
        with index.transactions.store.write_transaction() as connection:
            connection.exec_driver_sql("UPDATE documents SET day = day + 9")
        assert any("another digest" in problem for problem in index.verify().problems)


def test_match_group_and_archives_compare_fields_too(tmp_path: Path) -> None:
    text = "the library is closed today"
    archive = [{"id": "a", "text": text, "date": "2024-03-01"}, {"id": "b", "text": text, "date": "2024-06-01"}]
    new = [{"id": f"new {day}", "text": text, "date": f"2024-{day}"} for day in ("03-04", "04-15", "06-02", "04-16")]
    with made(tmp_path / "a.db", WEEK) as index:
        index.add(archive)
        answers = list(roughly.match(index, new))
        assert [answer.match and answer.match.doc_id for answer in answers] == ["a", None, "b", None]
        found = roughly.dedupe(new, against=index).documents.to_pylist()
        assert {row["doc_id"]: row["kept_id"] for row in found} == {
            "new 03-04": "a", "new 04-15": "new 04-15", "new 04-16": "new 04-15", "new 06-02": "b",
        }  # fmt: skip
        index.add(new)
        results = [row | {"doc_id": row["id"]} for row in (*archive, *new)]
        groups = [
            roughly.group_results(results, settings=Settings.gather(SETTINGS, {"verdict": WEEK})),
            roughly.group_results([{"doc_id": row["id"]} for row in results], index=index),
        ]
        for grouped in groups:
            assert [[one.doc_id for one in (g.shown, *g.duplicates)] for g in grouped] == [
                ["a", "new 03-04"], ["b", "new 06-02"], ["new 04-15", "new 04-16"],
            ]  # fmt: skip


def test_an_index_made_of_a_run_is_that_of_its_documents(tmp_path: Path) -> None:
    rows, source, settings = notices(60), tmp_path / "a.jsonl", tmp_path / "a.toml"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    listed = "".join(f"{name} = {value}\n" for name, value in SETTINGS.items())
    settings.write_text(f'{listed}verdict = "{ALL}"\n', encoding="utf-8")
    run = CliRunner().invoke
    for arguments in (
        ["dedupe", str(source), "-o", str(tmp_path / "out"), "--settings", str(settings), "--pairs", "all"],
        ["index", "import", str(tmp_path / "a.db"), str(tmp_path / "out")],
    ):
        done = run(app, arguments)
        assert done.exit_code == 0, done.output
    with Index.open(tmp_path / "a.db") as index:
        assert pairs_of(index.pairs()) == batch_pairs(rows, ALL) and index.verify().whole
        assert all(added.status == "unchanged" for added in index.add(rows))


def test_commands_say_what_no_document_has(tmp_path: Path) -> None:
    text, run = "the library is closed today", CliRunner().invoke
    rows = [{"id": n, "text": text, "day of print": f"2024-0{n}-01"} for n in (1, 2)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    made(tmp_path / "a.db", WEEK).close()
    index, documents = str(tmp_path / "a.db"), str(tmp_path / "a.jsonl")
    done = run(app, ["index", "query", index, documents])
    assert "compares each document's date, and none of these has one; name the column with --date-column" in done.stderr
    done = run(app, ["index", "add", index, documents, "--date-column", "day of print"])
    assert done.exit_code == 0 and "note" not in done.stderr and "matched     0 of them" in done.stdout
    asked = {"id": "x", "text": text, "printed": "2024-02-03"}
    done = run(app, ["match", index, "--date-column", "printed"], input=json.dumps(asked) + "\n")
    assert done.exit_code == 0 and done.stdout.split("\t")[:3] == ["known", "x", "2"]
