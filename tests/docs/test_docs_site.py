"""The site builds strictly, and neither its pages nor README load anything from elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

from docs_blocks import DOCS, PAGES, ROOT, name_of

LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href", "object": "data"}


class Loads(HTMLParser):
    """Everything that a page loads when it is opened; links to click on are none."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what the tag loads."""
        value = dict(attrs).get(LOADS.get(tag, "")) if tag in LOADS else None
        if value:
            self.found.append(value)


def is_elsewhere(address: str) -> bool:
    return bool(re.match(r"(https?:)?//", address.strip(), re.IGNORECASE))


def loads(html: str) -> list[str]:
    parser = Loads()
    parser.feed(html)
    return parser.found


def test_the_site_is_complete_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    pages = sorted((tmp_path / "site").rglob("*.html"))
    assert len(pages) >= len(list(DOCS.rglob("*.md")))
    for page in pages:
        html = page.read_text(encoding="utf-8")
        found = loads(html)
        assert found, f"{page.name} loads not even its own style"
        assert [address for address in found if is_elsewhere(address)] == [], page.name
        assert not re.search(r"url\(['\"]?(https?:)?//", html), page.name
    for style in (tmp_path / "site").rglob("*.css"):
        assert not re.search(r"(url\(['\"]?|@import ['\"])(https?:)?//", style.read_text(encoding="utf-8")), style.name
    assert not list((tmp_path / "site").rglob("*.py"))


def test_no_page_shows_a_picture_from_elsewhere() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        pictures = re.findall(r"!\[[^\]]*\]\(([^)\s]+)", text) + loads(text)
        for picture in pictures:
            assert not is_elsewhere(picture), f"{name_of(page)} loads {picture}"
            assert (page.parent / picture).exists(), f"{name_of(page)} shows {picture}, which is not there"


def test_no_page_has_a_place_still_to_be_filled() -> None:
    for page in PAGES:
        assert "@@" not in page.read_text(encoding="utf-8"), f"{name_of(page)} has a place that was never filled"


def test_what_loads_is_noticed() -> None:
    html = '<script src="https://x.org/a.js"></script><link href="style.css"><a href="https://x.org">x</a>'
    assert [address for address in loads(html) if is_elsewhere(address)] == ["https://x.org/a.js"]
