"""The methods of the family through the engine: who stays is what their sketches say, for any number of threads."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import roughly


@pytest.fixture(scope="module")
def records() -> list[dict[str, str]]:
    """Documents of words of one length, so that tokens and bytes rank alike; most are copies with edits."""
    chance = random.Random(8)
    texts: list[list[str]] = []
    for _ in range(150):
        if texts and chance.random() < 0.7:
            words = list(chance.choice(texts))
            for _ in range(chance.choice([0, 1, 3, 10, 40])):
                words[chance.randrange(len(words))] = f"x{chance.randrange(10**5):05}"
            words = words[: chance.choice([len(words), len(words), max(20, len(words) // 2)])]
        else:
            words = [f"w{chance.randrange(10**5):05}" for _ in range(chance.randrange(20, 700))]
        texts.append(words)
    return [{"id": f"d{at:03}", "text": " ".join(words)} for at, words in enumerate(texts)]


@pytest.mark.parametrize("measure", ["resemblance", "containment"])
@pytest.mark.parametrize("sketch", ["all", "mod:4", "min:60", "adaptive"])
def test_shingles_in_the_engine_are_sketches_clustered_again(
    records: list[dict[str, str]], tmp_path: Path, sketch: str, measure: str
) -> None:
    asked: dict[str, Any] = {"method": "shingles", "threshold": 0.5, "measure": measure, "sketch": sketch}
    one = roughly.dedupe(records, shingle_size=4, threads=1, **asked)
    two = roughly.dedupe(list(reversed(records)), shingle_size=4, threads=2, **asked)
    assert one.documents.equals(two.documents)
    roughly.sketch(records, output=tmp_path / "s", sketch=sketch, shingle_size=4)
    again = roughly.recluster(tmp_path / "s", threshold=0.5, measure=measure)
    assert one.kept_ids == again.kept_ids
    assert 0 < len(again.kept_ids) < len(records)
    scores = {row["doc_id"]: row[measure] for row in again.removed.to_pylist()}
    for row in one.removed.to_pylist():
        assert row[measure] == pytest.approx(scores[row["doc_id"]])


@pytest.mark.parametrize("name", ["super-shingles", "mega-shingles", "word-lsh"])
def test_the_others_with_a_threshold_keep_it(records: list[dict[str, str]], name: str) -> None:
    asked: dict[str, Any] = {"method": name, "threshold": 0.6, "judge": "sketch", "shingle_size": 4}
    one = roughly.dedupe(records, threads=1, **asked)
    two = roughly.dedupe(list(reversed(records)), threads=2, **asked)
    assert one.documents.equals(two.documents)
    assert 0 < len(one.removed) < len(records)
    assert min(row["resemblance"] for row in one.removed.to_pylist()) >= 0.6
