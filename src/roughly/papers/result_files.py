"""A result as files: Markdown and HTML for people, JSON for programs, a PNG for every figure.

These are the same bytes whenever the experiment is run again on the same documents. Seconds are not: they are in a file
of their own.
"""

from __future__ import annotations

import json
from html import escape
from pathlib import Path

from roughly.errors import OutputExists
from roughly.papers.paper_table import PaperTable
from roughly.papers.runner import ExperimentResult, SharedInputs

SECONDS = "seconds.json"
_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;color:#222}"
    "table{border-collapse:collapse;margin:1rem 0;font-size:13px}"
    "td,th{border-bottom:1px solid #ddd;padding:.2rem .6rem}"
    "td.n{text-align:right;font-variant-numeric:tabular-nums}.paper{color:#777}img{max-width:100%}"
    ".no{color:#b45309}"
)


def picture_of(shared: SharedInputs, place: int, count: int) -> str:
    """The name of the file of a figure."""
    return "figure.png" if count == 1 else f"figure-{place}.png"


def pictures(result: ExperimentResult) -> dict[str, SharedInputs]:
    """The figures of a result by the names of their files."""
    drawn = [shared for shared in result.tables if shared.figure]
    return {picture_of(shared, place, len(drawn)): shared for place, shared in enumerate(drawn, 1)}


def write(result: ExperimentResult, folder: Path, *, figures: bool = True, overwrite: bool = False) -> list[Path]:
    """The files of a result in a folder."""
    drawn = pictures(result) if figures else {}
    if drawn:
        from roughly.papers.figures import need_matplotlib

        need_matplotlib()
    texts = {
        "table.md": markdown(result, list(drawn)),
        "table.html": html(result, list(drawn)),
        "table.json": json.dumps(result.document(), indent=1, ensure_ascii=False) + "\n",
        SECONDS: seconds(result),
    }
    there = [name for name in (*texts, *drawn) if (folder / name).exists()]
    if there and not overwrite:
        raise OutputExists(f"{folder / there[0]} exists; name another folder, or add --overwrite")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    for name, shared in drawn.items():
        from roughly.papers.figures import draw

        draw(shared, folder / name)
    return [folder / name for name in (*texts, *drawn)]


def seconds(result: ExperimentResult) -> str:
    """Processor seconds of this one run."""
    measured = {name: [round(value, 4) for value in own] for name, own in result.seconds.items()}
    about = "processor seconds on one machine, mean and standard deviation of the draws; another run gives others"
    return json.dumps({"about": about, "seconds": measured}, indent=1, ensure_ascii=False) + "\n"


def seconds_table(result: ExperimentResult) -> str:
    """Processor seconds as a table in Markdown: mean and standard deviation of the draws, and against the first."""
    draws = f"means of {len(result.seeds)} draws" if len(result.seeds) > 1 else "measured once"
    lines = [
        f"**Processor seconds** on one machine, others busy beside it, {draws}:", "",
        "| what | s | standard deviation | times the first |", "|---|---:|---:|---:|",
    ]  # fmt: skip
    first = next(iter(result.seconds.values()), (0.0, 0.0))[0] or 1e-9
    for name, (mean, deviation) in result.seconds.items():
        lines.append(f"| {name} | {mean:.3f} | {deviation:.3f} | {mean / first:.2f} |")
    return "\n".join(lines) + "\n"


def markdown(result: ExperimentResult, drawn: list[str]) -> str:
    """The result in Markdown."""
    experiment = result.experiment
    parts = [f"# {experiment.paper}: {experiment.about}\n", *(shared.beside.markdown() for shared in result.tables)]
    parts += [f"![]({name})\n" for name in drawn]
    return "\n".join([*parts, "## Expected\n", expected(result)])


def expected(result: ExperimentResult) -> str:
    """The shapes, and whether they hold."""
    lines = [f"- {held.word if held.held else f'**{held.word}**'}: {held.sentence}" for held in result.held]
    return "\n".join(lines) + "\n"


def html(result: ExperimentResult, drawn: list[str]) -> str:
    """The result as one page of HTML, beside its pictures."""
    experiment = result.experiment
    title = escape(f"{experiment.paper}: {experiment.about}")
    body = [f"<h1>{title}</h1>", *(_table(shared.beside) for shared in result.tables)]
    body += [f'<p><img src="{escape(name)}" alt=""></p>' for name in drawn]
    body.append("<h2>Expected</h2><ul>")
    for held in result.held:
        word = held.word if held.held else f'<b class="no">{held.word}</b>'
        body.append(f"<li>{word}: {escape(held.sentence)}</li>")
    head = f'<meta charset="utf-8"><title>{title}</title><style>{_STYLE}</style>'
    return "\n".join(["<!doctype html>", f'<html lang="en"><head>{head}</head><body>', *body, "</ul></body></html>\n"])


def _table(table: PaperTable) -> str:
    from roughly.papers.runner import IN_PAPER

    marks = ["paper" if column.name.endswith(IN_PAPER) else "" for column in table.columns]
    heads = "".join(
        f'<th class="{mark}">{escape(column.name)}</th>' for mark, column in zip(marks, table.columns, strict=True)
    )
    lines = [f"<h2>{escape(table.title)}</h2>", f"<table><tr>{heads}</tr>"]
    for number in range(len(table.rows)):
        cells = "".join(
            f'<td class="{"" if column.kind == "text" else "n "}{mark}">{escape(table.shown(number, place))}</td>'
            for place, (mark, column) in enumerate(zip(marks, table.columns, strict=True))
        )
        lines.append(f"<tr>{cells}</tr>")
    return "\n".join([*lines, "</table>", *(f"<p>{escape(note)}</p>" for note in table.notes)])
