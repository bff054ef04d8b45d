"""Rows to Markdown, JSON and a plot. Rates are also shown as multiples of the first tool of the same run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.dedupe import Row

DEDUPE_COLUMNS = (
    "tool",
    "setting",
    "MB/s",
    "× first",
    "MB per CPU s",
    "documents/s",
    "peak GB",
    "written MB",
    "recall J≥.8",
    "recall .80–.85",
    "merged .5–.6",
    ".6–.7",
    ".7–.8",
    ".8–.9",
    ".9–1",
    "true among merged",
    "J<.5 among merged",
    "both stay, J≥.8",
    "removed",
    "wrongly removed",
)


def dedupe_table(rows: Sequence[Row]) -> str:
    """The table of one set; why a tool has no figures stands below."""
    first = next((row.mb_per_second for row in rows if row.mb_per_second), None)
    lines, reasons = [], []
    for row in rows:
        if row.failure is not None or row.scores is None:
            lines.append([row.tool, row.setting] + ["–"] * (len(DEDUPE_COLUMNS) - 2))
            reasons.append(f"{row.tool}: {row.failure}")
            continue
        scores = row.scores
        ratio = f"{row.mb_per_second / first:.2f}" if first and row.mb_per_second else "–"
        lines.append(
            [
                row.tool,
                row.setting,
                _number(row.mb_per_second, 1),
                ratio,
                _number(row.mb_per_cpu_second, 1),
                _number(row.documents_per_second, 0),
                _number((row.peak_bytes or 0) / 1e9, 2),
                _number((row.written_bytes or 0) / 1e6, 0),
                _share(scores.recall),
                _share(scores.recall_at_edge),
                *(_share(value) for value in scores.merged_by_bin.values()),
                _share(scores.true_share),
                f"{_share(scores.unlike_share)} ({scores.unlike_pairs:,})",
                _share(scores.left_share),
                f"{scores.removed:,}",
                f"{scores.wrongly_removed:,}",
            ]
        )
    return "\n".join([markdown(DEDUPE_COLUMNS, lines), *(f"\n{reason}" for reason in reasons)])


def kernel_table(rows: Sequence[tuple[str, str, float | None, str | None]]) -> str:
    """Tool, what was timed, MB/s; why there is no figure stands below."""
    first = next((speed for _, _, speed, _ in rows if speed), None)
    lines = [
        [tool, what, _number(speed, 1), f"{speed / first:.2f}" if speed and first else "–"]
        for tool, what, speed, _ in rows
    ]
    reasons = [f"\n{tool}: {failure}" for tool, _, _, failure in rows if failure is not None]
    return "\n".join([markdown(("tool", "what", "MB/s, one core", "× first"), lines), *reasons])


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table with columns aligned, so that it reads on a terminal too."""
    table = [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in (head, *rows)]
    widths = [max(len(row[column]) for row in table) for column in range(len(head))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in table
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def write_json(path: Path, facts: dict[str, object]) -> None:
    """Results for machines, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".partial")
    unfinished.write_text(json.dumps(facts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    unfinished.replace(path)


def draw(path: Path, title: str, rows: Sequence[Row]) -> bool:
    """Speed against recall and against the share of merges that are true; False where matplotlib is missing."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot, ticker
    except ImportError:
        return False
    shown = [row for row in rows if row.scores is not None and row.mb_per_second]
    if not shown:
        return False
    figure, axes = pyplot.subplots(1, 2, figsize=(11, 4.5), sharex=True)
    sides = (("recall of pairs with J ≥ 0.8", "recall"), ("share of merged pairs with J ≥ 0.8", "true_share"))
    for axis, (label, field) in zip(axes, sides, strict=True):
        for row in shown:
            value = getattr(row.scores, field)
            if value is None:
                continue
            ours = row.tool.startswith("roughly")
            axis.scatter(row.mb_per_second, value, s=60, color="#c0392b" if ours else "#34495e", zorder=3)
            axis.annotate(row.tool, (row.mb_per_second, value), textcoords="offset points", xytext=(6, 5), fontsize=8)
        axis.set_xscale("log")
        axis.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
        axis.xaxis.set_major_formatter("{x:g}")
        axis.xaxis.set_minor_formatter(ticker.NullFormatter())
        axis.margins(x=0.2)
        axis.set_xlabel("MB/s, file in → clusters out")
        axis.set_ylabel(label)
        axis.set_ylim(-0.03, 1.05)
        axis.grid(alpha=0.3)
    figure.suptitle(title)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
    return True


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:,.{digits}f}"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
