"""Commands made from declarations (`roughly.declarations`): from a class of options to a click command.

    app.add_command(command(TruthRequest, truth))

`truth` then gets a `TruthRequest`. With `methods`, the options of methods (`roughly.options`) are added and come as
`Given.method_options`; `Given.typed` holds what the user typed, as opposed to defaults: presets and settings files
override defaults, and typed options override both.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field
from functools import partial
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin

import click
from click.core import ParameterSource

from roughly.console.help_sections import Sectioned, method_help_option
from roughly.console.method_options import NUMBER, WHOLE, method_parameters, read_method_options
from roughly.declarations import REQUIRED, Declaration, declarations, gather
from roughly.errors import SettingsError
from roughly.fast_dataclass import dataclass
from roughly.options import OPTIONS
from roughly.settings import Settings

Run = TypeVar("Run", bound=Callable[..., None])


@dataclass(frozen=True)
class Given:
    """What was typed, in addition to the request."""

    typed: dict[str, Any] = field(default_factory=dict)  # options that were typed, by name
    method_options: dict[str, Any] = field(default_factory=dict)

    def settings(self) -> dict[str, Any]:
        """The typed options that are settings, including those of the method."""
        known = {one.name for one in declarations(Settings)}
        return {name: value for name, value in self.typed.items() if name in known} | self.method_options


def command(
    kind: type,
    run: Callable[..., None],
    *,
    name: str | None = None,
    methods: bool = False,
    page: str | None = None,
    examples: Sequence[str] = (),
) -> click.Command:
    """A command with a parameter for every declaration; it calls `run(request)`.

    With `methods`, `run(request, given)` is called. Ctrl-C ends every command with exit code 130. The help names the
    page of the docs and shows the examples.
    """
    declared = {one.name: one for one in declarations(kind)}

    def call(**values: Any) -> None:
        context = click.get_current_context()
        with _stoppable(), _in_shell_words(context):
            own = read_method_options({name: values.pop(name) for name in OPTIONS}) if methods else {}
            read = {name: _value(declared[name], value) for name, value in values.items()}
            request: Any = gather(kind, read)
            typed = {n: v for n, v in read.items() if context.get_parameter_source(n) != ParameterSource.DEFAULT}
            run(request, *([Given(typed, own)] if methods else []))

    parameters = [_parameter(one) for one in declared.values()]
    parameters += [method_help_option(), *method_parameters()] if methods else []
    name = name or run.__name__.replace("_", "-")
    return Sectioned(name, callback=call, params=parameters, help=run.__doc__, page=page, examples=examples)


def command_group(help: str) -> click.Group:
    """A command that only has commands of its own; they are listed in the order in which they are added."""
    return Ordered(help=help, no_args_is_help=True)


class Ordered(click.Group):
    """A group whose help keeps the order of its commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands."""
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the names and what each is for, not cut to one line."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, (one.help or "").split("\n\n")[0]) for name, one in self.commands.items()])


def register(app: click.Group, kind: type, *, name: str | None = None, methods: bool = False) -> Callable[[Run], Run]:
    """A decorator: the function is a command of `app` with these options."""

    def enter(run: Run) -> Run:
        app.add_command(command(kind, run, name=name, methods=methods))
        return run

    return enter


@contextmanager
def _stoppable() -> Iterator[None]:
    """Ctrl-C ends the command with a message that says how to continue (`errors.Interrupted`), and exit code 130."""
    try:
        yield
    except KeyboardInterrupt as stop:  # click would print a bare "Aborted"
        print(f"\n{str(stop) or 'stopped'}", file=sys.stderr)
        raise SystemExit(130) from None


@contextmanager
def _in_shell_words(context: click.Context) -> Iterator[None]:
    """Errors name settings as the options that were typed."""
    try:
        yield
    except SettingsError as problem:
        from roughly.console.shell_words import with_options

        problem.problems = tuple(with_options(line, context.command.params) for line in problem.problems)
        problem.args = ("; ".join(problem.problems),)
        raise


def _parameter(one: Declaration) -> click.Parameter:
    default = one.shown if one.shown is not REQUIRED else one.default
    how: dict[str, Any] = {"help": one.help if isinstance(one.help, str) else one.help()}
    how |= {"required": True} if default is REQUIRED else {"default": default}
    kind, several = _kind(one)
    if one.choices is not None or one.name.endswith("_column"):
        how["shell_complete"] = partial(_complete, one)
    elif kind is str:
        how["shell_complete"] = _complete_files
    if one.is_argument:
        metavar = (one.metavar or one.name.upper()) + "…" * several
        return click.Argument([one.name], type=_type(kind), nargs=-1 if several else 1, metavar=metavar, **how)
    how |= {"is_flag": True} if kind is bool else {"type": _type(kind), "multiple": several}
    flags = one.flags or (f"--{one.name.replace('_', '-')}",)
    return click.Option([*flags, one.name], show_default=default != "", **how)


def _complete_files(ctx: click.Context, parameter: click.Parameter, typed: str) -> list[Any]:
    """Most texts that are typed are names of files; without this the shell would complete none."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(typed, type="file")]


def _complete(one: Declaration, ctx: click.Context, parameter: click.Parameter, typed: str) -> list[str]:
    """What the shell may complete: values, or columns of the input."""
    from roughly.console.completion import complete_columns, complete_values

    if one.choices is not None:
        return complete_values(one.choices, typed)
    return complete_columns(ctx, typed)


def _kind(one: Declaration) -> tuple[Any, bool]:
    """The type of a value as it is typed, and whether there may be several."""
    if one.read is not None:
        return str, False
    kind = one.type
    if isinstance(kind, UnionType):
        kind = next(other for other in get_args(kind) if other is not NoneType)
    return (get_args(kind)[0], True) if get_origin(kind) is list else (kind, False)


def _type(kind: Any) -> Any:
    return {Path: click.Path(path_type=Path), float: NUMBER, int: WHOLE}.get(kind, kind)


def _value(one: Declaration, value: Any) -> Any:
    if isinstance(value, tuple):  # of those that may be typed several times
        return list(value) if value or one.default is REQUIRED else one.default
    if value is None and one.shown is None:  # not typed, and shown as empty
        return one.default
    return one.read(value) if one.read is not None and isinstance(value, str) else value
