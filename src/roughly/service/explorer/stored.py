"""What the pages about an index share: the index, addresses that stay with it, marked passages and found words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from fastapi import Request

from roughly.errors import InputMissing
from roughly.index import Index
from roughly.index.search.search_words import Query, words_of
from roughly.report.visible import ELLIPSIS, flow
from roughly.service.explorer.links import to
from roughly.service.served_data import ServedData

_CHUNK = re.compile("[0-9A-Za-z\x80-\U0010ffff]+")
_LOOKED_AT = 200_000  # characters of a text in which words are looked for
_HITS = 400
_BEFORE = 60  # characters shown before what is marked
_MIDDLE = 320  # characters of one passage

Mark = dict[str, str]


def index_of(request: Request) -> Index:
    """The index that is served."""
    held: ServedData = request.app.state.holdings
    if held.index is None:
        raise InputMissing("this page is about an index, and none is served; give `roughly serve` an index as well")
    return held.index


def stored_url(request: Request, page: str, id: str | None = None, **query: Any) -> str:
    """The address of a page about the index, also where a run is served beside it."""
    both = request.app.state.holdings.run is not None
    return to(request, page, id, **query, **({"in": "index"} if both else {}))


def found_words(text: str, query: Query, length: int = 260) -> list[Mark]:
    """The part of a text that has most of the words asked for, with these marked."""
    text = text[:_LOOKED_AT]
    hits: list[tuple[int, int, str]] = []
    for chunk in _CHUNK.finditer(text):
        if word := next((word for word in words_of(chunk[0]) if query.says(word)), None):
            hits.append((chunk.start(), chunk.end(), word))
            if len(hits) == _HITS:
                break
    if not hits:
        return [{"tag": "span", "text": _shown(text[: 4 * length], length)}]
    best, most = 0, 0
    for place, (start, _, _) in enumerate(hits):
        words = {word for at, end, word in hits[place : place + 40] if end <= start + length}
        if len(words) > most:
            best, most = place, len(words)
    start = max(0, hits[best][0] - _BEFORE)
    start = 0 if start == 0 else text.find(" ", start, hits[best][0]) + 1 or start
    end = min(len(text), start + length + _BEFORE)
    return marked(text, [(at, to_) for at, to_, _ in hits if at >= start and to_ <= end], start, end)


def marked(text: str, ranges: Iterable[tuple[int, int]], start: int, end: int) -> list[Mark]:
    """The text from start to end with ranges marked, which are in order and do not overlap."""
    marks: list[Mark] = [{"tag": "gap", "text": ""}] if start else []
    at = start
    for first, last in ranges:
        if first > at:
            marks.append({"tag": "span", "text": flow(text[at:first])})
        marks.append({"tag": "mark", "text": flow(text[max(first, at) : last])})
        at = last
    if at < end:
        marks.append({"tag": "span", "text": flow(text[at:end])})
    return [*marks, *([{"tag": "gap", "text": ""}] if end < len(text) else [])]


def shared_marks(text: str, ranges: Iterable[tuple[int, int]], limit: int = 1_200) -> list[Mark]:
    """Passages of a text, marked, each with a few words around it, and gaps between them."""
    marks: list[Mark] = []
    at = used = 0
    for first, last in _joined(ranges):
        if used >= limit:
            break
        before = max(at, first - _BEFORE)
        if before > at:
            marks.append({"tag": "gap", "text": ""})
        if first > before:
            marks.append({"tag": "span", "text": flow(text[before:first])})
        marks += _passage(text, first, last)
        used += min(last - first, _MIDDLE) + _BEFORE
        at = last
    if marks and at < len(text):
        after = min(len(text), at + _BEFORE)
        marks.append({"tag": "span", "text": flow(text[at:after])})
        if after < len(text):
            marks.append({"tag": "gap", "text": ""})
    return marks


def _passage(text: str, first: int, last: int) -> list[Mark]:
    """A passage; of a long one, the two ends."""
    if last - first <= _MIDDLE:
        return [{"tag": "mark", "text": flow(text[first:last])}]
    half = _MIDDLE // 2
    left_out = flow(text[first + half : last - half]).count(" ")
    return [
        {"tag": "mark", "text": flow(text[first : first + half])},
        {"tag": "gap", "text": f"{left_out:,} words"},
        {"tag": "mark", "text": flow(text[last - half : last])},
    ]


def _joined(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges in order, those that overlap as one."""
    found: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if found and first <= found[-1][1]:
            found[-1] = (found[-1][0], max(last, found[-1][1]))
        else:
            found.append((first, last))
    return found


def _shown(text: str, limit: int) -> str:
    shown = flow(text).strip()
    return shown if len(shown) <= limit else shown[:limit] + ELLIPSIS
