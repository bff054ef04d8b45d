"""HTML without its markup, byte for byte at the same place: what is no text becomes blanks.

`text.markup` gives the text that people see, at other positions. Here positions must be those of the original, so that
a passage can be cut out of it: comments, scripts, styles and tags are overwritten, with spaces where they separate
words and with invisible characters where they do not (`<b>` within a word). Tags of blocks, such as paragraphs, items
and cells, become the end of a paragraph (U+2029), `<br>` that of a line (U+2028). Character references become their
character and invisible ones. So the tokens are those of the visible text, except that the title counts as text, and so
do references that are shorter than their character.
"""

from __future__ import annotations

import html
import re

import numpy as np
import numpy.typing as npt
import pyarrow as pa

_HIDDEN = rb"<!--.*?(?:-->|\Z)|<(script|style|template|noscript)\b.*?(?:</\1\s*>|\Z)"
_MARKUP = re.compile(_HIDDEN + rb"|<[/!?a-zA-Z][^>]*>?|&#?[0-9a-zA-Z]{1,31};", re.DOTALL | re.IGNORECASE)
_INLINE = re.compile(
    rb"</?(?:a|abbr|acronym|b|bdi|bdo|big|cite|code|em|font|i|ins|kbd|mark|q|s|samp|small|span|strike|strong|sub|sup"
    rb"|tt|u|var|wbr)\b",
    re.IGNORECASE,
)
_BLOCK = re.compile(
    rb"</?(?:address|article|aside|blockquote|body|caption|center|dd|details|dialog|div|dl|dt|fieldset|figcaption|figure"
    rb"|footer|form|h[1-6]|head|header|hgroup|hr|html|legend|li|main|menu|nav|ol|option|p|pre|section|summary|table"
    rb"|tbody|td|tfoot|th|thead|title|tr|ul)[\s/>]",
    re.IGNORECASE,
)
_LINE = re.compile(rb"<br[\s/>]", re.IGNORECASE)
_LINE_END, _PARAGRAPH_END = "\u2028".encode(), "\u2029".encode()
_SOFT_HYPHEN, _JOINER = "\u00ad".encode(), "\u200b".encode()  # ignored in canonical form


def mask(page: bytes) -> bytes:
    """The page with its markup overwritten; of the same length.

    >>> mask(b"<p>Fish &amp; chips</p>").decode()
    '\\u2029Fish &     chips \\u2029'
    """
    return _MARKUP.sub(_overwritten, page)


def mask_column(texts: pa.Array, markup: pa.Array) -> pa.Array:
    """The column with the marked rows masked; the column itself if there are none."""
    if markup.true_count == 0:
        return texts
    marked = markup.to_pylist()
    pages = texts.cast(pa.large_binary()).to_pylist()
    masked = [mask(page) if is_markup else page for page, is_markup in zip(pages, marked, strict=True)]
    return pa.array(masked, pa.large_binary()).cast(pa.large_string())


def markup_bytes(page: bytes) -> npt.NDArray[np.bool_]:
    """Which bytes are tags, comments, scripts or styles, and are never cut out."""
    found = np.zeros(len(page), np.bool_)
    for match in _MARKUP.finditer(page):
        if match[0][:1] == b"<":
            found[match.start() : match.end()] = True
    return found


def visible(piece: bytes) -> str:
    """What people see of a piece of a page, to be shown.

    >>> visible(b"Fish &amp; <b>chips</b></p><p>Peas</p>")
    'Fish & chips Peas'
    """
    text = _MARKUP.sub(lambda match: match[0] if match[0][:1] == b"&" else _separation(match[0]), piece)
    return " ".join(html.unescape(text.decode("utf-8", "replace")).split())


def _separation(tag: bytes) -> bytes:
    return b"" if _INLINE.match(tag) else b" "


def _overwritten(match: re.Match[bytes]) -> bytes:
    found = match[0]
    if found[:1] == b"&":
        return _character(found)
    if _INLINE.match(found):
        return _invisible(len(found))
    end = _PARAGRAPH_END if _BLOCK.match(found) else _LINE_END if _LINE.match(found) else b""
    return b" " * (len(found) - len(end)) + end


def _character(reference: bytes) -> bytes:
    """The character of a reference, filled up with invisible ones."""
    character = html.unescape(reference.decode("ascii")).encode("utf-8", "replace")
    left = len(reference) - len(character)
    if left < 2 or character == reference:
        return reference
    return character + (_invisible(left) if character.decode("utf-8", "replace").isalnum() else b" " * left)


def _invisible(length: int) -> bytes:
    """Two bytes or more that canonical form ignores."""
    return _JOINER * (length % 2) + _SOFT_HYPHEN * ((length - 3 * (length % 2)) // 2)
