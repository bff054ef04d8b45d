"""Writes what `python -m benchmarks.scale` measured into the documentation: a table of `scale.md` and a picture.

    python -m benchmarks.scale grown/* --out benchmarks/results/scale.json
    python docs/make_growth.py

A test fails while the two are not what this writes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
MEASURED = HERE.parent / "benchmarks" / "results" / "scale.json"
PICTURE = HERE / "images" / "growth.svg"
PAGE = HERE / "scale.md"
START, END = "<!-- measured: python docs/make_growth.py -->", "<!-- end -->"

INPUTS = {"parquet": "Parquet", "jsonl": "JSONL"}
WIDTH, HEIGHT = 672, 380
LEFT, RIGHT, TOP, BOTTOM = 64, 520, 24, 320
CURVES = (
    ("seconds", "seconds", 1.0, "#3f51b5"),
    ("cpu", "CPU seconds", 1.0, "#6b7280"),
    ("peak", "peak memory, MB", 2.0**20, "#c2410c"),
    ("disk", "disk, MB", 1e6, "#0f766e"),
)


def runs() -> list[dict[str, Any]]:
    """All of them, Parquet first, then by size and memory."""
    rows = json.loads(MEASURED.read_text(encoding="utf-8"))["rows"]
    good = (row for row in rows if not row["failure"])
    return sorted(good, key=lambda row: (row["input"] != "parquet", row["documents"], row["memory"]))


def growth(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those over Parquet with `--memory 4GB`, which the picture shows."""
    return [row for row in rows if row["memory"] == "4GB" and row["input"] == "parquet"]


def exponent(rows: list[dict[str, Any]], name: str) -> float:
    """The slope of a straight line through the logarithms."""
    return float(np.polyfit(np.log([r["documents"] for r in rows]), np.log([r[name] for r in rows]), 1)[0])


def table(rows: list[dict[str, Any]]) -> str:
    """As Markdown."""
    lines = [
        "| documents | text | input | `--memory` | seconds | MB/s | CPU s | peak memory | disk | recall | planned |",
        "|---:|---:|---|---|---:|---:|---:|---:|---:|---:|---|",
    ]
    for row in rows:
        plan = row.get("plan")
        planned = f"{plan['seconds']:.0f} s, {plan['memory'] / 2**20:,.0f} MB" if plan else ""
        lines.append(
            f"| {row['documents']:,} | {row['bytes'] / 1e9:.2f} GB | {INPUTS[row['input']]} | {row['memory']} "
            f"| {row['seconds']:.0f} | {row['bytes'] / 1e6 / row['seconds']:.0f} | {row['cpu']:,.0f} "
            f"| {row['peak'] / 2**20:,.0f} MB | {row['disk'] / 1e9:.1f} GB "
            f"| {row['recall']:.4f} | {planned} |"
        )
    shown = growth(rows)
    slopes = ", ".join(f"{what.split(',')[0]} {exponent(shown, name):.2f}" for name, what, _, _ in CURVES)
    return "\n".join(
        [*lines, "", f"Fitted exponents in the number of documents, Parquet with `--memory 4GB`: {slopes}."]
    )


def draw(rows: list[dict[str, Any]]) -> str:
    """Time, memory and disk over the number of documents, both axes logarithmic."""
    rows = growth(rows)
    low, high = np.log10(rows[0]["documents"]), np.log10(rows[-1]["documents"])
    values = [row[name] / unit for row in rows for name, _, unit, _ in CURVES]
    least, most = np.floor(np.log10(min(values))), np.ceil(np.log10(max(values)))

    def x(documents: float) -> float:
        return float(LEFT + (np.log10(documents) - low) / (high - low) * (RIGHT - LEFT))

    def y(value: float) -> float:
        return float(BOTTOM - (np.log10(value) - least) / (most - least) * (BOTTOM - TOP))

    parts = [f'<rect fill="#ffffff" width="{WIDTH}" height="{HEIGHT}"/>']
    for power in range(int(least), int(most) + 1):
        at = y(10.0**power)
        parts.append(f'<line stroke="#e3e3e8" x1="{LEFT}" y1="{at:.1f}" x2="{RIGHT}" y2="{at:.1f}"/>')
        parts.append(f'<text text-anchor="end" x="{LEFT - 8}" y="{at + 4:.1f}">{10**power:,}</text>')
    for row in rows:
        at = x(row["documents"])
        parts.append(f'<text text-anchor="middle" x="{at:.1f}" y="{BOTTOM + 20}">{row["documents"]:,}</text>')
    parts.append(f'<text text-anchor="middle" x="{(LEFT + RIGHT) / 2:g}" y="{HEIGHT - 12}">documents</text>')
    for name, what, unit, colour in CURVES:
        points = " ".join(f"{x(row['documents']):.1f},{y(row[name] / unit):.1f}" for row in rows)
        parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2.5" points="{points}"/>')
        for row in rows:
            parts.append(
                f'<circle fill="{colour}" r="3.5" cx="{x(row["documents"]):.1f}" cy="{y(row[name] / unit):.1f}"/>'
            )
        at = y(rows[-1][name] / unit) + 4
        parts.append(f'<text fill="{colour}" x="{RIGHT + 8}" y="{at:.1f}">{what}</text>')
    body = "\n  ".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" role="img">\n'
        f"  <title>Time, memory and disk over the number of documents</title>\n"
        f"  <style>text {{ font: 13px system-ui, sans-serif }}</style>\n  {body}\n</svg>\n"
    )


def page(text: str) -> str:
    """The page with the table of what was measured."""
    before, rest = text.split(START)
    return f"{before}{START}\n{table(runs())}\n{END}{rest.split(END, 1)[1]}"


if __name__ == "__main__":
    PICTURE.write_text(draw(runs()), encoding="utf-8")
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
