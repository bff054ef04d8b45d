"""The page on the canonical form is true: every row of its table, every example."""

from __future__ import annotations

import doctest
import re
import unicodedata
from pathlib import Path

import pyarrow as pa
import pytest

from roughly.text import canonical as text_canonical
from roughly.text import markup, tables
from roughly.text.canonical import tokenise, words

PAGE = Path(__file__).resolve().parents[2] / "docs" / "canonical-form.md"


MORE = r"""
| `e-mail e_mail` | `e` `mail` `e` `mail` | 1: the underscore separates |
| `go 👍🏽 go` | `go` `go` | 1 |
| `МОСКВА Москва` | `москва` `москва` | 2 |
| `q\u0307\u0323 q\u0323\u0307` | `q̣̇` `q̣̇` | 3: the order of marks |
| `한국어 \u1112\u1161\u11ab\u1100\u116e\u11a8\u110b\u1165` | `한국어` `한국어` | 3, 6: syllables or letters |
| `a \u2260 b =\u0338 c` | `a` `b` `c` | 3: a mark on a symbol |
| `ｶﾞｶﾞ` | `ガ` `ガ` | 4, 6 |
| `ﻻ` | `لا` | 4 |
| `か\u3099 が` | `が` `が` | 3, 6 |
| `ที่นี่` | `ที่` `นี่` | 6: with their marks |
| `\ufefftitle` | `title` | 7 |
| `می\u200cخواهم` | `میخواهم` | 7 |
"""
"""Rows that need not be on the page."""


def unescape(cell: str) -> str:
    return re.sub(r"\\u([0-9a-f]{4})", lambda match: chr(int(match[1], 16)), cell)


def rows() -> list[tuple[str, list[str]]]:
    table = PAGE.read_text(encoding="utf-8").split("## Examples")[1].split("\n## ")[0]
    found = []
    for line in (table + MORE).splitlines():
        if line.startswith("| `"):
            _, text, tokens, _, _ = line.split("|")
            found.append((unescape(re.findall("`([^`]*)`", text)[0]), re.findall("`([^`]*)`", tokens)))
    return found


def test_the_table_has_rows() -> None:
    assert len(rows()) > 30


@pytest.mark.parametrize(("text", "tokens"), rows(), ids=[ascii(text) for text, _ in rows()])
def test_a_row_of_the_table_is_true(text: str, tokens: list[str]) -> None:
    assert words(text) == [unicodedata.normalize("NFC", token) for token in tokens]
    kernel = tokenise(pa.array([text, " ".join(tokens)]))
    assert kernel.hashes[: kernel.offsets[1]].tolist() == kernel.hashes[kernel.offsets[1] :].tolist()


def test_the_page_names_the_version_of_the_table() -> None:
    assert f"Unicode {tables.load().unicode_version}" in PAGE.read_text(encoding="utf-8")


def test_examples_on_the_page_and_in_docstrings_run() -> None:
    blocks = "\n".join(re.findall(r"```pycon\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL))
    example = doctest.DocTestParser().get_doctest(blocks, {}, PAGE.name, str(PAGE), 0)
    assert len(example.examples) >= 5
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0
    assert doctest.testmod(text_canonical).failed == 0
    assert doctest.testmod(markup).failed == 0
