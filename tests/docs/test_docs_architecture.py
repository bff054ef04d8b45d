"""The picture in ARCHITECTURE.md is the code's own."""

from __future__ import annotations

import importlib.util
from types import ModuleType

from source_tree import MODULES, ROOT


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_architecture", ROOT / "docs" / "make_architecture.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_picture_is_made_of_the_imports() -> None:
    make = load()
    page = make.PAGE.read_text(encoding="utf-8")
    assert make.updated(page) == page, "run python docs/make_architecture.py"


def test_every_module_says_what_it_is_for() -> None:
    make = load()
    assert [name for name, path in MODULES.items() if not make._purpose(path)] == []


def test_a_floor_stands_on_those_below_it() -> None:
    make = load()
    graph: dict[str, set[str]] = {"a": set(), "b": {"a"}, "c": {"a", "b"}}
    assert make.floors(graph) == [["a"], ["b"], ["c"]]
    assert make.reduced(graph) == {"a": set(), "b": {"a"}, "c": {"b"}}
