"""From bytes of unknown encoding to text; never an exception, never a lost document.

The order: a byte order mark, then UTF-8, then what a header or a `meta` tag claims, then what the letters
look like (`resiliparse`). UTF-8 comes before the claim because text that is valid UTF-8 and not ASCII is hardly ever
anything else, while claims are often wrong; encodings made of ASCII bytes, such as ISO-2022-JP, are the exception.
Undecodable bytes become U+FFFD.
"""

from __future__ import annotations

import codecs
import re

_MARKS = (  # the longer ones first: the UTF-32 mark begins with the UTF-16 one
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_META_CHARSET = re.compile(rb"<meta\b[^>]*?charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]+)", re.IGNORECASE)
# Encodings whose bytes may be valid UTF-8 and yet mean something else: their claim is tried first.
_LOOKS_LIKE_ASCII = re.compile(r"[\s\"']*(?:iso-2022-|csiso2022|utf-7|utf-?16|utf-?32|hz-gb)", re.IGNORECASE)
_ENOUGH_FOR_META = 4096
_ENOUGH_TO_DETECT = 1 << 17


def decode_text(data: bytes, *claimed: str | None) -> str:
    """The text of `data`. `claimed` are charsets that headers name, tried in order."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    for charset in claimed:
        believed = charset is not None and _LOOKS_LIKE_ASCII.match(charset) is not None
        if believed and (text := _decode_as_claimed(data, charset)) is not None:
            return text
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    for charset in claimed:
        if (text := _decode_as_claimed(data, charset)) is not None:
            return text
    from resiliparse.parse.encoding import bytes_to_str

    return clean(str(bytes_to_str(data, detect_encoding(data), errors="replace")))


def charset_in_html(data: bytes) -> str | None:
    """The charset that the page's own `meta` tag claims."""
    found = _META_CHARSET.search(data, 0, _ENOUGH_FOR_META)
    return found[1].decode("ascii") if found else None


def detect_encoding(data: bytes) -> str:
    """The encoding that the bytes look like. Each call makes its own detector, since threads must not share one."""
    from resiliparse.parse.encoding import EncodingDetector

    detector = EncodingDetector()
    if len(data) <= _ENOUGH_TO_DETECT:
        detector.update(data)
    else:
        detector.update(data[: _ENOUGH_TO_DETECT // 2])
        detector.update(data[-_ENOUGH_TO_DETECT // 2 :])
    return detector.encoding() or "cp1252"


def is_utf16_or_32(head: bytes) -> bool:
    """Whether a file begins with the byte order mark of UTF-16 or UTF-32."""
    return head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE))


def clean(text: str) -> str:
    """Text that UTF-8 can encode: lone surrogates, as in broken mail headers, become U+FFFD."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return decode_text(text.encode("utf-8", "surrogateescape")) if _escaped(text) else _replaced(text)
    return text


def _decode_as_claimed(data: bytes, claimed: str | None) -> str | None:
    if claimed is None:
        return None
    from resiliparse.parse.encoding import map_encoding_to_html5

    try:
        codec = codecs.lookup(map_encoding_to_html5(claimed.strip("\"' "), fallback_utf8=False) or claimed)
        text = data.decode(codec.name)
        text.encode("utf-8")
    except (LookupError, ValueError, TypeError):
        return None
    return text


def _escaped(text: str) -> bool:
    """Whether every surrogate is a byte that Python could not decode (PEP 383)."""
    return all(0xDC80 <= ord(letter) <= 0xDCFF for letter in text if 0xD800 <= ord(letter) <= 0xDFFF)


def _replaced(text: str) -> str:
    return "".join("\ufffd" if 0xD800 <= ord(letter) <= 0xDFFF else letter for letter in text)
