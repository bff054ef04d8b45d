"""Search results: grouped as a batch run would, nothing discarded, who is shown, from texts and from stores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

import roughly
from roughly import Index, Settings, group_results
from roughly.cli.app import app
from roughly.errors import DuplicateIds, InputError, SettingsError
from roughly.options import METHODS
from roughly.results.groups import Grouped
from roughly.results.judged_results import StoredSignatures
from roughly.signing.sign_files import sign
from stream_texts import edited, prose

Row = dict[str, Any]


@pytest.fixture(scope="module")
def results() -> list[Row]:
    """Forty results: ten stories, each in four versions of other dates and lengths, mixed."""
    rows = []
    for n in range(40):
        text = prose(n % 10, 150)
        text = text if n < 10 else edited(text, n) if n < 20 else f"{text} {prose(n, 3)}" if n < 30 else text
        rows.append({"doc_id": f"r{n}", "text": text, "date": f"2024-01-{28 - n % 27:02d}", "title": f"Story {n % 10}"})
    return rows


def ids(found: Grouped) -> list[list[str]]:
    return [[group.shown.doc_id, *(one.doc_id for one in group.duplicates)] for group in found]


def test_duplicates_stand_under_the_first_and_nothing_is_discarded(results: list[Row]) -> None:
    found = group_results(results)
    assert ids(found) == [[f"r{n}", f"r{n + 10}", f"r{n + 20}", f"r{n + 30}"] for n in range(10)]
    assert found.results == 40 and found.scores == "exact" and len(found) == 10
    for group in found:
        text = results[group.shown.rank - 1]["text"]
        for one in group.duplicates:
            mine = results[one.rank - 1]["text"]
            assert one.resemblance == pytest.approx(roughly.resemblance(mine, text))
            assert one.containment == pytest.approx(roughly.containment(mine, text))
            assert one.contained_in == pytest.approx(roughly.containment(text, mine))
        assert group.shown.resemblance is None


@pytest.mark.parametrize("method", METHODS)
def test_every_method_groups_as_a_batch_run_that_keeps_the_first(results: list[Row], method: str) -> None:
    found = group_results(results, method=method)
    batch = roughly.dedupe(
        [{**row, "id": row["doc_id"]} for row in results], method=method, keep=("first",), id_column="id"
    )
    shown = {one: group[0] for group in ids(found) for one in group}
    assert shown == dict(zip(*(batch.documents[name].to_pylist() for name in ("doc_id", "kept_id")), strict=True))


def test_who_is_shown(results: list[Row]) -> None:
    newest, oldest = group_results(results, show="newest"), group_results(results, show="oldest")
    longest = group_results(results, show="longest")
    for found, best in ((newest, max), (oldest, min)):
        for group in found:
            assert group.shown.date == best(one.date or "" for one in (group.shown, *group.duplicates))
    assert all(g.shown.tokens >= max(d.tokens for d in g.duplicates) for g in longest)
    for found in (newest, oldest, longest):
        firsts = [min(one.rank for one in (group.shown, *group.duplicates)) for group in found]
        assert firsts == sorted(firsts), "a group stands where its first result stood"
        assert all([d.rank for d in g.duplicates] == sorted(d.rank for d in g.duplicates) for g in found)
    undated = [{**row, "date": None if row["doc_id"] < "r2" else row["date"]} for row in results]
    assert all(
        g.shown.date is not None for g in group_results(undated, show="oldest") if any(d.date for d in g.duplicates)
    )


@pytest.mark.parametrize(
    "method", ["shingles", "super-shingles", "mega-shingles", "word-lsh", "imatch", "rare-terms", "term-vector"]
)
def test_stored_signatures_give_the_same_groups(results: list[Row], method: str, tmp_path: Path) -> None:
    sign(results, output=tmp_path / "s.parquet", method=method)
    named = [row["doc_id"] for row in results]
    found = group_results(named, signatures=StoredSignatures(tmp_path / "s.parquet"))
    assert ids(found) == ids(group_results(results, method=method))
    assert ids(group_results(results[:7], signatures=tmp_path / "s.parquet")) == ids(
        group_results(results[:7], method=method)
    )


@pytest.mark.parametrize("store", ["text", "shingles", "sketch"])
@pytest.mark.parametrize("method", ["minhash", "shingles", "imatch", "term-vector", "identical"])
def test_an_index_gives_the_same_groups(results: list[Row], method: str, store: str, tmp_path: Path) -> None:
    with Index.create(tmp_path / "i.db", Settings(method=method), store=store) as index:
        index.add([*results, {"doc_id": "other", "text": prose(77)}])
        found = group_results([{"doc_id": row["doc_id"]} for row in results], index=index)
    assert ids(found) == ids(group_results(results, method=method))
    assert found.groups[0].shown.title == "Story 0", "what the index knows is told"
    if method == "minhash":
        assert found.scores == ("estimated" if store == "sketch" else "exact")


def test_a_revoked_result_stands_alone(results: list[Row], tmp_path: Path) -> None:
    with Index.create(tmp_path / "i.db") as index:
        index.add(results)
        index.revoke("r10")
        found = ids(group_results([row["doc_id"] for row in results], index=index))
    assert ["r10"] in found and ["r0", "r20", "r30"] in found


def test_with_containment_the_longest_is_shown(results: list[Row]) -> None:
    long = {"doc_id": "long", "text": f"{prose(1, 150)} {prose(50, 300)}"}
    found = group_results([*results[:5], long], measure="containment")
    assert ["long", "r1"] in ids(found)


def test_other_ways_to_give_results(results: list[Row]) -> None:
    assert ids(group_results(pa.Table.from_pylist(results))) == ids(group_results(results))
    assert ids(group_results([row["text"] for row in results[:12]]))[0] == ["1", "11"]
    assert len(group_results([])) == 0
    assert ids(group_results([{"text": " "}, {"text": "…"}, {"text": "x"}])) == [["1", "2"], ["3"]]
    shown = str(group_results(results[:1] + results[10:11] + results[1:2]))
    score = roughly.resemblance(results[10]["text"], results[0]["text"])
    assert shown.splitlines() == [
        "1  Story 0  2024-01-28", f"     2  {score:.2f}  Story 0  2024-01-18", "3  Story 1  2024-01-27"
    ]  # fmt: skip


def test_what_makes_no_sense_is_refused(results: list[Row], tmp_path: Path) -> None:
    index = Index.create(tmp_path / "i.db")
    for problem, arguments in (
        ("show must be one of rank, newest, oldest, longest, not 'best'", {"show": "best"}),
        ("not both", {"index": index, "signatures": "x"}),
        ("settings of its own", {"index": index, "threshold": 0.5}),
        ("give settings, or options by name", {"settings": Settings(), "threshold": 0.5}),
        ("no collection to count", {"method": "imatch", "lexicon": "collection"}),
    ):
        with pytest.raises(SettingsError, match=problem):
            group_results(results, **arguments)  # type: ignore[arg-type]
    for kind, message, given in (
        (InputError, "does not hold 40 of the results, 'r0'", {"results": results, "index": index}),
        (InputError, "result 1 .* has no text", {"results": [{"doc_id": "a"}]}),
        (InputError, "result 1: a mapping", {"results": [7]}),
        (InputError, "results cannot be read from an object of type str", {"results": "text"}),
        (InputError, "result 1 has no doc_id", {"results": [{"text": "x"}], "index": index}),
        (DuplicateIds, "two results have the id 'a'", {"results": [{"id": "a", "text": "x"}] * 2}),
        (InputError, "not valid Unicode", {"results": ["\ud800"]}),
    ):
        with pytest.raises(kind, match=message):
            group_results(**given)  # type: ignore[arg-type]


def test_the_command(results: list[Row], tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in results), encoding="utf-8")
    run = CliRunner().invoke
    done = run(app, ["group", str(path)])
    assert done.exit_code == 0 and done.stdout == str(group_results(results)) + "\n"
    assert "40 results in 10 groups; scores: exact" in done.stderr
    told = json.loads(run(app, ["group", str(path), "--show", "newest", "--method", "imatch", "--json"]).stdout)
    assert told == json.loads(json.dumps(group_results(results, show="newest", method="imatch").to_dict()))
    sign(results, output=tmp_path / "s.parquet", method="imatch")
    named = tmp_path / "ids.jsonl"
    named.write_text("".join(json.dumps({"id": row["doc_id"]}) + "\n" for row in results), encoding="utf-8")
    stored = run(app, ["group", str(named), "--signatures", str(tmp_path / "s.parquet"), "--json"])
    listed = [group["shown"]["doc_id"] for group in json.loads(stored.stdout)["groups"]]
    assert listed == [group[0] for group in ids(group_results(results, method="imatch"))]
    with Index.create(tmp_path / "i.db") as index:
        index.add(results)
    assert run(app, ["group", str(named), "--index", str(tmp_path / "i.db")]).stdout == done.stdout
    refused = run(app, ["group", str(named), "--index", str(tmp_path / "i.db"), "--threshold", "0.5"])
    assert isinstance(refused.exception, SettingsError)
    path.write_text(path.read_text(encoding="utf-8") + "broken\n", encoding="utf-8")
    bad = run(app, ["group", str(path)])
    assert bad.exit_code == 3 and "line 41" in bad.stderr and bad.stdout == done.stdout
