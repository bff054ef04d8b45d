"""The page on scale shows how the job scales with cores as it was measured."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def made() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_cores", DOCS / "make_cores.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_tables_and_picture_are_those_of_the_measurement(made: ModuleType) -> None:
    assert made.PICTURE.read_text(encoding="utf-8") == made.draw(made.measured()), "python docs/make_cores.py"
    text = made.PAGE.read_text(encoding="utf-8")
    assert made.page(text) == text, "python docs/make_cores.py"


def test_the_answers_are_the_same_for_any_number_of_threads(made: ModuleType) -> None:
    for one in made.measured()["collections"]:
        assert len({row["digest"] for row in one["rows"]}) == 1 and len(one["rows"]) >= 4
    text = made.COSTS.read_text(encoding="utf-8")
    assert made.page(text, made.costs) == text, "python docs/make_cores.py"
