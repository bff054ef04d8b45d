"""Foreign text made fit to be shown."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from roughly.report.visible import excerpt, flow, label

anything = st.text(st.characters(codec=None, exclude_categories=[]))


def test_white_space_flows_and_paragraphs_are_marked() -> None:
    assert flow("one\ntwo\t three\r\n\r\n\r\nfour \u2029five\u2028six") == "one two three ¶ four ¶ five six"


def test_scripts_keep_the_joiners_they_need() -> None:
    persian, emoji, hebrew = "می‌خواهم", "👩‍👩‍👧", "שלום\u200f!"
    assert [flow(text) for text in (persian, emoji, hebrew)] == [persian, emoji, hebrew]


def test_an_excerpt_ends_with_a_word_and_says_that_it_goes_on() -> None:
    text = "The council met on Tuesday and agreed on nothing."
    assert excerpt(text, 100) == text
    assert excerpt(text, 30) == "The council met on Tuesday…"
    assert excerpt("上海市促进农业科技进步若干规定", 8) == "上海市促进农业…"
    assert excerpt("\n" * 5_000 + "late", 10).endswith("…")


def test_a_letter_keeps_its_accent() -> None:
    assert excerpt("abcde\u0301fgh", 6) == "abcd…"


def test_a_long_name_keeps_both_ends() -> None:
    name = "https://example.org/" + "very/" * 100 + "page-17.html"
    shown = label(name)
    assert shown.startswith("https://example.org/") and shown.endswith("page-17.html") and len(shown) <= 96
    assert label("") == "(empty)" and label(" \t") == "(blank)"


@settings(deadline=None)
@given(anything, st.integers(2, 50))
def test_an_excerpt_keeps_to_its_limit(text: str, limit: int) -> None:
    assert len(excerpt(text, limit)) <= limit + 1
    assert len(excerpt(text, limit).splitlines()) <= 1


@settings(deadline=None)
@given(anything)
def test_flowing_twice_changes_nothing(text: str) -> None:
    assert flow(flow(text)) == flow(text)
