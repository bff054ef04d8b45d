"""What the pages make of texts and numbers: blocks for reading, code in messages, plots without outliers."""

from __future__ import annotations

import random
import re

import pytest

from roughly.service.explorer.drawings import draw_months
from roughly.service.explorer.readable_text import readable
from roughly.service.explorer.rendering import coded, excerpt, flow
from roughly.service.explorer.side_by_side import mark_pair

MAIL = """From: Ann <ann@site.example>
Subject: the bridge
Received: from a
\tby b

Dear all,
this is one paragraph.

> you wrote this
> and that

1. first
2. second
   goes on

# Heading ##
Title
=====

```
code  here
```
end
"""


def test_mail_and_markdown_become_blocks() -> None:
    blocks = readable(MAIL)
    assert [one.kind for one in blocks] == [
        "head", "paragraph", "quote", "numbers", "heading", "heading", "code", "paragraph"
    ]  # fmt: skip
    assert blocks[0].pairs == (
        ("From", "Ann <ann@site.example>"),
        ("Subject", "the bridge"),
        ("Received", "from a by b"),
    )
    assert blocks[2].text == "you wrote this\nand that" and blocks[3].items == ("1. first", "2. second\ngoes on")
    assert blocks[4].text == "Heading" and blocks[5].text == "Title" and blocks[6].text == "code  here"
    assert [one.kind for one in readable("Note: this is no mail\nand goes on")] == ["paragraph"]
    assert readable("") == [] and readable("\n \n") == []


def test_bold_words_are_shown_without_asterisks() -> None:
    blocks = readable(
        "**How to *fix* it**\n---\nA **bold** word, 2 ** 3, and **two\nlines**.\n\n- **item**\n\n```\n**code**\n```"
    )
    assert [one.text or one.items for one in blocks] == [
        "**How to *fix* it**", "A bold word, 2 ** 3, and **two\nlines**.", ("item",), "**code**"
    ]  # fmt: skip
    assert readable("**a " * 200_000)[0].text.startswith("**a **a")


def words_of(text: str) -> list[str]:
    return re.findall(r"\w+", text)


@pytest.mark.parametrize("seed", range(30))
def test_no_word_is_lost(seed: int) -> None:
    chance = random.Random(seed)
    pieces = ["# a", "> b", "- c", "  d", "```", "From: e", "To: f", "", "g h", "===", "1. i", "\tj", "~~~", "Date: k"]
    text = "\n".join(chance.choice(pieces) for _ in range(chance.randrange(40)))
    told = []
    for one in readable(text):
        told += [one.text, *one.items, *(f"{name} {value}" for name, value in one.pairs)]
    assert words_of(" ".join(told)) == words_of(text)


def test_no_sign_for_paragraphs_and_nothing_is_html() -> None:
    assert flow("one\n\ntwo <b>") == "one<br>two &lt;b&gt;" and excerpt("one\n\ntwo", 40) == "one two"
    assert coded("run `a <b>` now, it's `x`") == "run <code>a &lt;b&gt;</code> now, it&#39;s <code>x</code>"
    assert coded("one ` alone") == "one ` alone"


def test_what_both_contain_leaves_out_changed_words() -> None:
    before = " ".join(f"word{n}" for n in range(20))
    after = " ".join(f"tail{n}" for n in range(20))
    shown = mark_pair(f"{before} on Monday {after}", f"{before} on Friday {after}", "passages")
    for side, changed in ((shown.left, "Monday"), (shown.right, "Friday")):
        assert all(changed not in one.text for one in side.marks if one.tag == "passage")
        assert any(changed in one.text for one in side.marks if one.tag == "plain")
        numbers = [one.at for one in side.marks if one.tag == "passage" and one.at is not None]
        assert numbers == sorted(set(numbers))
    assert len(shown.passages) == 1


def test_a_lonely_date_does_not_stretch_the_plot() -> None:
    months = [(f"20{year:02}-{month:02}", 50, 5) for year in range(10, 13) for month in (1, 6)]
    drawn = draw_months([("0093-01", 1, 0), *months, ("2099-12", 2, 1)], True)
    assert (drawn.before, drawn.after, drawn.first, drawn.last) == (1, 2, "2010-01", "2012-06")
    assert {row[0][:4] for row in drawn.plot.rows} == {"2010", "2011", "2012"}
    whole = draw_months(months, True)
    assert (whole.before, whole.after) == (0, 0)
    halves = draw_months([("0993-01", 40, 0), ("2010-01", 50, 0)], False)  # two groups are both drawn
    assert halves.before == 0 and halves.plot.rows[0][0] == "993"
