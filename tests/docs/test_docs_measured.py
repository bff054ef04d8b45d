"""What pages say was measured comes from code that answers as this one does."""

from __future__ import annotations

from docs_blocks import DOCS
from test_docs_reference import module

MAKE = module(DOCS / "make_measured.py")
EXPECTED = {
    "sampling.md": ["news"],
    "sketches.md": ["excerpts", "copied-passages", "versions"],
    "methods/index.md": ["quality"],
}


def test_what_was_measured_is_current() -> None:
    found = {
        page.relative_to(DOCS).as_posix(): MAKE.BLOCK.findall(page.read_text(encoding="utf-8"))
        for page in sorted(DOCS.rglob("*.md"))
    }
    assert {page: [block[0] for block in blocks] for page, blocks in found.items() if blocks} == {
        page: EXPECTED[page] for page in sorted(EXPECTED)
    }
    trials = MAKE.trials(list(MAKE.BLOCKS))
    stale = [
        f"docs/{page}: {name}"
        for page, blocks in found.items()
        for name, digest, body in blocks
        if digest != MAKE.digest(trials[name], body) or not body.strip()
    ]
    assert stale == [], "the answers have changed, or a block was edited: run python docs/make_measured.py"
