"""From a mail message to a document: subject, blank line, body.

The plain-text body is preferred; an HTML body is taken as it is and marked as markup. Real mail breaks every
rule, so each header and the choice of a body has a fallback that cannot fail; only something without any
header is not a message. Used by mbox files, Maildirs and folders of `.eml` files.

The email package's older policy (`compat32`) is used on purpose: the newer one raises on broken headers, and
takes quadratic time for some (one spam of 25 kB out of 500 real ones took it 13 seconds).
"""

from __future__ import annotations

import email
import email.header
import email.policy
import html
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import Message
from typing import Any

from roughly.date_forms import read_date
from roughly.errors import InputError
from roughly.sources.encoding import charset_in_html, clean, decode_text

_BODIES = ("text/plain", "text/html")


@dataclass(frozen=True, slots=True)
class Mail:
    """What a message gives to a document."""

    message_id: str | None
    text: str
    is_html: bool
    subject: str | None
    date: str | None


def read_mail(data: bytes) -> Mail:
    """Read one message; an `InputError` without a file name if it is none."""
    if not data.strip():
        raise InputError("empty")
    message = email.message_from_bytes(data, policy=email.policy.compat32)
    headers = _raw_headers(message)
    if not headers:
        raise InputError("not a mail message: it has no headers")
    subject = _decoded(headers.get("subject"))
    body, is_html = _body(message)
    beginning = html.escape(subject or "") if is_html else subject or ""
    return Mail(
        message_id=_identifier(headers.get("message-id")),
        text=f"{beginning}\n\n{body}",
        is_html=is_html,
        subject=subject,
        date=_date(headers.get("date")),
    )


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
    try:
        return clean(str(email.header.make_header(email.header.decode_header(unfolded))))
    except (ValueError, LookupError, email.errors.MessageError):
        return unfolded


def _identifier(value: str | None) -> str | None:
    found = "".join((value or "").split()).strip("<>")
    return found or None


def _date(value: str | None) -> str | None:
    """In ISO 8601 where it can be read, and otherwise as it was found."""
    read = read_date(value or "")
    return (value or "").strip() or None if read is None else read.isoformat()


def _body(message: Message) -> tuple[str, bool]:
    """The text of the message and whether it is HTML."""
    part = _choose_body(message)
    if part is None:
        return "", False
    is_html = _content_type(part) == "text/html"
    data = _payload(part)
    return decode_text(data, _charset(part), charset_in_html(data) if is_html else None), is_html


def _choose_body(message: Message) -> Message | None:
    """The first plain text that is no attachment, or else the first HTML."""
    parts = [part for part in _leaves(message) if not _is_attached(part)]
    for wanted in _BODIES:
        for part in parts:
            if _content_type(part) == wanted:
                return part
    return None


def _leaves(message: Message) -> Iterator[Message]:
    """The parts that hold something, without those of messages that are attached."""
    inner: Any = message.get_payload()
    if not isinstance(inner, list):
        yield message
    elif _content_type(message).startswith("multipart/"):
        for part in inner:
            yield from _leaves(part)


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
    except Exception:
        data = part.get_payload()
    if isinstance(data, bytes):
        return data
    return str(data).encode("utf-8", "surrogateescape") if isinstance(data, str) else b""
