"""Every table at once: `python -m benchmarks` (some minutes) or `python -m benchmarks --full` (up to an hour).

Prints Markdown, writes `results/DATE-quick.json` (or -full) with the machine it ran on, and draws speed against
recall and precision as PNG files beside it where matplotlib is installed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks import corpora, dedupe, index, kernels, results_grouping
from benchmarks.corpora import Collection, CorpusMissing
from benchmarks.measure import machine
from benchmarks.tables import dedupe_table, draw, write_json

RESULTS = Path(__file__).resolve().parent / "results"


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is measured."""

    name: str
    kernel_megabytes: int
    kernel_repeats: int
    documentation_megabytes: int
    mail_share: float
    timeout: float
    indexed: int  # documents
    grouped: int  # results


QUICK = Scale("quick", 8, 3, 12, 0.2, 600, 5_000, 500)
FULL = Scale("full", 50, 5, 200, 1.0, 7200, 100_000, 500)


def collections(scale: Scale, chosen: argparse.Namespace) -> Iterator[Collection]:
    """The sets to run on: the caller's own files, or documentation, mail and, if asked for, grown documents."""
    if chosen.files:
        most = scale.documentation_megabytes * 1_000_000
        yield corpora.own(chosen.files, chosen.text_column, None if chosen.full else most)
        return
    yield corpora.documentation(chosen.corpora, scale.documentation_megabytes * 1_000_000)
    yield corpora.mail(chosen.corpora, scale.mail_share)
    if chosen.grown:
        yield corpora.grown(chosen.corpora, chosen.grown)


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.split("\n")[0])
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="small sets, some minutes (the default)")
    size.add_argument("--full", action="store_true", help="200 MB of pages and 34,000 mails, about an hour")
    parser.add_argument("--tools", default="", help="names with commas; all of them if not given")
    parser.add_argument("--corpora", type=Path, default=corpora.CORPORA, help="folder of the corpora")
    parser.add_argument("--files", type=Path, nargs="+", help="Parquet or JSONL files instead of the corpora")
    parser.add_argument("--text-column", default="text", help="of --files")
    parser.add_argument("--grown", type=int, metavar="N", help="a third set of N grown documents")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder for JSON and plots")
    chosen = parser.parse_args(arguments)
    scale = FULL if chosen.full else QUICK
    try:
        tools = dedupe.tools_named(chosen.tools)
        sets = list(collections(scale, chosen))
    except (CorpusMissing, ValueError) as problem:
        print(f"benchmarks: {problem}", file=sys.stderr)
        return 1

    name = f"{time.strftime('%Y-%m-%d-%H%M')}-{scale.name}"
    facts: dict[str, object] = {"scale": scale.name, "machine": machine(), "kernels": [], "dedupe": {}}
    loops = kernels.compare(kernel_set(scale, chosen, sets), tools, scale.kernel_repeats, scale.timeout)
    print(f"\n## Hot loops, one core\n\n{kernels.table(loops)}", flush=True)
    facts["kernels"] = [row.as_json() for row in loops]
    found: dict[str, object] = {}
    for collection in sets:
        rows = dedupe.compare(collection, tools, scale.timeout)
        title = f"{collection.name}: {collection.documents:,} documents, {collection.text_bytes / 1e6:.0f} MB"
        print(f"\n## {title}\n\n{dedupe_table(rows)}", flush=True)
        found[collection.name] = [row.as_json() for row in rows]
        facts["dedupe"] = found
        write_json(chosen.results / f"{name}.json", facts)  # after every set: an hour is not lost to the last
        draw(chosen.results / f"{name}-{collection.name}.png", title, rows)
    if not chosen.files:
        facts |= online(scale, chosen)
        write_json(chosen.results / f"{name}.json", facts)
    print(f"\nwritten to {chosen.results / name}.json", file=sys.stderr)
    return 0


def online(scale: Scale, chosen: argparse.Namespace) -> dict[str, object]:
    """The index, and search results grouped."""
    places = "sqlite,postgresql"
    grown = index.grown(scale.indexed, chosen.corpora)
    found = index.compare(grown, index.Measured(scale.indexed, at_once=2_000), places)
    print(f"\n## An index of {scale.indexed:,} documents\n\n{index.table(found, places.split(','))}", flush=True)
    rows = results_grouping.measure(results_grouping.drawn(chosen.corpora, scale.grouped), 15)
    print(f"\n## {scale.grouped} search results grouped\n\n{results_grouping.table(rows)}", flush=True)
    return {"index": found, "results_grouping": rows}


def kernel_set(scale: Scale, chosen: argparse.Namespace, sets: list[Collection]) -> Collection:
    """The texts of the hot loops: part of the documentation, or the caller's own."""
    if chosen.files:
        return sets[0]
    return corpora.documentation(chosen.corpora, scale.kernel_megabytes * 1_000_000)


if __name__ == "__main__":
    sys.exit(main())
