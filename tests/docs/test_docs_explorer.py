"""The page about the explorer: its pictures, its pages and its keys are those that there are."""

from __future__ import annotations

import importlib.util
import re

from docs_blocks import DOCS

PAGE = (DOCS / "explorer.md").read_text(encoding="utf-8")


def test_every_picture_is_there_small_and_shown() -> None:
    path = DOCS / "make_explorer.py"
    spec = importlib.util.spec_from_file_location("make_explorer", path)
    assert spec is not None and spec.loader is not None
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    taken = {f"explorer-{name}.png" for name in make.PAGES}
    assert taken == {found.name for found in make.IMAGES.glob("explorer-*")}, "run python docs/make_explorer.py"
    assert taken == set(re.findall(r"\(images/(explorer-[\w-]+\.png)\)", PAGE))
    for name in taken:
        assert 5_000 < (make.IMAGES / name).stat().st_size < make.LARGEST, name


def test_every_page_there_is_stands_in_the_table() -> None:
    from roughly.service.explorer import navigation

    entries = (*navigation._RUN, *navigation._EITHER, *navigation._INDEX, *navigation._SWEPT)
    told = set(
        re.findall(r"`(/[a-z]*)[^`]*`", "\n".join(line for line in PAGE.splitlines() if line.startswith("| `/")))
    )
    assert {path for path, _ in entries} <= told


def test_every_key_is_told() -> None:
    keys = set()
    for template in (DOCS.parent / "src" / "roughly" / "service" / "explorer" / "templates").glob("*.html"):
        keys |= set(re.findall(r'data-key="(.)"', template.read_text(encoding="utf-8")))
    table = PAGE[PAGE.index("## Keys") : PAGE.index("## For programs")]
    told = set(re.findall(r"`([^`]+)`", table))
    assert keys and keys <= told, keys - told
