"""Writes what `python -m benchmarks.cores` measured into the documentation: tables of `scale.md` and
`training-corpora.md`, and a picture.

    python -m benchmarks.cores grown/1m --memory 32GB --peer 100000 --out benchmarks/results/cores.json
    python docs/make_cores.py

A test fails while they are not what this writes.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from benchmarks.cores import peer_table, table  # noqa: E402 - the checkout is no package

MEASURED = HERE.parent / "benchmarks" / "results" / "cores.json"
PICTURE = HERE / "images" / "cores.svg"
PAGE, COSTS = HERE / "scale.md", HERE / "training-corpora.md"
START, END = "<!-- measured: python docs/make_cores.py -->", "<!-- end of cores -->"

DOCUMENTS = 1_000_000
"""Documents of the collections that are measured."""
BASE_MEMORY = 0.64e9
"""Bytes that the smallest run may have."""
INPUTS = {"jsonl": "JSON lines", "parquet": "Parquet"}
WIDTH, HEIGHT = 704, 380
LEFT, RIGHT, TOP, BOTTOM = 64, 540, 24, 320
CURVES = {"whole process": "#111827", "read": "#3f51b5", "fetch": "#c2410c", "verify": "#0f766e", "copy": "#a21caf"}


def measured() -> dict[str, Any]:
    """All that was measured."""
    found: dict[str, Any] = json.loads(MEASURED.read_text(encoding="utf-8"))
    return found


def tables(found: dict[str, Any]) -> str:
    """As Markdown: every other number of threads; `benchmarks/results/cores.json` has all."""
    machine = found["machine"]
    parts = [f"Measured on {machine['date'][:10]} on {machine['cores']} cores ({machine['cpu']})."]
    for one in found["collections"]:
        size = one["bytes"] / 1e9
        parts.append(f"{INPUTS[one['input']]}, {size:.1f} GB in the system's cache, `--memory {one['memory']}`:")
        parts.append(table(one["rows"][::2], one["bytes"]))
    if found["peers"]:
        size = found["peers"][0]["bytes"] / 1e6
        parts.append(f"Beside gaoya, on {size:.0f} MB of JSON lines, each process bound to the number of cores:")
        parts.append(peer_table(found["peers"][::2]))
    return "\n\n".join(parts)


def speedups(found: dict[str, Any]) -> dict[str, list[tuple[int, float]]]:
    """(threads, speed-up against one thread) of the whole and of the stages that are shown, for JSON lines."""
    rows = found["collections"][0]["rows"]

    def seconds(row: dict[str, Any], name: str) -> float:
        return float(row["seconds"] if name == "whole process" else row["stages"][name])

    return {name: [(row["threads"], seconds(rows[0], name) / seconds(row, name)) for row in rows] for name in CURVES}


def draw(found: dict[str, Any]) -> str:
    """Speed-ups over threads, both axes logarithmic, beside the ideal."""
    curves = speedups(found)
    most = max(threads for threads, _ in curves["whole process"])
    steps = math.log2(most)

    def x(threads: float) -> float:
        return LEFT + math.log2(threads) / steps * (RIGHT - LEFT)

    def y(gain: float) -> float:
        return BOTTOM - math.log2(max(gain, 0.5)) / steps * (BOTTOM - TOP)

    parts = [f'<rect fill="#ffffff" width="{WIDTH}" height="{HEIGHT}"/>']
    for power in range(round(steps) + 1):
        at = y(2**power)
        parts.append(f'<line stroke="#e3e3e8" x1="{LEFT}" y1="{at:.1f}" x2="{RIGHT}" y2="{at:.1f}"/>')
        parts.append(f'<text text-anchor="end" x="{LEFT - 8}" y="{at + 4:.1f}">{2**power} ×</text>')
        parts.append(f'<text text-anchor="middle" x="{x(2**power):.1f}" y="{BOTTOM + 20}">{2**power}</text>')
    parts.append(f'<text text-anchor="middle" x="{(LEFT + RIGHT) / 2:g}" y="{HEIGHT - 12}">threads</text>')
    parts.append(
        f'<line stroke="#9ca3af" stroke-dasharray="5 4" x1="{LEFT}" y1="{BOTTOM}" x2="{RIGHT}" y2="{y(most):.1f}"/>'
    )
    ends = sorted(((points[-1][1], name) for name, points in curves.items()), reverse=True)
    label = TOP - 6.0
    for gain, name in ends:
        colour = CURVES[name]
        points = " ".join(f"{x(threads):.1f},{y(value):.1f}" for threads, value in curves[name])
        parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2.5" points="{points}"/>')
        label = max(label + 16, y(gain) + 4)
        parts.append(f'<text fill="{colour}" x="{RIGHT + 8}" y="{label:.1f}">{name} {gain:.1f} ×</text>')
    body = "\n  ".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" role="img">\n'
        f"  <title>Speed-up over the number of threads</title>\n"
        f"  <style>text {{ font: 13px system-ui, sans-serif }}</style>\n  {body}\n</svg>\n"
    )


def costs(found: dict[str, Any]) -> str:
    """What larger collections of JSON lines would take, in proportion to what was measured."""
    machine, lines = found["machine"], found["collections"][0]
    chosen = [row for row in lines["rows"] if row["threads"] in (2, machine["cores"])]
    each = lines["bytes"] / DOCUMENTS
    rows = [
        "| text | documents | least memory | " + " | ".join(f"{row['threads']} cores" for row in chosen) + " |",
        "|---:|---:|---:|" + "---:|" * len(chosen),
    ]
    for size, name in ((1e10, "10 GB"), (1e11, "100 GB"), (1e12, "1 TB"), (1e13, "10 TB")):
        least = (BASE_MEMORY + 24 * size / each) / 1e9
        times = " | ".join(_time(size / lines["bytes"] * row["seconds"]) for row in chosen)
        rows.append(f"| {name} | {size / each / 1e6:,.0f} million | {least:,.1f} GB | {times} |")
    first = (
        f"In proportion to {lines['bytes'] / 1e9:.1f} GB of JSON lines ({DOCUMENTS:,} documents), measured on "
        f"{machine['date'][:10]} ({machine['cpu']}, the input in the system's cache); ten million documents grew a "
        "little less than in proportion ([how it scales](scale.md)), more was not measured. *Least memory* is what the "
        "number of documents needs; with more, less is written to disk."
    )
    return first + "\n\n" + "\n".join(rows)


def _time(seconds: float) -> str:
    for limit, unit, name in ((120, 1, "s"), (7200, 60, "min"), (172_800, 3600, "h")):
        if seconds < limit:
            return f"{seconds / unit:.0f} {name}"
    return f"{seconds / 86_400:.0f} days"


def page(text: str, body: Callable[[dict[str, Any]], str] = tables) -> str:
    """The page with the tables of what was measured."""
    before, rest = text.split(START)
    return f"{before}{START}\n{body(measured())}\n{END}{rest.split(END, 1)[1]}"


if __name__ == "__main__":
    PICTURE.write_text(draw(measured()), encoding="utf-8")
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    COSTS.write_text(page(COSTS.read_text(encoding="utf-8"), costs), encoding="utf-8")
