"""The templates of the page that come as Python are those that people edit."""

from __future__ import annotations

from pathlib import Path

import jinja2
import pytest
from filled_report import filled

from roughly.report import compiled, page_templates, render


def test_the_python_of_the_templates_is_up_to_date() -> None:
    if jinja2.__version__ != compiled.JINJA2:
        pytest.skip(f"made by jinja2 {compiled.JINJA2}; {jinja2.__version__} reads the templates themselves")
    folder = Path(compiled.__path__[0])
    made = dict(page_templates.compiled_modules())
    assert {path.stem for path in folder.glob("*.py")} == set(made)
    for name, code in made.items():
        assert (folder / f"{name}.py").read_text(encoding="utf-8") == code, "run python docs/make_report.py"


def test_another_version_of_jinja2_gives_the_same_page(monkeypatch: pytest.MonkeyPatch) -> None:
    page = render(filled())
    page_templates.environment.cache_clear()
    monkeypatch.setattr(compiled, "JINJA2", "0.0")
    try:
        assert isinstance(page_templates.environment().loader, jinja2.PackageLoader)
        assert render(filled()) == page
    finally:
        page_templates.environment.cache_clear()
