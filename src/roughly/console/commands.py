"""Commands made of declarations (`roughly.declarations`): a class of options in, a command for typer out.

    app.command()(command(TruthRequest, truth))

`truth` then gets a `TruthRequest`. With `methods`, the options of methods (`roughly.options`) are added and come as
`Given.method_options`; `Given.typed` holds what the user typed, as opposed to defaults: presets and settings files
overrule defaults, and what was typed overrules both.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar

import typer

from roughly.console.method_options import method_parameters, read_method_options
from roughly.declarations import REQUIRED, Declaration, declarations, gather
from roughly.options import OPTIONS
from roughly.settings import Settings

Run = TypeVar("Run", bound=Callable[..., None])


@dataclass(frozen=True)
class Given:
    """What a command was given beside its request."""

    typed: dict[str, Any] = field(default_factory=dict)  # options that were typed, by name
    method_options: dict[str, Any] = field(default_factory=dict)

    def settings(self) -> dict[str, Any]:
        """Those of what was typed that are settings, the method's own among them."""
        known = {one.name for one in declarations(Settings)}
        return {name: value for name, value in self.typed.items() if name in known} | self.method_options


def command(kind: type, run: Callable[..., None], *, methods: bool = False) -> Callable[..., None]:
    """A function with a parameter for every declaration, for typer; it calls `run(request)`.

    With `methods`, `run(request, given)` is called.
    """
    declared = {one.name: one for one in declarations(kind)}

    def call(typer_context: typer.Context, **values: Any) -> None:
        own = read_method_options({name: values.pop(name) for name in OPTIONS}) if methods else {}
        read = {name: _value(declared[name], value) for name, value in values.items()}
        request: Any = gather(kind, read)
        if not methods:
            run(request)
            return
        typed = {name: value for name, value in read.items() if _was_typed(typer_context, name)}
        run(request, Given(typed, own))

    parameters = [inspect.Parameter("typer_context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)]
    parameters += [_parameter(one) for one in declared.values()]
    if methods:
        parameters += method_parameters()
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    call.__name__, call.__doc__, call.__module__ = run.__name__, run.__doc__, run.__module__
    return call


def register(app: typer.Typer, kind: type, *, methods: bool = False, **how: Any) -> Callable[[Run], Run]:
    """A decorator: the function is a command of `app` with these options."""

    def enter(run: Run) -> Run:
        app.command(**how)(command(kind, run, methods=methods))
        return run

    return enter


def _parameter(one: Declaration) -> inspect.Parameter:
    help = one.help if isinstance(one.help, str) else one.help()
    if one.is_argument:
        said: Any = typer.Argument(help=help, metavar=one.metavar or one.name.upper())
    else:
        flags = one.flags or (f"--{one.name.replace('_', '-')}",)
        said = typer.Option(*flags, help=help)
    kind = one.type if one.read is None else (str | None if one.default is None else str)
    default = one.shown if one.shown is not REQUIRED else one.default
    return inspect.Parameter(
        one.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if default is REQUIRED else default,
        annotation=Annotated[kind, said],
    )


def _value(one: Declaration, value: Any) -> Any:
    if value is None and one.shown is None:  # not typed, and shown as nothing
        return one.default
    return one.read(value) if one.read is not None and isinstance(value, str) else value


def _was_typed(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"
