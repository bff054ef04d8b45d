"""All commands, registered. Their modules import nothing heavy until they run, so `--help` is quick."""

from __future__ import annotations

from typing import Annotated

import typer

import roughly
from roughly.cli.compare_command import compare
from roughly.cli.dedupe_command import dedupe
from roughly.cli.group_command import group
from roughly.cli.index_command import app as index
from roughly.cli.lexicon_command import app as lexicon
from roughly.cli.match_command import match
from roughly.cli.search_command import register as register_searching
from roughly.cli.serve_command import serve
from roughly.cli.sweeps_command import register as register_sweeps
from roughly.console.method_options import Sectioned
from roughly.papers.command import app as lab
from roughly.tools.audit.command import app as audit
from roughly.tools.evaluate.command import evaluate
from roughly.tools.judge.command import judge
from roughly.tools.perturb.command import perturb
from roughly.tools.recluster.cluster_command import cluster
from roughly.tools.recluster.sign_command import sign
from roughly.tools.recluster.sketch_command import sketch
from roughly.tools.truth.command import truth
from roughly.tools.tune.command import tune

app = typer.Typer(
    name="roughly",
    help="Finds the documents that are roughly the same, or roughly contained in one another.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command(cls=Sectioned)(dedupe)
app.command()(compare)
app.command()(sketch)
app.command()(tune)
app.command()(judge)
app.command(cls=Sectioned)(sign)
app.command()(cluster)
app.command()(truth)
app.command()(evaluate)
app.command()(perturb)
app.add_typer(audit, name="audit")
app.command()(match)
app.command(cls=Sectioned)(group)
app.command()(serve)
app.add_typer(lexicon, name="lexicon")
app.add_typer(lab, name="lab")
register_sweeps(index)
register_searching(index)
app.add_typer(index, name="index")


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"roughly {roughly.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass
