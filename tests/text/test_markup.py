"""Markup: what goes, what stays, and only in the rows that have any."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from roughly.errors import InputError
from roughly.text.canonical import words
from roughly.text.markup import dom, strip, strip_column
from roughly.text.markup_limits import MOST_NAMES, bounded

PAGE = """<!DOCTYPE html><html><head><title>Title</title><style>p { color: red }</style></head><body>
<nav><a href="/">Home</a> <a href="/about">About</a></nav>
<main><h1>Soup</h1><p>Boil the <b>wat</b>er &amp; add salt.</p><!-- secret -->
<table><tr><td>salt</td><td>5&nbsp;g</td></tr><tr><th>water</th><td>1 l</td></tr></table>
<ul><li>stir<li>taste</ul><script>track("x")</script><p>caf&eacute; &#x4e2d;</p></main>
<footer>Imprint</footer></body></html>"""


def test_what_goes_and_what_stays() -> None:
    tokens = words(strip(PAGE))
    assert tokens == (
        [
            "home",
            "about",
            "soup",
            "boil",
            "the",
            "water",
            "add",
            "salt",
            "salt",
            "5",
            "g",
            "water",
            "1",
            "l",
            "stir",
            "taste",
            "café",
            "中",
            "imprint",
        ]
    )


def test_the_main_text_alone() -> None:
    tokens = words(strip(PAGE, main_only=True))
    assert tokens[:6] == ["soup", "boil", "the", "water", "add", "salt"]
    assert not {"home", "about", "imprint"} & set(tokens)


@pytest.mark.parametrize(
    "html", ["", "plain", "a < b", "<", "<p", "<p>open", "</p>", "<td>x<td>y", "&bogus;", "<p>x\0y</p>"]
)
def test_broken_markup_is_met_with_text(html: str) -> None:
    assert isinstance(strip(html), str)
    assert set(words(strip(html))) <= {"plain", "a", "b", "open", "x", "y", "xy", "bogus", "p"}


def test_plain_text_keeps_its_words() -> None:
    assert words(strip("No markup here, at all.")) == ["no", "markup", "here", "at", "all"]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_only_marked_rows_are_touched(kind: pa.DataType) -> None:
    column = pa.array(["<p>a</p>", "<p>b</p>", None, "<i>c</i>"], kind)
    found = strip_column(column, np.array([True, False, True, True]))
    assert found.type == kind
    assert found.to_pylist() == ["a", "<p>b</p>", None, "c"]
    assert strip_column(column.slice(1), pa.array([True, None, False])).to_pylist() == ["b", None, "<i>c</i>"]


def test_a_column_without_markup_is_handed_back() -> None:
    column = pa.array(["<p>a</p>", "b"])
    assert strip_column(column, np.zeros(2, bool)) is column


def test_one_mark_a_text() -> None:
    with pytest.raises(InputError, match="3 marks for 1 texts"):
        strip_column(pa.array(["a"]), np.zeros(3, bool))


@pytest.mark.corpora
@pytest.mark.slow
def test_real_pages_lose_their_tags_and_keep_their_words(corpora: Path) -> None:
    """The corpus has the same pages reduced by another program; nearly all of its words are in ours."""
    table = pq.read_table(corpora / "install_guide_html.parquet", columns=["html", "text"]).slice(0, 200)
    stripped = strip_column(table["html"].combine_chunks(), np.ones(len(table), bool)).to_pylist()
    for ours, theirs in zip(stripped, table["text"].to_pylist(), strict=True):
        assert "<div" not in ours
        wanted, found = set(words(theirs)), set(words(ours))
        assert len(wanted & found) >= 0.9 * len(wanted)


def test_hostile_pages_keep_their_text() -> None:
    deep = "".join(f"<div>word{n} " for n in range(5000))
    assert strip(deep).split() == [f"word{n}" for n in range(5000)]
    assert strip("<p " + " ".join(f"a{n}='>'" for n in range(30_000)) + ">text</p> more") == "text\n\nmore"


@pytest.mark.parametrize(
    "write", ["<t{}>x</t{}>", "</t{}>x", "<p a{}>x", "<p b a{}='>' c=1>x", "<p/a{}/b>x", "<g a{}=1/>x"]
)
def test_names_of_hostile_pages_are_bounded(write: str) -> None:
    html = "".join(write.replace("{}", str(n)) for n in range(MOST_NAMES + 50))
    kept = bounded(html)
    assert len(set(re.findall("[ta][0-9]+", kept))) <= MOST_NAMES
    assert kept.count("x") == html.count("x")
    assert bounded(kept) == kept


def test_a_page_with_many_tags_is_left_as_it_is() -> None:
    path = '<path d="M0 0"/>'
    for page in (
        "<p>word" * 5000,
        "<div><span>word</span></div>" * 2000,
        f"<div><svg>{path * 3000}</svg>text</div>",
        "<table>" + "<tr><td>x<td>y" * 3000 + "</table>",
        "<ul>" + "<li><a href=x>y</a>" * 2000 + "</ul>",
    ):
        assert bounded(page) == page


def test_the_dom_is_tags_ids_names_and_classes_in_order() -> None:
    page = '<body class="app"><form id="f"><INPUT class="wide  bold" name="user" value="x">Words</form><br></body>'
    assert dom(page) == "app\nform f\ninput user wide bold\nbr"
    assert dom(page) == dom(page.replace("Words", "Others").replace('value="x"', 'value="y"'))
    assert dom("no <b>") == "b" and dom("words only") == "words only" and dom("") == ""
    column = pa.array([page, page, None])
    assert strip_column(column, np.array([True, False, True]), "dom").to_pylist() == [dom(page), page, None]


@pytest.mark.parametrize(
    "html", ["<div>" * 20_000, "<b><i><p>" * 5_000, "<p " + "a=1 " * 30_000 + ">", "<svg><g>" * 9_000]
)
def test_the_dom_of_hostile_pages_is_bounded(html: str) -> None:
    assert len(dom(html)) <= 2 * len(html)
