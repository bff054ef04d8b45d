"""Copies with changed words: exact runs joined across gaps."""

from __future__ import annotations

import random

import passage_twins as twins
import pyarrow.parquet as pq
import pytest

import roughly
from roughly.errors import SettingsError
from roughly.text.canonical import spans as token_spans


def changed(words: list[str], every: int, count: int = 1) -> list[str]:
    return [f"new{at}" if at % every < count and at >= every else word for at, word in enumerate(words)]


def test_changed_words_do_not_end_a_passage() -> None:
    words = [f"w{at}" for at in range(95)]
    near = changed(words, 25, 2)
    documents = [" ".join(["a", *words, "b"]), " ".join(["c", *near, "d"])]
    assert roughly.passages(documents, least=50).spans.num_rows == 0
    assert roughly.passages(documents, least=50, gap=1).spans.num_rows == 0
    result = roughly.passages(documents, least=50, gap=2)
    rows = [row for row in result.spans.to_pylist() if not row["kept"]]
    assert [(row["doc_id"], row["tokens"], row["witness_id"]) for row in rows] == [("1", 95, "0")]
    removed = roughly.passages(documents, least=50, gap=2, do="remove")
    left = removed.texts()["text"].to_pylist()
    assert left == [documents[0], "c new25 new26 new50 new51 new75 new76 d"]
    assert roughly.passages(documents, least=96, gap=2).spans.num_rows == 0


def test_other_gaps_at_the_witness_are_none() -> None:
    words = [f"w{at}" for at in range(80)]
    apart = [*words[:40], *(f"x{at}" for at in range(30)), *words[40:]]
    assert roughly.passages([" ".join(apart), " ".join(words)], least=60, gap=5).spans.num_rows == 0


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_removed_token_has_its_witness(seed: int) -> None:
    documents = twins.collection(seed, 8_000, words=300)
    draw = random.Random(seed)
    texts = [twins.text_of(document, draw) for document in documents]
    result = roughly.passages(texts, least=24, gap=3, do="remove")
    starts = [{start: at for at, (start, _) in enumerate(token_spans(text))} for text in texts]
    removed = [[False] * len(document) for document in documents]
    rows = [row for row in result.spans.to_pylist() if not row["kept"]]
    assert rows
    for row in rows:
        doc, other = int(row["doc_id"]), int(row["witness_id"])
        here, there = starts[doc][row["char_start"]], starts[other][row["witness_char_start"]]
        assert documents[doc][here : here + row["tokens"]] == documents[other][there : there + row["tokens"]]
        removed[doc][here : here + row["tokens"]] = [True] * row["tokens"]
    for row in rows:
        other, there = int(row["witness_id"]), starts[int(row["witness_id"])][row["witness_char_start"]]
        assert not any(removed[other][there : there + row["tokens"]])
    cuts = pq.read_table(result.folder / "removed.parquet")["text"].to_pylist()
    left = result.texts()["text"].to_pylist()
    assert sum(map(len, cuts)) + sum(map(len, left)) == sum(map(len, texts))


def test_gaps_that_make_no_sense() -> None:
    with pytest.raises(SettingsError, match="gap must be below a third"):
        roughly.passages(["x"], least=30, gap=10)
    with pytest.raises(SettingsError, match="gap must be below a third"):
        roughly.passages(["x"], unit="line", gap=1)
    with pytest.raises(SettingsError, match="gap must be a whole number"):
        roughly.passages(["x"], gap=-1)
