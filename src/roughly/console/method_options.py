"""The options of methods on the command line, made from their table (`roughly.options`).

`console.commands` adds them to a command; `help_sections` shows those of one method.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from roughly.errors import SettingsError
from roughly.options import OPTIONS, Option, users_of


class Number(click.ParamType[Any]):
    """A number, or a whole one; a mistake is answered in plain words."""

    name = "number"

    def __init__(self, kind: type, said: str) -> None:
        self._kind, self._said = kind, said

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number in the text."""
        try:
            return self._kind(value)
        except (TypeError, ValueError):
            self.fail(f"must be {self._said}, not {value!r}", param, ctx)


NUMBER = Number(float, "a number, such as 0.8")
WHOLE = Number(int, "a whole number, such as 5")
_TYPES: dict[str, Any] = {"whole": WHOLE, "number": NUMBER, "file": click.Path(path_type=Path)}  # the others: text


def method_parameters() -> list[click.Parameter]:
    """A parameter for every option of a method."""
    return [_parameter(option) for option in OPTIONS.values()]


def _parameter(option: Option) -> click.Parameter:
    names = [f"--{option.name.replace('_', '-')}", option.name]
    help = f"{', '.join(users_of(option.name))}: {option.help}."
    if option.kind == "flag":
        return click.Option(names, is_flag=True, default=False, help=help)
    kind = click.Path() if option.kind == "lexicon" else _TYPES.get(option.kind, str)
    return click.Option(names, type=kind, default=None, help=help)


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
