"""Another threshold from stored pairs: the same as the run itself gives, wherever the page says that it is exact."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

import roughly
from roughly.engines.local.run_browser import Graph
from roughly.errors import SettingsError
from roughly.service.collection.replay import Replay, decide
from roughly.service.collection.run_collection import RunCollection

THRESHOLDS = (0.62, 0.7, 0.78, 0.85, 0.93, 1.0)


def write_documents(path: Path, seed: int) -> None:
    """Chains of versions, each a few words from the one before, and exact copies of some of them."""
    chance = random.Random(seed)
    rows = []
    for family in range(30):
        words = [f"w{chance.randrange(4000)}" for _ in range(90)]
        for version in range(chance.choice([1, 2, 4, 7])):
            for _ in range(chance.choice([0, 1, 2])):
                words[chance.randrange(90)] = f"x{chance.randrange(4000)}"
            for copy in range(chance.choice([1, 1, 3])):
                rows.append({"id": f"{family:02}/{version}/{copy}", "text": " ".join(words)})
    chance.shuffle(rows)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_with_every_pair_stored_it_is_what_the_run_itself_gives(tmp_path: Path, seed: int) -> None:
    write_documents(tmp_path / "d.jsonl", seed)
    result = roughly.dedupe(tmp_path / "d.jsonl", output=tmp_path / "out", threshold=0.6, pairs="all", threads=1)
    looked = RunCollection(tmp_path / "out")
    replay = Replay(looked)
    try:
        for threshold in THRESHOLDS:
            told, true = replay.at(threshold), result.rethreshold(threshold).summary["counts"]
            assert told.exact
            assert (told.kept, told.removed, told.removed_bytes) == (
                true["kept"], true["removed"], true["removed_bytes"],
            ), threshold  # fmt: skip
    finally:
        looked.close()


def test_its_own_threshold_is_replayed_to_the_counts_of_the_run(tmp_path: Path) -> None:
    """`Replay.at` takes these from run.json; here the pairs themselves are asked."""
    write_documents(tmp_path / "d.jsonl", 4)
    for pairs in ("all", "evidence"):
        result = roughly.dedupe(
            tmp_path / "d.jsonl", output=tmp_path / pairs, threshold=0.6, pairs=pairs, threads=1
        )  # fmt: skip
        looked = RunCollection(tmp_path / pairs)
        graph = looked.tables.graph("resemblance")
        alone = result.summary["counts"]["documents"] - graph.documents
        assert alone + int(decide(graph, 0.6).sum()) == result.summary["counts"]["kept"], pairs
        looked.close()


def test_without_every_pair_it_says_that_it_is_an_estimate(tmp_path: Path) -> None:
    write_documents(tmp_path / "d.jsonl", 5)
    roughly.dedupe(tmp_path / "d.jsonl", output=tmp_path / "out", threshold=0.6, threads=1)
    looked = RunCollection(tmp_path / "out")
    replay = Replay(looked)
    assert replay.at(0.6).exact and not replay.at(0.8).exact
    lower = replay.at(0.5)  # from near misses among the kept documents
    assert not lower.exact and lower.removed >= replay.at(0.6).removed and lower.removed_bytes is None
    assert replay.floor == pytest.approx(0.4) and replay.at(0.4).removed >= lower.removed
    with pytest.raises(SettingsError, match=r"from 0\.4 to 1"):
        replay.at(0.3)
    looked.close()


@pytest.mark.parametrize("seed", range(20))
def test_rounds_decide_as_going_through_the_ranks_does(seed: int) -> None:
    stream = np.random.default_rng(seed)
    count = int(stream.integers(1, 40))
    pairs = np.array([(a, b) for a in range(count) for b in range(a) if stream.random() < 0.2]).reshape(-1, 2)
    names = stream.permutation(count)  # numbers say nothing of the rank
    score = stream.random(len(pairs))
    graph = Graph(names[pairs[:, 0]], names[pairs[:, 1]], score, np.ones(count, np.int64), count, count)
    kept: set[int] = set()
    for rank in range(count):
        better = [b for (a, b), value in zip(pairs.tolist(), score.tolist(), strict=True) if a == rank and value >= 0.4]
        if not kept & set(better):
            kept.add(rank)
    assert sorted(names[sorted(kept)].tolist()) == np.flatnonzero(decide(graph, 0.4)).tolist()


def test_a_document_that_resembles_only_such_as_went_keeps_its_pairs(tmp_path: Path) -> None:
    """It is kept and in no cluster of two, but a similar document was found."""
    write_documents(tmp_path / "d.jsonl", 1)
    result = roughly.dedupe(tmp_path / "d.jsonl", output=tmp_path / "out", threshold=0.6, pairs="all", threads=1)
    paired = {name for side in ("left_id", "right_id") for name in result.pairs[side].to_pylist()}
    looked = RunCollection(tmp_path / "out")
    clustered = {row[0] for row in looked.tables.tuples("SELECT doc_id FROM members")}
    apart = sorted(paired - clustered)
    assert apart
    assert all(looked.evidence(name) for name in apart)
    looked.close()
