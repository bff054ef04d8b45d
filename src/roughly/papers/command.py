"""`roughly lab list|show|run|check`: the papers' tables and figures on any corpus."""

from __future__ import annotations

from pathlib import Path

from roughly.console.commands import command_group, register
from roughly.console.common_options import Printing
from roughly.console.terminal_output import print_json
from roughly.declarations import REQUIRED, argument, group, option
from roughly.fast_dataclass import dataclass
from roughly.settings import ReadOptions

SEEDS = 10
"""As `roughly.papers.draws.SEEDS`, which a test compares; that module is not imported for a help text."""

app = command_group("The papers' experiments on any corpus.")


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
        print_json(listed)
        return
    for experiment in every():
        print(f"{experiment.name:<16} {experiment.paper}: {experiment.about}")


@dataclass(frozen=True, kw_only=True)
class ShowOptions:
    """Options of the command `show`."""

    name: str = argument(help="An experiment; `roughly lab list` names them.")


@register(app, ShowOptions)
def show(options: ShowOptions) -> None:
    """Show an experiment: its protocol, parameters, collections, methods and expected shapes."""
    from roughly.papers.experiments import named
    from roughly.papers.showing import lines_of

    for line in lines_of(named(options.name)):
        print(line)


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Options of the command `run`."""

    name: str = argument(help="An experiment; `roughly lab list` names them. `all`: every one.")
    output: Path = option(REQUIRED, "Folder to write to; with `all`, one subfolder per experiment.", "-o", "--output")
    corpus: list[str] | None = option(
        None, "File of documents; if an experiment has several collections, one for each."
    )
    corpora: Path | None = option(None, "Folder of the collections that the experiments name.")
    lexicon: Path | None = option(None, "Lexicon of another collection; if not given, see the experiment.")
    changes: list[str] | None = option(None, "NAME=VALUE: a parameter that `roughly lab show` lists.", "--set")
    sample: int = option(0, "Most documents per collection (0 = all).")
    seeds: int = option(SEEDS, "Draws of an experiment that depends on a seed: means, with the least and the most.")
    figures: bool = option(True, "Draw figures as PNG.", "--figures/--no-figures")
    reading: ReadOptions = group(ReadOptions, "text_column")
    label_column: str | None = option(None, "Column that says spam or ham.")
    printing: Printing = group(Printing, "overwrite", "as_json")


@register(app, RunOptions)
def run(options: RunOptions) -> None:
    """Run an experiment: its tables beside the paper's, and which of the expected shapes hold."""
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
        seeds=options.seeds,
        figures=options.figures,
        text_column=options.reading.text_column,
        label_column=options.label_column,
        overwrite=options.printing.overwrite,
    )
    done = run_experiments(wanted, use)
    for result, text in done:
        if options.printing.as_json:
            print_json(result.document())
        else:
            print(text)


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """Options of the command `check`."""

    name: str = argument(help="An experiment; `roughly lab list` names them. `all`: every one.")
    corpora: Path = option(REQUIRED, "Folder of the collections that the experiments name.")
    page: Path = option(Path("docs/reproduction.md"), "The page to compare with.")
    printing: Printing = group(Printing, "as_json")


@register(app, CheckOptions)
def check(options: CheckOptions) -> None:
    """Run experiments again as the page of the docs says, and compare; exit code 1 if anything differs."""
    from roughly.papers.page_check import check_page

    found = {}
    for name, lines in check_page(options.name, options.corpora, options.page):
        found[name] = lines
        if not options.printing.as_json:
            print(f"{name:<16} {f'{len(lines)} lines differ' if lines else 'as on the page'}", flush=True)
            for line in lines[:6]:
                print(f"  {line}")
    if options.printing.as_json:
        print_json(found)
    if any(found.values()):
        raise SystemExit(1)
