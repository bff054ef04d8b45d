"""The templates of the page, ready to be filled.

jinja2 turns a template into Python. It takes as long for the few templates of the page as a small run takes to find
its duplicates, so the Python is kept in `compiled/`, a module per template, written by `python docs/make_report.py`; a
test fails while it is not what the templates give. It belongs to one version of jinja2: with another the templates
themselves are read, which gives the same page.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, MutableMapping
from functools import cache
from typing import Any

import jinja2
from jinja2 import BaseLoader, Environment, PackageLoader, StrictUndefined, Template

from roughly.report import compiled


class CompiledTemplates(BaseLoader):
    """Loads templates from the modules of `compiled/`."""

    has_source_access = False

    def load(self, environment: Environment, name: str, globals: MutableMapping[str, Any] | None = None) -> Template:
        """The template of that name."""
        module = importlib.import_module(f"{compiled.__name__}.{module_name(name)}")
        return environment.template_class.from_module_dict(environment, vars(module), globals or {})


@cache
def environment() -> Environment:
    """The templates: autoescape is on, and undefined names are refused."""
    return _with(CompiledTemplates() if jinja2.__version__ == compiled.JINJA2 else _sources())


def compiled_modules() -> Iterator[tuple[str, str]]:
    """The name of each module of `compiled/` and what it holds, made again from the templates."""
    made = _with(_sources())
    yield "__init__", f'"""The templates of the page as Python, made by jinja2."""\n\nJINJA2 = "{jinja2.__version__}"\n'
    for name in made.list_templates():
        source, _, _ = _sources().get_source(made, name)
        code = made.compile(source, name, name, raw=True, defer_init=True)
        yield module_name(name), f'"""`{name}` as Python, made by jinja2; see `page_templates`."""\n\n{code}\n'


def module_name(template: str) -> str:
    """The module of a template."""
    return template.replace(".", "_")


def _sources() -> PackageLoader:
    return PackageLoader("roughly.report")


def _with(loader: BaseLoader) -> Environment:
    return Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )  # fmt: skip
