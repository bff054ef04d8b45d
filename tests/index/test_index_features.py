"""Objects by features of their own in an index, from files and Python, with the verdicts of `cluster`."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import roughly
from commands import run_roughly
from roughly import Index
from roughly.errors import InputError, SettingsError
from roughly.sources.feature_lists import feature_texts
from roughly.text.canonical import tokenise

ANN, BOB, CEM = ["bread", "milk", "tea"], ["jam", "tea", "milk", "bread"], ["nails", "glue"]


def objects() -> dict[str, list[int]]:
    """Lists of numbers that resemble each other more or less; some are equal in another order, one is empty."""
    draw = random.Random(19)
    found: dict[str, list[int]] = {"none": []}
    for family in range(12):
        own = [draw.randrange(10**6) for _ in range(30)]
        for copy in range(5):
            changed = [value if draw.random() > copy * 0.08 else draw.randrange(10**6) for value in own]
            draw.shuffle(changed)
            found[f"{family}-{copy}"] = changed[: 30 - copy] + changed[:copy]
    return found


@pytest.fixture
def baskets(tmp_path: Path) -> Path:
    lines = [{"id": "ann", "items": ANN}, {"id": "cem", "items": CEM}]
    (tmp_path / "stored.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    pq.write_table(pa.table({"id": ["bob"], "items": [BOB]}), tmp_path / "new.parquet")
    return tmp_path


@pytest.mark.parametrize("measure", ["resemblance", "containment"])
@pytest.mark.parametrize("store", ["text", "shingles"])
def test_the_pairs_of_an_index_are_those_of_cluster_features(measure: str, store: str) -> None:
    found = objects()
    wanted = roughly.cluster_features(found.keys(), found.values(), threshold=0.6, measure=measure, pairs="all")
    with Index.create(":memory:", features="own", threshold=0.6, measure=measure, store=store) as index:
        index.add([{"doc_id": name, "own": own} for name, own in found.items()])
        pairs = index.pairs()
    both = [[(row["left_id"], row["right_id"]) for row in table.to_pylist()] for table in (pairs, wanted.pairs)]
    assert {frozenset(pair) for pair in both[0]} == {frozenset(pair) for pair in both[1]} and len(both[0]) > 30
    scores = {frozenset((r["left_id"], r["right_id"])): r["resemblance"] for r in wanted.pairs.to_pylist()}
    assert all(scores[frozenset((r["left_id"], r["right_id"]))] == r["resemblance"] for r in pairs.to_pylist())


def test_dedupe_keeps_what_cluster_features_keeps(tmp_path: Path) -> None:
    found = objects()
    table = pa.table({"id": list(found), "own": list(found.values())})
    wanted = roughly.cluster_features(found.keys(), found.values(), threshold=0.6)
    result = roughly.dedupe(table, features="own", threshold=0.6)
    assert result.kept_ids == wanted.kept_ids and result.summary["settings"]["method"] == "shingles"
    assert "features" not in roughly.dedupe(["a b", "c d"]).summary["settings"]  # fingerprints are those of before


def test_a_feature_is_one_word() -> None:
    lists = [["two words", "ÄÖ", "", "1"], [1, -5, 2**70], [], ["1"]]
    tokens = tokenise(feature_texts(lists))
    assert tokens.offsets.tolist() == [0, 4, 7, 7, 8] and len(set(tokens.hashes.tolist())) == 7
    assert tokens.hashes[3] == tokens.hashes[7]  # "1" both times; the number 1 is another feature
    column = pa.array([["two words", "ÄÖ", "", "1"], ["1"]])
    assert feature_texts(column).to_pylist() == feature_texts([lists[0], lists[3]]).to_pylist()


def test_add_query_copies_and_match_on_the_command_line(baskets: Path) -> None:
    made = run_roughly("index", "create", "a.db", "--features", "items", "--threshold", "0.7", cwd=baskets)
    assert made.returncode == 0 and "shingles" in made.stdout
    assert run_roughly("index", "add", "a.db", "stored.jsonl", cwd=baskets).returncode == 0
    asked = run_roughly("index", "query", "a.db", "new.parquet", cwd=baskets)
    assert asked.stdout.splitlines()[1].split("\t") == ["bob", "ann", "1", "0.7500", "0.7500", "1.0000", "no"]
    lines = [{"id": "bob", "items": BOB}, {"id": "x", "items": "tea"}, {"id": "y", "items": [None]}, {"id": "z"}]
    stream = "\n".join(map(json.dumps, lines))
    matched = run_roughly("match", "a.db", "--add", stdin=stream, cwd=baskets)
    assert matched.stdout.splitlines()[0] == "known\tbob\tann\t0.750" and matched.returncode == 3
    assert "line 2: 'items' is a string, not a list of strings or whole numbers" in matched.stderr
    assert "line 3: 'items' has null among its features" in matched.stderr and "line 4: no 'items'" in matched.stderr
    copies = run_roughly("index", "copies", "a.db", "ann", cwd=baskets).stdout
    assert copies.splitlines()[1].split("\t") == ["whole", "1.000", "0.750", "bob", "-"]
    (baskets / "a.csv").write_text("id,items\na,b\n", encoding="utf-8")
    refused = run_roughly("index", "add", "a.db", "a.csv", cwd=baskets)
    assert "a.csv: is csv; lists of features (items) are read from jsonl or parquet" in refused.stderr
    (baskets / "t.jsonl").write_text('{"id": "a", "text": "words"}\n', encoding="utf-8")
    refused = run_roughly("index", "add", "a.db", "t.jsonl", cwd=baskets)
    assert "t.jsonl: no column 'items', which has the features; its columns are id, text" in refused.stderr


def test_an_index_of_features_takes_features_only(tmp_path: Path) -> None:
    with Index.create(tmp_path / "a.db", features="items", threshold=0.7) as index:
        index.add([{"doc_id": "ann", "items": ANN}, {"items": [1, 2, 3]}])
    with Index.open(tmp_path / "a.db") as index:  # which column is stored
        assert [match.doc_id for match in index.query({"items": BOB})] == ["ann"]
        assert [answer.verdict for answer in roughly.match(index, [{"items": (3, 2, 1)}])] == ["known"]
        for bad in ("some words", {"text": "some words"}, {"items": "tea"}, {"items": 3}, {"items": None}):
            with pytest.raises(InputError, match="a list of strings or whole numbers is wanted under 'items'"):
                index.query(bad)
        with pytest.raises(InputError, match="document 'z', 'items': a feature is a number"):
            index.add({"doc_id": "z", "items": [{}]})
        with pytest.raises(InputError, match="holds string, not lists of strings or whole numbers"):
            index.add(pa.table({"id": ["a"], "items": ["tea"]}))
        with pytest.raises(InputError, match="row 2: 'items' is null"):
            index.add(pa.table({"id": ["a", "b"], "items": [["tea"], None]}))
    for options in ({"features": ""}, {"features": "items", "shingle_unit": "character"}):
        with pytest.raises(SettingsError):
            Index.create(":memory:", **options)  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="leave text_column out"):
        roughly.dedupe(tmp_path, features="items", text_column="text")


def test_html_that_is_queried_is_read_as_html(tmp_path: Path) -> None:
    words = "the quick brown fox jumps over the lazy dog again and again"
    (tmp_path / "page.html").write_text(f"<html><body><p class=one>{words}</p></body></html>", encoding="utf-8")
    with Index.create(tmp_path / "a.db") as index:
        index.add({"doc_id": "plain", "text": words})
    asked = run_roughly("index", "query", "a.db", "page.html", cwd=tmp_path)
    assert "page.html\tplain\t1\t1.0000" in asked.stdout
