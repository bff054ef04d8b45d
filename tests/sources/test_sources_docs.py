"""docs/sources.md says what the code does: endings, names of columns, formats."""

from __future__ import annotations

import re
from pathlib import Path

from roughly.sources.columns import GUESSES
from roughly.sources.formats import ALIASES, FORMATS

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "sources.md").read_text(encoding="utf-8")


def test_every_column_name_is_listed_in_order() -> None:
    for names in GUESSES.values():
        assert f"| {', '.join(names)} |" in PAGE


def test_every_ending_and_format_is_listed() -> None:
    for ending in FORMATS:
        assert re.search(rf"[ `]{re.escape(ending)}[ `]", PAGE), ending
    for name in {*FORMATS.values(), *ALIASES} - {"arc"}:  # the ending .arc stands with warc
        assert re.search(rf"\| [^|]*`{name}`[^|]* \|", PAGE), name
