"""The options of methods on the command line, made of the one table of them (`roughly.options`).

`with_method_options` adds them to a command in place of its parameter `method_options`, which then holds those that
were given, by name. `Sectioned` shows them in a section of their own.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand

from roughly.errors import SettingsError
from roughly.options import METHODS, OPTIONS, Option, users_of

SECTION = "Options of methods"
_TYPES: dict[str, Any] = {
    "whole": int | None, "number": float | None, "text": str | None, "groups": str | None, "lexicon": str | None,
    "file": Path | None, "whole?": str | None, "number?": str | None,
}  # fmt: skip


def with_method_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command with an option for every option of a method."""
    signature, hints = inspect.signature(command), get_type_hints(command, include_extras=True)

    def run(**given: Any) -> None:
        own = {name: given.pop(name) for name in OPTIONS}
        command(**given, method_options=_read(own))

    parameters = []
    for parameter in signature.parameters.values():
        if parameter.name == "method_options":
            parameters += [_parameter(option) for option in OPTIONS.values()]
        else:
            parameters.append(parameter.replace(annotation=hints[parameter.name]))
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__name__, run.__doc__, run.__module__ = command.__name__, command.__doc__, command.__module__
    return run


def _parameter(option: Option) -> inspect.Parameter:
    flag = option.kind == "flag"
    name = f"--{option.name.replace('_', '-')}"
    told = f"{', '.join(users_of(option.name))}: {option.help}."
    plain: Any = bool if flag else _TYPES[option.kind]
    kind: Any = Annotated[plain, typer.Option(name, help=told)]
    return inspect.Parameter(
        option.name, inspect.Parameter.KEYWORD_ONLY, default=False if flag else None, annotation=kind
    )  # fmt: skip


def _read(own: dict[str, Any]) -> dict[str, Any]:
    """Those that were given, with numbers that may also be `none` read."""
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


NAMES = ", ".join(METHODS)
"""The methods, for the help."""
