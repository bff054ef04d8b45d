"""A text as blocks that are easy to read: paragraphs, headings, lists, quotations, code, the head of a mail.

Markdown and mail headers are recognised by their lines; nothing is interpreted beyond that, and no block is ever HTML:
templates escape every piece. The blocks have all words of the text, in order.
"""

from __future__ import annotations

import re
from typing import Literal

from roughly.fast_dataclass import dataclass
from roughly.report.visible import reveal

BlockKind = Literal["paragraph", "heading", "list", "numbers", "quote", "code", "head"]
LINES = 4_000  # lines of one text that are made into blocks; the rest is one block
_HEADING = re.compile(r" {0,3}(#{1,6})\s+(.+?)\s*#*\s*")
_UNDERLINE = re.compile(r" {0,3}(?:={3,}|-{3,}) *")
_ITEM = re.compile(r" {0,6}(?:[-*+•]\s+(\S.*)|(\d{1,3}[.)]\s+\S.*))")
_QUOTE = re.compile(r" {0,3}>+ ?(.*)")
_FENCE = re.compile(r" {0,3}(```|~~~)")
_BOLD = re.compile(r"\*\*(?=\S)([^*\n]+)(?<=\S)\*\*")
_HEADER = re.compile(r"([A-Za-z][A-Za-z0-9-]{1,40}):(?:[ \t]+(.*))?")
_HEADERS = frozenset(
    [
        "from",
        "to",
        "cc",
        "bcc",
        "subject",
        "date",
        "message-id",
        "reply-to",
        "sender",
        "newsgroups",
        "organization",
        "lines",
        "references",
        "in-reply-to",
        "received",
        "return-path",
        "content-type",
        "mime-version",
        "x-mailer",
        "nntp-posting-host",
        "path",
        "keywords",
    ]
)


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A block: its text, or the items of a list, or the (name, value) pairs of a mail's head."""

    kind: BlockKind
    text: str = ""
    items: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()


def readable(text: str) -> list[TextBlock]:
    """The blocks of a text."""
    lines = reveal(text).split("\n")
    rest = lines[LINES:]
    lines = lines[:LINES]
    blocks: list[TextBlock] = []
    at = _take_head(lines, blocks)
    while at < len(lines):
        at = _take_block(lines, at, blocks)
    if rest:
        blocks.append(TextBlock("paragraph", "\n".join(rest)))
    return blocks


def _take_head(lines: list[str], blocks: list[TextBlock]) -> int:
    """The headers at the beginning of a mail or a posting: two known ones at least, up to an empty line."""
    pairs: list[tuple[str, str]] = []
    at = 0
    for line in lines:
        found = _HEADER.fullmatch(line)
        if found is not None:
            pairs.append((found[1], found[2] or ""))
        elif pairs and line[:1] in (" ", "\t") and line.strip():
            pairs[-1] = (pairs[-1][0], f"{pairs[-1][1]} {line.strip()}")
        else:
            break
        at += 1
    if sum(name.lower() in _HEADERS for name, _ in pairs) < 2 or (at < len(lines) and lines[at].strip()):
        return 0
    blocks.append(TextBlock("head", pairs=tuple(pairs)))
    return at


def _take_block(lines: list[str], at: int, blocks: list[TextBlock]) -> int:
    """Add the block that begins at a line; returns the line after it."""
    line = lines[at]
    if not line.strip():
        return at + 1
    if (fence := _FENCE.match(line)) is not None:
        end = next((n for n in range(at + 1, len(lines)) if lines[n].lstrip().startswith(fence[1])), len(lines) - 1)
        closed = lines[end].lstrip().startswith(fence[1]) and end > at
        blocks.append(TextBlock("code", "\n".join(lines[at + 1 : end if closed else end + 1])))
        return end + 1
    if (heading := _HEADING.fullmatch(line)) is not None:
        blocks.append(TextBlock("heading", _unmarked(heading[2])))
        return at + 1
    if at + 1 < len(lines) and _UNDERLINE.fullmatch(lines[at + 1]) is not None:
        blocks.append(TextBlock("heading", _unmarked(line.strip())))
        return at + 2
    if _ITEM.fullmatch(line) is not None:
        return _take_list(lines, at, blocks)
    if _QUOTE.fullmatch(line) is not None:
        end = at
        while end < len(lines) and _QUOTE.fullmatch(lines[end]) is not None:
            end += 1
        quoted = [found[1] for found in map(_QUOTE.fullmatch, lines[at:end]) if found is not None]
        blocks.append(TextBlock("quote", _unmarked("\n".join(quoted))))
        return end
    end = at + 1
    while end < len(lines) and lines[end].strip() and not _begins_block(lines[end]):
        end += 1
    blocks.append(TextBlock("paragraph", _unmarked("\n".join(lines[at:end]))))
    return end


def _take_list(lines: list[str], at: int, blocks: list[TextBlock]) -> int:
    items: list[str] = []
    first = _ITEM.fullmatch(lines[at])
    kind: BlockKind = "list" if first is not None and first[1] else "numbers"
    while at < len(lines):
        found = _ITEM.fullmatch(lines[at])
        if found is not None:
            items.append(found[1] or found[2])
        elif lines[at].startswith("  ") and lines[at].strip():
            items[-1] += f"\n{lines[at].strip()}"
        else:
            break
        at += 1
    blocks.append(TextBlock(kind, items=tuple(map(_unmarked, items))))
    return at


def _unmarked(text: str) -> str:
    """The text without the asterisks around bold words."""
    return _BOLD.sub(r"\1", text)


def _begins_block(line: str) -> bool:
    return any(form.fullmatch(line) for form in (_HEADING, _ITEM, _QUOTE)) or _FENCE.match(line) is not None
