"""A report with every section filled, and a reader of the page it gives."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

from roughly.report import PairSample, RunData, render

VOID = {"meta", "link", "br", "img", "hr", "input"}


class Page(HTMLParser):
    """The page read back: tags with attributes, text a section, rows of tables. Refuses bad nesting."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.sections: dict[str, str] = {}
        self.rows: dict[str, list[list[str]]] = {}
        self.elements: dict[str, list[str]] = {}
        self.text = ""
        self._sections: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == [], f"never closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.tags.append((tag, attributes))
        if tag in VOID:
            return
        self.open.append(tag)
        self.elements.setdefault(tag, []).append("")
        if tag in ("section", "header"):
            self._sections.append(attributes.get("id") or attributes.get("class") or "")
        if tag == "tr" and self._sections:
            self.rows.setdefault(self._sections[-1], []).append([])
        if tag in ("td", "th") and self._sections:
            self.rows[self._sections[-1]][-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag, f"</{tag}> closes something else"
        if tag in ("section", "header"):
            self._sections.pop()

    def handle_data(self, data: str) -> None:
        if "style" in self.open:
            return
        self.text += data
        for tag in set(self.open):
            self.elements[tag][-1] += data
        for name in self._sections:
            self.sections[name] = self.sections.get(name, "") + data
        if {"td", "th"} & set(self.open) and self._sections:
            self.rows[self._sections[-1]][-1][-1] += data


def read_page(data: RunData) -> Page:
    """Draw the page and read it back, no-break spaces as spaces."""
    return Page(render(data).replace("\N{NO-BREAK SPACE}", " "))


def cells(page: Page, section: str) -> list[list[str]]:
    """The rows of the tables of a section, stripped, without the cell of the bar."""
    return [[cell.strip() for cell in row if cell.strip()] for row in page.rows[section]]


RUN: dict[str, Any] = {
    "roughly": "0.1.0",
    "fingerprint": "9f3b6c2a7de01844",
    "settings": {
        "method": "minhash",
        "threshold": 0.8,
        "recall": 0.99,
        "measure": "resemblance",
        "keep": ["newest", "longest"],
        "main_text": False,
        "bands": None,
    },
    "resources": {"threads": 2, "memory": 4 << 30},
    "inputs": ["crawl-1.jsonl.gz", "crawl-2.jsonl.gz"],
    "counts": {
        "documents": 37_071,
        "kept": 31_200,
        "removed": 5_871,
        "clusters": 2_104,
        "largest_cluster": 812,
        "empty": 3,
        "rejected": 17,
        "identical": 3_301,
        "lexical": 412,
        "candidate_documents": 9_120,
        "candidate_pairs": 44_100,
        "verified_pairs": 10_930,
        "bytes": 283_000_000,
        "removed_bytes": 43_000_000,
    },
    "stages": [
        {"name": "read", "seconds": 1.91, "bytes": 283_000_000, "peak_memory": 412 << 20},
        {"name": "group", "seconds": 0.62, "bytes": 40 << 20, "peak_memory": 611 << 20},
    ],
    "s_curve": {
        "bands": 33,
        "rows": 9,
        "threshold": 0.8,
        "recall": 1 - (1 - 0.8**9) ** 33,
        "points": [[i / 100, 1 - (1 - (i / 100) ** 9) ** 33] for i in range(101)],
    },
    "peak_memory": 611 << 20,
    "seconds": 4.4,
    "guesses": ["the text is in the column body"],
}


def filled(**changes: Any) -> RunData:
    """A report with every section; changes replace fields."""
    fields: dict[str, Any] = {
        "run": RUN,
        "cluster_sizes": [(2, 1_500), (3, 400), (4, 150), (9, 50), (40, 3), (812, 1)],
        "resemblance": ([i / 20 for i in range(21)], [0] * 16 + [120, 240, 300, 5_211]),
        "by_source": [(f"site-{n:02}.example", 10 * n, n, 1_000 * n) for n in range(1, 31)],
        "kinds": [("exact", 3_713), ("revision", 1_858), ("excerpt", 300)],
        "largest": [
            ("page-not-found", 812, 0.62, 0.91, "404. There is no such page."),
            ("news/17", 40, 0.81, 0.9, "The council met on Tuesday."),
        ],
        "above": [
            PairSample("a-1", "b-1", "one two three four five", "one two three four six", 0.8001, 0.9, 0.85),
        ],
        "below": [
            PairSample("a-2", "b-2", "red green blue", "red green grey blue", 0.79999, 0.88, 0.7),
            PairSample("a-3", "b-3", "sun moon stars", "sun stars", 0.71, 0.6, 0.9),
        ],
    }
    return RunData(**(fields | changes))
