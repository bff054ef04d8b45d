"""`roughly match`: documents or mail on standard input, a line of answer for each, at once."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from roughly.settings import MARKUP

if TYPE_CHECKING:
    from roughly.index.stream import MatchAnswer

KNOWN, NOT_KNOWN, FAILED, REJECTED = 0, 1, 2, 3


def match(
    index: Annotated[str, typer.Argument(help="An index: a file, or postgresql://…")],
    add: Annotated[bool, typer.Option("--add", help="Learn each document after it was judged.")] = False,
    revoke: Annotated[bool, typer.Option("--revoke", help="Take back, for good, all that makes it known.")] = False,
    window: Annotated[int | None, typer.Option("--window", help="Days that a match may be older or newer.")] = None,
    minimum: Annotated[float | None, typer.Option("--minimum", help="Least score of a match.")] = None,
    measure: Annotated[
        str | None, typer.Option("--measure", help="Of the score: resemblance, containment or contained_in.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object a line.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No answers: the exit code says it.")] = False,
    key_file: Annotated[Path | None, typer.Option("--key-file", help="The key that the index was made with.")] = None,
    text_column: Annotated[str | None, typer.Option("--text-column", help="Column that holds the text.")] = None,
    id_column: Annotated[str | None, typer.Option("--id-column", help="Column that holds the id.")] = None,
    url_column: Annotated[str | None, typer.Option("--url-column", help="Column that holds the url.")] = None,
    date_column: Annotated[str | None, typer.Option("--date-column", help="Column that holds the date.")] = None,
    format: Annotated[str | None, typer.Option("--format", help="jsonl, mbox, eml, text or html.")] = None,
    markup: Annotated[str, typer.Option("--markup", help="Strip HTML: " + ", ".join(MARKUP) + ".")] = "auto",
) -> None:
    """Say of each document on standard input whether an index knows it; exit code 0 known, 1 not."""
    from roughly.errors import RoughlyError, SettingsError
    from roughly.index.stream import MatchRequest
    from roughly.settings import ReadOptions

    asked = MatchRequest(add=add, revoke=revoke, window=window, minimum=minimum, measure=measure)
    if markup not in MARKUP:
        raise SettingsError(f"markup must be one of {', '.join(MARKUP)}, not {markup!r}")
    reading = ReadOptions(
        text_column=text_column, id_column=id_column, url_column=url_column, date_column=date_column,
        markup=markup, format=format,  # type: ignore[arg-type]
    )  # fmt: skip
    try:
        code = _run(index, key_file, reading, asked, as_json=as_json, quiet=quiet)
    except (SettingsError, KeyboardInterrupt):
        raise
    except BrokenPipeError:
        raise typer.Exit(FAILED) from None
    except RoughlyError as problem:  # 1 would say that the document is not known
        print(f"error: {problem}", file=sys.stderr)
        raise typer.Exit(FAILED) from None
    raise typer.Exit(code)


def _run(where: str, key_file: Path | None, reading: object, asked: object, *, as_json: bool, quiet: bool) -> int:
    from roughly.index import Index
    from roughly.index.stream import MatchAnswer, answer
    from roughly.sources.live import read_live

    known = rejected = 0
    with Index.open(where, key_file=key_file) as index:
        for arrived in read_live(sys.stdin.buffer, reading):  # type: ignore[arg-type]
            good = [(a.record, a.document) for a in arrived if a.document is not None]
            answers = iter(answer(index, good, asked))  # type: ignore[arg-type]
            for one in arrived:
                reject = one.reject
                told = (
                    next(answers) if reject is None else MatchAnswer(one.record, None, "rejected", reason=reject.reason)
                )
                known += told.verdict in ("known", "revoked")
                if told.verdict == "rejected":
                    rejected += 1
                    print(f"rejected: standard input, {told.record}: {told.reason}", file=sys.stderr)
                if not quiet:
                    sys.stdout.write(f"{_line(told, as_json)}\n")  # in one piece, also where nothing is buffered
            sys.stdout.flush()
    if rejected:
        print(f"{rejected:,} records were rejected", file=sys.stderr)
        return REJECTED
    return KNOWN if known else NOT_KNOWN


def _line(told: MatchAnswer, as_json: bool) -> str:
    if as_json:
        return json.dumps(told.to_dict(), ensure_ascii=False)
    from roughly.report.visible import flow

    score = "-" if told.score is None else f"{told.score:.3f}"
    match = told.match.doc_id if told.match else told.reason
    return "\t".join((told.verdict, flow(told.doc_id or told.record), flow(match or "-"), score))
