"""`roughly compare A B`: two documents side by side.

Scores, kind, shared passages and a word diff on standard output, for people or with `--json` for programs. Document
text comes from strangers, so on a screen its control characters are shown as visible signs.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from roughly import checks
from roughly.amounts import counted
from roughly.console.common_options import Printing
from roughly.declarations import argument, group, option
from roughly.errors import InputError, InputMissing
from roughly.fast_dataclass import dataclass
from roughly.settings import MARKUP

if TYPE_CHECKING:
    from rich.text import Text

    from roughly.cluster.verdict_reasons import VerdictReasons
    from roughly.verify.comparison import Comparison
    from roughly.verify.diff import Segment

_HTML = (".html", ".htm", ".xhtml")
_CONTEXT = 10  # words around a change, on a screen
_LISTED = 5  # passages named one by one
_MARKS = {"equal": ("", ""), "delete": ("[-", "-]"), "insert": ("{+", "+}"), "gap": ("[… ", " …]")}
_STYLES = {"equal": "", "delete": "red", "insert": "green", "gap": "dim"}
_UNLIKE = "A and B have next to nothing in common"


@dataclass(frozen=True, kw_only=True)
class CompareOptions:
    """Options of the command `compare`."""

    a: Path = argument(help="A file of text or HTML, or - for standard input.", metavar="A")
    b: Path = argument(help="The file to compare it with, or -.", metavar="B")
    context: int | None = option(None, "Words to show around each change; 10 on a screen, everything with --json.")
    shingle_size: int = option(5, "Words per shingle.")
    markup: str = option("auto", "Strip HTML: " + ", ".join(MARKUP) + ".")
    settings_file: Path | None = option(None, "Settings with a learned verdict, to show its reasons.", "--settings")
    printing: Printing = group(Printing, "as_json")


def compare(options: CompareOptions) -> None:
    """Compare two documents: how much they share, in what way they differ, and where."""
    checks.refuse(checks.one_of("markup", options.markup, MARKUP))
    if options.context is not None and options.context < 0:
        raise click.BadParameter(f"must be 0 or more, not {options.context}", param_hint="--context")
    if str(options.a) == "-" and str(options.b) == "-":
        raise click.BadParameter("only one of the two can be - (standard input); name a file for the other")
    settings = None
    if options.settings_file is not None:
        from roughly.job.gathered_settings import merge_settings

        settings = merge_settings({}, file=options.settings_file)
    is_dom = settings is not None and settings.tokens == "dom"
    left, right = (_read(path, options.markup, is_dom) for path in (options.a, options.b))

    from roughly.verify import comparison

    result = comparison.compare(left, right, shingle_size=options.shingle_size)
    reasons = None
    if settings is not None:
        from roughly.cluster.verdict_reasons import explain_verdict

        reasons = explain_verdict(left, right, settings)
    if options.printing.as_json:
        _print_json(result, options.a, options.b, options.context, reasons)
    else:
        _print_screen(result, _CONTEXT if options.context is None else options.context, reasons)


def _read(path: Path, markup: str, is_dom: bool) -> str:
    """The text of a file, stripped of markup where it is markup; or its DOM."""
    from roughly.sources.encoding import decode_text

    name = "standard input" if str(path) == "-" else str(path)
    try:
        data = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    except FileNotFoundError as problem:
        raise InputMissing(f"no such file: {name}; check the path, or write - for standard input") from problem
    except IsADirectoryError as problem:
        raise InputError(f"{name} is a folder; name a file in it, or use `roughly dedupe` for all of it") from problem
    except OSError as problem:
        raise InputError(f"cannot read {name}: {problem.strerror or problem}; check its permissions") from problem
    text = decode_text(data)
    if markup == "html" or (markup == "auto" and path.suffix.lower() in _HTML):
        from roughly.text.markup import dom, strip

        text = dom(text) if is_dom else strip(text)
    return text


def _print_json(
    result: Comparison, a: Path, b: Path, context: int | None, reasons: VerdictReasons | None = None
) -> None:
    import orjson

    value: dict[str, Any] = {"left": str(a), "right": str(b)} | result.to_dict(context)
    if reasons is not None:
        value["verdict"] = reasons.to_dict()
    click.echo(orjson.dumps(value, option=orjson.OPT_INDENT_2))


def _print_screen(result: Comparison, context: int, reasons: VerdictReasons | None = None) -> None:
    from rich.console import Console

    from roughly.verify.kinds import TABLE

    means = {kind.name: kind.meaning for kind in TABLE}
    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    scores = result.scores
    union = scores.left_size + scores.right_size - scores.shared
    words = f"{result.shingle_size} word{'s' if result.shingle_size > 1 else ''}"
    console.print(
        f"resemblance   {scores.resemblance:.4f}  {scores.shared:,} of {union:,} shingles of {words} in common"
    )
    console.print(f"containment   {scores.containment:.4f}  share of A that B holds")
    console.print(f"contained in  {scores.contained_in:.4f}  share of B that A holds")
    console.print(f"kind          {result.kind or 'none'}: {means[result.kind] if result.kind else _UNLIKE}")
    for line in [*(reasons.lines() if reasons is not None else ()), *_passage_lines(result)]:
        console.print(line)
    console.print()
    console.print(_marked(result.diff(context)))


def _passage_lines(result: Comparison) -> list[str]:
    passages = sorted(result.passages, key=lambda passage: -passage.words)
    if not passages:
        return ["passages      none"]
    words = sum(passage.words for passage in passages)
    lines = [f"passages      {len(passages):,} in common, {counted(words, 'word')}; characters in A and in B:"]
    for passage in passages[:_LISTED]:
        here = f"{passage.left_start:,}–{passage.left_end:,}"
        there = f"{passage.right_start:,}–{passage.right_end:,}"
        lines.append(f"              {here:>20} {there:>20} {passage.words:>9,} words")
    if len(passages) > _LISTED:
        lines.append(f"              and {len(passages) - _LISTED:,} shorter ones")
    return lines


def _marked(segments: list[Segment]) -> Text:
    """The diff as one text: coloured, and readable without colour. Spaces at the ends stay outside the marks."""
    from rich.text import Text

    from roughly.report.visible import reveal

    shown = Text()
    spaced = True  # whether the text so far ends in white space
    for segment in segments:
        text = reveal(segment.text.replace("\r\n", "\n").replace("\r", "\n"))
        body = text.strip()
        if segment.kind == "equal" or not body:
            shown.append(text)
            spaced = text[-1:].isspace()
            continue
        begins, ends = _MARKS[segment.kind]
        shown.append("" if spaced else " ")
        shown.append(begins + body + ends, style=_STYLES[segment.kind])
        shown.append(text[len(text.rstrip()) :] or " ")
        spaced = True
    shown.rstrip()
    return shown
