"""Documents that mean harm: every field tries to run a script, to break out of its element or to reorder the page."""

from __future__ import annotations

from typing import Any

PAYLOADS = {
    "script": "<script>window.pwned=1;alert(1)</script>",
    "image": '"><img src=x onerror="window.pwned=2">',
    "attribute": "' onmouseover='window.pwned=3' x='",
    "link": "javascript:window.pwned=4",
    "template": "{{ request }}{% raw %}${7*7}<%= 7 %>",
    "svg": "</title></textarea></p><svg onload=window.pwned=5>",
    "bidi": "\u202egnp.exe\u2066 \u200f \u061c reversed \u202c",
    "controls": "bell\x07 escape\x1b[31m delete\x7f nul-like\x01 \u200b\ufeff end",
    "htmx": '<div hx-get="/search?q=x" hx-trigger="load" hx-on:load="window.pwned=6"></div>',
    "path": "../../etc/passwd?x=1&y=2#z%00%2f.json",
    "emoji": "👩‍👩‍👧‍👦 🏳️‍🌈 שלום مرحبا नमस्ते",
    "long": "W" * 5_000,
}
BODY = (
    "This hostile document of the kind {name} speaks at some length about the same thing in the same words, so that "
    "two of its kind are duplicates and stand in one cluster, whatever else they carry with them: {payload} and then "
    "it goes on for a while about nothing in particular, as such documents do."
)


def hostile_rows() -> list[dict[str, Any]]:
    """Two documents of each kind, nearly alike, with the payload in every field."""
    rows = []
    for name, payload in PAYLOADS.items():
        for number, end in enumerate(("", " Only the second has this ending of a few more words.")):
            rows.append(
                {
                    "id": f"{payload[:300]} {number}",
                    "text": BODY.format(name=name, payload=payload) + end,
                    "title": f"{payload} {number}",
                    "url": payload if number else f"http://evil.example/{payload}",
                    "date": "2019-05-01",
                    "source": payload,
                }
            )
    rows.append({"id": "one-long-line", "text": "word " * 400_000, "title": "A line of two megabytes"})
    return rows
