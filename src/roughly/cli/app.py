"""All commands, registered. Their modules import nothing heavy until they run, so `--help` is quick."""

from __future__ import annotations

from typing import Annotated

import typer

from roughly.cli.compare_command import CompareOptions, compare
from roughly.cli.dedupe_command import DedupeOptions, dedupe
from roughly.cli.group_command import GroupOptions, group
from roughly.cli.index_command import app as index
from roughly.cli.lexicon_command import app as lexicon
from roughly.cli.match_command import MatchOptions, match
from roughly.cli.search_command import register as register_searching
from roughly.cli.serve_command import ServeOptions, serve
from roughly.cli.sweeps_command import register as register_sweeps
from roughly.console.commands import command
from roughly.console.method_options import Sectioned
from roughly.papers.command import app as lab
from roughly.tools.audit.command import app as audit
from roughly.tools.evaluate.command import EvaluateOptions, evaluate
from roughly.tools.judge.command import JudgeOptions, judge
from roughly.tools.perturb.command import PerturbOptions, perturb
from roughly.tools.recluster.cluster_command import ClusterOptions, cluster
from roughly.tools.recluster.sign_command import SignOptions, sign
from roughly.tools.recluster.sketch_command import SketchOptions, sketch
from roughly.tools.truth.command import TruthOptions, truth
from roughly.tools.tune.command import TuneOptions, tune
from roughly.version import __version__

app = typer.Typer(
    name="roughly",
    help="Finds the documents that are roughly the same, or roughly contained in one another.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command(cls=Sectioned)(command(DedupeOptions, dedupe, methods=True))
app.command()(command(CompareOptions, compare))
app.command()(command(SketchOptions, sketch))
app.command()(command(TuneOptions, tune))
app.command()(command(JudgeOptions, judge))
app.command(cls=Sectioned)(command(SignOptions, sign, methods=True))
app.command()(command(ClusterOptions, cluster))
app.command()(command(TruthOptions, truth))
app.command()(command(EvaluateOptions, evaluate))
app.command()(command(PerturbOptions, perturb))
app.add_typer(audit, name="audit")
app.command()(command(MatchOptions, match))
app.command(cls=Sectioned)(command(GroupOptions, group, methods=True))
app.command()(command(ServeOptions, serve))
app.add_typer(lexicon, name="lexicon")
app.add_typer(lab, name="lab")
register_sweeps(index)
register_searching(index)
app.add_typer(index, name="index")


def _version(request: bool) -> None:
    if request:
        typer.echo(f"roughly {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass
