"""What pages say was measured comes from code that answers as this one does."""

from __future__ import annotations

import re

from docs_blocks import DOCS

from roughly.papers.answer_digests import answers_digest

BLOCK = re.compile(r"<!-- measured: (\S+), answers ([0-9a-f]{16}) -->\n(.*?)<!-- end of (\S+) -->", re.DOTALL)
EXPECTED = {
    "sampling.md": ["news"],
    "sketches.md": ["excerpts", "copied-passages", "versions"],
    "methods/index.md": ["quality"],
}


def test_what_was_measured_is_current() -> None:
    found = {
        page.relative_to(DOCS).as_posix(): BLOCK.findall(page.read_text(encoding="utf-8"))
        for page in sorted(DOCS.rglob("*.md"))
    }
    assert {page: [block[0] for block in blocks] for page, blocks in found.items() if blocks} == {
        page: EXPECTED[page] for page in sorted(EXPECTED)
    }
    assert all(name == end and body.strip() for blocks in found.values() for name, _, body, end in blocks)
    stale = [
        f"docs/{page}: {name}"
        for page, blocks in found.items()
        for name, made, *_ in blocks
        if made != answers_digest()
    ]
    assert stale == [], "the answers have changed: run python docs/make_measured.py"
