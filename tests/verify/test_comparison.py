"""`compare` and the short questions, as a user of the package calls them."""

from __future__ import annotations

import json

import pytest

import roughly
from roughly.errors import InputError, SettingsError
from roughly.verify import kind_of, score_texts, shared_passages, word_diff
from verify.texts import PARAGRAPH, STORY, edited


def test_a_comparison_holds_all_its_parts() -> None:
    left, right = STORY, edited(STORY, 1, 0.05)
    found = roughly.compare(left, right)
    assert found.scores == score_texts(left, right)
    assert found.kind == kind_of(left, right)
    assert found.passages == shared_passages(left, right)
    assert found.diff() == word_diff(left, right)
    assert found.diff(context=3) == word_diff(left, right, 3)
    assert (found.left, found.right) == (left, right)
    assert repr(found).startswith(f"Comparison(resemblance={found.scores.resemblance:.4f}")
    assert found.passages is found.passages


def test_to_dict_is_plain_and_whole() -> None:
    found = roughly.compare(STORY, STORY + PARAGRAPH, shingle_size=3)
    values = found.to_dict()
    assert json.loads(json.dumps(values)) == values
    assert list(values) == [
        "resemblance", "containment", "contained_in", "shared", "left_size", "right_size", "shingle_size", "kind",
        "passages", "diff",
    ]  # fmt: skip
    assert values["kind"] == "excerpt" and values["containment"] == 1 and values["shingle_size"] == 3
    assert values["passages"][0]["left_start"] == 0
    assert "".join(s["text"] for s in values["diff"] if s["kind"] != "insert") == STORY
    assert found.to_dict(context=1)["diff"][0]["kind"] == "gap"


def test_unrelated_documents_have_no_kind() -> None:
    assert roughly.compare(STORY, "Nothing of that story is told in these few words of mine.").kind is None
    assert roughly.compare("", STORY).kind is None
    assert roughly.compare("", "").kind == "exact"


def test_same_and_its_threshold() -> None:
    near = STORY.replace("Friday", "Thursday")
    r = roughly.resemblance(STORY, near)
    assert 0.8 < r < 1
    assert roughly.same(STORY, near) and roughly.same(STORY, near, r) and not roughly.same(STORY, near, r + 1e-9)
    assert roughly.same(STORY, near, 1.0, shingle_size=1) is False
    assert roughly.same(STORY, STORY, 1)
    assert not roughly.same(STORY, PARAGRAPH)
    assert roughly.same("", "") and not roughly.same("", "x")


def test_contains_asks_whether_the_first_holds_the_second() -> None:
    assert roughly.contains(STORY + PARAGRAPH, PARAGRAPH)
    assert not roughly.contains(PARAGRAPH, STORY + PARAGRAPH)
    assert roughly.containment(PARAGRAPH, STORY + PARAGRAPH) == 1
    assert roughly.containment(STORY + PARAGRAPH, PARAGRAPH) < 0.5
    assert not roughly.contains(STORY, "")


@pytest.mark.parametrize("threshold", [0, -0.1, 1.01, float("nan"), "0.8", None, True])
def test_thresholds_that_make_no_sense_are_refused(threshold: object) -> None:
    for ask in (roughly.same, roughly.contains):
        with pytest.raises(SettingsError, match="threshold must be above 0 and at most 1"):
            ask("a", "b", threshold)  # type: ignore[operator]


def test_shingle_sizes_are_checked_at_once() -> None:
    for ask in (roughly.compare, roughly.same, roughly.contains, roughly.resemblance, roughly.containment):
        with pytest.raises(SettingsError, match="shingle_size"):
            ask("a", "b", shingle_size=0)  # type: ignore[operator]


def test_what_is_not_text_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="left must be a string, not bytes; decode it first"):
        roughly.compare(b"a", "b")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="contained must be a string, not None"):
        roughly.contains("a", None)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="container must be a string"):
        roughly.contains(1, "a")  # type: ignore[arg-type]
