"""The diff tells the truth: it gives back the left text exactly and the right text token by token."""

from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roughly.errors import InputError, SettingsError
from roughly.text.canonical import spans, words
from roughly.verify import Segment, word_diff
from roughly.verify.tokenised import Reading
from verify.texts import PARAGRAPH, SENTENCE, STORY, edited, prose, texts


def encodable(text: str) -> str:
    return "".join("\ufffd" if 0xD800 <= ord(letter) <= 0xDFFF else letter for letter in text)


def check(left: str, right: str, segments: list[Segment]) -> None:
    assert "".join(s.text for s in segments if s.kind in ("equal", "delete")) == left
    tokens = [word for s in segments if s.kind in ("equal", "insert") for word in words(encodable(s.text))]
    assert tokens == words(encodable(right))
    assert all(s.text for s in segments)
    assert all(one.kind != other.kind for one, other in itertools.pairwise(segments))


@settings(deadline=None, max_examples=300)
@given(prose | texts, prose | texts)
def test_both_texts_can_be_read_back(left: str, right: str) -> None:
    check(left, right, word_diff(left, right))


@settings(deadline=None)
@given(texts)
def test_a_text_has_no_differences_with_itself(text: str) -> None:
    assert word_diff(text, text) == ([Segment("equal", text)] if text else [])


@settings(deadline=None, max_examples=300)
@given(texts)
def test_places_of_tokens_are_those_of_the_canonical_form(text: str) -> None:
    reading = Reading(text)
    assert list(zip(reading.starts[:-1], reading.ends, strict=True)) == spans(encodable(text))
    assert len(reading.hashes) == len(reading.ends)


@settings(deadline=None, max_examples=150)
@given(prose, prose, st.integers(0, 5))
def test_context_hides_only_common_words_and_counts_them(left: str, right: str, context: int) -> None:
    whole, short = word_diff(left, right), word_diff(left, right, context)
    changes = [s for s in whole if s.kind in ("delete", "insert")]
    assert [s for s in short if s.kind in ("delete", "insert")] == changes
    equal = sum(len(words(s.text)) for s in whole if s.kind == "equal")
    shown = sum(len(words(s.text)) for s in short if s.kind == "equal")
    hidden = sum(int(s.text.split()[0].replace(",", "")) for s in short if s.kind == "gap")
    assert shown + hidden == equal
    for at, segment in enumerate(short):
        if segment.kind == "equal":
            around = sum(0 <= n < len(short) and short[n].kind != "gap" for n in (at - 1, at + 1))
            assert len(words(segment.text)) <= context * max(around, 1)


def test_only_words_differ_not_case_punctuation_or_spacing() -> None:
    shouted = STORY.upper().replace(",", " --").replace("\n", "  ")
    assert word_diff(STORY, shouted) == [Segment("equal", STORY)]


def test_a_changed_word_is_shown_in_both_originals() -> None:
    assert word_diff("The Quick, brown fox.", "the slow brown FOX!") == [
        Segment("equal", "The "),
        Segment("delete", "Quick, "),
        Segment("insert", "slow "),
        Segment("equal", "brown fox."),
    ]


def test_an_inserted_sentence_is_one_segment() -> None:
    at = STORY.index("The mayor")
    longer = STORY[:at] + SENTENCE + STORY[at:]
    changes = [s for s in word_diff(STORY, longer) if s.kind != "equal"]
    assert changes == [Segment("insert", SENTENCE)]
    assert [s for s in word_diff(longer, STORY) if s.kind != "equal"] == [Segment("delete", SENTENCE)]


def test_a_rewritten_paragraph_is_not_cut_to_ribbons() -> None:
    """Stray words in common (the, of, and) between long changes are not shown as equal."""
    first, _, last = STORY.split("\n\n")
    segments = word_diff(STORY, f"{first}\n\n{PARAGRAPH}\n\n{last}")
    assert len(segments) <= 8
    assert sum(len(words(s.text)) for s in segments if s.kind == "equal") < len(words(first + last)) + 12


def test_context_of_a_small_change() -> None:
    changed = STORY.replace("declined to comment", "refused to comment")
    segments = word_diff(STORY, changed, context=2)
    assert [s.kind for s in segments] == ["gap", "equal", "delete", "insert", "equal", "gap"]
    assert [s.text for s in segments[1:5]] == ["public works ", "declined ", "refused ", "to comment "]
    assert segments[0].text == f"{len(words(STORY[: STORY.index('public works')]))} words"
    assert word_diff(STORY, STORY, context=3) == [Segment("gap", f"{len(words(STORY))} words")]
    assert [s.kind for s in word_diff("a b c", "a x c", context=0)] == ["gap", "delete", "insert", "gap"]
    assert word_diff("a b", "a x", context=0)[0] == Segment("gap", "1 word")


def test_chinese_is_compared_character_by_character() -> None:
    left, right = "市政府星期五關閉了沿海公路。", "市政府星期六關閉了沿海公路。"
    segments = word_diff(left, right)
    check(left, right, segments)
    assert [s for s in segments if s.kind != "equal"] == [Segment("delete", "五"), Segment("insert", "六")]


@pytest.mark.parametrize(
    "hostile",
    [
        "\x00" * 1000,
        "\ud800 word \udfff",
        "\u202egnirts",
        "a\u0301" * 500,
        "\u200d" * 99,
        "<b>" * 500,
        "𝔘" * 200,
        "a" * 100_000,
    ],
)
def test_hostile_texts_come_back_whole(hostile: str) -> None:
    for left, right in ((hostile, STORY), (STORY, hostile), (hostile, hostile + " end"), (hostile + STORY, STORY)):
        check(left, right, word_diff(left, right))


def test_empty_texts() -> None:
    assert word_diff("", "") == []
    assert word_diff("", "one two") == [Segment("insert", "one two")]
    assert word_diff("one two", "") == [Segment("delete", "one two")]
    assert word_diff("--", "one") == [Segment("equal", "--"), Segment("insert", "one")]
    assert word_diff("--", "??") == [Segment("equal", "--")]


@pytest.mark.parametrize("context", [-1, 1.5, "3", True])
def test_a_context_that_makes_no_sense_is_refused(context: object) -> None:
    with pytest.raises(SettingsError, match="context must be a whole number from 0"):
        word_diff("a", "b", context)  # type: ignore[arg-type]


def test_bytes_are_refused() -> None:
    with pytest.raises(InputError, match="right must be a string, not bytes; decode it"):
        word_diff("a", b"a")  # type: ignore[arg-type]


@pytest.mark.parametrize("rate", [0.02, 0.3, 1.0])
def test_a_megabyte_against_its_edited_copy_takes_seconds_not_minutes(rate: float) -> None:
    left = "\n".join(edited(STORY, seed, 0.5) for seed in range(1100))
    right = edited(left, 7, rate)
    assert len(left) > 1_000_000
    word_diff("warm", "up")
    started = time.process_time()
    segments = word_diff(left, right)
    assert time.process_time() - started < 6
    check(left, right, segments)
