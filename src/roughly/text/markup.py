"""Removal of markup: the text of HTML, by resiliparse.

Tags, scripts, styles, comments and other invisible parts are removed, the title too; block elements end a line and
cells of a table are separated, so neighbouring words do not run together; character references become characters. With
`main_only`, likely boilerplate (navigation, header, footer) is removed as well: a heuristic that may lose text, hence
off by default.

Of a page, three things may be compared (`PageText`): all its text, its main text, or its DOM: tag, id, name and classes
of each element in order, written as words, so that all that follows is the same.
"""

from __future__ import annotations

import re
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from roughly.errors import InputError
from roughly.text.markup_limits import bounded

PageText = Literal["all", "main", "dom"]
"""What of a page is compared."""

MOST_WORK = 50_000_000_000
"""Tags times characters of a page that is read in one go; it takes the extractor about two seconds."""
_CELL = re.compile("<t[dh]", re.IGNORECASE)
_ALWAYS = frozenset({"html", "head", "body"})  # the parser adds these to any text


def strip(html: str, main_only: bool = False) -> str:
    """The text of an HTML document or fragment.

    >>> strip("<p>Fish &amp; chips</p><script>x()</script>")
    'Fish & chips'
    """
    html = bounded(html)
    if html.count("<") * len(html) <= MOST_WORK:
        return _extracted(html, main_only)
    from roughly.text.page_pieces import cut

    texts = [_extracted(piece, main_only) for piece in cut(html)]
    return "\n\n".join(text for text in texts if text)


def _extracted(html: str, main_only: bool) -> str:
    from resiliparse.extract.html2text import extract_plain_text  # a slow import that few inputs need
    from resiliparse.parse.html import HTMLTree

    tree: Any = html
    if _CELL.search(html):
        tree = HTMLTree.parse(html)
        for cell in tree.document.query_selector_all("td, th"):
            cell.append_child(tree.create_text_node(" "))  # resiliparse joins cells without a space
    text: str = extract_plain_text(tree, main_content=main_only, links=False, list_bullets=False)
    return text


def dom(html: str) -> str:
    """The DOM of an HTML document or fragment, a line per element; of a text without elements, the text.

    >>> dom('<form id="login"><input name="user" class="wide bold"></form>')
    'form login\\ninput user wide bold'
    """
    from resiliparse.parse.html import HTMLTree

    tree = HTMLTree.parse(bounded(html))
    lines = []
    for element in tree.document.query_selector_all("*"):
        tag = "" if element.tag in _ALWAYS else element.tag
        words = " ".join((tag, element.id, element.getattr("name") or "", element.class_name)).split()
        if words:
            lines.append(" ".join(words))
    return "\n".join(lines) if lines else strip(html)


def page_text(main_text: bool) -> PageText:
    """What is compared where only text may be."""
    return "main" if main_text else "all"


def strip_column(column: pa.Array, markup: npt.NDArray[np.bool_] | pa.Array, part: PageText = "all") -> pa.Array:
    """A text column with this part of the marked rows; other rows, nulls and the type of the column are unchanged.

    If no row is marked, the column itself is returned.
    """
    mask = markup if isinstance(markup, pa.Array) else pa.array(markup, pa.bool_())
    if len(mask) != len(column):
        raise InputError(f"{len(mask)} marks for {len(column)} texts: there must be one mark per text")
    if mask.true_count == 0:
        return column
    chosen = pc.fill_null(mask, False)
    rows = pc.indices_nonzero(chosen)
    texts = column.take(rows).to_pylist()
    stripped = [None if html is None else dom(html) if part == "dom" else strip(html, part == "main") for html in texts]
    return pc.replace_with_mask(column, chosen, pa.array(stripped, column.type))
