"""Nothing in a document, an id or a setting can act on the page or reach out of it."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from filled_report import RUN, Page, filled, read_page
from hypothesis import given, settings
from hypothesis import strategies as st

from roughly.report import PairSample, RunData, render

ATTACKS = [
    "<script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    "</title><img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)',
    "' autofocus onfocus='alert(1)",
    "javascript:alert(1)",
    "<!-- --><svg onload=alert(1)>",
    "]]><iframe src=https://example.org>",
    "{{ 7 * 7 }}{% raw %}",
    "&lt;b&gt; &amp; &#60;b&#62;",
]
UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2060-\u2069\ufeff\ufffe\uffff\U000e0000-\U000e007f]"
)


def infected(text: str) -> RunData:
    """A report with the text in every place that holds foreign text."""
    run: dict[str, Any] = {
        **RUN,
        "roughly": text,
        "fingerprint": text,
        "settings": {**RUN["settings"], text: text, "keep": [text]},
        "inputs": [text],
        "stages": [{"name": text, "seconds": 1.0}],
        "guesses": [text, {text: text}],
    }
    pair = PairSample(text, text, f"{text} one", f"{text} two", 0.8, 0.8, 0.8)
    return filled(
        run=run,
        by_source=[(text, 9, 3, 100)],
        kinds=[(text, 3)],
        largest=[(text, 1_200, 0.1, 0.2, text)],
        above=[pair],
        below=[pair],
    )


def shape(page: Page) -> list[tuple[str, tuple[str, ...]]]:
    return [(tag, tuple(sorted(attributes))) for tag, attributes in page.tags]


@pytest.mark.parametrize("attack", ATTACKS)
def test_markup_in_foreign_text_adds_no_element_and_no_attribute(attack: str) -> None:
    page = read_page(infected(attack))
    allowed = set(shape(read_page(filled()))) | set(shape(read_page(infected("harmless"))))
    assert set(shape(page)) <= allowed
    for section in ("sources", "kinds", "clusters", "stages", "settings", "guesses"):
        assert attack in page.sections[section]


@settings(max_examples=40, deadline=None)
@given(st.text(st.characters(codec=None, exclude_categories=[]), max_size=60))
def test_any_text_leaves_a_sound_page_with_nothing_unseen_in_it(text: str) -> None:
    html = render(infected(text))
    html.encode("utf-8")
    assert UNSEEN.search(html) is None
    Page(html)


def test_controls_and_overrides_are_shown_not_obeyed() -> None:
    page = read_page(infected("abc\u202egnp.exe\x00\x07\x1b[2J\ud800"))
    for sign in ("‹U+202E›gnp.exe", "‹U+0000›‹U+0007›‹U+001B›[2J"):
        assert sign in page.sections["clusters"]


def test_the_page_loads_nothing_and_runs_nothing() -> None:
    html = render(filled())
    page = Page(html)
    names = {tag for tag, _ in page.tags}
    assert names.isdisjoint({"script", "iframe", "object", "embed", "img", "link", "base", "form", "use", "image"})
    for tag, attributes in page.tags:
        assert not [name for name in attributes if name.startswith("on") or name in ("src", "srcset", "style")]
        assert (attributes.get("href") or "#").startswith("#"), tag
    assert "://" not in html and "url(" not in html and "@import" not in html
    policy = next(a["content"] for t, a in page.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None and policy.startswith("default-src 'none'; style-src 'unsafe-inline'")


def test_foreign_names_are_isolated_and_texts_find_their_own_direction() -> None:
    arabic, chinese = "كتاب الأمثال", "上海市法规"
    pair = PairSample(arabic, chinese, "من أهل البلاء والنصيحة", "من أهل البلاء والحكمة", 0.8, 0.8, 0.8)
    page = read_page(filled(above=[pair], largest=[(arabic, 3, 0.9, 0.9, chinese)], by_source=[(arabic, 3, 1, 9)]))
    assert page.elements["bdi"].count(arabic) == 3 and chinese in page.elements["bdi"]
    running = [a for tag, a in page.tags if tag == "p" and a.get("class") in ("marked", "excerpt")]
    assert running and all(a.get("dir") == "auto" for a in running)


def test_lines_of_ten_megabytes_stay_small_and_quick() -> None:
    line = "x" * 10_000_000
    words = "lorem ipsum " * 900_000
    data = filled(
        largest=[(line, 9, 0.9, 0.9, line)],
        by_source=[(line, 9, 1, 9)],
        above=[
            PairSample(line, line, line, line[:-1] + "y", 0.8, 0.8, 0.8),
            PairSample("a", "b", words + "red", words + "blue", 0.8, 0.8, 0.8),
            PairSample("c", "d", "\n" * 10_000_000, " " * 9_000_000, 0.8, 0.8, 0.8),
        ],
    )
    render(filled())  # the kernels are compiled
    start = time.perf_counter()
    page = read_page(data)
    assert time.perf_counter() - start < 10
    assert len(page.text) < 40_000
    assert "red" in page.elements["del"] and "blue" in page.elements["ins"]  # after 10.8 million common characters
    assert "of 10,800,003 of the left text" in page.sections["above"]
