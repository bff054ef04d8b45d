"""Shared passages: found anywhere, with exact places in both originals."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roughly.errors import SettingsError
from roughly.text.canonical import words
from roughly.verify import Passage, score_texts, shared_passages
from verify.texts import PARAGRAPH, SENTENCE, STORY, edited, prose, texts


def cut(left: str, right: str, passage: Passage) -> tuple[str, str]:
    return left[passage.left_start : passage.left_end], right[passage.right_start : passage.right_end]


@settings(deadline=None, max_examples=200)
@given(prose | texts, prose | texts, st.integers(1, 6))
def test_without_gaps_both_sides_of_a_passage_have_the_same_words(left: str, right: str, size: int) -> None:
    passages = shared_passages(left, right, size, least=0, gap=0)
    end = 0
    for passage in passages:
        here, there = cut(left, right, passage)
        assert words(_encodable(here)) == words(_encodable(there))
        assert len(words(_encodable(here))) == passage.words > 0
        assert passage.left_start >= end
        end = passage.left_end
    assert bool(passages) == bool(score_texts(left, right, size).shared)


@settings(deadline=None, max_examples=100)
@given(texts)
def test_a_text_shares_all_of_itself(text: str) -> None:
    count = len(words(_encodable(text)))
    passages = shared_passages(text, text)
    assert [passage.words for passage in passages] == ([count] if count else [])


def test_a_copied_paragraph_is_found_to_the_character() -> None:
    left = "An unrelated opening of some length, written for this test alone.\n\n" + PARAGRAPH + "\nAnd nothing more."
    right = STORY + "\n" + PARAGRAPH.upper() + SENTENCE
    (passage,) = shared_passages(left, right)
    here, there = cut(left, right, passage)
    assert here == PARAGRAPH.strip().rstrip(".") and there == here.upper()
    assert passage.words == len(words(PARAGRAPH))


def test_paragraphs_in_another_order_are_found_each() -> None:
    first, second, third = STORY.strip().split("\n\n")
    left, right = f"{first}\n\n{second}\n\n{third}", f"{third}\n\n{first}\n\n{second}"
    passages = shared_passages(left, right)
    assert [cut(left, right, p)[0] for p in passages] == [(first + "\n\n" + second).rstrip("."), third.rstrip(".")]
    assert sum(p.words for p in passages) == len(words(STORY))


def test_a_few_changed_words_do_not_break_a_passage_but_many_do() -> None:
    few = STORY.replace("two bridges", "three old bridges").replace("No one was hurt", "Nobody was hurt")
    (passage,) = shared_passages(STORY, few)
    assert passage.left_start == 0 and passage.words == len(words(STORY)) - 3
    at = STORY.index("The mayor")
    split = STORY[:at] + SENTENCE + STORY[at:]
    assert len(shared_passages(STORY, split)) == 2
    assert len(shared_passages(STORY, split, gap=len(words(SENTENCE)))) == 1
    assert len(shared_passages(STORY, few, gap=0)) == 3


def test_what_left_repeats_is_named_each_time() -> None:
    passages = shared_passages(PARAGRAPH + STORY + PARAGRAPH, PARAGRAPH)
    assert len(passages) == 2 and {p.right_start for p in passages} == {0}


def test_short_agreements_are_left_out_unless_they_are_a_whole_document() -> None:
    phrase = "as soon as the water fell"
    assert shared_passages(STORY, f"We sailed {phrase} at last, and came home late.") == []
    assert [p.words for p in shared_passages(STORY, f"We sailed {phrase} at last.", least=6)] == [6]
    assert [p.words for p in shared_passages(STORY, phrase)] == [6]


def test_documents_shorter_than_a_shingle_are_shared_whole_or_not_at_all() -> None:
    assert shared_passages("Two words", "two WORDS!") == [Passage(0, 9, 0, 9, 2)]
    assert shared_passages("two words", "two words more") == []
    assert shared_passages("", "") == shared_passages("", STORY) == shared_passages(STORY, "...") == []


def test_chinese_passage() -> None:
    shared = "市政府星期五關閉了沿海公路,並請司機改走高速公路"
    left, right = f"前言部分。{shared}。其後", f"別的開頭:{shared}"
    (passage,) = shared_passages(left, right)
    assert cut(left, right, passage) == (shared, shared)


def test_a_passage_survives_scattered_edits() -> None:
    copy = edited(STORY, 3, 0.05)
    covered = sum(p.left_end - p.left_start for p in shared_passages(STORY, PARAGRAPH + copy + SENTENCE))
    assert covered > 0.9 * len(STORY)


@pytest.mark.parametrize(("name", "value"), [("least", -1), ("gap", -2), ("shingle_size", 0), ("least", "ten")])
def test_settings_that_make_no_sense_are_refused(name: str, value: object) -> None:
    with pytest.raises(SettingsError, match=name):
        shared_passages("a", "b", **{name: value})  # type: ignore[arg-type]


def _encodable(text: str) -> str:
    return "".join("\ufffd" if 0xD800 <= ord(letter) <= 0xDFFF else letter for letter in text)
