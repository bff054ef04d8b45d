"""Collections in SGML: TREC (`<DOC><DOCNO>…`) and Reuters-21578 (`<REUTERS … NEWID="1">`).

These files are not SGML that a parser would accept: no DTD, no escapes in some collections, tags in others.
Elements are therefore found by name. The text is the content of `<TEXT>`, or everything but the header elements if
there is none, as in web collections. A text with tags in it is marked as markup; one without has its entities resolved.
In Reuters the text is `<BODY>`, or the title if there is none.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from functools import cache

import numpy as np

from roughly.errors import InputError
from roughly.model import Reject
from roughly.sources.collector import Collector, excerpt
from roughly.sources.encoding import decode_text
from roughly.sources.records import Offsets, RecordByRecord

_START = re.compile(rb"<(?:[Dd][Oo][Cc]|[Rr][Ee][Uu][Tt][Ee][Rr][Ss])(?:\s[^>]*)?>")
_END = re.compile(rb"</(?:[Dd][Oo][Cc]|[Rr][Ee][Uu][Tt][Ee][Rr][Ss])\s*>\s*")
_DECLARATION = re.compile(rb"\s*<![Dd][Oo][Cc][Tt][Yy][Pp][Ee]\s[^>]*>\s*")
_ATTRIBUTE = re.compile(r"""\b([A-Za-z_]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))""")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_HUGE_NUMBER = re.compile(r"&#[0-9]{100,};?")  # of a character; Python refuses to read it
_NAME = re.compile(r"<([a-z0-9_]+)", re.IGNORECASE)
_SAME_LETTERS = {0x130: "i", 0x131: "i", 0x17F: "s", 0x212A: "k"}  # where case is ignored
_LONGEST_PREAMBLE = 1 << 20
_LONGEST_TAG = 1 << 14
_ADDRESS = re.compile(r"https?://\S+")
_ID_ELEMENTS = ("docno", "docid")
_ID_ATTRIBUTES = ("newid", "id", "docid")
_TITLES = ("title", "headline", "head", "hl", "ti")
_DATES = ("date", "date_time", "datetime", "date1", "dd")
_HEADERS = (*_ID_ELEMENTS, "docoldno", "dochdr", "doctype", *_TITLES, *_DATES)


class Sgml(RecordByRecord):
    """A file of `<DOC>` or `<REUTERS>` elements."""

    format = "sgml"
    unit = "document"

    def _add(self, row: int, record: bytes, collector: Collector) -> None:
        starts = list(_START.finditer(record, 0, _last_tag(record)))
        end = _END.search(record)
        if len(starts) != 1 or end is None or end.start() < starts[0].end():
            reason = "its end tag is missing" if starts else "its start tag is missing"
            collector.rejects.append(Reject(self.name, self.locate(row), reason, excerpt(record)))
            return
        attributes = _attributes(decode_text(starts[0][0]))
        content = _Content(decode_text(record[starts[0].end() : end.start()]))
        is_reuters = starts[0][0][1:8].lower() == b"reuters"
        title = content.first(_TITLES)
        text, markup = _reuters_text(content, title) if is_reuters else _trec_text(content)
        header = content.element("dochdr")
        address = _ADDRESS.search(header) if header else None
        found = content.first(_ID_ELEMENTS) or next(filter(None, map(attributes.get, _ID_ATTRIBUTES)), None)
        collector.add(
            row,
            found or f"{self.kept_name}:{row + 1}",
            text,
            markup={"html": True, "none": False}.get(self._options.markup, markup),
            title=title,
            url=address[0] if address else None,
            date=content.first(_DATES),
        )

    def _ends(self, data: bytes, final: bool) -> Offsets:
        ends = [match.end() for match in _END.finditer(data)]
        if final:
            last = ends[-1] if ends else 0
            if data[last:].strip():
                ends.append(len(data))
        return np.array(ends, np.int64)

    def _next_record(self, data: bytes) -> int | None:
        end = _END.search(data)
        return end.end() if end else None

    def _is_enough(self, head: bytes) -> bool:
        return _START.search(head, 0, _last_tag(head)) is not None or len(head) >= _LONGEST_PREAMBLE

    def _look(self, head: bytes, whole: bool) -> bytes:
        first = _START.search(head, 0, _last_tag(head))
        if first is None and whole and _DECLARATION.fullmatch(head):
            return head  # of a file of which nothing was kept
        if first is None and head.strip():
            raise InputError(
                f"{self.name}: has no <DOC> and no <REUTERS> in its first {len(head)} bytes; "
                f"if it is another format, name it: --format"
            )
        return head[: first.start()] if first else b""


def _attributes(tag: str) -> dict[str, str]:
    found = _ATTRIBUTE.findall(tag, 0, _LONGEST_TAG)
    return {name.lower(): double or single or bare for name, double, single, bare in found}


def _last_tag(content: bytes | str) -> int:
    """The offset after the last tag: a search for tags that goes no further takes linear time."""
    return content.rfind(">" if isinstance(content, str) else b">") + 1  # type: ignore[arg-type]


class _Content:
    """What is between the tags of a document, and the names of the start tags in it: most elements are not there."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.names = {name.translate(_SAME_LETTERS).lower() for name in _NAME.findall(text)}
        self._stop = _last_tag(text)

    def elements(self, name: str, attributes: bool = True) -> Iterator[tuple[re.Match[str], re.Match[str]]]:
        """The start tag and the end tag of each element of this name.

        One expression for both tags would look for the end again and again where there is none.
        """
        start_tag, end_tag = _tags(name, attributes)
        at, stop = 0, self._stop
        while (start := start_tag.search(self.text, at, stop)) and (
            end := end_tag.search(self.text, start.end(), stop)
        ):
            yield start, end
            at = end.end()

    def element(self, name: str) -> str | None:
        """The contents of the elements of this name, joined; None if there are none."""
        if name not in self.names:
            return None
        found = [self.text[start.end() : end.start()] for start, end in self.elements(name)]
        return "\n".join(found) if found else None

    def first(self, names: tuple[str, ...]) -> str | None:
        """The first of these elements that exists and is not empty, as plain text."""
        for name in names:
            found = self.element(name)
            words = " ".join(_unescape(_TAG.sub(" ", found)).split()) if found else ""
            if words:
                return words
        return None


@cache
def _tags(name: str, attributes: bool) -> tuple[re.Pattern[str], re.Pattern[str]]:
    start_tag = re.compile(rf"<{name}(?:\s[^>]*)?>" if attributes else f"<{name}>", re.IGNORECASE)
    end_tag = re.compile(rf"</{name}\s*>" if attributes else f"</{name}>", re.IGNORECASE)
    return start_tag, end_tag


def _without(content: _Content, names: tuple[str, ...], attributes: bool = True) -> str:
    """The content without the elements of these names."""
    for name in names:
        if name not in content.names:
            continue
        pieces, at = [], 0
        for start, end in content.elements(name, attributes):
            pieces.append(content.text[at : start.start()])
            at = end.end()
        if pieces:
            content = _Content("".join([*pieces, content.text[at:]]))
    return content.text


def _unescape(text: str) -> str:
    return html.unescape(_HUGE_NUMBER.sub("\ufffd", text))


def _trec_text(content: _Content) -> tuple[str, bool]:
    text = content.element("text")
    if text is None:
        text = _without(content, _HEADERS)
    if _TAG.search(text):
        return text.strip(), True
    return _unescape(text).strip(), False


def _reuters_text(content: _Content, title: str | None) -> tuple[str, bool]:
    """(text, false): tags outside the body are removed, and what looks like one inside is an escaped company name."""
    body = content.element("body")
    if body is None:
        text = _Content(content.element("text") or "")
        body = _without(text, ("title", "dateline", "author"), attributes=False)
    return _unescape(body).strip() or title or "", False
