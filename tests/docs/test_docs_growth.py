"""The page on growth shows what was measured."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def made() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_growth", DOCS / "make_growth.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_table_and_picture_are_those_of_the_measurement(made: ModuleType) -> None:
    assert made.PICTURE.read_text(encoding="utf-8") == made.draw(made.runs()), "python docs/make_growth.py"
    text = made.PAGE.read_text(encoding="utf-8")
    assert made.page(text) == text, "python docs/make_growth.py"


def test_time_grows_as_asked(made: ModuleType) -> None:
    rows = made.growth(made.runs())
    assert [row["documents"] for row in rows] == [100_000, 300_000, 1_000_000, 3_000_000, 10_000_000]
    assert made.exponent(rows, "cpu") <= 1.1 and all(row["peak"] < 4 << 30 for row in rows)
