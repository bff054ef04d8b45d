"""The pages of the shingling family say what the code has: formulas, presets, columns, settings."""

from __future__ import annotations

import dataclasses
import re

import pytest
from docs_blocks import DOCS
from test_docs_reference import names_in, rows, section

from roughly.features.sketch_store import SCHEMA
from roughly.methods.mega_shingles import MegaShingles
from roughly.methods.presets import PRESETS
from roughly.model import ESTIMATED_DOCUMENTS
from roughly.options import METHODS, OPTIONS
from roughly.settings import Settings


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def test_the_chances_of_mega_shingles() -> None:
    shown = rows(section(page("methods/mega-shingles.md"), "## Formula"))
    assert len(shown) == 4
    for resemblance, chance in shown:
        assert f"{MegaShingles().candidate_probability(float(resemblance)):.2f}" == chance


def test_every_preset_is_listed_with_its_settings() -> None:
    papers, learnt = page("presets.md").split("## Learnt from labels")
    shown = {names_in(row[0])[0]: names_in(row[2]) for row in rows(papers)}
    listed = {name: preset for name, preset in PRESETS.items() if "verdict" not in preset.settings}
    assert shown == {
        name: [f"{key}={value}" for key, value in preset.settings.items()] for name, preset in listed.items()
    }
    sections = {names_in(row[0])[0]: re.findall(r"§[\d.]*\d", row[1]) for row in rows(papers)}
    assert sections == {name: re.findall(r"§[\d.]*\d", preset.citation) for name, preset in listed.items()}
    shown = {names_in(row[0])[0]: row[1:] for row in rows(learnt) if names_in(row[0])}
    assert shown == {
        name: [preset.about.removeprefix("learnt: "), preset.citation.removeprefix("labels of ")]
        for name, preset in PRESETS.items()
        if name not in listed
    }


def test_the_columns_of_sketches() -> None:
    shown = [(names_in(row[0])[0], row[1]) for row in rows(section(page("sketches.md"), "## The file"))]
    assert shown == [(field.name, str(field.type)) for field in SCHEMA]


def test_the_columns_of_a_clustering() -> None:
    text = section(page("python.md"), "### `roughly.Clustering`")
    assert names_in(rows(text)[0][1]) == ESTIMATED_DOCUMENTS.names


@pytest.mark.parametrize("method", [name for name, takes in METHODS.items() if takes.settings or takes.options])
def test_the_settings_of_a_method_are_those_on_its_page(method: str) -> None:
    shown = rows(section(page(f"methods/{method}.md"), "## Symbols → parameters"))
    known = {*OPTIONS, *(field.name for field in dataclasses.fields(Settings))}
    names = {name for row in shown for name in names_in(row[1]) if name in known}
    takes = METHODS[method]
    assert names == {*takes.settings, *takes.names}
    for row in shown:
        for name in names_in(row[1]):
            if name in takes.names and isinstance(takes.default(name), str | int | float) and name != "secondary":
                assert _said(takes.default(name)) in row[2], f"{method}.{name}: {row[2]}"


def _said(default: object) -> str:
    return {"": "none", 1 / 3: "1/3", 0.0: "0", "default": "English"}.get(
        default, f"{default:,}" if isinstance(default, int) else str(default)
    )  # type: ignore[call-overload]
