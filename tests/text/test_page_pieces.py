"""Pages in pieces: the same words as in one."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from roughly.text import markup, page_pieces
from roughly.text.canonical import words
from roughly.text.markup import strip
from roughly.text.markup_limits import bounded

PAGES = {
    "paragraphs": "<p>one <b>tw</b>o<p>three</p>",
    "no blocks": "<b>one</b><i>two</i> three ",
    "nested": "<div class='a b'><ul><li>one<ul><li>two<li>three</ul><li>four</ul></div>",
    "table": "<table><caption>one</caption><tr><td>two<td>th<b>ree</b><td><p>four<p>five</table>",
    "hidden": "<div style='display:none'><p>secret<p>secret</div><div hidden><p>secret</div><p>one",
    "code": "<pre>\n one\n  two</pre><script>if (1<2) x('<p>')</script><style>p{}</style><xmp><p>three</xmp>four",
    "references": "<p title='\"&amp;&lt;p&gt;'>&lt;p&gt; one &amp;lt; two &eacute;t&eacute;",
    "breaks": "one<br>two<hr>three<img src=x alt=four>",
    "badly nested": "<i><p>one</i>two<b><td>three</p></b>four</div>",
    "formula": "<svg><g><text>one</text><foreignObject><p>two</p></foreignObject></g></svg><math><mi>x</mi></math>f",
    "comments": "<!-- <p>one --><p>two<!--->three<template><p>four</template>",
    "form": "<form><label>one</label><input value=two><select><option>three<option>four</select><textarea>f</textarea>",
}


@pytest.mark.parametrize("blocks, length", [(1, 1), (7, 1 << 30), (1 << 30, 300)])
@pytest.mark.parametrize("name", PAGES)
def test_pieces_have_the_words_of_the_page(name: str, blocks: int, length: int) -> None:
    page = PAGES[name] * 60
    pieces = page_pieces.cut(page, blocks, length)
    assert [word for piece in pieces for word in words(strip(piece))] == words(strip(page))
    if name != "no blocks":
        assert len(pieces) > 1


def test_what_follows_plain_text_is_plain_text() -> None:
    pieces = page_pieces.cut("<p>one" * 9 + "<plaintext>" + "<p>two" * 9, 3, 30)
    assert words(" ".join(map(strip, pieces))) == ["one"] * 9 + ["p", "two"] * 9


def test_only_very_large_pages_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    page = "<p>one two" * 9000
    cuts = []
    monkeypatch.setattr(page_pieces, "cut", lambda html, own=page_pieces.cut: cuts.append(own(html)) or cuts[-1])
    whole = strip(page)
    assert not cuts
    monkeypatch.setattr(markup, "MOST_WORK", 9000 * len(page) - 1)
    assert words(strip(page)) == words(whole) == ["one", "two"] * 9000
    assert [len(pieces) for pieces in cuts] == [5]


def test_pieces_are_not_mostly_what_is_opened_again() -> None:
    deep = "".join(f"<div title='{i:040}'>" for i in range(200))
    page = deep + "<p>one" * 5000
    pieces = page_pieces.cut(page, 10, 100)
    assert sum(map(len, pieces)) < 3 * len(page)
    assert [word for piece in pieces for word in words(strip(piece))] == ["one"] * 5000


@pytest.mark.corpora
def test_real_pages(corpora: Path) -> None:
    pages = pq.read_table(corpora / "install_guide_html.parquet")["html"].to_pylist()
    for first in range(0, len(pages), 100):
        page = bounded("".join(pages[first : first + 4]))
        pieces = page_pieces.cut(page, 50, 4000)
        assert [word for piece in pieces for word in words(strip(piece))] == words(strip(page))
