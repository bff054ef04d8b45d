"""`roughly show`: the tables of a run, printed."""

from __future__ import annotations

import csv
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from roughly import checks
from roughly.console.terminal_output import print_json_line
from roughly.declarations import argument, option
from roughly.errors import InputMissing
from roughly.fast_dataclass import dataclass

WHAT = ("removed", "kept", "documents", "pairs", "clusters", "rejected")
FORMATS = ("table", "csv", "jsonl")
_ROWS = 20
_WIDEST = 60
_AGAIN = "run dedupe again"


@dataclass(frozen=True, kw_only=True)
class ShowOptions:
    """Options of the command `show`."""

    run: Path = argument(help="The folder of a run, as `roughly dedupe -o` writes it.", metavar="RUN")
    what: str = argument("removed", f"{', '.join(WHAT)}.", metavar="TABLE", choices=lambda: WHAT)
    format: str = option("table", f"{', '.join(FORMATS)}.", choices=lambda: FORMATS)
    limit: int | None = option(None, f"Most rows; by default {_ROWS} of a table, and all with csv and jsonl.")


def show(options: ShowOptions) -> None:
    """Print a table of a run: what is removed, what is kept, pairs, clusters."""
    problems = [
        *checks.one_of("the table", options.what, WHAT),
        *checks.one_of("format", options.format, FORMATS),
        *([] if options.limit is None else checks.whole("limit", options.limit, 0, 1 << 62)),
    ]
    checks.refuse(problems)
    if not (options.run / "run.json").is_file():
        raise InputMissing(
            f"{options.run} is not the folder of a run: it has no run.json; make one: roughly dedupe INPUT -o FOLDER"
        )
    limit = options.limit if options.limit is not None or options.format != "table" else _ROWS
    rows = itertools.islice(_rows(options.run, options.what), limit)
    if options.format == "jsonl":
        for row in rows:
            print_json_line(row)
    elif options.format == "csv":
        _print_csv(rows, _columns(options.run, options.what))
    else:
        _print_table(list(rows), _columns(options.run, options.what))


def _rows(run: Path, what: str) -> Iterator[dict[str, Any]]:
    if what == "rejected":
        yield from _rejected(run)
        return
    import pyarrow as pa

    from roughly.features.metadata import refuse_damage
    from roughly.job.removed_ids import table_batches

    with refuse_damage(run, _AGAIN):
        for batch in table_batches(run, what if what in ("pairs", "clusters") else "documents"):
            if what in ("removed", "kept"):
                kept = batch.column("kept").to_numpy(zero_copy_only=False)
                batch = batch.filter(pa.array(kept if what == "kept" else ~kept))
            yield from batch.to_pylist()


def _rejected(run: Path) -> Iterator[dict[str, Any]]:
    import json

    from roughly.features.metadata import refuse_damage

    path = run / "quarantine.jsonl"
    for file in sorted(path.glob("part-*")) if path.is_dir() else [path]:
        with refuse_damage(file, _AGAIN), file.open(encoding="utf-8") as lines:
            yield from (dict(json.loads(line)) for line in lines)


def _columns(run: Path, what: str) -> list[str]:
    if what == "rejected":
        return ["file", "record", "reason", "excerpt"]
    from roughly.features.metadata import refuse_damage
    from roughly.sources.parquet_open import parquet_schema

    path = run / f"{what if what in ('pairs', 'clusters') else 'documents'}.parquet"
    file = next(iter(sorted(path.glob("*.parquet"))), path) if path.is_dir() else path
    with refuse_damage(file, _AGAIN):
        return list(parquet_schema(file).names)


def _print_csv(rows: Iterator[dict[str, Any]], columns: list[str]) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        values = (row.get(name) for name in columns)
        writer.writerow([str(value).lower() if isinstance(value, bool) else value for value in values])


def _print_table(rows: list[dict[str, Any]], columns: list[str]) -> None:
    """Columns side by side, numbers to the right; long values are cut."""
    cells = [[_cell(row.get(name)) for name in columns] for row in rows]
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    numbers = [rows and all(isinstance(row.get(name), int | float | None) for row in rows) for name in columns]
    for line in [columns, *cells]:
        shown = (
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(line, widths, numbers, strict=True)
        )
        print("  ".join(shown).rstrip())


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}"
    text = " ".join(str(value).split())
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"
