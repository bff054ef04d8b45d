"""`roughly lexicon build|merge|compare|show|prune`: collection statistics."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roughly.amounts import counted
from roughly.console.commands import command_group, register
from roughly.console.common_options import INPUTS, Printing
from roughly.console.terminal_output import end, print_json, print_speed
from roughly.declarations import REQUIRED, argument, group, option
from roughly.fast_dataclass import dataclass
from roughly.lexicon.request import BuildRequest

if TYPE_CHECKING:
    from roughly.lexicon import Lexicon, LexiconComparison

app = command_group("Collection statistics: build, merge, compare, show and prune lexicons.")

_LISTED = 100  # rejects in the JSON
_DEFAULT = "default"
_OFFERED = (
    "filters", "text_column", "id_column", "format", "markup", "main_text", "batch_size", "memory", "threads", "temp",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class BuildOptions:
    """Options of the command `build`."""

    inputs: list[str] = argument(help=INPUTS)
    output: Path = option(REQUIRED, "File to write; must not exist.", "-o", "--output")
    request: BuildRequest = group(BuildRequest, *_OFFERED)
    printing: Printing = group(Printing)


@register(app, BuildOptions)
def build(options: BuildOptions) -> None:
    """Count the documents that contain each term."""
    from roughly.console.progress import Progress
    from roughly.lexicon.builder import run_build

    start = time.perf_counter()
    with Progress(options.printing.quiet, options.printing.verbose) as progress:
        built = run_build(
            None,
            options.inputs,
            options.request,
            output=options.output,
            overwrite=options.printing.overwrite,
            listener=progress,
        )
    seconds = time.perf_counter() - start
    if options.printing.as_json:
        rejects = [{"file": r.file, "record": r.record, "reason": r.reason} for r in built.rejects[:_LISTED]]
        print_json(
            {"output": str(options.output)} | built.lexicon.summary()
            | {"text_bytes": built.text_bytes, "seconds": seconds, "spills": built.spills}
            | {"rejected": len(built.rejects), "rejects": rejects, "guesses": built.notes}
        )  # fmt: skip
    elif not options.printing.quiet:
        _print_summary(built.lexicon, options.output)
        for note in built.notes:
            print(f"guessed     {note}")
        print_speed(built.text_bytes, seconds, built.rejects)
    end(built.rejects)


@dataclass(frozen=True, kw_only=True)
class MergeOptions:
    """Options of the command `merge`."""

    lexicons: list[Path] = argument(help="Lexicons' files.")
    output: Path = option(REQUIRED, "File to write; must not exist.", "-o", "--output")
    printing: Printing = group(Printing, "overwrite", "as_json")


@register(app, MergeOptions)
def merge(options: MergeOptions) -> None:
    """Merge lexicons into one, as if built from all their documents."""
    from roughly import lexicon

    made = lexicon.merge(
        [_open(path) for path in options.lexicons], output=options.output, overwrite=options.printing.overwrite
    )
    _print_made(made, options.output, options.printing.as_json)


@dataclass(frozen=True, kw_only=True)
class ThresholdOptions:
    """Which terms of a lexicon count."""

    min_df: int = option(1, "Only terms in at least this number of documents.")
    letters_only: bool = option(False, "Only terms of letters.")
    min_length: int = option(1, "Only terms of at least this number of characters.")


@dataclass(frozen=True, kw_only=True)
class PruneOptions:
    """Options of the command `prune`."""

    lexicon: Path = argument(help="A lexicon's file, or `default` for the one that comes with roughly.")
    output: Path = option(REQUIRED, "File to write; must not exist.", "-o", "--output")
    thresholds: ThresholdOptions = group(ThresholdOptions)
    printing: Printing = group(Printing, "overwrite", "as_json")


@register(app, PruneOptions)
def prune(options: PruneOptions) -> None:
    """Write a lexicon without the terms that are below thresholds."""
    from roughly.lexicon import prune as cut

    made = cut(
        _open(options.lexicon),
        output=options.output,
        overwrite=options.printing.overwrite,
        **asdict(options.thresholds),
    )
    _print_made(made, options.output, options.printing.as_json)


@dataclass(frozen=True, kw_only=True)
class CompareOptions:
    """Options of the command `compare`."""

    left: Path = argument(help="A lexicon's file, or `default` for the one that comes with roughly.")
    right: Path = argument(help="A lexicon's file, or `default` for the one that comes with roughly.")
    thresholds: ThresholdOptions = group(ThresholdOptions)
    printing: Printing = group(Printing, "as_json")


@register(app, CompareOptions)
def compare(options: CompareOptions) -> None:
    """Rank correlation of the terms in common; terms added and lost."""
    limits = asdict(options.thresholds)
    found = _open(options.left).with_thresholds(**limits).compare(_open(options.right).with_thresholds(**limits))
    if options.printing.as_json:
        print_json(found.to_dict())
    else:
        _print_comparison(found)


@dataclass(frozen=True, kw_only=True)
class ShowOptions:
    """Options of the command `show`."""

    lexicon: Path = argument(help="A lexicon's file, or `default` for the one that comes with roughly.")
    term: list[str] | None = option(None, "A term to look up; may be repeated.")
    top: int = option(0, "Number of the most frequent terms to list.")
    thresholds: ThresholdOptions = group(ThresholdOptions)
    printing: Printing = group(Printing, "as_json")


@register(app, ShowOptions)
def show(options: ShowOptions) -> None:
    """Show the contents of a lexicon, and the idf of terms."""
    opened = _open(options.lexicon).with_thresholds(**asdict(options.thresholds))
    rows = [_row(opened, word, opened.frequency(word)) for word in options.term or []]
    rows += [_row(opened, word, count) for word, count in opened.top(options.top)]
    if options.printing.as_json:
        print_json({"lexicon": str(options.lexicon)} | opened.summary() | {"listed": rows})
        return
    if not rows:
        _print_summary(opened, options.lexicon)
        return
    width = max(4, *(len(row["term"]) for row in rows))
    print(f"{'term':<{width}}  documents  idf (conrad)  idf (imatch)")
    for row in rows:
        shown = ("–" if row[norm] is None else f"{row[norm]:.4f}" for norm in ("conrad", "imatch"))
        print(f"{row['term']:<{width}} {row['df']:>10,} {next(shown):>13} {next(shown):>13}")


def _open(path: Path) -> Lexicon:
    from roughly import lexicon

    return lexicon.default() if str(path) == _DEFAULT and not path.exists() else lexicon.Lexicon.open(path)


def _row(lexicon: Lexicon, word: str, count: int) -> dict[str, Any]:
    import numpy as np

    number = np.array([count], np.uint32)
    idf = {norm: float(lexicon.idf_of(number, norm)[0]) if count else None for norm in ("conrad", "imatch")}
    return {"term": word, "df": count} | idf


def _print_made(lexicon: Lexicon, output: Path, as_json: bool) -> None:
    if as_json:
        print_json({"output": str(output)} | lexicon.summary())
    else:
        _print_summary(lexicon, output)


def _print_summary(lexicon: Lexicon, path: Path) -> None:
    summary = lexicon.summary()
    print(f"lexicon     {path}, fingerprint {summary['fingerprint']}")
    print(f"documents   {summary['documents']:,}")
    print(f"terms       {summary['terms']:,}, {summary['once']:,} of them in one document only")
    print(f"frequency   from {summary['least']:,} to {summary['most']:,} documents, {summary['postings']:,} together")
    print(f"form        {summary['form']}; filters: {summary['filters'] or 'none'}")
    limits = summary["thresholds"]
    letters = ", letters only" if limits["letters_only"] else ""
    print(f"thresholds  {counted(limits['min_df'], 'document')}, {counted(limits['min_length'], 'character')}{letters}")
    if summary["origin"]:
        print(f"origin      {summary['origin']}")


def _print_comparison(found: LexiconComparison) -> None:
    print(f"left        {found.left}: {found.left_terms:,} terms of {found.left_documents:,} documents")
    print(f"right       {found.right}: {found.right_terms:,} terms of {found.right_documents:,} documents")
    print(f"common      {counted(found.common, 'term')}")
    undefined = "not defined: fewer than two terms in common, or all tied" if found.spearman is None else None
    print(f"spearman    {undefined or f'{found.spearman:.4f}'}")
    for name, count, terms in (
        ("added", found.added, found.commonest_added),
        ("lost", found.lost, found.commonest_lost),
    ):
        examples = ", ".join(f"{word} ({df:,})" for word, df in terms)
        print(f"{name:<11} {counted(count, 'term')}" + (f"; the most frequent: {examples}" if examples else ""))
