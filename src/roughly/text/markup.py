"""Removal of markup: the text of HTML, by resiliparse.

Tags, scripts, styles, comments and other invisible parts are removed, the title too; block elements end a line and
cells of a table are separated, so neighbouring words do not run together; character references become characters. With
`main_only`, likely boilerplate (navigation, header, footer) is removed as well: a heuristic that may lose text, hence
off by default.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from roughly.errors import InputError
from roughly.text.markup_limits import bounded

_CELL = re.compile("<t[dh]", re.IGNORECASE)


def strip(html: str, main_only: bool = False) -> str:
    """The text of an HTML document or fragment.

    >>> strip("<p>Fish &amp; chips</p><script>x()</script>")
    'Fish & chips'
    """
    from resiliparse.extract.html2text import extract_plain_text  # a slow import that few inputs need
    from resiliparse.parse.html import HTMLTree

    html = bounded(html)
    tree: Any = html
    if _CELL.search(html):
        tree = HTMLTree.parse(html)
        for cell in tree.document.query_selector_all("td, th"):
            cell.append_child(tree.create_text_node(" "))  # resiliparse joins cells without a space
    text: str = extract_plain_text(tree, main_content=main_only, links=False, list_bullets=False)
    return text


def strip_column(column: pa.Array, markup: npt.NDArray[np.bool_] | pa.Array, main_only: bool = False) -> pa.Array:
    """A text column with the marked rows stripped; other rows, nulls and the type of the column are unchanged.

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
    stripped = [None if html is None else strip(html, main_only) for html in texts]
    return pc.replace_with_mask(column, chosen, pa.array(stripped, column.type))
