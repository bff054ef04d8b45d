"""`roughly lab list|show|run`: the papers' tables and figures on any corpus."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="The papers' experiments on any corpus.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("list")
def list_experiments(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the experiments."""
    from roughly.papers.experiments import every

    if as_json:
        listed = [{"name": e.name, "paper": e.paper, "about": e.about, "protocol": e.protocol.name} for e in every()]
        json.dump(listed, sys.stdout, indent=1, ensure_ascii=False)
        sys.stdout.write("\n")
        return
    for experiment in every():
        print(f"{experiment.name:<16} {experiment.paper}: {experiment.about}")


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="An experiment; `roughly lab list` names them.")],
) -> None:
    """Show what an experiment does: its protocol, parameters, collections, methods and what is expected."""
    from roughly.papers.experiments import named
    from roughly.papers.showing import lines_of

    for line in lines_of(named(name)):
        print(line)


@app.command()
def run(
    name: Annotated[str, typer.Argument(help="An experiment; `roughly lab list` names them. `all`: every one.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder to write to; `all`: one folder in it for each.")
    ],
    corpus: Annotated[
        list[str] | None,
        typer.Option("--corpus", help="File of documents; where an experiment has several collections, one for each."),
    ] = None,
    corpora: Annotated[
        Path | None, typer.Option("--corpora", help="Folder that holds the collections which the experiments name.")
    ] = None,
    lexicon: Annotated[
        Path | None, typer.Option("--lexicon", help="Of another collection; if not given, see the experiment.")
    ] = None,
    changes: Annotated[
        list[str] | None, typer.Option("--set", help="NAME=VALUE: a parameter that `roughly lab show` lists.")
    ] = None,
    sample: Annotated[int, typer.Option("--sample", help="At most so many documents of each collection; 0: all.")] = 0,
    figures: Annotated[bool, typer.Option("--figures/--no-figures", help="Draw figures as PNG.")] = True,
    text_column: Annotated[str | None, typer.Option("--text-column", help="Column that holds the text.")] = None,
    label_column: Annotated[str | None, typer.Option("--label-column", help="Column that says spam or ham.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output where it exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Run an experiment: its tables beside the paper's, and which of the expected shapes held."""
    from roughly.lexicon import Lexicon
    from roughly.papers.request import ExperimentRequest, run_asked

    asked = ExperimentRequest(name, tuple(changes or ()))  # refused before anything is compiled or read
    done = run_asked(
        asked, output, files=corpus or (), folder=corpora, lexicon=None if lexicon is None else Lexicon.open(lexicon),
        sample=sample, figures=figures, text_column=text_column, label_column=label_column, overwrite=overwrite,
    )  # fmt: skip
    for result, text in done:
        if as_json:
            json.dump(result.document(), sys.stdout, indent=1, ensure_ascii=False)
            sys.stdout.write("\n")
        else:
            print(text)
