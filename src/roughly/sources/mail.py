"""From a mail message to a document: subject, blank line, body.

The plain-text body is preferred; an HTML body is taken as it is and marked as markup. Real mail breaks every rule, so
each header and the choice of a body has a fallback that cannot fail; only data without any header is not a message.
Used by mbox files, Maildirs and folders of `.eml` files.

The email package's older policy (`compat32`) is used on purpose: the newer one raises on broken headers, and
needs quadratic time for some (13 seconds for one spam of 25 kB, out of 500 real ones). Where the older one is quadratic
too, in the parameters of a header and in the encoded words of a subject, what is longer than any real one is cut or not
interpreted; every level of nesting costs time for every line below it, so their number is limited.
"""

from __future__ import annotations

import email.header
import email.policy
import html
from collections.abc import Generator, Iterator
from email.feedparser import BytesFeedParser
from email.message import Message
from typing import Any

from roughly.date_forms import read_date
from roughly.errors import InputError
from roughly.fast_dataclass import dataclass
from roughly.sources.encoding import charset_in_html, clean, decode_text

_BODIES = ("text/plain", "text/html")
DEEPEST = 50
"""Levels of parts within parts."""
_LONGEST_DESCRIPTION = 1 << 14  # characters of a Content-Type or another header that describes a part
_LONGEST_SUBJECT = 1 << 13  # characters of a subject whose encoded words are decoded
_LONGEST_DATE = 1 << 10
_FED = 1 << 13  # bytes that the parser gets at a time


@dataclass(frozen=True, slots=True)
class Mail:
    """The fields of a document from a message."""

    message_id: str | None
    text: str
    is_html: bool
    subject: str | None
    date: str | None


def read_mail(data: bytes) -> Mail:
    """Read one message; an `InputError` without a file name if it is not one."""
    if not data.strip():
        raise InputError("empty")
    parser = _Parser(policy=_POLICY)
    for start in range(0, len(data), _FED):
        parser.feed(data[start : start + _FED])
    message = parser.close()
    headers = _raw_headers(message)
    if not headers:
        raise InputError("not a mail message: it has no headers")
    subject = _decoded(headers.get("subject"))
    body, is_html = _body(message, any(name.startswith("content-") for name in headers))
    beginning = html.escape(subject or "") if is_html else subject or ""
    return Mail(
        message_id=_identifier(headers.get("message-id")),
        text=f"{beginning}\n\n{body}",
        is_html=is_html,
        subject=subject,
        date=_date(headers.get("date")),
    )


class _ShortDescriptions(email.policy.Compat32):
    """The older policy; headers with parameters are cut where no real one is as long."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        return name, value[:_LONGEST_DESCRIPTION] if name.lower().startswith("content-") else value


class _Parser(BytesFeedParser):
    """Python's parser with a limit of nesting. It calls `_parsegen` for every part within a part."""

    _depth = 0

    def _parsegen(self) -> Generator[Any, None, None]:
        self._depth += 1
        if self._depth > DEEPEST:
            raise InputError(f"parts are nested more than {DEEPEST} deep")
        yield from super()._parsegen()  # type: ignore[misc]
        self._depth -= 1


_POLICY = _ShortDescriptions()


def _raw_headers(message: Message) -> dict[str, str]:
    """The first header of each name, not interpreted: interpreting is where broken mail raises."""
    headers: dict[str, str] = {}
    for name, value in message.raw_items():
        headers.setdefault(name.lower(), clean(str(value)))
    return headers


def _decoded(value: str | None) -> str | None:
    """A header with its encoded words decoded and its folds removed."""
    if value is None:
        return None
    unfolded = " ".join(value.split())
    if len(unfolded) > _LONGEST_SUBJECT:
        return unfolded
    if "=?" not in unfolded and unfolded.isascii():
        return clean(unfolded)
    try:
        return clean(str(email.header.make_header(email.header.decode_header(unfolded))))
    except (ValueError, LookupError, email.errors.MessageError):
        return unfolded


def _identifier(value: str | None) -> str | None:
    found = "".join((value or "").split()).strip("<>")
    return found or None


def _date(value: str | None) -> str | None:
    """In ISO 8601 if it can be read, otherwise unchanged."""
    read = read_date(value) if value and len(value) <= _LONGEST_DATE else None
    return (value or "").strip() or None if read is None else read.isoformat()


def _body(message: Message, is_described: bool) -> tuple[str, bool]:
    """The text of the message and whether it is HTML; plain text if no header describes it."""
    if not is_described:
        return decode_text(_payload(message)), False
    part = _choose_body(message)
    if part is None:
        return "", False
    is_html = _content_type(part) == "text/html"
    data = _payload(part)
    return decode_text(data, _charset(part), charset_in_html(data) if is_html else None), is_html


def _choose_body(message: Message) -> Message | None:
    """The first plain text that is not an attachment, or else the first HTML."""
    parts = [part for part in _leaves(message) if not _is_attached(part)]
    for wanted in _BODIES:
        for part in parts:
            if _content_type(part) == wanted:
                return part
    return None


def _leaves(message: Message) -> Iterator[Message]:
    """The parts with content, without those of attached messages."""
    if not message.is_multipart():
        yield message
    elif _content_type(message).startswith("multipart/"):
        for part in message.get_payload():
            yield from _leaves(part)  # type: ignore[arg-type]


def _is_attached(part: Message) -> bool:
    try:
        return part.get_content_disposition() == "attachment"
    except Exception:  # whatever a broken header may raise
        return False


def _content_type(part: Message) -> str:
    try:
        return part.get_content_type()
    except Exception:
        return "text/plain"


def _charset(part: Message) -> str | None:
    try:
        return part.get_content_charset()
    except Exception:
        return None


def _payload(part: Message) -> bytes:
    try:
        data: Any = part.get_payload(decode=True)
    except Exception:  # whatever a broken transfer encoding may raise: the content as it is
        del part["content-transfer-encoding"]
        data = part.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""
