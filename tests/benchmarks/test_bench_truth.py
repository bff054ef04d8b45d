"""The exact truth of the benchmarks equals comparing all pairs, and its cache gives back what was kept."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from benchmarks.tokens import is_plain, resemblance, shingles_of, tokens_of
from benchmarks.truth import FLOOR, Truth, join, number_shingles, truth_of


def as_dict(truth: Truth) -> dict[tuple[int, int], float]:
    return dict(
        zip(
            zip(truth.left.tolist(), truth.right.tolist(), strict=True),
            truth.resemblance.tolist(),
            strict=True,
        )
    )


def brute_force(texts: list[str], floor: float) -> dict[tuple[int, int], float]:
    sets = [shingles_of(tokens_of(text)) for text in texts]
    found = {}
    for (a, left), (b, right) in itertools.combinations(enumerate(sets), 2):
        if left and right:
            shared = len(left & right)
            score = shared / (len(left) + len(right) - shared)
            if score >= floor:
                found[a, b] = score
    return found


def with_copies(texts: list[str]) -> list[str]:
    """Copies, beginnings, insertions, and the awkward: empty, one token, four tokens, only punctuation."""
    half = [text[: len(text) * share // 10] for share, text in zip(itertools.cycle((4, 6, 8, 9)), texts)]
    merged = [f"{left[:200]} {right}" for left, right in itertools.pairwise(texts[::3])]
    short = ["", "...", "one", "One!", "one two three four", "one, two three FOUR", "one two three four five"]
    return texts + texts[:20] + half + merged + short


def test_join_equals_all_pairs(texts: list[str]) -> None:
    documents = with_copies(texts)
    pairs = brute_force(documents, 0.3)
    for floor in (0.3, 0.5, 0.8, 1.0):
        expected = {pair: score for pair, score in pairs.items() if score >= floor}
        assert len(expected) > 20
        assert as_dict(join(number_shingles(documents), floor)) == expected


@pytest.mark.corpora
def test_join_equals_all_pairs_on_500_real_mails(corpora: Path) -> None:
    mails = pq.read_table(corpora / "csdmc2010.parquet", columns=["text"])["text"].to_pylist()[:500]
    expected = brute_force(mails, FLOOR)
    assert len(expected) >= 20
    assert as_dict(truth_of(mails)) == expected


def test_a_template_shared_by_all_does_not_lose_pairs() -> None:
    notice = " ".join(f"notice{n}" for n in range(300))
    documents = [f"{notice} {' '.join(f'own{d}x{n}' for n in range(5 * d))}" for d in range(60)]
    assert as_dict(truth_of(documents)) == brute_force(documents, FLOOR)


def test_pairs_are_ordered_and_unique(texts: list[str]) -> None:
    truth = truth_of(with_copies(texts))
    assert (truth.left < truth.right).all()
    keys = truth.left * truth.documents + truth.right
    assert (np.diff(keys) > 0).all()


def test_no_documents_and_no_tokens_have_no_pairs() -> None:
    assert len(truth_of([]).left) == 0
    assert len(truth_of(["", "!!!", "___"]).left) == 0


def test_the_cache_is_read_and_belongs_to_its_texts(texts: list[str], tmp_path: Path) -> None:
    documents = with_copies(texts)
    first = truth_of(documents, tmp_path)
    (stored,) = tmp_path.glob("truth-*.npz")
    stamp = stored.stat().st_mtime_ns
    assert as_dict(truth_of(documents, tmp_path)) == as_dict(first)
    assert stored.stat().st_mtime_ns == stamp
    assert len(truth_of(documents[:50], tmp_path).left) < len(first.left)
    assert len(list(tmp_path.iterdir())) == 2


def test_resemblance_by_hand() -> None:
    # abcde bcdef | bcdef cdefg: one of three
    assert resemblance("A b, c d e f", "b c d e f g!") == 1 / 3
    assert resemblance("a b", "A  B.") == 1.0
    assert resemblance("a b", "a b c d e") == 0.0
    assert resemblance("", "") == 0.0


def test_plain_texts_are_those_all_tools_tokenise_alike() -> None:
    assert is_plain("plain ASCII_text")
    assert is_plain("größer, naïve — “quoted” Ελλάδα Россия")
    assert not is_plain("日本語の文")
    assert not is_plain("हिन्दी")
    assert not is_plain("e\u0301tude")
    assert not is_plain("soft\u00adhyphen")


def test_the_product_finds_the_same_pairs(texts: list[str]) -> None:
    """Two joins that share no code agree to the last bit."""
    import pyarrow as pa

    import roughly

    documents = [text for text in with_copies(texts) if is_plain(text)]
    table = pa.table({"id": [f"{i:06}" for i in range(len(documents))], "text": documents})
    found = roughly.truth(table, threshold=FLOOR, empty=False).table
    names = (found[name].to_pylist() for name in ("left_id", "right_id", "resemblance"))
    listed = {(int(left), int(right)): score for left, right, score in zip(*names, strict=True)}
    assert listed == as_dict(truth_of(documents)) and len(listed) > 20
