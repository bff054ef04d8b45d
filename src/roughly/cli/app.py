"""All commands, by name. Only the module of the command that was typed is imported; `--help` imports all of them.

Modules of commands import nothing heavy until they run.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from roughly.console.commands import command
from roughly.console.method_options import Sectioned
from roughly.version import __version__


@dataclass(frozen=True)
class Entry:
    """Where a command stands: the function of its name, with a class of options; or a group of commands, `app`."""

    module: str
    options: str = ""
    methods: bool = False  # whether it takes the options of methods


COMMANDS = {
    "dedupe": Entry("roughly.cli.dedupe_command", "DedupeOptions", methods=True),
    "compare": Entry("roughly.cli.compare_command", "CompareOptions"),
    "sketch": Entry("roughly.tools.recluster.sketch_command", "SketchOptions"),
    "tune": Entry("roughly.tools.tune.command", "TuneOptions"),
    "judge": Entry("roughly.tools.judge.command", "JudgeOptions"),
    "sign": Entry("roughly.tools.recluster.sign_command", "SignOptions", methods=True),
    "cluster": Entry("roughly.tools.recluster.cluster_command", "ClusterOptions"),
    "truth": Entry("roughly.tools.truth.command", "TruthOptions"),
    "evaluate": Entry("roughly.tools.evaluate.command", "EvaluateOptions"),
    "perturb": Entry("roughly.tools.perturb.command", "PerturbOptions"),
    "audit": Entry("roughly.tools.audit.command"),
    "match": Entry("roughly.cli.match_command", "MatchOptions"),
    "group": Entry("roughly.cli.group_command", "GroupOptions", methods=True),
    "serve": Entry("roughly.cli.serve_command", "ServeOptions"),
    "lexicon": Entry("roughly.cli.lexicon_command"),
    "lab": Entry("roughly.papers.command"),
    "index": Entry("roughly.cli.index_commands"),
}


def build(only: str | None = None) -> typer.Typer:
    """The program with all its commands, or with this one where it has it."""
    made = typer.Typer(
        name="roughly",
        help="Finds the documents that are roughly the same, or roughly contained in one another.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    for name in [only] if only in COMMANDS else COMMANDS:
        entry = COMMANDS[name]
        module = importlib.import_module(entry.module)
        if not entry.options:
            made.add_typer(module.app, name=name)
            continue
        run = command(getattr(module, entry.options), getattr(module, name), methods=entry.methods)
        made.command(name, cls=Sectioned if entry.methods else None)(run)
    made.callback()(_options)
    return made


def __getattr__(name: str) -> Any:
    """`app`: the program with all its commands, made when it is asked for."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()["app"] = build()
    return globals()["app"]


def _version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"roughly {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass
