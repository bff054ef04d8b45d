"""All commands, by name, each with the sentence that `roughly --help` shows of it.

Only the module of the command that was typed is imported, and `--help` imports none of them. Modules of commands import
nothing heavy until they run.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, MutableMapping
from typing import NamedTuple, NoReturn

import click

from roughly.version import __version__


class Entry(NamedTuple):
    """The module of a command: the function of its name, with a class of options; or a group of commands, `app`."""

    help: str  # the same as that of the function or the group
    module: str
    options: str = ""
    methods: bool = False  # whether it takes the options of methods


COMMANDS = {
    "dedupe": Entry(
        "Find duplicates; write what is kept, what is removed, and the evidence.",
        "roughly.cli.dedupe_command", "DedupeOptions", methods=True,
    ),
    "show": Entry(
        "Print a table of a run: what is removed, what is kept, pairs, clusters.",
        "roughly.cli.show_command", "ShowOptions",
    ),
    "compare": Entry(
        "Compare two documents: how much they share, in what way they differ, and where.",
        "roughly.cli.compare_command", "CompareOptions",
    ),
    "passages": Entry(
        "Find passages that occur more than once; report, mark or remove the copies.",
        "roughly.tools.passages.command", "PassagesOptions",
    ),
    "sketch": Entry(
        "Sample the shingles of documents and store them.",
        "roughly.tools.recluster.sketch_command", "SketchOptions",
    ),
    "suggest": Entry(
        "Look at a sample of documents without labels, and suggest settings.",
        "roughly.tools.suggest.command", "SuggestOptions",
    ),
    "tune": Entry(
        "Find the best method and settings for your documents, and write them to a file.",
        "roughly.tools.tune.command", "TuneOptions",
    ),
    "judge": Entry(
        "Judge pairs around the threshold of a run; estimate its precision and a better threshold.",
        "roughly.tools.judge.command", "JudgeOptions",
    ),
    "apply": Entry(
        "Apply the decisions about a run: write a new run, with what is kept and what was overridden by whom.",
        "roughly.tools.decide.command", "ApplyOptions",
    ),
    "sign": Entry(
        "Write the signatures of documents to a Parquet file.",
        "roughly.tools.recluster.sign_command", "SignOptions", methods=True,
    ),
    "cluster": Entry(
        "Cluster documents by their sketches or signatures, without the texts or with them.",
        "roughly.tools.recluster.cluster_command", "ClusterOptions",
    ),
    "truth": Entry(
        "Find every pair of documents at or above a threshold, exactly.",
        "roughly.tools.truth.command", "TruthOptions",
    ),
    "evaluate": Entry(
        "Measure a run against labels: precision, recall, F1, cluster measures, utility, with intervals.",
        "roughly.tools.evaluate.command", "EvaluateOptions",
    ),
    "perturb": Entry(
        "Make edited copies of documents, each labelled with its source and their scores.",
        "roughly.tools.perturb.command", "PerturbOptions",
    ),
    "audit": Entry(
        "Find duplicates that were judged or labelled differently, or leak from training into test.",
        "roughly.tools.audit.command",
    ),
    "match": Entry(
        "Say for each document on standard input whether an index knows it; exit code 0 known, 1 not.",
        "roughly.cli.match_command", "MatchOptions",
    ),
    "group": Entry(
        "Group ranked results: duplicates are indented under the one that is shown.",
        "roughly.cli.group_command", "GroupOptions", methods=True,
    ),
    "serve": Entry(
        "Serve the API and the explorer until Ctrl-C.",
        "roughly.cli.serve_command", "ServeOptions",
    ),
    "lexicon": Entry(
        "Collection statistics: build, merge, compare, show and prune lexicons.",
        "roughly.cli.lexicon_command",
    ),
    "lab": Entry(
        "The papers' experiments on any corpus.",
        "roughly.papers.command",
    ),
    "index": Entry(
        "A store of documents to query for duplicates: create, add, query, remove, …",
        "roughly.cli.index_commands",
    ),
    "completion": Entry(
        "Print the script that makes a shell complete commands, options, methods and columns.",
        "roughly.cli.completion_command", "CompletionOptions",
    ),
}  # fmt: skip


class Commands(MutableMapping[str, click.Command]):
    """The commands by name; each is made on first use."""

    def __init__(self) -> None:
        self._made: dict[str, click.Command] = {}

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._made:
            self._made[name] = _made(name, COMMANDS[name])
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)

    def __setitem__(self, name: str, made: click.Command) -> NoReturn:
        raise TypeError("a command is added to the table COMMANDS")

    def __delitem__(self, name: str) -> NoReturn:
        raise TypeError("a command is taken out of the table COMMANDS")


class Program(click.Group):
    """The program: its help is written from the table, without making the commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands, in the order of the table."""
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the names and what each is for."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in COMMANDS.items()])


def _made(name: str, entry: Entry) -> click.Command:
    module = importlib.import_module(entry.module)
    if not entry.options:
        group: click.Group = module.app
        group.name = name
        return group
    from roughly.console.commands import command

    return command(
        getattr(module, entry.options),
        getattr(module, name),
        methods=entry.methods,
        page=name,
        examples=getattr(module, "EXAMPLES", ()),
    )


def _version(ctx: click.Context, parameter: click.Parameter, is_requested: bool) -> None:
    if is_requested:
        click.echo(f"roughly {__version__}")
        ctx.exit()


app = Program(
    "roughly",
    Commands(),
    help="Finds the documents that are roughly the same, or roughly contained in one another.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    params=[
        click.Option(
            ["-V", "--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_version,
            help="Print the version.",
        ),
        click.Option(["--debug"], is_flag=True, expose_value=False, help="Print the traceback of an unexpected error."),
    ],
)
