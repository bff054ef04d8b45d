"""Writes the tables of kills, hostile files, fuzzers and load into `docs/reliability.md`, from `benchmarks/results`.

    python docs/make_reliability.py

A test fails while the page is not what this prints.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
PAGE = DOCS / "reliability.md"
RESULTS = DOCS.parent / "benchmarks" / "results"
BLOCK = re.compile(r"<!-- (\w+): python docs/make_reliability.py -->\n.*?<!-- end of \1 -->", re.DOTALL)


def measured(name: str) -> dict[str, Any]:
    """The results of a benchmark."""
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def kills() -> str:
    """One row per command."""
    found = measured("kills")
    machine, rows = found["machine"], found["commands"]
    columns = ("kills", "rounds", "identical", "damaged_files")
    lines = [
        f"{machine['date'][:10]}, {machine['architecture']}, {found['workers']} at a time; acknowledged by the service "
        f"and lost: {sum(row['lost_acknowledged'] for row in rows.values()):,}.",
        "", "| command | kills | rounds | identical | files damaged |", "|---|" + "---:|" * 4,
    ]  # fmt: skip
    total = {column: sum(row[column] for row in rows.values()) for column in columns}
    for name, row in {**{f"`{name}`": row for name, row in rows.items()}, "all": total}.items():
        lines.append(f"| {name} | " + " | ".join(f"{row[column]:,}" for column in columns) + " |")
    return "\n".join(lines)


def hostile() -> str:
    """One row for files made to hurt, one for damaged ones; then what went wrong."""
    found = measured("hostile")
    columns = ("files", "read", "refused", "over_memory", "too_slow", "tracebacks", "unaccounted")
    lines = [
        f"{found['machine']['date'][:10]}, {found['machine']['architecture']}, `--memory {found['memory_mb']}MB`.",
        "", "| | files | read | refused | over memory | too slow | tracebacks | unaccounted for | peak MB | CPU s |",
        "|---|" + "---:|" * (len(columns) + 2),
    ]  # fmt: skip
    for name in ("hostile", "damaged"):
        counts = " | ".join(f"{found[name][column]:,}" for column in columns)
        lines.append(f"| {name} | {counts} | {found[name]['peak_mb']:,} | {found[name]['slowest_seconds']} |")
    problems = [problem for name in ("hostile", "damaged") for problem in found[name]["problems"]]
    return "\n".join([*lines, *(["", *(f"- {problem}" for problem in problems)] if problems else [])])


def fuzzers() -> str:
    """The targets that had 10^9 bytes in one sentence, a row for each other, and what was found."""
    found = measured("fuzz")
    done = [name for name, row in found.items() if row["bytes"] >= 10**9]
    mended = ", ".join(f"`{name}` {row['findings']}" for name, row in found.items() if row["findings"])
    inputs = sum(found[name]["inputs"] for name in done)
    lines = [
        f"10^9 bytes or more each ({inputs:,} inputs): {', '.join(f'`{name}`' for name in done)}.",
        "", f"Found and mended: {mended}.",
    ]  # fmt: skip
    if rest := {name: row for name, row in found.items() if name not in done}:
        lines += ["", "| fewer | bytes | inputs |", "|---|---:|---:|"]
        lines += [f"| `{name}` | {row['bytes']:,} | {row['inputs']:,} |" for name, row in rest.items()]
    return "\n".join(lines)


def load() -> str:
    """The service under mixed load, in one sentence."""
    found = measured("service")
    row = found["rows"][0]
    first, last = row["memory_over_time"][0], row["memory_over_time"][-1]
    return (
        f"{found['clients']} clients on {found['cores']} cores, {row['seconds'] / 60:.0f} minutes: {row['requests']:,} "
        f"requests, {row['errors']:,} errors, {first:,} MB after a tenth of the time and {last:,} MB at the end."
    )


BLOCKS = {"kills": kills, "hostile": hostile, "fuzzers": fuzzers, "load": load}


def page(text: str) -> str:
    """The page with all tables."""
    begin, end = "<!-- {}: python docs/make_reliability.py -->\n\n", "\n\n<!-- end of {} -->"
    return BLOCK.sub(lambda found: begin.format(found[1]) + BLOCKS[found[1]]() + end.format(found[1]), text)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
