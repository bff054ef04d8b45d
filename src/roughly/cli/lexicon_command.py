"""`roughly lexicon build|merge|compare|show|prune`: collection statistics, made and looked at."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from roughly.console.commands import register
from roughly.console.common_options import Printing
from roughly.declarations import REQUIRED, argument, group, option
from roughly.errors import Interrupted
from roughly.lexicon.request import BuildRequest

if TYPE_CHECKING:
    from roughly.lexicon import Lexicon, LexiconComparison

app = typer.Typer(
    help="Collection statistics: build, merge, compare, show and prune lexicons.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

_TOLD = 5  # rejects named one by one
_LISTED = 100  # rejects in the JSON
_DEFAULT = "default"
_OFFERED = (
    "filters", "text_column", "id_column", "format", "markup", "main_text", "batch_size", "memory", "threads", "temp",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class BuildOptions:
    """Options of the command `build`."""

    inputs: list[str] = argument(help="Files, folders, globs, URLs, or - for standard input.")
    output: Path = option(REQUIRED, "File to write; must not exist.", "-o", "--output")
    request: BuildRequest = group(BuildRequest, *_OFFERED)
    printing: Printing = group(Printing)


@register(app, BuildOptions)
def build(options: BuildOptions) -> None:
    """Count the documents that each term stands in."""
    from roughly.console.progress import Progress
    from roughly.lexicon.builder import run_build

    start = time.perf_counter()
    with _stoppable(), Progress(options.printing.quiet) as progress:
        built = run_build(
            None,
            options.inputs,
            options.request,
            output=options.output,
            overwrite=options.printing.overwrite,
            listener=progress,
        )
    seconds = time.perf_counter() - start
    for reject in built.rejects[:_TOLD]:
        print(f"rejected: {reject.file}, {reject.record}: {reject.reason}", file=sys.stderr)
    if options.printing.as_json:
        rejects = [{"file": r.file, "record": r.record, "reason": r.reason} for r in built.rejects[:_LISTED]]
        _print_json(
            {"output": str(options.output)} | built.lexicon.summary()
            | {"text_bytes": built.text_bytes, "seconds": seconds, "spills": built.spills}
            | {"rejected": len(built.rejects), "rejects": rejects, "guesses": built.notes}
        )  # fmt: skip
    elif not options.printing.quiet:
        _print_summary(built.lexicon, options.output)
        for note in built.notes:
            print(f"guessed     {note}")
        speed = built.text_bytes / max(seconds, 1e-9) / 1e6
        print(f"took        {seconds:.1f} s, {speed:,.0f} MB/s; {len(built.rejects):,} records rejected")
    if built.rejects:
        raise typer.Exit(3)


@dataclass(frozen=True, kw_only=True)
class MergeOptions:
    """Options of the command `merge`."""

    lexicons: list[Path] = argument(help="Lexicons' files.")
    output: Path = option(REQUIRED, "File to write; must not exist.", "-o", "--output")
    printing: Printing = group(Printing, "overwrite", "as_json")


@register(app, MergeOptions)
def merge(options: MergeOptions) -> None:
    """Make one lexicon of several, as if built from all their documents."""
    from roughly import lexicon

    with _stoppable():
        made = lexicon.merge(
            [_open(path) for path in options.lexicons], output=options.output, overwrite=options.printing.overwrite
        )
    _print_made(made, options.output, options.printing.as_json)


@dataclass(frozen=True, kw_only=True)
class PruneOptions:
    """Options of the command `prune`."""

    lexicon: Path = argument(help="A lexicon's file, or `default` for the one that comes with roughly.")
    output: Path = option(REQUIRED, "File to write; must not exist.", "-o", "--output")
    min_df: int = option(1, "Only terms in so many documents.")
    letters_only: bool = option(False, "Only terms of letters.")
    min_length: int = option(1, "Only terms of so many characters.")
    printing: Printing = group(Printing, "overwrite", "as_json")


@register(app, PruneOptions)
def prune(options: PruneOptions) -> None:
    """Write a lexicon without the terms that are below thresholds."""
    from roughly.lexicon import prune as cut

    with _stoppable():
        made = cut(
            _open(options.lexicon),
            output=options.output,
            overwrite=options.printing.overwrite,
            min_df=options.min_df,
            letters_only=options.letters_only,
            min_length=options.min_length,
        )
    _print_made(made, options.output, options.printing.as_json)


@dataclass(frozen=True, kw_only=True)
class CompareOptions:
    """Options of the command `compare`."""

    left: Path = argument(help="A lexicon's file, or `default` for the one that comes with roughly.")
    right: Path = argument(help="A lexicon's file, or `default` for the one that comes with roughly.")
    min_df: int = option(1, "Only terms in so many documents.")
    letters_only: bool = option(False, "Only terms of letters.")
    min_length: int = option(1, "Only terms of so many characters.")
    printing: Printing = group(Printing, "as_json")


@register(app, CompareOptions)
def compare(options: CompareOptions) -> None:
    """Rank correlation of the terms in common; terms added and lost."""
    limits: dict[str, Any] = {
        "min_df": options.min_df,
        "letters_only": options.letters_only,
        "min_length": options.min_length,
    }
    found = _open(options.left).with_thresholds(**limits).compare(_open(options.right).with_thresholds(**limits))
    if options.printing.as_json:
        _print_json(found.to_dict())
    else:
        _print_comparison(found)


@dataclass(frozen=True, kw_only=True)
class ShowOptions:
    """Options of the command `show`."""

    lexicon: Path = argument(help="A lexicon's file, or `default` for the one that comes with roughly.")
    term: list[str] | None = option(None, "A term to look up; may be repeated.")
    top: int = option(0, "List so many of the commonest terms.")
    min_df: int = option(1, "Only terms in so many documents.")
    letters_only: bool = option(False, "Only terms of letters.")
    min_length: int = option(1, "Only terms of so many characters.")
    printing: Printing = group(Printing, "as_json")


@register(app, ShowOptions)
def show(options: ShowOptions) -> None:
    """Show what a lexicon holds, and the idf of terms."""
    opened = _open(options.lexicon).with_thresholds(
        min_df=options.min_df, letters_only=options.letters_only, min_length=options.min_length
    )
    rows = [_row(opened, word, opened.frequency(word)) for word in options.term or []]
    rows += [_row(opened, word, count) for word, count in opened.top(options.top)]
    if options.printing.as_json:
        _print_json({"lexicon": str(options.lexicon)} | opened.summary() | {"listed": rows})
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
        _print_json({"output": str(output)} | lexicon.summary())
    else:
        _print_summary(lexicon, output)


def _print_summary(lexicon: Lexicon, path: Path) -> None:
    held = lexicon.summary()
    print(f"lexicon     {path}, fingerprint {held['fingerprint']}")
    print(f"documents   {held['documents']:,}")
    print(f"terms       {held['terms']:,}, {held['once']:,} of them in one document only")
    print(f"frequency   from {held['least']:,} to {held['most']:,} documents, {held['postings']:,} together")
    print(f"form        {held['form']}; filters: {held['filters'] or 'none'}")
    limits = held["thresholds"]
    letters = ", letters only" if limits["letters_only"] else ""
    print(f"thresholds  {limits['min_df']:,} documents, {limits['min_length']:,} characters{letters}")
    if held["origin"]:
        print(f"origin      {held['origin']}")


def _print_comparison(found: LexiconComparison) -> None:
    print(f"left        {found.left}: {found.left_terms:,} terms of {found.left_documents:,} documents")
    print(f"right       {found.right}: {found.right_terms:,} terms of {found.right_documents:,} documents")
    print(f"common      {found.common:,} terms")
    message = "not defined: fewer than two terms in common, or all tied" if found.spearman is None else None
    print(f"spearman    {message or f'{found.spearman:.4f}'}")
    for name, count, terms in (
        ("added", found.added, found.commonest_added),
        ("lost", found.lost, found.commonest_lost),
    ):
        examples = ", ".join(f"{word} ({df:,})" for word, df in terms)
        print(f"{name:<11} {count:,} terms" + (f"; the commonest: {examples}" if examples else ""))


def _print_json(value: dict[str, Any]) -> None:
    json.dump(value, sys.stdout, indent=1, ensure_ascii=False)
    sys.stdout.write("\n")


@contextmanager
def _stoppable() -> Iterator[None]:
    try:
        yield
    except Interrupted as stop:  # a KeyboardInterrupt, which typer would turn into a bare "Aborted"
        print(f"\n{stop}", file=sys.stderr)
        raise typer.Exit(130) from None
