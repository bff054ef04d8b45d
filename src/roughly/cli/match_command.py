"""`roughly match`: documents or mail on standard input, one line of answer per document, at once."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roughly.amounts import records_were
from roughly.console.common_options import COLUMNS, Printing
from roughly.declarations import argument, group, option
from roughly.fast_dataclass import dataclass
from roughly.measures import FOR_QUERY, listed
from roughly.settings import ReadOptions

if TYPE_CHECKING:
    from roughly.index import Index
    from roughly.index.stream import MatchAnswer, MatchRequest

KNOWN, NOT_KNOWN, FAILED, REJECTED = 0, 1, 2, 3


@dataclass(frozen=True, kw_only=True)
class MatchOptions:
    """Options of the command `match`."""

    index: str = argument(help="An index: a file, or postgresql://…")
    add: bool = option(False, "Add each document after it was judged.")
    revoke: bool = option(False, "Revoke the documents that it matches, permanently.")
    window: int | None = option(None, "Days by which a match may be older or newer.")
    minimum: float | None = option(None, "Lowest score of a match.")
    measure: str | None = option(None, f"Measure of the score: {listed(FOR_QUERY)}.")
    match_empty: bool = option(False, "Documents without words match each other; otherwise they match nothing.")
    printing: Printing = group(Printing, "as_json", "quiet")
    key_file: Path | None = option(None, "The key that the index was made with.")
    reading: ReadOptions = group(ReadOptions, *COLUMNS, "markup")


def match(options: MatchOptions) -> None:
    """Say for each document on standard input whether an index knows it; exit code 0 known, 1 not."""
    from roughly.errors import SettingsError
    from roughly.index.stream import MatchRequest

    request = MatchRequest(
        add=options.add, revoke=options.revoke, window=options.window, minimum=options.minimum, measure=options.measure,
        match_empty=options.match_empty,
    )  # fmt: skip
    reading = options.reading
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
        raise SystemExit(FAILED) from None
    except Exception as problem:  # 1 would say that the document is not known
        from roughly.console.unexpected import report

        report(problem)
        raise SystemExit(FAILED) from None
    raise SystemExit(code)


def _run(
    where: str, key_file: Path | None, reading: ReadOptions, request: MatchRequest, *, as_json: bool, quiet: bool
) -> int:
    from roughly.index import Index
    from roughly.index.incoming import CompleteDocument
    from roughly.index.queries import idle_minimum
    from roughly.index.stream import MatchAnswer
    from roughly.sources.live import read_live

    known = rejected = 0
    with Index.open(where, key_file=key_file) as index:
        if note := idle_minimum(index.config, request.minimum, request.measure):
            print(note, file=sys.stderr)
        reading = replace(index.settings.reading(reading), markup=reading.markup)
        for arrived in read_live(sys.stdin.buffer, reading):
            good = [(a.record, CompleteDocument(a.document)) for a in arrived if a.document is not None]
            answers = iter(_answers(index, good, request))
            for one in arrived:
                reject = one.reject
                found = (
                    next(answers) if reject is None else MatchAnswer(one.record, None, "rejected", reason=reject.reason)
                )
                known += found.verdict in ("known", "revoked")
                if found.verdict == "rejected":
                    rejected += 1
                    print(f"rejected: standard input, {found.record}: {found.reason}", file=sys.stderr)
                if not quiet:
                    sys.stdout.write(f"{_line(found, as_json)}\n")  # in one piece, even without buffering
            sys.stdout.flush()
    if rejected:
        print(f"{records_were(rejected)} rejected", file=sys.stderr)
        return REJECTED
    return KNOWN if known else NOT_KNOWN


def _answers(index: Index, documents: list[tuple[str, Any]], request: MatchRequest) -> list[MatchAnswer]:
    """The answers; if a document cannot be answered, it is rejected and the others are answered."""
    from roughly.errors import RoughlyError
    from roughly.index.stream import MatchAnswer, answer
    from roughly.sources.collector import reason_of

    try:
        return answer(index, documents, request)
    except (RoughlyError, MemoryError):
        raise
    except Exception as problem:
        if len(documents) > 1:
            return [found for document in documents for found in _answers(index, [document], request)]
        return [MatchAnswer(documents[0][0], None, "rejected", reason=reason_of(problem))]


def _line(found: MatchAnswer, as_json: bool) -> str:
    if as_json:
        return json.dumps(found.to_dict(), ensure_ascii=False)
    from roughly.report.visible import flow

    score = "-" if found.score is None else f"{found.score:.3f}"
    match = found.match.doc_id if found.match else found.reason
    return "\t".join((found.verdict, flow(found.doc_id or found.record), flow(match or "-"), score))
