"""A widely copied document has copies: one licence and 1,200 near-copies, by every command that looks for them."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import roughly
from commands import run_roughly
from roughly import Index, Settings, methods
from roughly.index.matching import candidate_finder
from roughly.methods.presets import PRESETS

COPIES = 1200
EXACT = {"method": "shingles", "sketch": "all"}


def licence_and_copies(length: int) -> list[dict[str, Any]]:
    """A text of this number of words, and copies in which one to three words are changed, often in the same places."""
    rng = random.Random(1)
    words = [f"w{rng.randrange(3000)}" for _ in range(length)]
    rows = [{"id": "base", "text": " ".join(words)}]
    for number in range(COPIES):
        changed = words.copy()
        for place in range(rng.randrange(1, 4)):
            at = rng.choice((50, 100, rng.randrange(length)))
            changed[at] = f"year{rng.randrange(40)}" if place else f"holder{number}"
        rows.append({"id": f"copy-{number}", "text": " ".join(changed)})
    return rows


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    return licence_and_copies(200)


@pytest.fixture(scope="module")
def index(rows: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("licence") / "licence.db"
    with Index.create(path, Settings.gather(EXACT)) as made:
        made.add(rows)
    return path


@pytest.mark.slow
def test_an_index_lists_all_copies_and_says_whether_these_are_all(index: Path) -> None:
    answer = json.loads(run_roughly("index", "copies", str(index), "base", "--json").stdout)
    assert len(answer["found"]) == COPIES and answer["complete"] and answer["left_out"] == 0
    assert {copy["doc_id"] for copy in answer["found"]} == {f"copy-{n}" for n in range(COPIES)}


def test_a_query_finds_all_copies(index: Path, rows: list[dict[str, Any]]) -> None:
    with Index.open(index) as opened:
        assert len(opened.query({"text": rows[0]["text"]}, limit=None)) == COPIES + 1
        assert len(opened.query({"text": rows[7]["text"]}, limit=None)) == COPIES + 1


def test_where_not_all_is_looked_up_this_is_said(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidate_finder, "_ENTRIES", 50_000)
    with Index.open(index) as opened:
        found = roughly.Sweeps(opened).copies("base")
    assert not found.complete and found.left_out > 0 and len(found.found) == COPIES


@pytest.mark.parametrize("given", [["--preset", "broder-1997"], ["--method", "shingles", "--sketch", "all"]])
def test_dedupe_finds_all_copies(given: list[str], tmp_path: Path) -> None:
    source = tmp_path / "licences.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in licence_and_copies(600)))
    told = run_roughly("dedupe", str(source), "-o", str(tmp_path / "out"), *given)
    assert f"documents   {COPIES + 1:,} in, 1 kept, {COPIES:,} removed" in told.stdout
    assert "of little but common keys: found by the rarest" in told.stdout


def pages_with_boilerplate(count: int = 12) -> list[dict[str, Any]]:
    """Pages of ten words of their own and twenty of boilerplate; every third has a copy with nothing of it."""
    frame = " ".join(f"frame{n}" for n in range(20))
    rows = []
    for number in range(count):
        own = " ".join(f"own{number}x{n}" for n in range(10))
        rows.append({"id": f"page-{number}", "text": f"{own} {frame}"})
        if number % 3 == 0:
            rows.append({"id": f"plain-{number}", "text": own})
    return rows


def test_ignored_shingles_do_not_count_in_estimates() -> None:
    """Without the boilerplate a page equals its copy; with it, a third of the page is in the copy."""
    asked = {"method": "shingles", "sketch": "all", "shingle_size": 1, "threshold": 0.8, "common": 5}
    assert len(roughly.dedupe(pages_with_boilerplate(), **asked).removed) == 0
    found = roughly.dedupe(pages_with_boilerplate(), **asked, ignore_common=True, pairs="all")
    pairs = found.pairs.select(["left_id", "right_id", "resemblance"]).to_pylist()
    assert {(p["left_id"], p["right_id"]) for p in pairs} == {(f"plain-{n}", f"page-{n}") for n in (0, 3, 6, 9)}
    assert all(pair["resemblance"] == 1.0 for pair in pairs)


def test_stored_signatures_ignore_the_same_shingles(tmp_path: Path) -> None:
    source = tmp_path / "pages.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in pages_with_boilerplate()))
    given = [
        "--method",
        "shingles",
        "--sketch",
        "all",
        "--shingle-size",
        "1",
        "--threshold",
        "0.8",
        "--common",
        "5",
        "--ignore-common",
    ]
    assert run_roughly("sign", source, "-o", tmp_path / "s.parquet", *given).returncode == 0
    assert roughly.recluster(tmp_path / "s.parquet").counts["removed"] == 4


def test_the_preset_is_the_paper_and_the_default_counts_common_shingles() -> None:
    assert PRESETS["broder-1997"].settings["ignore_common"] is True
    assert methods.make(Settings(method="shingles")).judge().ignore_common is False
