"""`roughly judge RUN`: shows pairs around the threshold one by one, and records verdicts.

On a terminal one key is one verdict; from a pipe, one line is. Document text comes from strangers: its control
characters are shown as visible signs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from roughly.amounts import counted, share
from roughly.console.common_options import Printing
from roughly.console.terminal_output import print_json
from roughly.declarations import argument, group, option
from roughly.fast_dataclass import dataclass
from roughly.settings import ReadOptions, Resources
from roughly.tools.judge.request import DrawRequest

if TYPE_CHECKING:
    from rich.console import Console

    from roughly.tools.judge.judge_report import JudgeReport
    from roughly.tools.judge.judge_session import JudgeSession
    from roughly.tools.judge.verdict_file import DrawnPair, VerdictFile

_KEYS = {"s": "same", "d": "different", "k": "skip"}
_HELP = "s same, d different, k skip, u undo, m more of the text, q quit"
_MARKS = {"span": ("", "", ""), "del": ("[-", "-]", "red"), "ins": ("{+", "+}", "green"), "gap": ("[…", "…]", "dim")}
_MORE = 20_000  # characters shown with m


_OFFERED = ("text_column", "id_column", "format")


@dataclass(frozen=True, kw_only=True)
class JudgeOptions:
    """Options of the command `judge`."""

    run: Path = argument(help="Folder of a run of `roughly dedupe`.")
    name: str = option("judge", "Who judges.", "--judge")
    draw: DrawRequest = group(DrawRequest)
    disputed: bool = option(False, "Only pairs that other judges disagree on.")
    scores: bool = option(False, "Show scores, which may influence a judge.")
    verdicts: Path | None = option(None, "File of verdicts; beside the run if not given.")
    report: bool = option(False, "Print the results of the verdicts so far, and show no pairs.")
    precision: float = option(0.95, "Precision for which the report finds the threshold.")
    csv: Path | None = option(None, "Write the decided pairs, as labels for `roughly tune`.")
    printing: Printing = group(Printing, "overwrite", "as_json")
    inputs: list[str] | None = option(None, "The run's input, if it has moved.", "--input")
    reading: ReadOptions = group(ReadOptions, *_OFFERED)
    resources: Resources = group(Resources, "threads")


def judge(options: JudgeOptions) -> None:
    """Judge pairs around the threshold of a run; estimate its precision and a better threshold."""
    from roughly import checks
    from roughly.job.rereading import options_of
    from roughly.tools.judge.api import JudgedRun, draw_pairs, open_verdicts
    from roughly.tools.judge.judge_report import make_report, write_csv

    checks.refuse(checks.above_zero("precision", options.precision))
    opened = JudgedRun.open(options.run)
    path = options.verdicts or opened.verdicts
    if options.report or options.printing.as_json or options.csv is not None or path.exists():
        found = open_verdicts(opened, path)
    else:
        from roughly.console.progress import Progress

        given = {name: getattr(options.reading, name) for name in _OFFERED}
        reading = replace(options_of(opened.run_json), **{name: value for name, value in given.items() if value})
        with Progress() as progress:
            found = draw_pairs(
                opened,
                path,
                options.draw,
                inputs=options.inputs,
                reading=reading,
                resources=options.resources,
                listener=progress,
            )
        print(f"{counted(len(found.drawn.pairs), 'pair')} drawn; verdicts are stored in {path}", file=sys.stderr)
    if not (options.report or options.printing.as_json or options.csv is not None):
        _judge_pairs(found, options.name, options.disputed, options.scores, options.inputs, options.resources.threads)
        return
    if options.csv is not None:
        print(
            f"{write_csv(found, options.csv, options.printing.overwrite)} decided pairs in {options.csv}",
            file=sys.stderr,
        )
    if options.printing.as_json:
        print_json(make_report(found, options.precision).to_dict())
    elif options.report:
        print("\n".join(_report_lines(make_report(found, options.precision))))


def _judge_pairs(
    found: VerdictFile, name: str, disputed: bool, scores: bool, inputs: list[str] | None, threads: int
) -> None:
    from rich.console import Console

    from roughly.tools.judge.api import pair_texts
    from roughly.tools.judge.judge_session import JudgeSession

    session = JudgeSession(found, name, disputed)
    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    texts = pair_texts(found, session.asked, inputs, Resources(threads=threads).threads)
    with _keys() as keys:
        _listen(console, session, texts, scores, keys)
    left = len(session.asked) - session.done
    status = f"{left} left; the same command continues" if left else "all done"
    print(f"{session.done} of {len(session.asked)} pairs judged by {name}: {status}")


def _listen(
    console: Console, session: JudgeSession, texts: dict[int, tuple[str, str]], scores: bool, keys: Iterator[str]
) -> None:
    """Show pair after pair and act on the keys."""
    shown = None
    while (pair := session.next()) is not None:
        if pair != shown:
            _show(console, session, pair, texts[pair], scores)
            shown = pair
        key = next(keys, "q")
        if key == "q":
            return
        if key == "u":
            if not session.undo():
                print("nothing to undo", file=sys.stderr)
        elif key == "m":
            _show_more(console, session.verdicts.drawn.pairs[pair], texts[pair])
        elif key in _KEYS:
            session.say(_KEYS[key])
        else:
            print(f"no such key {key!r}: {_HELP}", file=sys.stderr)


@contextmanager
def _keys() -> Iterator[Iterator[str]]:
    """One key at a time: keystrokes of a terminal, or the first letter of each line of a pipe."""
    if not sys.stdin.isatty():
        yield (line.strip()[0].lower() for line in sys.stdin if line.strip())
        return
    import termios
    import tty

    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    try:
        tty.setcbreak(terminal, termios.TCSADRAIN)  # keys typed before are kept
        yield iter(lambda: os.read(terminal, 1).decode("latin-1").lower().replace("\x04", ""), "")
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def _show(console: Console, session: JudgeSession, number: int, texts: tuple[str, str], scores: bool) -> None:
    from rich.text import Text

    from roughly.report.data import PairSample
    from roughly.report.marks import mark_differences
    from roughly.report.visible import label

    pair = session.verdicts.drawn.pairs[number]
    console.print()
    console.print(f"pair {session.done + 1} of {len(session.asked)}", style="bold")
    if scores:
        console.print(f"{session.verdicts.drawn.measure} {pair.score:.4f}")
    for sign, own, text in (("[-", pair.left_id, texts[0]), ("{+", pair.right_id, texts[1])):
        console.print(Text(f"{sign} {label(own)}, {len(text):,} characters"))
    marked = mark_differences(PairSample(pair.left_id, pair.right_id, *texts, pair.score, 0.0, 0.0).bounded())
    shown = Text()
    for one in marked.marks:
        begins, ends, style = _MARKS[one.tag]
        body = one.text.strip()
        if one.tag == "span":
            shown.append(one.text)
        elif one.tag == "gap":
            shown.append(f" {begins} {body} {ends} " if body else " […] ", style=style)
        else:
            shown.append(f"{begins}{body}{ends} ", style=style)
    console.print(shown)
    for note in marked.notes:
        console.print(Text(note, style="dim"))
    console.print(f"the same? {_HELP}", style="dim")


def _show_more(console: Console, pair: DrawnPair, texts: tuple[str, str]) -> None:
    """Both texts as they are, one after the other, up to a length."""
    from rich.text import Text

    from roughly.report.visible import label, reveal

    for own, text in zip((pair.left_id, pair.right_id), texts, strict=True):
        console.print(Text(f"— {label(own)} —", style="bold"))
        console.print(Text(reveal(text[:_MORE].replace("\r\n", "\n").replace("\r", "\n"))))
        if len(text) > _MORE:
            console.print(Text(f"… {len(text) - _MORE:,} characters more", style="dim"))


def _report_lines(report: JudgeReport) -> list[str]:
    counts = ", ".join(f"{judge} {n:,}" for judge, n in report.judged.items()) or "none"
    skipped = sum(report.skipped.values())
    lines = [f"pairs       {report.pairs:,} drawn; judged: {counts}; {skipped:,} skipped, {report.disputed:,} disputed"]
    for one in report.agreement:
        kappa = "–" if one.kappa is None else f"{one.kappa:.3f}"
        agreed = "–" if one.share is None else share(one.share)
        lines.append(
            f"agreement   {one.first} and {one.second}: {agreed} of {counted(one.pairs, 'pair')}, kappa {kappa}"
        )
    lines.append(f"{report.measure:<13} {'stands for':>10} {'drawn':>6} {'same':>6} {'different':>9}")
    for stratum in report.strata:
        side = "" if stratum.found else "  below the threshold"
        lines.append(
            f"{stratum.name:<13} {stratum.pairs:>10,.0f} {stratum.drawn:>6} {stratum.same:>6} "
            f"{stratum.different:>9}{side}"
        )
    if report.precision is None:
        lines.append("precision   no pair that was found is judged yet")
    else:
        found, about = report.precision, report.precision.interval
        lines.append(
            f"precision   {found.value:.3f} ({about.low:.3f}–{about.high:.3f}) of what was found, from "
            f"{found.judged:,} verdicts"
        )
        if found.covered < 1:
            lines.append(f"            strata with {share(1 - found.covered)} of what was found have no verdict yet")
    for implied, summary in (
        (report.even, "as likely the same as not"),
        (report.for_target, f"for a precision of {report.target:g}"),
    ):
        if implied.value is None:
            lines.append(f"threshold   none {summary}: {implied.reason}")
        else:
            ends = f" ({implied.interval.low:.3f}–{implied.interval.high:.3f})" if implied.interval else ""
            lines.append(f"threshold   {implied.value:.3f}{ends} {summary}; the run has {report.threshold:g}")
    return lines
