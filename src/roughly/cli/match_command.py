"""`roughly match`: documents or mail on standard input, a line of answer for each, at once."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from roughly.console.common_options import Printing
from roughly.declarations import argument, group, option
from roughly.measures import FOR_QUERY, listed
from roughly.settings import ReadOptions

if TYPE_CHECKING:
    from roughly.index.stream import MatchAnswer

KNOWN, NOT_KNOWN, FAILED, REJECTED = 0, 1, 2, 3


@dataclass(frozen=True, kw_only=True)
class MatchOptions:
    """Options of the command `match`."""

    index: str = argument(help="An index: a file, or postgresql://…")
    add: bool = option(False, "Learn each document after it was judged.")
    revoke: bool = option(False, "Take back, for good, all that makes it known.")
    window: int | None = option(None, "Days that a match may be older or newer.")
    minimum: float | None = option(None, "Least score of a match.")
    measure: str | None = option(None, f"Measure of the score: {listed(FOR_QUERY)}.")
    printing: Printing = group(Printing, "as_json", "quiet")
    key_file: Path | None = option(None, "The key that the index was made with.")
    reading: ReadOptions = group(
        ReadOptions, "text_column", "id_column", "url_column", "date_column", "format", "markup"
    )


def match(options: MatchOptions) -> None:
    """Say of each document on standard input whether an index knows it; exit code 0 known, 1 not."""
    from roughly.errors import RoughlyError, SettingsError
    from roughly.index.stream import MatchRequest

    request = MatchRequest(
        add=options.add, revoke=options.revoke, window=options.window, minimum=options.minimum, measure=options.measure
    )
    reading = options.reading  # fmt: skip
    try:
        code = _run(
            options.index,
            options.key_file,
            reading,
            request,
            as_json=options.printing.as_json,
            quiet=options.printing.quiet,
        )
    except (SettingsError, KeyboardInterrupt):
        raise
    except BrokenPipeError:
        raise typer.Exit(FAILED) from None
    except RoughlyError as problem:  # 1 would say that the document is not known
        print(f"error: {problem}", file=sys.stderr)
        raise typer.Exit(FAILED) from None
    raise typer.Exit(code)


def _run(where: str, key_file: Path | None, reading: object, request: object, *, as_json: bool, quiet: bool) -> int:
    from roughly.index import Index
    from roughly.index.stream import MatchAnswer, answer
    from roughly.sources.live import read_live

    known = rejected = 0
    with Index.open(where, key_file=key_file) as index:
        for arrived in read_live(sys.stdin.buffer, reading):  # type: ignore[arg-type]
            good = [(a.record, a.document) for a in arrived if a.document is not None]
            answers = iter(answer(index, good, request))  # type: ignore[arg-type]
            for one in arrived:
                reject = one.reject
                summary = (
                    next(answers) if reject is None else MatchAnswer(one.record, None, "rejected", reason=reject.reason)
                )
                known += summary.verdict in ("known", "revoked")
                if summary.verdict == "rejected":
                    rejected += 1
                    print(f"rejected: standard input, {summary.record}: {summary.reason}", file=sys.stderr)
                if not quiet:
                    sys.stdout.write(f"{_line(summary, as_json)}\n")  # in one piece, also where nothing is buffered
            sys.stdout.flush()
    if rejected:
        print(f"{rejected:,} records were rejected", file=sys.stderr)
        return REJECTED
    return KNOWN if known else NOT_KNOWN


def _line(summary: MatchAnswer, as_json: bool) -> str:
    if as_json:
        return json.dumps(summary.to_dict(), ensure_ascii=False)
    from roughly.report.visible import flow

    score = "-" if summary.score is None else f"{summary.score:.3f}"
    match = summary.match.doc_id if summary.match else summary.reason
    return "\t".join((summary.verdict, flow(summary.doc_id or summary.record), flow(match or "-"), score))
