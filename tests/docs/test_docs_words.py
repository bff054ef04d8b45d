"""The docs are short: everything a user may read, without the page that experiments write, has a limit of words."""

from __future__ import annotations

import re

from docs_blocks import DOCS

MOST_WORDS = 40_000
"""Words of all pages together. Cut a page rather than raise it."""


def test_the_docs_are_short() -> None:
    """A word has a letter or a digit; code and tables count."""
    words = {
        page.relative_to(DOCS).as_posix(): len(re.findall(r"\S*\w\S*", page.read_text(encoding="utf-8")))
        for page in DOCS.rglob("*.md")
        if page.name != "reproduction.md"
    }
    longest = sorted(words, key=lambda name: -words[name])[:5]
    assert sum(words.values()) <= MOST_WORDS, f"{sum(words.values()):,} words; the longest pages are {longest}"
