"""A very large page of HTML in pieces.

The extractor copies all text that it has at every block, so that its time grows with the square of a page. Pieces are
cut where a block begins, with the elements around it opened again, so each has the text that it has in the page: only
white space may differ. (Main text is found in each piece by itself.)
"""

from __future__ import annotations

from html import escape
from typing import Any

_BLOCKS = 2_000
_LENGTH = 1 << 18
# A piece ends after as many blocks or characters, or after four times what was opened again, if that is more.
_REOPENED = 4
_BLOCK_NAMES = """
address article aside blockquote body br caption center dd details dialog div dl dt fieldset figcaption figure footer
form h1 h2 h3 h4 h5 h6 header hr legend li main menu nav ol option p pre section summary table tbody td tfoot th thead
tr ul
"""
_VOID_NAMES = """
area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr
"""
_BLOCK = frozenset(_BLOCK_NAMES.split())
_VOID = frozenset(_VOID_NAMES.split())
"""Elements without content."""
_AS_IS = frozenset({"iframe", "noembed", "noframes", "script", "style", "xmp"})
"""Elements whose text has no character references."""


def cut(page: str, blocks: int = _BLOCKS, length: int = _LENGTH) -> list[str]:
    """Pages of about so many blocks or characters that together have the text of a page, in order."""
    from resiliparse.parse.html import HTMLTree, traverse_dom

    cutter = _Cutter(blocks, length)
    document = HTMLTree.parse(page).document
    if document is None:
        return [page]
    traverse_dom(document, cutter.write_node)  # empty elements have no end there
    return cutter.finish()


class _Cutter:
    """Writes the nodes of a page, and begins another piece where one is large enough."""

    def __init__(self, blocks: int, length: int) -> None:
        self._most_blocks, self._most_length = blocks, length
        self._pieces: list[str] = []
        self._open: list[tuple[int, str, str]] = []  # depth, name and start tag of every open element
        self._written: list[str] = []
        self._blocks = self._length = self._reopened = 0

    def write_node(self, context: Any) -> None:
        """Write a text, or the start tag of an element, after the end tags of those that are not around it."""
        from resiliparse.parse.html import NodeType

        node = context.node
        while self._open and self._open[-1][0] >= context.depth:
            self._write(f"</{self._open.pop()[1]}>")
        if node.type == NodeType.TEXT:
            text = node.value or ""
            self._write(text if self._open and self._open[-1][1] in _AS_IS else escape(text, quote=False))
        elif node.type == NodeType.ELEMENT:
            # nothing ends `plaintext`, the end of the piece included
            name = "pre" if node.tag == "plaintext" else node.tag
            if name in _BLOCK:
                self._begin_block()
            attributes = [f' {own}="{escape(node.getattr(own) or "")}"' for own in node.attrs]
            tag = f"<{name}{''.join(attributes)}>"
            self._write(tag)
            if name not in _VOID:
                self._open.append((context.depth, name, tag))

    def finish(self) -> list[str]:
        """All pieces."""
        self._pieces.append("".join(self._written))
        return self._pieces

    def _write(self, text: str) -> None:
        self._written.append(text)
        self._length += len(text)

    def _begin_block(self) -> None:
        self._blocks += 1
        if self._length <= _REOPENED * self._reopened or self._blocks <= _REOPENED * len(self._open):
            return
        if self._length > self._most_length or self._blocks > self._most_blocks:
            self._pieces.append("".join(self._written))  # what is open ends with it
            self._written = [tag for _, _, tag in self._open]
            self._blocks, self._reopened = 0, sum(map(len, self._written))
            self._length = self._reopened
