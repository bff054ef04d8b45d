"""An HTTP message in a web archive: its media type, and its payload as text.

FastWARC decodes chunks and compression. Archives have many messages whose headers claim an encoding that the crawler
has already decoded, or that were cut; then the payload is used as it is if it is text, and refused otherwise.
"""

from __future__ import annotations

import re
import warnings
import zlib
from typing import Literal

import brotli

from roughly.errors import InputError
from roughly.fast_dataclass import dataclass
from roughly.sources.read_limits import NO_LIMITS, ReadLimits

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # FastWARC 1 warns about its own old names when it is imported
    from fastwarc.warc import WarcRecord

_CONTENT_TYPE = re.compile(rb"^content-type:[ \t]*([^;\s]*)(?:[^\r\n]*?charset=[\"' ]*([^\s\"';]+))?", re.I | re.M)
_ENCODING = re.compile(rb"^content-encoding:([^\r\n]*)", re.I | re.M)
_GZIP_RATIO = 1032  # deflate cannot make more of a byte
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


def read_payload(block: bytes, limits: ReadLimits = NO_LIMITS) -> Payload:
    """The decoded body; an `InputError` without a file name if it cannot be decoded."""
    found = _CONTENT_TYPE.search(_head(block))
    charset = found[2].decode("ascii", "replace") if found and found[2] else None
    try:
        data = _decoded(block, limits)
    except InputError:
        raise
    except (OSError, ValueError, EOFError) as error:
        data = _body(block)
        if _NOT_TEXT.search(data, 0, _LOOKED_AT):
            raise InputError(f"the HTTP payload cannot be decoded: {error}") from error
    return Payload(data, charset)


def _decoded(block: bytes, limits: ReadLimits) -> bytes:
    end = _HEAD_END.search(block)
    if end is not None and end[0] != b"\r\n\r\n":  # bare newlines: FastWARC expects the standard's line ends
        head = re.sub(rb"\r?\n", b"\r\n", block[: end.start()])
        block = head + b"\r\n\r\n" + block[end.end() :]
    _check_size(block, limits)
    record = _record(block, "all")
    return _body(block) if record.http_headers is None else bytes(record.reader.read())


def _record(block: bytes, decode: Literal["transfer", "all"]) -> WarcRecord:
    record = WarcRecord()
    record.is_http = True
    record.set_bytes_content(block)
    record.parse_http(auto_decode=decode)
    return record


def _check_size(block: bytes, limits: ReadLimits) -> None:
    """Refuse a body that unpacks to more than the limit, before FastWARC unpacks it as a whole."""
    found = _ENCODING.search(_head(block))
    if found is None:
        return
    encodings = [name.strip().lower() for name in found[1].split(b",")]
    if len(block) * _GZIP_RATIO <= limits.record and encodings in ([b"gzip"], [b"x-gzip"], [b"deflate"]):
        return
    data = bytes(_record(block, "transfer").reader.read())
    for encoding in reversed(encodings):
        try:
            data = _unpacked(data, encoding, limits.record + 1)
        except (zlib.error, brotli.error):
            return  # which the reading itself reports
        if len(data) > limits.record:
            raise InputError(f"the HTTP payload {limits.too_long(unpacked=True)}")


def _unpacked(data: bytes, encoding: bytes, most: int) -> bytes:
    """The first `most` bytes at least, if there are that many."""
    if encoding == b"br":
        return bytes(brotli.Decompressor().process(data, output_buffer_limit=most))
    if encoding not in (b"gzip", b"x-gzip", b"deflate"):
        return data
    pieces, made = [], 0
    while data and made < most:  # one gzip member after another
        is_raw = encoding == b"deflate" and (data[0] & 15 != 8 or int.from_bytes(data[:2], "big") % 31)
        member = zlib.decompressobj(wbits=-15 if is_raw else 47)
        pieces.append(member.decompress(data, most - made))
        made, data = made + len(pieces[-1]), member.unused_data
    return b"".join(pieces)


def _head(block: bytes) -> bytes:
    end = _HEAD_END.search(block)
    return block[: end.start()] if end else block


def _body(block: bytes) -> bytes:
    end = _HEAD_END.search(block)
    return block[end.end() :] if end else b""
