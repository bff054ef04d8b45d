"""Excerpts of texts with the words of a query, or the passages shared with another text, highlighted."""

from __future__ import annotations

import re
from collections.abc import Iterable

from roughly.index.search.search_words import Query, words_of
from roughly.report.visible import ELLIPSIS, flow

_CHUNK = re.compile("[0-9A-Za-z\x80-\U0010ffff]+")
_SEARCHED = 200_000  # characters of a text in which words are searched for
_HITS = 400
_BEFORE = 60  # characters shown before a highlight
_PASSAGE = 320  # characters shown per passage

Highlight = dict[str, str]  # tag (span, mark or gap) and text


def found_words(text: str, query: Query, length: int = 260) -> list[Highlight]:
    """The part of a text that contains most words of the query, with these highlighted."""
    text = text[:_SEARCHED]
    hits: list[tuple[int, int, str]] = []
    for chunk in _CHUNK.finditer(text):
        if word := next((word for word in words_of(chunk[0]) if query.says(word)), None):
            hits.append((chunk.start(), chunk.end(), word))
            if len(hits) == _HITS:
                break
    if not hits:
        return [{"tag": "span", "text": _shortened(text[: 4 * length], length)}]
    best, most = 0, 0
    for place, (start, _, _) in enumerate(hits):
        words = {word for at, end, word in hits[place : place + 40] if end <= start + length}
        if len(words) > most:
            best, most = place, len(words)
    start = max(0, hits[best][0] - _BEFORE)
    start = 0 if start == 0 else text.find(" ", start, hits[best][0]) + 1 or start
    end = min(len(text), start + length + _BEFORE)
    return highlight(text, [(first, last) for first, last, _ in hits if first >= start and last <= end], start, end)


def highlight(text: str, ranges: Iterable[tuple[int, int]], start: int, end: int) -> list[Highlight]:
    """The text from start to end with ranges highlighted, which are in order and do not overlap."""
    pieces: list[Highlight] = [{"tag": "gap", "text": ""}] if start else []
    at = start
    for first, last in ranges:
        if first > at:
            pieces.append({"tag": "span", "text": flow(text[at:first])})
        pieces.append({"tag": "mark", "text": flow(text[max(first, at) : last])})
        at = last
    if at < end:
        pieces.append({"tag": "span", "text": flow(text[at:end])})
    return [*pieces, *([{"tag": "gap", "text": ""}] if end < len(text) else [])]


def highlight_passages(text: str, ranges: Iterable[tuple[int, int]], limit: int = 1_200) -> list[Highlight]:
    """Passages of a text, highlighted, each with a few words around it, and gaps between them."""
    pieces: list[Highlight] = []
    at = used = 0
    for first, last in _merged(ranges):
        if used >= limit:
            break
        before = max(at, first - _BEFORE)
        if before > at:
            pieces.append({"tag": "gap", "text": ""})
        if first > before:
            pieces.append({"tag": "span", "text": flow(text[before:first])})
        pieces += _passage(text, first, last)
        used += min(last - first, _PASSAGE) + _BEFORE
        at = last
    if pieces and at < len(text):
        after = min(len(text), at + _BEFORE)
        pieces.append({"tag": "span", "text": flow(text[at:after])})
        if after < len(text):
            pieces.append({"tag": "gap", "text": ""})
    return pieces


def _passage(text: str, first: int, last: int) -> list[Highlight]:
    """A passage; if it is long, its two ends."""
    if last - first <= _PASSAGE:
        return [{"tag": "mark", "text": flow(text[first:last])}]
    half = _PASSAGE // 2
    omitted = flow(text[first + half : last - half]).count(" ")
    return [
        {"tag": "mark", "text": flow(text[first : first + half])},
        {"tag": "gap", "text": f"{omitted:,} words"},
        {"tag": "mark", "text": flow(text[last - half : last])},
    ]


def _merged(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges in order, overlapping ones merged."""
    found: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if found and first <= found[-1][1]:
            found[-1] = (found[-1][0], max(last, found[-1][1]))
        else:
            found.append((first, last))
    return found


def _shortened(text: str, limit: int) -> str:
    shown = flow(text).strip()
    return shown if len(shown) <= limit else shown[:limit] + ELLIPSIS
