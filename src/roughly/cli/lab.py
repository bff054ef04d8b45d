"""`roughly lab list|run`: the papers' tables on any corpus."""

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
    from roughly.lab.experiments import EXPERIMENTS

    if as_json:
        listed = [{"name": e.name, "source": e.source, "what": e.what} for e in EXPERIMENTS.values()]
        json.dump(listed, sys.stdout, indent=1, ensure_ascii=False)
        sys.stdout.write("\n")
        return
    for experiment in EXPERIMENTS.values():
        print(f"{experiment.name:<15} {experiment.source}: {experiment.what}")


@app.command()
def run(
    name: Annotated[str, typer.Argument(help="An experiment; `roughly lab list` names them.")],
    corpus: Annotated[list[str], typer.Option("--corpus", help="File of documents; several are read as one.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder to write table.md and table.json to.")],
    lexicon: Annotated[
        Path | None, typer.Option("--lexicon", help="Of another collection; if not given, see the experiment.")
    ] = None,
    filter: Annotated[str | None, typer.Option("--filter", help="kolcz-…: of I-Match, if not the paper's.")] = None,
    queries: Annotated[float, typer.Option("--queries", help="kolcz-…: share of the documents asked for.")] = 0.1,
    every: Annotated[int, typer.Option("--every", help="imatch-table3: words between two that may change.")] = 10,
    alpha: Annotated[int, typer.Option("--alpha", help="imatch-table3: of ten, how many such words stay.")] = 9,
    added: Annotated[
        str, typer.Option("--added", help="imatch-table3: words put in are from terms, text or document.")
    ] = "terms",
    seed: Annotated[int, typer.Option("--seed", help="Of all that is drawn.")] = 0,
    text_column: Annotated[str | None, typer.Option("--text-column", help="Column that holds the text.")] = None,
    label_column: Annotated[str, typer.Option("--label-column", help="Column that says spam or ham.")] = "label",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output where it exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Run an experiment and print its table in the form of the paper."""
    from roughly.lab.experiments import document, named, write
    from roughly.lab.experiments import run as run_experiment
    from roughly.lab.setup import Options, Setup

    experiment = named(name)
    options = Options(seed=seed, every=every, alpha=alpha, added=added, queries=queries, filter=filter)
    from roughly.cli.progress import compiled
    from roughly.lab.corpus import read_corpus
    from roughly.lexicon import Lexicon

    compiled()
    documents = read_corpus(corpus, label_column=label_column if experiment.labelled else None, text_column=text_column)
    setup = Setup(documents, options, None if lexicon is None else Lexicon.open(lexicon))
    tables = run_experiment(experiment, setup)
    write(tables, experiment, setup, output, overwrite)
    if as_json:
        json.dump(document(tables, experiment, setup), sys.stdout, indent=1, ensure_ascii=False)
        sys.stdout.write("\n")
    else:
        print("\n".join(table.markdown(with_seconds=True) for table in tables))
