"""The promise, from the outside: recall, precision, witnesses, and the same answer everywhere."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import exact

OUTPUTS = ("documents.parquet", "pairs.parquet", "clusters.parquet")


def write(rows: list[dict], path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    content = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


@pytest.mark.corpora
def test_recall_and_precision_on_newswire(corpora: Path, tmp_path: Path, roughly: Callable) -> None:
    options = ["--threshold", 0.8, "--recall", 0.99, "--pairs", "all"]
    done = roughly("dedupe", corpora / "reuters21578.parquet", "-o", tmp_path / "out", *options)
    assert done.returncode in (0, 3), done.stderr
    table = pq.read_table(corpora / "reuters21578.parquet", columns=["id", "text"])
    texts = {i: t for i, t in zip(table["id"].to_pylist(), table["text"].to_pylist(), strict=True) if t}
    sets = {i: exact.shingles(t) for i, t in texts.items()}
    true = exact.all_pairs(sets, 0.8)
    assert len(true) > 400
    found = {}
    for row in pq.read_table(tmp_path / "out" / "pairs.parquet").to_pylist():
        pair = min(row["left_id"], row["right_id"]), max(row["left_id"], row["right_id"])
        assert pair not in found
        found[pair] = row
        left, right = sets.get(row["left_id"], frozenset()), sets.get(row["right_id"], frozenset())
        assert row["resemblance"] == exact.resemblance(left, right) >= 0.8  # precision is 1
        assert row["containment"] == exact.containment(left, right)
        assert row["contained_in"] == exact.containment(right, left)
    recall = sum(pair in found for pair in true) / len(true)
    print(f"pairs: {len(true)} true, {len(found)} found, recall {recall:.4f}")
    assert recall >= 0.99


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--threshold", "0.5"],
        ["--threshold", "0.95", "--keep", "newest,longest"],
        ["--cluster", "components", "--threshold", "0.6"],
        ["--measure", "containment", "--threshold", "0.7"],
        ["--measure", "containment", "--threshold", "0.7", "--cluster", "components"],
        ["--keep", "source:Aerlingus>8tracks,oldest", "--pairs", "all"],
        ["--method", "lexical"],
        ["--method", "identical"],
        ["--shingle-size", "3", "--bands", "10", "--rows", "4"],
    ],
    ids=" ".join,
)
def test_no_document_goes_without_a_witness(
    options: list[str], policies: list[dict], tmp_path: Path, roughly: Callable, jsonl: Callable
) -> None:
    rows = [
        *policies,
        {"id": "copy", "text": policies[0]["text"]},
        {"id": "e1", "text": " "},
        {"id": "e2", "text": "…"},
    ]
    done = roughly("dedupe", jsonl(rows), "-o", tmp_path / "out", *options)
    assert done.returncode == 0, done.stderr
    asked = dict(zip(options[::2], options[1::2], strict=True))
    threshold, size = float(asked.get("--threshold", 0.8)), int(asked.get("--shingle-size", 5))
    sets = {row["id"]: exact.shingles(row["text"], size) for row in rows}
    verdicts = {row["doc_id"]: row for row in pq.read_table(tmp_path / "out" / "documents.parquet").to_pylist()}
    assert set(verdicts) == {row["id"] for row in rows}
    for verdict in verdicts.values():
        witness = verdicts[verdict["kept_id"]]
        assert witness["kept"] and witness["kept_id"] == witness["doc_id"]
        assert verdict["cluster_id"] == witness["cluster_id"]
        assert verdict["kept"] == (verdict["kept_id"] == verdict["doc_id"]) == (verdict["kind"] is None)
        mine, its = sets[verdict["doc_id"]], sets[verdict["kept_id"]]
        assert verdict["resemblance"] == exact.resemblance(mine, its)
        assert verdict["containment"] == exact.containment(mine, its)
        assert verdict["contained_in"] == exact.containment(its, mine)
        score = "containment" if asked.get("--measure") == "containment" else "resemblance"
        assert verdict[score] >= threshold or verdict["kept"]
    removed = {d for d, v in verdicts.items() if not v["kept"]}
    assert "copy" in removed or policies[0]["id"] in removed
    witnesses = [p for p in pq.read_table(tmp_path / "out" / "pairs.parquet").to_pylist() if p["witness"]]
    assert sorted((p["left_id"], p["right_id"]) for p in witnesses) == sorted(
        (d, verdicts[d]["kept_id"]) for d in removed
    )
    kept = [json.loads(line)["id"] for line in (tmp_path / "out" / "kept" / "docs.jsonl").read_text().splitlines()]
    assert kept == [row["id"] for row in rows if row["id"] not in removed]


def test_a_chain_removes_nobody_unseen(tmp_path: Path, roughly: Callable, jsonl: Callable) -> None:
    words = [f"word{i:03d}" for i in range(400)]
    rows = [{"id": name, "text": " ".join(words[i : i + 200])} for i, name in ((0, "a"), (15, "b"), (30, "c"))]
    for clustering in ("star", "components"):
        out = tmp_path / clustering
        assert roughly("dedupe", jsonl(rows), "-o", out, "--cluster", clustering).returncode == 0
        verdicts = {row["doc_id"]: row for row in pq.read_table(out / "documents.parquet").to_pylist()}
        assert [verdicts[d]["kept"] for d in "abc"] == [True, False, True]
        clusters = {row["cluster_id"]: row["size"] for row in pq.read_table(out / "clusters.parquet").to_pylist()}
        assert clusters == ({"a": 2} if clustering == "star" else {"a": 3})


@pytest.fixture(scope="module")
def reference(policies: list[dict], tmp_path_factory: pytest.TempPathFactory, roughly: Callable) -> Path:
    folder = tmp_path_factory.mktemp("reference")
    source = write(policies, folder / "docs.jsonl")
    assert roughly("dedupe", source, "-o", folder / "out", "--threads", 1).returncode == 0
    return folder / "out"


def shuffled(rows: list[dict]) -> list[dict]:
    return random.Random(5).sample(rows, len(rows))


@pytest.mark.parametrize(
    "name", ["two threads", "shuffled", "many files", "gzipped", "batches of 100", "batches of 10,000", "little memory"]
)
def test_the_same_answer_everywhere(
    name: str, policies: list[dict], reference: Path, tmp_path: Path, roughly: Callable
) -> None:
    sources, options = [tmp_path / "docs.jsonl"], []
    if name == "many files":
        mixed = shuffled(policies)
        sources = [write(mixed[i::37], tmp_path / "parts" / f"part-{i}.jsonl") for i in range(37)]
    elif name == "gzipped":
        sources = [write(policies, tmp_path / "docs.jsonl.gz")]
    else:
        write(shuffled(policies) if name == "shuffled" else policies, sources[0])
    if name.startswith("batches"):
        options = ["--batch-size", name.split()[-1].replace(",", "")]
    elif name == "little memory":
        options = ["--memory", "640MB"]
    else:
        options = ["--threads", 2]
    done = roughly("dedupe", *sources, "-o", tmp_path / "out", *options)
    assert done.returncode == 0, done.stderr
    for file in OUTPUTS:
        assert (tmp_path / "out" / file).read_bytes() == (reference / file).read_bytes(), file


def test_evidence_and_all_pairs_agree_on_who_stays(
    policies: list[dict], reference: Path, tmp_path: Path, roughly: Callable
) -> None:
    source = write(policies, tmp_path / "docs.jsonl")
    assert roughly("dedupe", source, "-o", tmp_path / "out", "--pairs", "all").returncode == 0
    assert (tmp_path / "out" / "documents.parquet").read_bytes() == (reference / "documents.parquet").read_bytes()
    sets = {row["id"]: exact.shingles(row["text"]) for row in policies}
    found = {
        (min(p["left_id"], p["right_id"]), max(p["left_id"], p["right_id"]))
        for p in pq.read_table(tmp_path / "out" / "pairs.parquet").to_pylist()
    }
    true = set(exact.all_pairs(sets, 0.8))
    assert found <= true
    assert len(found) >= 0.99 * len(true)
