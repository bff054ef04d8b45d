"""Grown collections: the same bytes from the same seed, labels that are true, resemblance that is exact."""

from __future__ import annotations

import json
from collections import Counter
from hashlib import sha256
from pathlib import Path

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from benchmarks.grow import Growth, grow, main
from benchmarks.growth.edits import EDITS, SAME
from benchmarks.growth.passages import join_passages, read_passage
from benchmarks.growth.plan import make_plan
from benchmarks.tokens import resemblance, tokens_of

DOCUMENTS = 1500


@pytest.fixture(scope="module")
def source(texts: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("source") / "real.parquet"
    pq.write_table(pa.table({"text": [*texts, texts[0], None, "too short", "日本語の文"]}), path)
    return path


@pytest.fixture(scope="module")
def grown(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("grown") / "out"
    grow([source], out, Growth(documents=DOCUMENTS, seed=5, shard_size=400, mean_bytes=700, workers=2))
    return out


def read(out: Path) -> tuple[dict[str, str], list[dict[str, object]]]:
    documents = pq.read_table(out / "documents").to_pydict()
    return dict(zip(documents["id"], documents["text"], strict=True)), pq.read_table(out / "truth").to_pylist()


def digests(out: Path) -> dict[str, str]:
    return {str(file.relative_to(out)): sha256(file.read_bytes()).hexdigest() for file in sorted(out.rglob("part-*"))}


def test_every_label_is_exactly_true(grown: Path) -> None:
    texts, labels = read(grown)
    assert len(texts) == DOCUMENTS
    assert len(labels) > DOCUMENTS // 4
    for label in labels:
        child, parent = texts[str(label["child"])], texts[str(label["parent"])]
        assert resemblance(child, parent) == pytest.approx(label["resemblance"], abs=1e-12), label


def test_kinds_are_what_they_say(grown: Path) -> None:
    texts, labels = read(grown)
    counts = Counter(str(label["kind"]) for label in labels)
    assert set(counts) == set(EDITS)
    for label in labels:
        child, parent = texts[str(label["child"])], texts[str(label["parent"])]
        words = tokens_of(parent)
        match label["kind"]:
            case "copy":
                assert child == parent
            case "rewrapped":
                assert child != parent and tokens_of(child) == words
            case "appended":
                assert tokens_of(child)[: len(words)] == words and len(tokens_of(child)) > len(words)
            case "truncated":
                assert tokens_of(child) == words[: len(tokens_of(child))]
            case "swapped":
                assert sorted(tokens_of(child)) == sorted(words)
            case "substituted":
                assert len(tokens_of(child)) == len(words)
            case "deleted":
                assert not Counter(tokens_of(child)) - Counter(words)
            case "template" | "form":
                assert float(str(label["resemblance"])) < 0.8
    assert {label["resemblance"] for label in labels if label["kind"] in SAME} == {1.0}


def test_resemblance_covers_all_bins(grown: Path) -> None:
    _, labels = read(grown)
    scores = np.array([label["resemblance"] for label in labels if label["kind"] not in SAME], float)
    assert (np.histogram(scores, [0, 0.5, 0.6, 0.7, 0.8, 0.9, 1])[0] > 20).all()


def test_same_seed_same_bytes_whatever_the_workers(source: Path, grown: Path, tmp_path: Path) -> None:
    settings = {"documents": DOCUMENTS, "shard_size": 400, "mean_bytes": 700}
    grow([source], tmp_path / "again", Growth(**settings, seed=5, workers=1))
    assert digests(tmp_path / "again") == digests(grown)
    grow([source], tmp_path / "other", Growth(**settings, seed=6, workers=1))
    assert digests(tmp_path / "other") != digests(grown)


def test_jsonl_holds_the_same_documents(source: Path, grown: Path, tmp_path: Path) -> None:
    grow(
        [source],
        tmp_path / "lines",
        Growth(documents=DOCUMENTS, seed=5, shard_size=400, mean_bytes=700, workers=1, format="jsonl"),
    )
    lines = [
        orjson.loads(line)
        for file in sorted((tmp_path / "lines" / "documents").iterdir())
        for line in file.read_bytes().splitlines()
    ]
    assert {line["id"]: line["text"] for line in lines} == read(grown)[0]


def test_founders_are_not_alike_by_chance(grown: Path) -> None:
    from benchmarks.truth import truth_of

    texts, labels = read(grown)
    copies = {label["child"] for label in labels}
    founders = [text for doc_id, text in texts.items() if doc_id not in copies]
    assert len(founders) > 300
    assert len(truth_of(founders).left) == 0


def test_the_facts_are_written(grown: Path) -> None:
    facts = json.loads((grown / "grown.json").read_text())
    texts, labels = read(grown)
    assert facts["copies"] == len(labels)
    assert facts["text_bytes"] == sum(len(text.encode()) for text in texts.values())
    assert facts["real_documents"] == 200
    assert not list(grown.parent.glob(".stock-*"))


def test_cluster_sizes_have_a_heavy_tail_and_a_giant() -> None:
    plan = make_plan(200_000, seed=3)
    sizes = np.diff(plan.offsets)
    assert sizes.sum() == 200_000 and sizes.min() >= 1
    assert sizes.max() == 4_000
    assert 0.7 < np.mean(sizes == 1) < 0.8
    assert np.sort(sizes)[-2] > 50
    assert (np.sort(plan.slot_at) == np.arange(200_000)).all()
    assert (plan.slot_at[plan.position_of] == np.arange(200_000)).all()


def test_ten_million_documents_have_clusters_of_a_hundred_thousand() -> None:
    sizes = np.diff(make_plan(10_000_000, seed=1).offsets)
    assert sizes.sum() == 10_000_000
    assert (sizes == 100_000).sum() >= 3


def test_parents_come_before_children_in_their_cluster() -> None:
    plan = make_plan(5_000, seed=2)
    chained = 0
    for founder, end in zip(plan.offsets[:-1].tolist(), plan.offsets[1:].tolist(), strict=True):
        for slot in range(founder + 1, end):
            parent = plan.parent_of(slot, founder)
            assert founder <= parent < slot
            chained += parent != founder
    assert chained > 50


def test_joined_passages_have_the_tokens_of_their_parts(texts: list[str]) -> None:
    parts = [read_passage(text) for text in texts[:4]]
    whole = join_passages(parts)
    text = whole.text.decode()
    assert tokens_of(text) == [token for part in texts[:4] for token in tokens_of(part)]
    spans = zip(whole.starts().tolist(), whole.ends().tolist(), strict=True)
    assert [whole.text[a:b].decode().lower() for a, b in spans] == tokens_of(text)
    assert (read_passage(text).hashes == whole.hashes).all()
    assert whole.cut(0, len(whole)) == whole.text


def test_mistakes_are_explained(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "out")
    assert main([str(tmp_path / "no.parquet"), "--documents", "10", "--out", out]) == 1
    assert "is not a file" in capsys.readouterr().err
    assert main([str(source), "--documents", "0", "--out", out, "--mean-bytes", "1"]) == 1
    message = capsys.readouterr().err
    assert "--documents must be 1 or more" in message and "--mean-bytes must be 200 or more" in message
    assert main([str(source), "--documents", "10", "--out", out, "--text-column", "body"]) == 1
    assert "no column 'body'" in capsys.readouterr().err
    assert not Path(out).exists()  # so that the next attempt need not clear up first
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "something").touch()
    assert main([str(source), "--documents", "10", "--out", str(tmp_path / "full")]) == 1
    assert "not empty" in capsys.readouterr().err
