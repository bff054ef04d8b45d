"""Windows against a suffix array and the walk in plain Python: the same tokens, no more, no fewer."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import passage_twins as twins
import pyarrow as pa
import pytest

import roughly
from roughly.text.canonical import spans as token_spans
from roughly.tools.passages.mapped_arrays import MappedArrays

SEEDS = 50


def check(seed: int, tokens: int, least: int, **options: int) -> None:
    documents = twins.collection(seed, tokens)
    draw = random.Random(seed)
    texts = [twins.text_of(document, draw) for document in documents]
    result = roughly.passages(texts, least=least, **options)
    found = [[False] * len(document) for document in documents]
    removed = [[False] * len(document) for document in documents]
    places = [token_spans(text) for text in texts]
    starts = [{start: at for at, (start, _) in enumerate(some)} for some in places]
    for row in result.spans.to_pylist():
        doc, first = int(row["doc_id"]), starts[int(row["doc_id"])][row["char_start"]]
        assert not any(found[doc][first : first + row["tokens"]]), "spans do not overlap"
        found[doc][first : first + row["tokens"]] = [True] * row["tokens"]
        if not row["kept"]:
            removed[doc][first : first + row["tokens"]] = [True] * row["tokens"]
            other = int(row["witness_id"])
            there = starts[other][row["witness_char_start"]]
            same = documents[other][there : there + row["tokens"]]
            assert documents[doc][first : first + row["tokens"]] == same, "a span is equal to its witness"
    assert found == twins.repeated_tokens(documents, least)
    assert removed == twins.walk(documents, least)
    for row in result.spans.to_pylist():  # the place that a span names is kept
        if not row["kept"]:
            other = int(row["witness_id"])
            there = starts[other][row["witness_char_start"]]
            assert not any(removed[other][there : there + row["tokens"]])


@pytest.mark.parametrize("least", [4, 20, 50, 100])
@pytest.mark.parametrize("seed", [1, 2])
def test_the_runs_of_a_suffix_array(seed: int, least: int) -> None:
    check(seed, 12_000, least)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SEEDS))
def test_the_runs_of_a_suffix_array_in_two_megabytes(seed: int) -> None:
    for least in (20, 50, 100):
        check(1000 + seed, 350_000, least)


def with_memory(monkeypatch: pytest.MonkeyPatch, memory: int) -> None:
    """Let what lies in files believe that there is no more memory than this."""
    real = MappedArrays.__init__
    monkeypatch.setattr(MappedArrays, "__init__", lambda self, work, _: real(self, work, memory))


@pytest.mark.parametrize("least", [5, 30])
def test_threads_memory_and_batches_change_nothing(least: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With 64 kB there are hundreds of shares and blocks, and filters that hardly drop anything."""
    documents = twins.collection(7, 20_000)
    draw = random.Random(7)
    table = pa.table({"text": [twins.text_of(document, draw) for document in documents]})
    first = roughly.passages(table, least=least, threads=1)
    others = [
        roughly.passages(table, least=least, threads=3, batch_size=7),
        roughly.passages(table, least=least, threads=2, memory="640MB"),
    ]
    with_memory(monkeypatch, 1 << 16)
    others.append(roughly.passages(table, least=least, threads=4))
    for other in others:
        assert other.spans.equals(first.spans)
        assert other.passages.equals(first.passages)


@pytest.mark.parametrize(
    "options",
    [
        {"unit": "line", "do": "remove"},
        {"least": 10, "keep": "longest", "do": "remove", "least_left": 50},
        {"least": 10, "sources": 2},
        {"least": 10, "site_share": 0.02},
        {"least": 12, "gap": 2},
        {"least": 12, "gap": 2, "do": "remove", "keep": "last"},
        {"least": 8, "against": True},
    ],
    ids=str,
)
def test_any_memory_gives_the_same_answer(options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(8)
    texts = [twins.text_of(document, draw) for document in twins.collection(8, 9_000)]
    table = pa.table({"text": texts, "source": [f"site{at % 3}" for at in range(len(texts))]})
    options = {**options, **({"against": texts[::5]} if "against" in options else {})}
    first = roughly.passages(table, **options)
    with_memory(monkeypatch, 1 << 14)
    other = roughly.passages(table, **options)
    assert first.spans.num_rows
    for name in ("spans", "passages", "documents", "items"):
        assert getattr(first, name) == getattr(other, name)
    assert first.texts().equals(other.texts())


def test_a_page_in_every_document_with_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few keys have nearly all places: their rows are sorted in pieces."""
    page = " ".join(f"term{at}" for at in range(40))
    texts = [f"own{at} {page} end{at}" for at in range(300)]
    first = roughly.passages(texts, least=20)
    with_memory(monkeypatch, 1 << 14)
    other = roughly.passages(texts, least=20)
    assert first.summary["counts"]["spans"] == 299
    assert other.spans.equals(first.spans) and other.passages.equals(first.passages)


@pytest.mark.parametrize("unit", ["window", "line"])
def test_a_witness_is_in_one_document(unit: str) -> None:
    """The kept places of two runs that follow each other may be in two documents that do as well."""
    first, second = ("\n".join(f"{name}{at} and so on" for at in range(10)) for name in "ab")
    spans = roughly.passages([f"x\n{first}", f"{second}\ny", f"{first}\n{second}"], unit=unit, least=4).spans
    found = [row for row in spans.to_pylist() if not row["kept"]]
    assert [(row["witness_id"], row["witness_start"], row["tokens"]) for row in found] == [("0", 2, 40), ("1", 0, 40)]


def test_planted_passages() -> None:
    """Recall 1 at and above `least`, none below; a tenth across line breaks and changes of case."""
    draw = random.Random(3)
    least = 50
    documents, planted = [], []
    for number in range(400):
        passage = [f"p{number}x{at}" for at in range(draw.randrange(30, 500))]
        for copy in range(2):
            before = [f"b{number}x{copy}x{at}" for at in range(draw.randrange(1, 60))]
            after = [f"a{number}x{copy}x{at}" for at in range(draw.randrange(1, 60))]
            words = passage
            if copy and number % 10 == 0:
                words = [word.upper() + "\n" if draw.random() < 0.5 else word for word in passage]
            documents.append(" ".join([*before, *words, *after]))
        planted.append(len(passage))
    result = roughly.passages(documents, least=least)
    found = {row["doc_id"]: row for row in result.spans.to_pylist() if not row["kept"]}
    for number, length in enumerate(planted):
        row = found.get(str(2 * number + 1))
        assert (row is not None) == (length >= least)
        if row is not None:
            assert (row["tokens"], row["witness_id"]) == (length, str(2 * number))
    assert len(found) == sum(length >= least for length in planted)
    listed = {(row["doc_id"], row["tokens"]) for row in result.passages.to_pylist()}
    assert listed == {(str(2 * number), length) for number, length in enumerate(planted) if length >= least}


def test_keys_that_are_equal_by_chance_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """With keys of eight bits nearly every class is wrong at first."""
    from roughly.tools.passages import repeated_places

    documents = twins.collection(5, 6_000)
    draw = random.Random(5)
    texts = [twins.text_of(document, draw) for document in documents]
    expected = roughly.passages(texts, least=10).spans
    real = repeated_places.gram_keys
    with_memory(monkeypatch, 1 << 16)
    monkeypatch.setattr(repeated_places, "gram_keys", lambda *given: real(*given) & np.uint64(0xFF << 56))
    assert roughly.passages(texts, least=10).spans.equals(expected)
