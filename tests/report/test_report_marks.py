"""Sample pairs: windows onto long texts, and the differences marked in them."""

from __future__ import annotations

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from roughly.report import PairSample
from roughly.report.marks import SHOWN, mark_differences
from roughly.report.visible import flow
from roughly.report.window import common_prefix, cut_pair


def numbered(start: int, end: int) -> str:
    return "".join(f"This is sentence {n} of the book. " for n in range(start, end))


def pair_of(left: str, right: str) -> PairSample:
    return PairSample("a", "b", left, right, 0.8, 0.8, 0.8).bounded()


@settings(deadline=None)
@given(st.text("ab ", max_size=40), st.text("ab ", max_size=40))
def test_common_prefix(left: str, right: str) -> None:
    length = common_prefix(left, right)
    assert left[:length] == right[:length]
    assert length == min(len(left), len(right)) or left[length] != right[length]


@settings(deadline=None)
@given(st.text("ab c", max_size=300), st.text("ab c", max_size=300), st.integers(20, 80))
def test_windows_are_slices_within_the_limit(left: str, right: str, limit: int) -> None:
    window = cut_pair(left, right, limit)
    for text, part, start, cut in (
        (left, window.left, window.left_start, window.left_cut),
        (right, window.right, window.right_start, window.right_cut),
    ):
        assert len(part) <= limit and text[start : start + len(part)] == part
        assert cut == (start + len(part) < len(text))


def test_a_difference_deep_in_a_book_is_shown() -> None:
    book = numbered(0, 20_000)
    marked = mark_differences(pair_of(book, book.replace("sentence 15000 ", "paragraph 15000 ")))
    assert [m.text.strip() for m in marked.marks if m.tag == "del"] == ["sentence"]
    assert [m.text.strip() for m in marked.marks if m.tag == "ins"] == ["paragraph"]
    assert "Long texts; only these parts are compared: characters" in marked.notes[0]


def test_equal_books_are_shown_from_the_beginning() -> None:
    book = numbered(0, 20_000)
    window = cut_pair(book, book, 1_000)
    assert window.left_start == window.right_start == 0 and window.left == window.right == book[:1_000]


def test_an_excerpt_is_laid_beside_its_place_in_the_book() -> None:
    book, part = numbered(0, 20_000), numbered(12_000, 12_050)
    for left, right in ((part, book), (book, part)):
        pair = pair_of(left, right)
        assert numbered(12_000, 12_050).strip() in pair.left_text + pair.right_text
        marked = mark_differences(pair)
        assert not [m for m in marked.marks if m.tag in ("del", "ins")]
        assert any("No word differs" in note for note in marked.notes)


def test_the_cut_is_no_difference() -> None:
    """An insertion at the beginning pushes words past the end of one window only."""
    book = numbered(0, 2_000)
    marked = mark_differences(pair_of(book, "An unusual preface that nobody asked for. " + book))
    assert [m.tag for m in marked.marks if m.tag in ("del", "ins")] == ["ins"]
    assert marked.marks[-1].tag == "gap"


def test_what_is_not_shown_is_counted() -> None:
    left = " ".join(f"w{n} common{n} words{n}" for n in range(250))
    right = " ".join(f"v{n} common{n} words{n}" for n in range(250))
    marked = mark_differences(pair_of(left, right))
    assert sum(len(m.text) for m in marked.marks) <= SHOWN + 100
    hidden = int(marked.notes[-1].split()[0])
    assert hidden + sum(m.tag in ("del", "ins") for m in marked.marks) == 500


def test_texts_without_words() -> None:
    assert mark_differences(pair_of("", "")).marks == ()
    assert mark_differences(pair_of("same words", "same words")).marks[0].text == "same words"


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(["red", "green", "blue", "sun"]), min_size=1, max_size=14),
    st.lists(st.sampled_from(["red", "green", "grey", "sun"]), min_size=1, max_size=14),
)
def test_the_marks_hold_both_texts(left: list[str], right: list[str]) -> None:
    """Short texts have no gaps: common and left marks make the left text, common and right the right."""
    assume(left != right)
    marks = mark_differences(pair_of(" ".join(left), " ".join(right))).marks
    for own, words in (("del", left), ("ins", right)):
        assert " ".join(m.text for m in marks if m.tag in ("span", own)).split() == words


@settings(deadline=None)
@given(st.text(max_size=200), st.text(max_size=200))
def test_any_texts_can_be_marked(left: str, right: str) -> None:
    marked = mark_differences(pair_of(left, right))
    for m in marked.marks:
        assert m.text == flow(m.text)
