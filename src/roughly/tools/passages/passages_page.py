"""report.html of `passages`: one self-contained page without script; run.json and the tables have all of it as data."""

from __future__ import annotations

from html import escape
from typing import Any

import pyarrow as pa

from roughly.report.visible import excerpt, label
from roughly.report.wording import count, share, size

_SHOWN = 100
_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 62rem; padding: 0 1rem; color: #222 }
table { border-collapse: collapse; width: 100%; margin: 1rem 0 }
th, td { text-align: left; vertical-align: top; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid #ddd }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
@media (prefers-color-scheme: dark) { body { background: #181818; color: #ddd } th, td { border-color: #444 } }
"""
_HEAD = (
    '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
    '<meta name="viewport" content="width=device-width, initial-scale=1"><title>Repeated passages</title>'
    f"<style>{_STYLE}</style></head><body>\n"
)


def render_page(run: dict[str, Any], tables: dict[str, pa.Table]) -> str:
    """The page as text; the same data give the same page, byte for byte."""
    sections = (
        _overview(run),
        _passages(tables["passages"]),
        _items(tables.get("items")),
        _lengths(run),
        _sources(run),
    )
    return "".join([_HEAD, *(text for section in sections for text in section), "</body></html>\n"])


def _overview(run: dict[str, Any]) -> list[str]:
    counts, request = run["counts"], run["request"]
    unit = f"runs of at least {request['least']} tokens" if request["unit"] == "window" else f"{request['unit']}s"
    rows = [
        ("Input", f"{count(counts['documents'])} documents, {size(counts['bytes'])}, {count(counts['tokens'])} tokens"),
        ("Compared", unit),
        (
            "Repeated",
            f"{share(counts['repeated_tokens'], counts['tokens'])} of the tokens occur more than once",
        ),
        (
            "Copies",
            f"{count(counts['spans'])} spans, {size(counts['copied_bytes'])} "
            f"({share(counts['copied_bytes'], counts['bytes'])}), "
            f"in {count(counts['documents_with_copies'])} documents",
        ),
    ]
    if request["do"] == "remove":
        rows.append(("Removed whole", f"{count(counts['removed_whole'])} documents"))
    if "seen_items" in counts:
        rows.append(
            ("Test items", f"{count(counts['seen_items'])} of {count(counts['test_items'])} occur in the input")
        )
    cells = "".join(f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>\n" for name, text in rows)
    return ["<h1>Repeated passages</h1>\n", f"<table>{cells}</table>\n"]


def _passages(table: pa.Table) -> list[str]:
    rows = table.slice(0, _SHOWN).to_pylist()
    if not rows:
        return ["<p>Nothing occurs more than once.</p>\n"]
    cells = "".join(
        f'<tr><td class="n">{count(row["places"])}</td><td class="n">{count(row["documents"])}</td>'
        f'<td class="n">{count(row["tokens"])}</td><td><bdi>{escape(label(row["doc_id"]))}</bdi></td>'
        f'<td dir="auto">{escape(excerpt(row["excerpt"], 240))}</td></tr>\n'
        for row in rows
    )
    head = (
        '<th class="n">Places</th><th class="n">Documents</th><th class="n">Tokens</th><th>First in</th><th>Begins</th>'
    )
    return [
        "<h2>Most repeated</h2>\n<p>By the tokens that removing all but one place saves.</p>\n",
        f"<table><tr>{head}</tr>\n{cells}</table>\n",
    ]


def _items(table: pa.Table | None) -> list[str]:
    if table is None:
        return []
    seen = table.sort_by([("share", "descending"), ("test_id", "ascending")]).slice(0, _SHOWN).to_pylist()
    cells = "".join(
        f'<tr><td><bdi>{escape(label(row["test_id"]))}</bdi></td><td class="n">{share(row["share"], 1)}</td>'
        f'<td class="n">{count(row["seen_tokens"])}</td><td class="n">{count(row["tokens"])}</td>'
        f'<td class="n">{count(row["documents"])}</td></tr>\n'
        for row in seen
        if row["seen_tokens"]
    )
    head = _head("Item", "Seen", "Tokens seen", "of", "Documents")
    return [f"<h2>Test items in the input</h2>\n<table><tr>{head}</tr>\n{cells}</table>\n"]


def _lengths(run: dict[str, Any]) -> list[str]:
    if not run["lengths"]:
        return []
    copied = run["counts"]["copied_tokens"]
    cells = "".join(
        f"<tr><td>{count(row['from'])} to {count(row['below'] - 1)} tokens</td>"
        f'<td class="n">{count(row["copies"])}</td><td class="n">{count(row["tokens"])}</td>'
        f'<td class="n">{share(row["tokens"], copied)}</td></tr>\n'
        for row in run["lengths"]
    )
    return [
        f"<h2>Lengths of copies</h2>\n<table><tr>{_head('Length', 'Copies', 'Tokens', 'Share')}</tr>\n{cells}</table>\n"
    ]


def _sources(run: dict[str, Any]) -> list[str]:
    cells = "".join(
        f'<tr><td><bdi>{escape(label(row["source"]))}</bdi></td><td class="n">{count(row["tokens"])}</td>'
        f'<td class="n">{count(row["copied_tokens"])}</td>'
        f'<td class="n">{share(row["copied_tokens"], row["tokens"])}</td></tr>\n'
        for row in run["sources"]
    )
    head = _head("Source", "Tokens", "Copies", "Share")
    return [f"<h2>Sources</h2>\n<table><tr>{head}</tr>\n{cells}</table>\n"]


def _head(first: str, *numbers: str) -> str:
    return f"<th>{first}</th>" + "".join(f'<th class="n">{name}</th>' for name in numbers)
