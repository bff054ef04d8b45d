"""The options of methods on the command line, made of the one table of them (`roughly.options`).

`console.commands` adds them to a command; `Sectioned` shows them in a section of their own.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from roughly.errors import SettingsError
from roughly.options import OPTIONS, Option, users_of

SECTION = "Options of methods"
_TYPES: dict[str, Any] = {
    "whole": int | None, "number": float | None, "text": str | None, "groups": str | None, "lexicon": str | None,
    "file": Path | None, "whole?": str | None, "number?": str | None,
}  # fmt: skip


def method_parameters() -> list[inspect.Parameter]:
    """A parameter for every option of a method."""
    return [_parameter(option) for option in OPTIONS.values()]


def _parameter(option: Option) -> inspect.Parameter:
    flag = option.kind == "flag"
    name = f"--{option.name.replace('_', '-')}"
    help = f"{', '.join(users_of(option.name))}: {option.help}."
    plain: Any = bool if flag else _TYPES[option.kind]
    kind: Any = Annotated[plain, typer.Option(name, help=help)]
    return inspect.Parameter(
        option.name, inspect.Parameter.KEYWORD_ONLY, default=False if flag else None, annotation=kind
    )  # fmt: skip


def read_method_options(own: dict[str, Any]) -> dict[str, Any]:
    """The options that were typed, by name; numbers that may also be `none` are read."""
    given, problems = {}, []
    for name, value in own.items():
        if value is None or value is False:
            continue
        try:
            given[name] = OPTIONS[name].parse(value) if OPTIONS[name].kind.endswith("?") else value
        except ValueError as problem:
            problems.append(str(problem))
    if problems:
        raise SettingsError(*problems)
    return given


class Sectioned(TyperCommand):
    """A command whose help shows the options of methods apart from the rest."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options, those of methods last."""
        plain: list[tuple[str, str]] = []
        own: list[tuple[str, str]] = []
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and parameter.param_type_name == "option":
                (own if parameter.name in OPTIONS else plain).append(record)
        for heading, rows in (("Options", plain), (SECTION, own)):
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)
