"""The pages of the collection-statistics methods say what the functions say."""

from __future__ import annotations

import re

import pytest
from docs_blocks import DOCS
from test_docs_reference import module, rows, section

from roughly.methods.stability import expected_lexicons, survival
from roughly.methods.term_filters import TermFilter

IMATCH = (DOCS / "methods" / "imatch.md").read_text(encoding="utf-8")


def test_the_table_of_survival() -> None:
    text = section(IMATCH, "## Formula")
    lexicons = [int(k) for k in re.findall(r"K = (\d+)", text)]
    shown = [row for row in rows(text) if row[0].isdigit()]
    assert len(lexicons) == 5 and len(shown) == 4
    for changes, *cells in shown:
        assert cells == [f"{survival(int(changes), k):.2f}" for k in lexicons]


def test_the_table_of_expectations() -> None:
    text = section(IMATCH, "## Departures from the paper")
    changes = [int(n) for n in re.search(r"changed terms n \| (.*) \|", text)[1].split(" | ")]  # type: ignore[index]
    (shown,) = [row[1:] for row in rows(text) if row[0] == "1/pⁿ"]
    assert shown == [f"{round(expected_lexicons(n)):,}" for n in changes]
    (printed,) = [row[1:] for row in rows(text) if row[0].startswith("Table 4")]
    found = [float(cell.replace(",", "")) for cell in printed]
    assert found == pytest.approx([(1 / 0.67) ** n for n in changes], rel=0.01)  # (1 − p)ⁿ with the paper's p = 0.33


def test_the_filters_shown_are_filters() -> None:
    shown = [row[0] for row in rows(section(IMATCH, "## Formula")) if row[0].startswith("`")]
    names = [name for cell in shown for name in re.findall(r"`([^`]+)`", cell)]
    assert len(names) == 8 and all(str(TermFilter.parse(name)) == name for name in names)


def test_the_picture_of_survival_is_up_to_date() -> None:
    make = module(DOCS / "make_survival.py")
    assert make.PICTURE.read_text(encoding="utf-8") == make.draw(), "run python docs/make_survival.py"
