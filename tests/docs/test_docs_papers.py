"""The page of the papers is what its maker makes, and what it names exists."""

from __future__ import annotations

import importlib.util
import shlex

import click
import pytest
from docs_blocks import DOCS

import roughly
from roughly.cli.app import app
from roughly.papers.reproduction_page import PAPERS

SPEC = importlib.util.spec_from_file_location("make_papers", DOCS / "make_papers.py")
assert SPEC is not None and SPEC.loader is not None
MADE = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(MADE)
PARTS = MADE.parts()


def test_the_page_is_current() -> None:
    assert MADE.PAGE.read_text(encoding="utf-8") == MADE.make(), "run python docs/make_papers.py"


def test_every_paper_has_its_parts() -> None:
    assert [part["paper"] for part in PARTS] == sorted((part["paper"] for part in PARTS), key=list(PAPERS).index)
    assert {part["paper"] for part in PARTS} == set(PAPERS)


@pytest.mark.parametrize("part", PARTS, ids=[part["part"][:40] for part in PARTS])
def test_what_a_part_names_exists(part: dict[str, object]) -> None:
    for name in part.get("python", ()):  # type: ignore[attr-defined]
        assert hasattr(roughly, name), name
    for name in part["docs"]:  # type: ignore[attr-defined]
        assert (DOCS / name).is_file(), name
    words = shlex.split(str(part["command"]))
    assert words.pop(0) == "roughly"
    command: click.Command = app
    while isinstance(command, click.Group):
        found = command.get_command(click.Context(command), words.pop(0))
        assert found is not None, part["command"]
        command = found
    known = {own for option in command.params for own in (*option.opts, *option.secondary_opts)}
    assert {word for word in words if word.startswith("--")} <= known, part["command"]


def test_what_a_page_says_of_a_table_is_in_it() -> None:
    page = (DOCS / "reproduction.md").read_text(encoding="utf-8")
    changed = []
    for terms in ("1", "30"):
        same, _ = MADE.figure(page, "conrad-figure1", terms, "Aug–Oct, same terms")
        changed.append(f"{100 - float(same.split('%')[0]):.0f} %")
    said = (DOCS / "methods" / "rare-terms.md").read_text(encoding="utf-8")
    assert f"{changed[0]} of the keys of one term and {changed[1]} of those of thirty changed" in said
