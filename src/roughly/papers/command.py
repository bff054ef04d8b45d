"""`roughly lab list|show|run`: the papers' tables and figures on any corpus."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import typer

from roughly.console.commands import register
from roughly.console.common_options import Printing
from roughly.declarations import REQUIRED, argument, group, option
from roughly.settings import ReadOptions

app = typer.Typer(
    help="The papers' experiments on any corpus.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@dataclass(frozen=True, kw_only=True)
class ListExperimentsOptions:
    """Options of the command `list-experiments`."""

    printing: Printing = group(Printing, "as_json")


@register(app, ListExperimentsOptions, name="list")
def list_experiments(options: ListExperimentsOptions) -> None:
    """List the experiments."""
    from roughly.papers.experiments import every

    if options.printing.as_json:
        listed = [{"name": e.name, "paper": e.paper, "about": e.about, "protocol": e.protocol.name} for e in every()]
        json.dump(listed, sys.stdout, indent=1, ensure_ascii=False)
        sys.stdout.write("\n")
        return
    for experiment in every():
        print(f"{experiment.name:<16} {experiment.paper}: {experiment.about}")


@dataclass(frozen=True, kw_only=True)
class ShowOptions:
    """Options of the command `show`."""

    name: str = argument(help="An experiment; `roughly lab list` names them.")


@register(app, ShowOptions)
def show(options: ShowOptions) -> None:
    """Show what an experiment does: its protocol, parameters, collections, methods and what is expected."""
    from roughly.papers.experiments import named
    from roughly.papers.showing import lines_of

    for line in lines_of(named(options.name)):
        print(line)


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Options of the command `run`."""

    name: str = argument(help="An experiment; `roughly lab list` names them. `all`: every one.")
    output: Path = option(REQUIRED, "Folder to write to; `all`: one folder in it for each.", "-o", "--output")
    corpus: list[str] | None = option(
        None, "File of documents; where an experiment has several collections, one for each."
    )
    corpora: Path | None = option(None, "Folder that holds the collections which the experiments name.")
    lexicon: Path | None = option(None, "Of another collection; if not given, see the experiment.")
    changes: list[str] | None = option(None, "NAME=VALUE: a parameter that `roughly lab show` lists.", "--set")
    sample: int = option(0, "At most so many documents of each collection; 0: all.")
    figures: bool = option(True, "Draw figures as PNG.", "--figures/--no-figures")
    reading: ReadOptions = group(ReadOptions, "text_column")
    label_column: str | None = option(None, "Column that says spam or ham.")
    printing: Printing = group(Printing, "overwrite", "as_json")


@register(app, RunOptions)
def run(options: RunOptions) -> None:
    """Run an experiment: its tables beside the paper's, and which of the expected shapes held."""
    from roughly.lexicon import Lexicon
    from roughly.papers.request import ExperimentFiles, ExperimentRequest, run_experiments

    wanted = ExperimentRequest(
        options.name, tuple(options.changes or ())
    )  # refused before anything is compiled or read
    use = ExperimentFiles(
        output=options.output,
        files=options.corpus or (),
        folder=options.corpora,
        lexicon=None if options.lexicon is None else Lexicon.open(options.lexicon),
        sample=options.sample,
        figures=options.figures,
        text_column=options.reading.text_column,
        label_column=options.label_column,
        overwrite=options.printing.overwrite,
    )
    done = run_experiments(wanted, use)
    for result, text in done:
        if options.printing.as_json:
            json.dump(result.document(), sys.stdout, indent=1, ensure_ascii=False)
            sys.stdout.write("\n")
        else:
            print(text)
