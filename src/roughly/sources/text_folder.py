"""Folders of text, HTML and Markdown files: one file, one document.

The id is the path below the folder. HTML stays as it is and is marked as markup; the encoding is found for
each file (`encoding`).
"""

from __future__ import annotations

from roughly.sources.collector import Collector
from roughly.sources.encoding import charset_in_html, decode_text
from roughly.sources.files import File
from roughly.sources.folder import FolderPart
from roughly.sources.formats import HTML_SUFFIXES, suffix_of


class TextFolder(FolderPart):
    """Files that are each one document."""

    format = "text"

    def _add(self, row: int, file: File, data: bytes, collector: Collector) -> None:
        is_html = suffix_of(file.relative) in HTML_SUFFIXES or self._options.format == "html"
        markup = {"html": True, "none": False}.get(self._options.markup, is_html)
        text = decode_text(data, charset_in_html(data) if is_html else None)
        collector.add(row, self._id_from_path(file), text, markup=markup)
