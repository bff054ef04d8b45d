"""Collections in SGML: TREC (`<DOC><DOCNO>…`) and Reuters-21578 (`<REUTERS … NEWID="1">`).

These files are not SGML that a parser would take: no DTD, no escapes in some collections, tags in others.
Elements are therefore found by name. The text is what `<TEXT>` holds, or all but the header elements where
there is none, as in web collections. A text with tags in it is marked as markup; one without has its
entities resolved. In Reuters the text is `<BODY>`, and where there is none, the title is all there is.
"""

from __future__ import annotations

import html
import re

import numpy as np

from roughly.errors import InputError
from roughly.model import Reject
from roughly.sources.collector import Collector, excerpt, nothing
from roughly.sources.encoding import decode_text
from roughly.sources.part import Chunk, Parsed
from roughly.sources.records import Offsets, RecordFile, Records, row_numbers

_START = re.compile(rb"<(?:[Dd][Oo][Cc]|[Rr][Ee][Uu][Tt][Ee][Rr][Ss])(?:\s[^>]*)?>")
_END = re.compile(rb"</(?:[Dd][Oo][Cc]|[Rr][Ee][Uu][Tt][Ee][Rr][Ss])\s*>\s*")
_ATTRIBUTE = re.compile(r"""\b([A-Za-z_]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))""")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_LONGEST_PREAMBLE = 1 << 20
_ADDRESS = re.compile(r"https?://\S+")
_ID_ELEMENTS = ("docno", "docid")
_ID_ATTRIBUTES = ("newid", "id", "docid")
_TITLES = ("title", "headline", "head", "hl", "ti")
_DATES = ("date", "date_time", "datetime", "date1", "dd")
_HEADERS = (*_ID_ELEMENTS, "docoldno", "dochdr", "doctype", *_TITLES, *_DATES)


class Sgml(RecordFile):
    """A file of `<DOC>` or `<REUTERS>` elements."""

    format = "sgml"
    unit = "document"

    def parse(self, chunk: Chunk) -> Parsed:
        """Documents of the chunk's elements."""
        records: Records = chunk.data
        if records.reject is not None:
            return Parsed(nothing(), [records.reject])
        ends = self._ends(records.data, True)
        collector = Collector(self.kept_name)
        start = 0
        for row, end in zip(row_numbers(chunk, len(ends)).tolist(), ends.tolist(), strict=True):
            self._add(row, records.data[start:end], collector)
            start = end
        return collector.parsed()

    def _add(self, row: int, record: bytes, collector: Collector) -> None:
        starts = list(_START.finditer(record))
        end = _END.search(record)
        if len(starts) != 1 or end is None or end.start() < starts[0].end():
            reason = "its end tag is missing" if starts else "its start tag is missing"
            collector.rejects.append(Reject(self.name, self.locate(row), reason, excerpt(record)))
            return
        attributes = _attributes(decode_text(starts[0][0]))
        content = decode_text(record[starts[0].end() : end.start()])
        is_reuters = starts[0][0][1:8].lower() == b"reuters"
        title = _first(content, _TITLES)
        text, markup = _reuters_text(content, title) if is_reuters else _trec_text(content)
        header = _element(content, "dochdr")
        address = _ADDRESS.search(header) if header else None
        found = _first(content, _ID_ELEMENTS) or next(filter(None, map(attributes.get, _ID_ATTRIBUTES)), None)
        collector.add(
            row,
            found or f"{self.kept_name}:{row + 1}",
            text,
            markup={"html": True, "none": False}.get(self._options.markup, markup),
            title=title,
            url=address[0] if address else None,
            date=_first(content, _DATES),
        )

    def _ends(self, data: bytes, final: bool) -> Offsets:
        ends = [match.end() for match in _END.finditer(data)]
        if final:
            last = ends[-1] if ends else 0
            if data[last:].strip():
                ends.append(len(data))
        return np.array(ends, np.int64)

    def _is_enough(self, head: bytes) -> bool:
        return _START.search(head) is not None or len(head) >= _LONGEST_PREAMBLE

    def _look(self, head: bytes, whole: bool) -> bytes:
        first = _START.search(head)
        if first is None and head.strip():
            raise InputError(
                f"{self.name}: has no <DOC> and no <REUTERS> in its first {len(head)} bytes; "
                f"if it is another format, say which: --format"
            )
        return head[: first.start()] if first else b""


def _attributes(tag: str) -> dict[str, str]:
    return {name.lower(): double or single or bare for name, double, single, bare in _ATTRIBUTE.findall(tag)}


def _element(content: str, name: str) -> str | None:
    """What the elements of this name hold, joined; None if there are none."""
    found = re.findall(rf"<{name}(?:\s[^>]*)?>(.*?)</{name}\s*>", content, re.DOTALL | re.IGNORECASE)
    return "\n".join(found) if found else None


def _first(content: str, names: tuple[str, ...]) -> str | None:
    """The first of these elements that is there and not empty, as plain words."""
    for name in names:
        found = _element(content, name)
        words = " ".join(html.unescape(_TAG.sub(" ", found)).split()) if found else ""
        if words:
            return words
    return None


def _trec_text(content: str) -> tuple[str, bool]:
    text = _element(content, "text")
    if text is None:
        text = content
        for name in _HEADERS:
            text = re.sub(rf"<{name}(?:\s[^>]*)?>.*?</{name}\s*>", "", text, flags=re.DOTALL | re.IGNORECASE)
    if _TAG.search(text):
        return text.strip(), True
    return html.unescape(text).strip(), False


def _reuters_text(content: str, title: str | None) -> tuple[str, bool]:
    """Tags are gone once the body is cut out; what looks like one is an escaped company name."""
    body = _element(content, "body")
    if body is None:
        inside = _element(content, "text") or ""
        for name in ("title", "dateline", "author"):
            inside = re.sub(rf"<{name}>.*?</{name}>", "", inside, flags=re.DOTALL | re.IGNORECASE)
        body = inside
    return html.unescape(body).strip() or title or "", False
