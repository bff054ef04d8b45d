"""The accuracy columns, counted by hand, and the parts that all peers share."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import numpy as np
import orjson
import pytest
from benchmarks.corpora import Collection, CorpusMissing, own
from benchmarks.dedupe import Row, read_clusters, tools_named
from benchmarks.measure import folder_size, run
from benchmarks.peers import PEERS
from benchmarks.peers.bands import join_checked
from benchmarks.peers.protocol import Components, read_documents, write_clusters, write_first_of_each
from benchmarks.scores import Listed, Result, score
from benchmarks.tables import dedupe_table
from benchmarks.truth import Truth


def make_truth(documents: int, pairs: dict[tuple[int, int], float]) -> Truth:
    left, right = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
    return Truth(documents, left, right, np.array(list(pairs.values())))


# 0~1 and 1~2 are duplicates, 0~2 is not quite; 3 is like 2 by half; 4 and 5 are like nobody.
TRUTH = make_truth(6, {(0, 1): 0.82, (0, 2): 0.75, (1, 2): 0.95, (2, 3): 0.5})


def result(clusters: list[int], kept: list[int]) -> Result:
    return Result(np.array(clusters, np.int64), np.array([n in kept for n in range(len(clusters))]))


def test_a_chain_removes_a_document_without_a_witness() -> None:
    scores = score(TRUTH, result([0, 0, 0, 3, 4, 5], kept=[0, 3, 4, 5]))
    assert scores.recall == 1.0 and scores.recall_at_edge == 1.0
    assert scores.merged_pairs == 3 and scores.true_share == 2 / 3
    assert scores.unlike_pairs == 0
    assert scores.removed == 2 and scores.wrongly_removed == 1  # 2 resembles 0 by 0.75 only
    assert scores.left_share == 0.0
    assert scores.merged_by_bin == {"0.5–0.6": 0.0, "0.6–0.7": None, "0.7–0.8": 1.0, "0.8–0.9": 1.0, "0.9–1.0": 1.0}


def test_a_star_parts_pairs_but_removes_nothing_wrongly() -> None:
    scores = score(TRUTH, result([1, 1, 1, 3, 4, 5], kept=[1, 3, 4, 5]))
    assert scores.wrongly_removed == 0 and scores.left_share == 0.0
    scores = score(TRUTH, result([0, 2, 2, 3, 4, 5], kept=[0, 2, 3, 4, 5]))
    assert scores.recall == 0.5 and scores.recall_at_edge == 0.0
    assert scores.true_share == 1.0 and scores.wrongly_removed == 0


def test_unlike_pairs_are_those_the_truth_does_not_list() -> None:
    scores = score(TRUTH, result([0, 0, 0, 0, 0, 0], kept=[5]))
    assert scores.merged_pairs == 15 and scores.unlike_pairs == 11
    assert scores.true_share == 2 / 15
    assert scores.removed == 5 and scores.wrongly_removed == 5


def test_nothing_merged_has_no_precision() -> None:
    scores = score(TRUTH, result([0, 1, 2, 3, 4, 5], kept=list(range(6))))
    assert scores.true_share is None and scores.recall == 0.0 and scores.left_share == 1.0


def test_a_result_that_lost_documents_is_refused() -> None:
    with pytest.raises(ValueError, match="lost or invented"):
        score(TRUTH, result([0, 1, 2], kept=[0, 1, 2]))


def test_listed_pairs_stand_for_the_copies_of_their_documents() -> None:
    # 0 and 3 have the same words, and so have 1 and 4; only (0, 1) and (3, 0) are listed.
    same_as = np.array([0, 1, 2, 0, 1, 5])
    listed = Listed(same_as, np.array([0 * 6 + 1, 0 * 6 + 0]))
    pairs = list(itertools.combinations(range(6), 2))
    left, right = (np.array(side) for side in zip(*pairs, strict=True))
    found = {pair for pair, has in zip(pairs, listed.has(left, right), strict=True) if has}
    assert found == {(0, 1), (0, 3), (0, 4), (1, 3), (1, 4), (3, 4)}
    assert listed.count() == len(found)


def test_components_name_the_smallest_member() -> None:
    components = Components(6)
    for one, other in ((4, 2), (5, 4), (1, 0)):
        components.join(one, other)
    assert components.roots() == [0, 0, 2, 3, 2, 2]


def test_bands_join_only_what_agrees_enough() -> None:
    base = np.arange(16, dtype=np.uint32)
    near, far, twin = base.copy(), base.copy(), base.copy()
    near[14:] = 99  # 14 of 16 agree
    far[8:] = 99  # half agrees: shares a band, fails the check
    signatures = np.stack([base, far, near, np.arange(100, 116, dtype=np.uint32), twin])
    assert join_checked(signatures, 4, 4, 0.8) == [0, 1, 0, 3, 0]
    assert join_checked(signatures, 4, 4, 0.5) == [0, 0, 0, 3, 0]


def test_what_a_peer_writes_is_read_back_in_input_order(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_bytes(b"".join(orjson.dumps({"id": f"é{n}", "text": f"text {n}"}) + b"\n" for n in range(4)))
    collection = Collection("small", source, 4, 24)
    ids = [doc_id for doc_id, _ in read_documents(source)]
    write_first_of_each(source, tmp_path, ids, [0, 0, 2, 0])
    assert [orjson.loads(line)["id"] for line in (tmp_path / "kept.jsonl").read_bytes().splitlines()] == ["é0", "é2"]
    found = read_clusters(tmp_path, collection)
    assert found.cluster.tolist() == [0, 0, 2, 0] and found.kept.tolist() == [True, False, True, False]
    write_clusters(tmp_path, reversed([(doc_id, n, True) for n, doc_id in enumerate(ids)]))
    assert read_clusters(tmp_path, collection).cluster.tolist() == [0, 1, 2, 3]


def test_every_peer_is_pinned_and_has_its_file() -> None:
    folder = Path(sys.modules["benchmarks.peers"].__file__ or "").parent
    for peer in PEERS:
        assert peer.version and (folder / f"{peer.module}.py").is_file()
    assert tools_named("")[:2] == ["roughly", "roughly-pairs"]
    with pytest.raises(ValueError, match="no such tool: nonsense"):
        tools_named("gaoya,nonsense")


def test_a_failed_tool_is_a_row_with_its_reason() -> None:
    table = dedupe_table([Row("broken 1.0", "any", 3, 30, failure="ValueError: no luck")])
    assert "| broken 1.0" in table and table.endswith("broken 1.0: ValueError: no luck")


def test_a_process_tree_is_measured(tmp_path: Path) -> None:
    child = "import time; block = bytearray(60_000_000); block[::4096] = b'x' * len(block[::4096]); time.sleep(0.5)"
    code = (
        "import subprocess, sys, pathlib; pathlib.Path(sys.argv[1]).write_bytes(bytes(2_000_000));"
        f"subprocess.run([sys.executable, '-c', {child!r}], check=True)"
    )
    done = run([sys.executable, "-c", code, str(tmp_path / "big")], folder=tmp_path, environment={}, timeout=60)
    assert done.failure is None
    assert done.peak_bytes > 60_000_000  # most of it is in the child
    assert done.written_bytes >= 2_000_000
    assert 0.5 < done.seconds < 60


def test_failures_and_timeouts_say_why(tmp_path: Path) -> None:
    broken = run(
        [sys.executable, "-c", "print('at work'); raise RuntimeError('no luck')"],
        folder=tmp_path, environment={}, timeout=60,
    )  # fmt: skip
    assert broken.failure == "RuntimeError: no luck"
    slow = run([sys.executable, "-c", "import time; time.sleep(60)"], folder=tmp_path, environment={}, timeout=0.5)
    assert slow.failure == "not done in 0 s" and slow.seconds < 30
    assert folder_size(tmp_path) == (tmp_path / "log.txt").stat().st_size


def test_files_of_ones_own_become_a_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.corpora.DATA", tmp_path / "data")
    source = tmp_path / "mine.jsonl"
    texts = ["a b c d e f", "", "!!!", "日本語", "naïve café"]
    source.write_bytes(b"".join(orjson.dumps({"body": text}) + b"\n" for text in texts))
    collection = own([source], "body", None)
    assert collection.documents == 2
    assert collection.read()[1] == ["a b c d e f", "naïve café"]
    with pytest.raises(CorpusMissing, match="is not a file"):
        own([tmp_path / "none.jsonl"], "body", None)
    with pytest.raises(CorpusMissing, match="no usable document"):
        own([source], "absent", None)
