"""Folders of text, HTML and Markdown files: one file, one document.

The id is the path below the folder. HTML is left as it is and marked as markup; the encoding is detected for each file
(`encoding`).
"""

from __future__ import annotations

from pathlib import Path

from roughly.sources.collector import Collector
from roughly.sources.encoding import charset_in_html, decode_text
from roughly.sources.files import File
from roughly.sources.folder import FolderPart
from roughly.sources.formats import HTML_SUFFIXES, suffix_of
from roughly.sources.streams import SUFFIXES


class TextFolder(FolderPart):
    """Files of one document each."""

    format = "text"

    def kept_path(self, row: int, folder: Path) -> Path:
        """The path of a file's copy below `kept/`; not compressed."""
        target = folder / self.kept_name / self._target(self._files[row])
        return target.with_name(target.name.removesuffix(target.suffix)) if target.suffix in SUFFIXES else target

    def _add(self, row: int, file: File, data: bytes, collector: Collector) -> None:
        is_html = suffix_of(file.relative) in HTML_SUFFIXES or self._options.format == "html"
        markup = {"html": True, "none": False}.get(self._options.markup, is_html)
        text = decode_text(data, charset_in_html(data) if is_html else None)
        collector.add(row, self._id_from_path(file), text, markup=markup)
