"""What an HTTP message in a web archive carries: its media type, and its payload as text.

FastWARC undoes chunks and compression. Archives are full of messages whose headers claim an encoding that
the crawler has already undone, or that were cut; then the payload is taken as it stands if it is text, and
refused if it is not.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass

from roughly.errors import InputError

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # FastWARC 1 warns of its own old names when it loads
    from fastwarc.warc import WarcRecord

_CONTENT_TYPE = re.compile(rb"^content-type:[ \t]*([^;\s]*)(?:[^\r\n]*?charset=[\"' ]*([^\s\"';]+))?", re.I | re.M)
_STATUS = re.compile(rb"HTTP/[\d.]+ +(\d{3})\b")
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_NOT_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_LOOKED_AT = 4096


@dataclass(frozen=True, slots=True)
class Payload:
    """The body of a message and the charset that its header names."""

    data: bytes
    charset: str | None


def is_http(block: bytes) -> bool:
    """Whether a block is an HTTP message with headers."""
    return block.startswith(b"HTTP/")


def status_of(block: bytes) -> int | None:
    """The status that the message begins with; None if it has none."""
    found = _STATUS.match(block)
    return int(found[1]) if found else None


def media_type(block: bytes) -> str | None:
    """The media type that the message's header names, in lower case."""
    found = _CONTENT_TYPE.search(_head(block))
    return found[1].decode("ascii", "replace").lower() if found else None


def read_payload(block: bytes) -> Payload:
    """The decoded body; an `InputError` without a file name if it cannot be decoded."""
    found = _CONTENT_TYPE.search(_head(block))
    charset = found[2].decode("ascii", "replace") if found and found[2] else None
    try:
        data = _decoded(block)
    except (OSError, ValueError, EOFError) as error:
        data = _body(block)
        if _NOT_TEXT.search(data, 0, _LOOKED_AT):
            raise InputError(f"the HTTP payload cannot be decoded: {error}") from error
    return Payload(data, charset)


def _decoded(block: bytes) -> bytes:
    end = _HEAD_END.search(block)
    if end is not None and end[0] != b"\r\n\r\n":  # bare newlines: FastWARC wants the standard's line ends
        head = re.sub(rb"\r?\n", b"\r\n", block[: end.start()])
        block = head + b"\r\n\r\n" + block[end.end() :]
    record = WarcRecord()
    record.is_http = True
    record.set_bytes_content(block)
    record.parse_http(auto_decode="all")
    if record.http_headers is None:
        return _body(block)
    return bytes(record.reader.read())


def _head(block: bytes) -> bytes:
    end = _HEAD_END.search(block)
    return block[: end.start()] if end else block


def _body(block: bytes) -> bytes:
    end = _HEAD_END.search(block)
    return block[end.end() :] if end else b""
