"""`roughly lexicon build|merge|compare|show|prune`: collection statistics, made and looked at."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from roughly.errors import Interrupted
from roughly.settings import MARKUP, Resources, parse_size

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

File = Annotated[Path, typer.Argument(help="A lexicon's file, or `default` for the one that comes with roughly.")]
Files = Annotated[list[Path], typer.Argument(help="Lexicons' files.")]
Output = Annotated[Path, typer.Option("-o", "--output", help="File to write; must not exist.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the output where it exists.")]
MinDf = Annotated[int, typer.Option("--min-df", help="Only terms in so many documents.")]
LettersOnly = Annotated[bool, typer.Option("--letters-only", help="Only terms of letters.")]
MinLength = Annotated[int, typer.Option("--min-length", help="Only terms of so many characters.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def build(
    inputs: Annotated[list[str], typer.Argument(help="Files, folders, globs, URLs, or - for standard input.")],
    output: Output,
    filter: Annotated[str, typer.Option("--filter", help="Of sw, tg5, tl25, nosc, stem; several with commas.")] = "",
    text_column: Annotated[str | None, typer.Option("--text-column", help="Column that holds the text.")] = None,
    id_column: Annotated[str | None, typer.Option("--id-column", help="Column that holds the id.")] = None,
    format: Annotated[str | None, typer.Option("--format", help="Instead of guessing it from the name.")] = None,
    markup: Annotated[str, typer.Option("--markup", help="Strip HTML: " + ", ".join(MARKUP) + ".")] = "auto",
    main_text: Annotated[bool, typer.Option("--main-text", help="Of HTML, the main text only.")] = False,
    batch_size: Annotated[int | None, typer.Option("--batch-size", help="Documents read at a time.")] = None,
    memory: Annotated[str, typer.Option("--memory", help="Memory to use; more is spilled to disk.")] = "1GB",
    threads: Annotated[int, typer.Option("--threads", help="0: as many as there are cores.")] = 0,
    temp: Annotated[Path | None, typer.Option("--temp", help="Folder to spill to.")] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress, no summary.")] = False,
) -> None:
    """Count the documents that each term stands in."""
    from roughly.console.progress import Progress
    from roughly.errors import SettingsError
    from roughly.lexicon.builder import run_build
    from roughly.settings import ReadOptions
    from roughly.text.filters import Filters

    if markup not in MARKUP:
        raise SettingsError(f"markup must be one of {', '.join(MARKUP)}, not {markup!r}")
    filters = Filters.parse(filter)
    reading = ReadOptions(
        text_column=text_column, id_column=id_column, markup=markup, format=format, batch_size=batch_size  # type: ignore[arg-type]
    )  # fmt: skip
    resources = Resources(threads=threads, memory=parse_size(memory), temp=temp)
    start = time.perf_counter()
    with _stoppable(), Progress(quiet) as progress:
        built = run_build(
            None, inputs, output=output, overwrite=overwrite, filters=filters, main_text=main_text, resources=resources,
            reading=reading, listener=progress,
        )  # fmt: skip
    seconds = time.perf_counter() - start
    for reject in built.rejects[:_TOLD]:
        print(f"rejected: {reject.file}, {reject.record}: {reject.reason}", file=sys.stderr)
    if as_json:
        rejects = [{"file": r.file, "record": r.record, "reason": r.reason} for r in built.rejects[:_LISTED]]
        _print_json(
            {"output": str(output)} | built.lexicon.summary()
            | {"text_bytes": built.text_bytes, "seconds": seconds, "spills": built.spills}
            | {"rejected": len(built.rejects), "rejects": rejects, "guesses": built.notes}
        )  # fmt: skip
    elif not quiet:
        _print_summary(built.lexicon, output)
        for note in built.notes:
            print(f"guessed     {note}")
        speed = built.text_bytes / max(seconds, 1e-9) / 1e6
        print(f"took        {seconds:.1f} s, {speed:,.0f} MB/s; {len(built.rejects):,} records rejected")
    if built.rejects:
        raise typer.Exit(3)


@app.command()
def merge(lexicons: Files, output: Output, overwrite: Overwrite = False, as_json: AsJson = False) -> None:
    """Make one lexicon of several, as if built from all their documents."""
    from roughly import lexicon

    with _stoppable():
        made = lexicon.merge([_open(path) for path in lexicons], output=output, overwrite=overwrite)
    _print_made(made, output, as_json)


@app.command()
def prune(
    lexicon: File, output: Output, min_df: MinDf = 1, letters_only: LettersOnly = False, min_length: MinLength = 1,
    overwrite: Overwrite = False, as_json: AsJson = False,
) -> None:  # fmt: skip
    """Write a lexicon without the terms that are below thresholds."""
    from roughly.lexicon import prune as cut

    with _stoppable():
        made = cut(
            _open(lexicon), output=output, overwrite=overwrite, min_df=min_df, letters_only=letters_only,
            min_length=min_length,
        )  # fmt: skip
    _print_made(made, output, as_json)


@app.command()
def compare(
    left: File, right: File, min_df: MinDf = 1, letters_only: LettersOnly = False, min_length: MinLength = 1,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Rank correlation of the terms in common; terms added and lost."""
    options: dict[str, Any] = {"min_df": min_df, "letters_only": letters_only, "min_length": min_length}
    found = _open(left).with_thresholds(**options).compare(_open(right).with_thresholds(**options))
    if as_json:
        _print_json(found.to_dict())
    else:
        _print_comparison(found)


@app.command()
def show(
    lexicon: File,
    term: Annotated[list[str] | None, typer.Option("--term", help="A term to look up; may be repeated.")] = None,
    top: Annotated[int, typer.Option("--top", help="List so many of the commonest terms.", min=0)] = 0,
    min_df: MinDf = 1,
    letters_only: LettersOnly = False,
    min_length: MinLength = 1,
    as_json: AsJson = False,
) -> None:
    """Show what a lexicon holds, and the idf of terms."""
    opened = _open(lexicon).with_thresholds(min_df=min_df, letters_only=letters_only, min_length=min_length)
    rows = [_row(opened, word, opened.frequency(word)) for word in term or []]
    rows += [_row(opened, word, count) for word, count in opened.top(top)]
    if as_json:
        _print_json({"lexicon": str(lexicon)} | opened.summary() | {"listed": rows})
        return
    if not rows:
        _print_summary(opened, lexicon)
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
    told = "not defined: fewer than two terms in common, or all tied" if found.spearman is None else None
    print(f"spearman    {told or f'{found.spearman:.4f}'}")
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
