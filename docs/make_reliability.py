"""Writes the tables of kills and fuzzers into `docs/reliability.md`, from `benchmarks/results`.

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


def fuzzers() -> str:
    """One row per target."""
    lines = ["| target | bytes | inputs | found and mended |", "|---|---:|---:|---:|"]
    for name, row in measured("fuzz").items():
        lines.append(f"| `{name}` | {row['bytes']:,} | {row['inputs']:,} | {row['findings'] or 'none'} |")
    return "\n".join(lines)


BLOCKS = {"kills": kills, "fuzzers": fuzzers}


def page(text: str) -> str:
    """The page with both tables."""
    begin, end = "<!-- {}: python docs/make_reliability.py -->\n\n", "\n\n<!-- end of {} -->"
    return BLOCK.sub(lambda found: begin.format(found[1]) + BLOCKS[found[1]]() + end.format(found[1]), text)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
