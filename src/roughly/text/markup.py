"""Markup removed: the text of HTML, by resiliparse.

Tags, scripts, styles, comments and other invisible parts go, the title too; block elements end a line and cells of a
table are set apart, so words of neighbours do not run together; character references become characters. With
`main_only` what is judged to be boilerplate (navigation, header, footer) goes as well: a heuristic that may lose
text, hence off unless asked for.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from roughly.errors import InputError

_CELL = re.compile("<t[dh]", re.IGNORECASE)


def strip(html: str, main_only: bool = False) -> str:
    """The text of an HTML document or fragment.

    >>> strip("<p>Fish &amp; chips</p><script>x()</script>")
    'Fish & chips'
    """
    from resiliparse.extract.html2text import extract_plain_text  # most inputs have no markup, and it takes a while
    from resiliparse.parse.html import HTMLTree

    tree: Any = html
    if _CELL.search(html):
        tree = HTMLTree.parse(html)
        for cell in tree.document.query_selector_all("td, th"):
            cell.append_child(tree.create_text_node(" "))  # resiliparse joins cells without a blank
    text: str = extract_plain_text(tree, main_content=main_only, links=False, list_bullets=False)
    return text


def strip_column(column: pa.Array, markup: npt.NDArray[np.bool_] | pa.Array, main_only: bool = False) -> pa.Array:
    """A text column with the marked rows stripped; other rows, nulls and the type of the column stay.

    Where no row is marked, the column itself is returned.
    """
    mask = markup if isinstance(markup, pa.Array) else pa.array(markup, pa.bool_())
    if len(mask) != len(column):
        raise InputError(f"{len(mask)} marks for {len(column)} texts: there must be one mark a text")
    chosen = pc.fill_null(mask, False)
    rows = pc.indices_nonzero(chosen)
    if len(rows) == 0:
        return column
    texts = column.take(rows).to_pylist()
    stripped = [None if html is None else strip(html, main_only) for html in texts]
    return pc.replace_with_mask(column, chosen, pa.array(stripped, column.type))
