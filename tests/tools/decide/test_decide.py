"""Decisions about a run: stored beside it, applied to a new one that still keeps the promise of a witness."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import roughly
from commands import run_roughly
from roughly.errors import InputError, InputMissing, OutputExists, SettingsError
from roughly.tools.decide.decision_effects import DecidedDocument

Row = dict[str, Any]
THRESHOLD = 0.6


def family(chance: random.Random, name: str, size: int) -> list[Row]:
    """Versions of one text, each with more words changed: the last hardly resembles the first."""
    words = [f"w{chance.randrange(10**6)}" for _ in range(120)]
    rows = []
    for version in range(size):
        rows.append({"id": f"{name}{version}", "text": " ".join(words), "topic": name})
        for _ in range(3):
            words[chance.randrange(120)] = f"e{chance.randrange(10**6)}"
    return rows


@pytest.fixture
def documents() -> list[Row]:
    chance = random.Random(5)
    return [row for name in "abcdefgh" for row in family(chance, name, 7)]


@pytest.fixture(params=["star", "components"])
def run(request: pytest.FixtureRequest, documents: list[Row], tmp_path: Path) -> Path:
    given = tmp_path / "documents.jsonl"
    given.write_text("".join(json.dumps(row) + "\n" for row in documents), encoding="utf-8")
    roughly.dedupe(given, output=tmp_path / "out", threshold=THRESHOLD, cluster=request.param)
    return tmp_path / "out"


def verdicts(folder: Path) -> dict[str, Row]:
    return {row["doc_id"]: row for row in pq.read_table(folder / "documents.parquet").to_pylist()}


def a_removed(run: Path, number: int = 0) -> Row:
    return [row for row in verdicts(run).values() if not row["kept"]][number]


def check_promise(folder: Path, documents: list[Row], changed: tuple[DecidedDocument, ...]) -> None:
    """Every removed document has a kept one that it truly resembles, or a decision that names it says otherwise."""
    texts = {row["id"]: row["text"] for row in documents}
    found, overridden = verdicts(folder), {one.doc_id for one in changed if one.overridden}
    assert set(found) == set(texts)
    for row in found.values():
        assert found[row["kept_id"]]["kept"], row
        assert found[row["kept_id"]]["cluster_id"] == row["cluster_id"], row
        if not row["kept"] and row["doc_id"] not in overridden:
            assert roughly.resemblance(texts[row["doc_id"]], texts[row["kept_id"]]) >= THRESHOLD, row
    lines = (folder / "kept" / "documents.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == [row for row in documents if found[row["id"]]["kept"]]
    clusters = pq.read_table(folder / "clusters.parquet").to_pylist()
    sizes: dict[str, int] = {}
    for row in found.values():
        sizes[row["cluster_id"]] = sizes.get(row["cluster_id"], 0) + 1
    assert {row["cluster_id"]: row["size"] for row in clusters} == {name: n for name, n in sizes.items() if n > 1}
    counts = json.loads((folder / "run.json").read_text(encoding="utf-8"))["counts"]
    assert counts["kept"] == sum(row["kept"] for row in found.values()) and counts["clusters"] == len(clusters)
    witnesses = {
        (r["left_id"], r["right_id"]) for r in pq.read_table(folder / "pairs.parquet").to_pylist() if r["witness"]
    }
    assert {(r["doc_id"], r["kept_id"]) for r in found.values() if not r["kept"]} == witnesses


def test_keep_this_one_instead(run: Path, documents: list[Row]) -> None:
    chosen = a_removed(run)
    decisions = roughly.Decisions(run)
    made = decisions.keep(chosen["doc_id"], note="has the appendix", by="ann")
    assert made.number == 1 and decisions.about(chosen["doc_id"]) == [made] and len(decisions) == 1
    before = verdicts(run)
    done = decisions.apply()
    assert verdicts(run) == before and done.folder == run.with_name("out.decided")
    after = verdicts(done.folder)
    assert after[chosen["doc_id"]]["kept"] and after[chosen["kept_id"]]["kept_id"] == chosen["doc_id"]
    assert not after[chosen["kept_id"]]["kept"]
    check_promise(done.folder, documents, done.changed)
    account = json.loads((done.folder / "run.json").read_text(encoding="utf-8"))["decided"]
    assert account["decisions"][0]["by"] == "ann" and account["decisions"][0]["note"] == "has the appendix"
    told = [json.loads(line) for line in (done.folder / "changes.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {one["doc_id"]: one["by"] for one in told}[chosen["doc_id"]] == ["ann"]


def test_not_a_duplicate(run: Path, documents: list[Row]) -> None:
    chosen = a_removed(run, 3)
    decisions = roughly.Decisions(run)
    decisions.different(chosen["doc_id"], chosen["kept_id"], by="bob")
    done = decisions.apply()
    after = verdicts(done.folder)[chosen["doc_id"]]
    assert after["kept_id"] != chosen["kept_id"]
    if after["kept"]:
        assert [one.doc_id for one in done.overridden] == [chosen["doc_id"]] and done.overridden[0].by == ("bob",)
    check_promise(done.folder, documents, done.changed)


def test_these_belong_together(run: Path, documents: list[Row]) -> None:
    kept = [row["doc_id"] for row in verdicts(run).values() if row["kept"]]
    first, second = kept[0], next(name for name in kept if name[0] != kept[0][0])
    decisions = roughly.Decisions(run)
    decisions.together(second, first, by="ann")
    done = decisions.apply()
    after = verdicts(done.folder)
    assert after[second]["kept"] and after[first]["kept_id"] == second
    assert after[first]["resemblance"] < THRESHOLD  # measured, and said
    assert [one.doc_id for one in done.overridden] == [first]
    check_promise(done.folder, documents, done.changed)


@pytest.mark.parametrize("seed", range(6))
def test_any_decisions_keep_the_promise(run: Path, documents: list[Row], seed: int) -> None:
    chance = random.Random(seed)
    names = [row["id"] for row in documents]
    decisions = roughly.Decisions(run)
    for _ in range(8):
        kind = chance.choice(["keep", "different", "together"])
        ids = chance.sample(names, {"keep": 1, "different": 2, "together": chance.randint(2, 4)}[kind])
        if kind == "different" and chance.random() < 0.7:
            ids = [ids[0], verdicts(run)[ids[0]]["kept_id"]]
        if len(set(ids)) == len(ids):
            decisions.record(kind, ids, by="ann")
    done = decisions.apply(run.with_name("new"))
    check_promise(done.folder, documents, done.changed)
    again = decisions.apply(run.with_name("again"))
    assert again.changed == done.changed
    latest: dict[str, int] = {one.ids[0]: one.number for one in decisions.standing if one.kind == "keep"}
    if latest:
        assert verdicts(done.folder)[max(latest, key=lambda name: latest[name])]["kept"]


def test_a_decision_is_undone_and_then_changes_nothing(run: Path) -> None:
    decisions = roughly.Decisions(run)
    decisions.keep(a_removed(run)["doc_id"], by="ann")
    decisions.undo(1, by="bob")
    assert decisions.standing == [] and decisions.effects() == []
    with pytest.raises(InputMissing, match="no decisions"):
        decisions.apply()
    with pytest.raises(InputMissing, match="no decision 1"):
        decisions.undo(1)
    assert decisions.keep(a_removed(run)["doc_id"], by="ann").number == 2  # numbers are never used again


def test_what_cannot_be_decided_is_refused(run: Path) -> None:
    decisions = roughly.Decisions(run)
    with pytest.raises(InputMissing, match="no document 'nobody'"):
        decisions.keep("nobody")
    name = a_removed(run)["doc_id"]
    for kind, ids, by, note in (
        ("drop", [name], "ann", ""), ("different", [name, name], "ann", ""), ("together", [name], "ann", ""),
        ("keep", [name], "", ""), ("keep", [name], "a\nb", ""), ("keep", [name], "ann", "x" * 1001),
    ):  # fmt: skip
        with pytest.raises(SettingsError):
            decisions.record(kind, ids, by=by, note=note)
    assert not decisions.file.path.exists()


def test_decisions_are_of_one_run_and_a_torn_line_is_dropped(run: Path) -> None:
    decisions = roughly.Decisions(run)
    decisions.keep(a_removed(run)["doc_id"], by="ann")
    path = decisions.file.path
    with path.open("ab") as target:
        target.write(b'{"decision": "kee')
    assert len(roughly.Decisions(run)) == 1
    roughly.Decisions(run).keep(a_removed(run, 1)["doc_id"], by="ann")
    assert len(decisions) == 2
    path.write_text(path.read_text(encoding="utf-8").replace(decisions.run.fingerprint, "0" * 16), encoding="utf-8")
    with pytest.raises(InputError, match="other settings"):
        roughly.Decisions(run)


def test_the_command_applies_and_previews(run: Path) -> None:
    nothing = run_roughly("apply", str(run))
    assert nothing.returncode == 1 and "no decisions" in nothing.stderr
    chosen = a_removed(run)
    roughly.Decisions(run).keep(chosen["doc_id"], note="better", by="ann")
    preview = run_roughly("apply", str(run), "--preview")
    assert preview.returncode == 0 and f"{chosen['doc_id']}: kept" in preview.stdout and "by ann" in preview.stdout
    assert not run.with_name("out.decided").exists()
    assert run_roughly("apply", str(run)).returncode == 0
    refused = run_roughly("apply", str(run))
    assert refused.returncode != 0 and "--overwrite" in refused.stderr
    told = json.loads(run_roughly("apply", str(run), "--overwrite", "--json").stdout)
    assert told["decisions"] == 1 and told["folder"].endswith("out.decided")
    with pytest.raises(OutputExists):
        roughly.Decisions(run).apply()


def test_an_input_that_is_gone_is_named_elsewhere(run: Path, documents: list[Row]) -> None:
    roughly.Decisions(run).keep(a_removed(run)["doc_id"], by="ann")
    moved = run.parent / "elsewhere"
    moved.mkdir()
    (run.parent / "documents.jsonl").rename(moved / "documents.jsonl")
    with pytest.raises(InputMissing, match="--input"):
        roughly.Decisions(run).apply()
    done = roughly.Decisions(run, inputs=[str(moved / "documents.jsonl")]).apply()
    check_promise(done.folder, documents, done.changed)
