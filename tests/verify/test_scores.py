"""Resemblance and containment against their definition on Python sets."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roughly.errors import InputError, RoughlyError, SettingsError
from roughly.text.canonical import words
from roughly.verify import Scores, score_sets, score_texts
from verify.texts import STORY, edited, prose, texts

sets = st.sets(st.integers(0, 30) | st.integers(0, 2**64 - 1), max_size=30)


def array(values: set[int]) -> npt.NDArray[np.uint64]:
    return np.array(sorted(values), np.uint64)


def shingles(text: str, size: int) -> set[tuple[str, ...]]:
    found = words(text)
    if 0 < len(found) < size:
        return {tuple(found)}
    return {tuple(found[i : i + size]) for i in range(len(found) - size + 1)}


def by_definition(left: set[object], right: set[object]) -> Scores:
    shared = len(left & right)
    if not left and not right:
        return Scores(1.0, 1.0, 1.0, 0, 0, 0)
    union = len(left | right)
    return Scores(
        shared / union,
        shared / len(left) if left else 0.0,
        shared / len(right) if right else 0.0,
        shared,
        len(left),
        len(right),
    )


@given(sets, sets)
def test_sets_score_by_definition(left: set[int], right: set[int]) -> None:
    assert score_sets(array(left), array(right)) == by_definition(set(left), set(right))


@settings(deadline=None, max_examples=150)
@given(prose | texts, prose | texts, st.integers(1, 6))
def test_texts_score_by_definition(left: str, right: str, size: int) -> None:
    left_set, right_set = shingles(_encodable(left), size), shingles(_encodable(right), size)
    assert score_texts(left, right, size) == by_definition(set(left_set), set(right_set))


@given(sets, sets)
def test_swapping_sides_swaps_containments(left: set[int], right: set[int]) -> None:
    forth, back = score_sets(array(left), array(right)), score_sets(array(right), array(left))
    assert forth.resemblance == back.resemblance
    assert (forth.containment, forth.contained_in) == (back.contained_in, back.containment)


@given(sets, sets)
def test_scores_are_bounded_and_resemblance_is_the_least(left: set[int], right: set[int]) -> None:
    scores = score_sets(array(left), array(right))
    assert 0 <= scores.resemblance <= min(scores.containment, scores.contained_in)
    assert max(scores.containment, scores.contained_in) <= 1


@given(sets, sets, sets)
def test_distance_obeys_the_triangle_inequality(a: set[int], b: set[int], c: set[int]) -> None:
    def distance(x: set[int], y: set[int]) -> float:
        return 1 - score_sets(array(x), array(y)).resemblance

    assert distance(a, c) <= distance(a, b) + distance(b, c) + 1e-12


@settings(deadline=None)
@given(texts)
def test_a_text_resembles_itself_wholly(text: str) -> None:
    scores = score_texts(text, text)
    assert scores.resemblance == scores.containment == scores.contained_in == 1


def test_the_rose_of_the_paper() -> None:
    assert score_texts("a rose is a rose is a rose", "a rose is a rose", 4).left_size == 3
    assert score_texts("a rose is a rose is a rose", "a rose is a rose is", 4).resemblance == 1


def test_a_part_is_contained_and_case_does_not_count() -> None:
    part = STORY.split("\n\n")[1].upper()
    scores = score_texts(part, STORY)
    assert scores.containment == 1 and scores.contained_in < 0.5
    assert scores.resemblance == scores.contained_in


def test_edits_lower_the_score_step_by_step() -> None:
    seen = [score_texts(STORY, edited(STORY, 5, rate)).resemblance for rate in (0, 0.05, 0.2, 0.6)]
    assert seen == sorted(seen, reverse=True) and seen[0] == 1 and seen[-1] < 0.1


def test_empty_documents() -> None:
    assert score_texts("", "") == score_texts("...", " \n") == Scores(1.0, 1.0, 1.0, 0, 0, 0)
    assert score_texts("", "word") == Scores(0.0, 0.0, 0.0, 0, 0, 1)
    assert score_texts("word", "") == Scores(0.0, 0.0, 0.0, 0, 1, 0)


def test_short_documents_are_one_shingle() -> None:
    assert score_texts("two words", "Two words!") == Scores(1.0, 1.0, 1.0, 1, 1, 1)
    assert score_texts("two words", "two words more").resemblance == 0


@pytest.mark.parametrize("size", [0, -1, 65, 2.5, "5", True, None])
def test_shingle_sizes_that_make_no_sense_are_refused(size: object) -> None:
    with pytest.raises(SettingsError, match="shingle_size must be a whole number from 1 to 64"):
        score_texts("a", "b", size)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [None, 3, b"bytes", ["list"]])
def test_what_is_not_text_is_refused_with_a_remedy(wrong: object) -> None:
    with pytest.raises(InputError, match=r"left must be a string, not \w+; (decode|pass)") as caught:
        score_texts(wrong, "text")  # type: ignore[arg-type]
    assert isinstance(caught.value, RoughlyError) and isinstance(caught.value, ValueError)
    with pytest.raises(InputError, match="right"):
        score_texts("text", wrong)  # type: ignore[arg-type]


def test_arrays_of_another_type_are_refused() -> None:
    good = array({1, 2})
    for wrong in ([1, 2], good.astype(np.int64), good.reshape(1, 2)):
        with pytest.raises(InputError, match="right must be a one-dimensional numpy array of uint64"):
            score_sets(good, wrong)  # type: ignore[arg-type]


def _encodable(text: str) -> str:
    return "".join("\ufffd" if 0xD800 <= ord(letter) <= 0xDFFF else letter for letter in text)
