"""The help of a command with many options: in sections, the most used ones first, those of methods on a page each.

The pages of the commands in the docs have the same sections.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from roughly.errors import SettingsError, did_you_mean
from roughly.options import METHODS, OPTIONS

DOCS = "docs"
"""Where the documentation is: the folder of the repository."""
SECTION = "Options of methods"
_MANY = 25
"""Options from which on a help has sections."""
_SECTIONS = {
    "Often used": (
        "output", "threshold", "measure", "method", "keep", "preset", "text_column", "id_column", "memory", "overwrite",
    ),
    "What counts as a duplicate": (
        "recall", "shingle_size", "shingle_unit", "bands", "rows", "seed", "verify", "verdict", "cluster",
        "settings_file", "against", "only_against",
    ),
    "Output": (
        "output_format", "report", "drop", "pairs", "pairs_limit", "index", "as_json", "quiet", "verbose",
    ),
    "Reading": (
        "features", "title_column", "url_column", "date_column", "source_column", "date_format", "on_duplicate_id",
        "format", "markup", "main_text", "tokens", "batch_size", "largest_record", "largest_ratio",
    ),
    "Running": ("threads", "temp", "temp_limit", "resume", "plan", "engine", "master"),
}  # fmt: skip


def sections(parameters: Sequence[click.Parameter]) -> list[tuple[str, list[click.Option]]]:
    """The options by heading, without those of methods; a command with few options has one section."""
    own = method_options(parameters)
    options = [one for one in parameters if isinstance(one, click.Option) and one not in own]
    if len(options) < _MANY:
        return [("Options", options)]
    by_name = {one.name: one for one in options}
    found = [(heading, [by_name.pop(n) for n in names if n in by_name]) for heading, names in _SECTIONS.items()]
    return [(heading, some) for heading, some in [*found, ("Other options", list(by_name.values()))] if some]


def method_options(parameters: Sequence[click.Parameter]) -> list[click.Option]:
    """The options of methods, if the command has all of them."""
    own = [one for one in parameters if isinstance(one, click.Option) and one.name in OPTIONS]
    return own if len(own) == len(OPTIONS) else []


class Sectioned(click.Command):
    """A command whose help has sections, examples, and the options of methods apart."""

    def __init__(self, *given: Any, examples: Sequence[str] = (), page: str | None = None, **more: Any) -> None:
        super().__init__(*given, **more)
        self.examples, self.page = examples, page

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options by section, and where those of methods are."""
        parameters = self.get_params(ctx)
        for heading, options in sections(parameters):
            _write(formatter, heading, [one.get_help_record(ctx) for one in options])
        if method_options(parameters):
            with formatter.section(SECTION):
                own = ", ".join(name for name, spec in METHODS.items() if spec.options)
                formatter.write_text(f"roughly {self.name} --help-method NAME shows those of one method: {own}.")

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, and the address of the docs."""
        if self.examples:
            with formatter.section("Examples"):
                for example in self.examples:
                    formatter.write(f"  {example}\n")
        if self.page is not None:
            formatter.write(f"\nDocumentation: {DOCS}/cli/{self.page}.md\n")


def method_help_option() -> click.Option:
    """`--help-method NAME`: the options of one method."""

    def show(ctx: click.Context, parameter: click.Parameter, name: str | None) -> None:
        if name is not None and not ctx.resilient_parsing:
            click.echo(method_help(ctx, name))
            ctx.exit()

    return click.Option(
        ["--help-method"], is_eager=True, expose_value=False, callback=show, metavar="NAME",
        help="Show the options of a method and exit.",
        shell_complete=lambda ctx, parameter, typed: [name for name in METHODS if name.startswith(typed)],
    )  # fmt: skip


def method_help(ctx: click.Context, name: str) -> str:
    """The options of a method, with their defaults, and the settings that it uses."""
    if name not in METHODS:
        raise SettingsError(f"unknown method {name!r}; methods are {', '.join(METHODS)}{did_you_mean(name, METHODS)}")
    spec = METHODS[name]
    formatter = ctx.make_formatter()
    formatter.write_usage(ctx.command_path, f"--method {name} [OPTIONS]")
    rows = [
        (f"--{o.name.replace('_', '-')}", f"{o.help[:1].upper()}{o.help[1:]}.{_default(spec.default(o.name))}")
        for o in spec.options
    ]
    _write(formatter, f"Options of {name}", rows or [("none", "It has no options of its own.")])
    if spec.settings:
        flags = ", ".join(f"--{setting.replace('_', '-')}" for setting in spec.settings)
        _write(formatter, "Other options that it uses", [(flags, "")])
    formatter.write(f"\nDocumentation: {DOCS}/methods/{name}.md\n")
    return formatter.getvalue().rstrip()


def _default(value: Any) -> str:
    shown = round(value, 4) if isinstance(value, float) else value
    return "" if shown in (None, "", (), False) else f"  [default: {shown}]"


def _write(formatter: click.HelpFormatter, heading: str, rows: Sequence[tuple[str, str] | None]) -> None:
    shown = [row for row in rows if row is not None]
    if shown:
        with formatter.section(heading):
            formatter.write_dl(shown)
