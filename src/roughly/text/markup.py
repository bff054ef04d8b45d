"""Markup removed: the text of HTML, by resiliparse.

Tags, scripts, styles, comments and other invisible parts go; block elements end a line, so words of neighbouring
cells or paragraphs do not run together; character references become characters. With `main_only` what is judged to be
boilerplate (navigation, header, footer, forms) goes too: a heuristic that may lose text, hence off unless asked for.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from resiliparse.extract.html2text import extract_plain_text

from roughly.errors import InputError


def strip(html: str, main_only: bool = False) -> str:
    """The text of an HTML document or fragment.

    >>> strip("<p>Fish &amp; chips</p><script>x()</script>")
    'Fish & chips'
    """
    text: str = extract_plain_text(
        html, preserve_formatting=True, main_content=main_only, alt_texts=False, links=False, list_bullets=False
    )
    return text


def strip_column(column: pa.Array, markup: npt.NDArray[np.bool_] | pa.Array, main_only: bool = False) -> pa.Array:
    """A text column with the marked rows stripped; other rows, nulls and the type of the column stay.

    Where no row is marked, the column itself is returned.
    """
    mask = markup if isinstance(markup, pa.Array) else pa.array(markup, pa.bool_())
    if len(mask) != len(column):
        raise InputError(f"{len(mask)} marks for {len(column)} texts: there must be one mark a text")
    rows = pc.indices_nonzero(pc.fill_null(mask, False))
    if len(rows) == 0:
        return column
    stripped = [None if html is None else strip(html, main_only) for html in column.take(rows).to_pylist()]
    chosen = pc.if_else(pc.is_in(pa.array(np.arange(len(column), dtype=np.uint64)), rows), True, False)
    return pc.replace_with_mask(column, chosen, pa.array(stripped, column.type))
