"""Repeated passages: speed on a corpus, and growth with boilerplate in the documents.

    python -m benchmarks.passages
    python -m benchmarks.passages --input corpus.parquet --documents 100000 1000000 --out results.json
    python -m benchmarks.passages --documents --pan corpora --out results.json
    python -m benchmarks.passages --show results.json

Growth: documents of 200 random words of their own and a page of boilerplate of 100 words, in files of JSON lines. The
exponent is that of CPU time between the smallest and the largest collection. Every run is a process of its own; CPU
seconds hardly depend on who else uses the machine. Of every corpus the ten passages are listed whose removal saves
most. PAN 2013 has copied passages with known offsets: the share of their characters in repeated runs, on both
sides. `--show` prints the tables of `docs/passages.md`.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

import roughly
from benchmarks.measure import cpu_of_children, machine
from benchmarks.tables import markdown, write_json

OWN, SHARED = 200, 100
MADE_AT_ONCE = 20_000
SIZES = (2_000, 20_000)
TOP, SHOWN = 5, 44
PAN_SIDES = {"copies": ("suspicious_id", "susp"), "originals": ("source_id", "source")}
NAMES = {
    "debian_docs": "Debian's manuals",
    "terms_versions": "terms of service",
    "r_devel_2010_2011": "mailing list r-devel",
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.passages", description=__doc__.split("\n\n")[0])
    parser.add_argument("--input", type=Path, action="append", default=[], help="a corpus to measure speed on")
    parser.add_argument("--documents", type=int, nargs="*", default=list(SIZES), help="sizes of grown collections")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--memory", default="4GB")
    parser.add_argument("--folder", type=Path, help="where grown collections are made and kept, for another run")
    parser.add_argument("--pan", type=Path, metavar="FOLDER", help="the folder of PAN 2013: copied characters found")
    parser.add_argument("--only-make", action="store_true", help="make them and measure nothing")
    parser.add_argument("--out", type=Path, help="JSON to write; what it has of other runs is kept")
    parser.add_argument("--show", type=Path, metavar="JSON", help="print the tables of an earlier run")
    given = parser.parse_args()
    if given.show:
        print("\n\n".join(tables(json.loads(given.show.read_text()))))
        return
    options = ["--threads", str(given.threads), "--memory", given.memory]
    with tempfile.TemporaryDirectory() as folder:
        speed = [measured(path, Path(folder), options) for path in given.input]
        growth = []
        for count in sorted(given.documents):
            path = (given.folder or Path(folder)) / f"boilerplate-{count}.jsonl"
            if not path.exists():
                grown(path, count)
            if not given.only_make:
                growth.append(measured(path, Path(folder), options))
            if not given.folder:
                path.unlink()
    if given.only_make:
        return
    found = {
        "machine": machine(),
        "memory": given.memory,
        "speed": speed,
        "growth": growth,
        "exponent": exponent(growth),
        "pan": [pan(given.pan, least, gap) for least in (25, 50) for gap in (0, 8)] if given.pan else None,
    }
    if given.out and given.out.exists():
        before = json.loads(given.out.read_text())
        found = before | {name: value for name, value in found.items() if value}
    print("\n\n".join([*tables(found), stages(found)]))
    if found["exponent"]:
        print(f"\nexponent of CPU time by documents: {found['exponent']:.2f}")
    if given.out:
        write_json(given.out, found)


def tables(found: dict[str, Any]) -> list[str]:
    """What the runs cost, and the passages of every corpus, as Markdown."""
    columns = ("documents", "megabytes", "copied_megabytes", "cpu_seconds", "peak_megabytes")
    rows = [[_name(row), *(f"{row[name]:,}" for name in columns)] for row in [*found["speed"], *found["growth"]]]
    made = [markdown(("collection", "documents", "MB", "copies, MB", "CPU seconds", "peak MB"), rows)]
    listed = [
        ["" if number else _name(row), f"{one['places']:,}", f"{one['tokens']:,}", " ".join(one["begins"].split()[:3])]
        for row in found["speed"]
        for number, one in enumerate(row["passages"][:TOP])
    ]
    return [*made, markdown(("collection", "places", "tokens", "begins"), listed)] if listed else made


def pan_table(found: dict[str, Any]) -> str:
    """The copied characters of PAN 2013 that were found, as Markdown."""
    rows = [
        [f"{row['least']}", f"{row['gap']}", *(f"{100 * row[side]:.1f} %" for side in PAN_SIDES)]
        for row in found["pan"]
    ]
    return markdown(("`--least`", "`--gap`", "in the copies", "in the originals"), rows)


def pan(folder: Path, least: int, gap: int) -> dict[str, Any]:
    """The share of the copied characters that stand in repeated runs, in the copies and in the originals."""
    spans: dict[str, list[tuple[int, int]]] = {}
    found = roughly.passages(folder / "pan13_no_obfuscation.parquet", least=least, gap=gap).spans
    for row in found.to_pylist():
        spans.setdefault(row["doc_id"], []).append((row["char_start"], row["char_end"]))
    with (folder / "pan13_no_obfuscation_passages.csv").open(encoding="utf-8") as rows:
        passages = list(csv.DictReader(rows))
    shares = {}
    for side, (name, prefix) in PAN_SIDES.items():
        seen = np.zeros(2, np.int64)
        for row in passages:
            start, length = int(row[f"{prefix}_offset"]), int(row[f"{prefix}_length"])
            is_seen = np.zeros(length, np.bool_)  # spans with gaps may overlap
            for begin, end in spans.get(row[name], []):
                is_seen[max(0, begin - start) : max(0, end - start)] = True
            seen += int(is_seen.sum()), length
        shares[side] = round(float(seen[0] / seen[1]), 4)
    return {"least": least, "gap": gap, **shares}


def stages(found: dict[str, Any]) -> str:
    """Wall and CPU seconds of every stage."""
    rows = [
        [_name(row), *(f"{cell:,}" for cell in (row["documents"], row["threads"])), name]
        + [f"{cell:,}" for cell in (seconds, row["stage_cpu_seconds"][name], peak)]
        for row in [*found["speed"], *found["growth"]]
        for (name, seconds), peak in zip(row["stages"].items(), row["stage_megabytes"].values(), strict=True)
        if "stage_cpu_seconds" in row  # earlier runs have none
    ]
    return markdown(("collection", "documents", "threads", "stage", "seconds", "CPU seconds", "peak MB"), rows)


def _name(row: dict[str, Any]) -> str:
    return NAMES.get(row["input"], row["input"].partition("-")[0])


def measured(path: Path, folder: Path, options: list[str]) -> dict[str, Any]:
    """One run: what it found, and what it cost."""
    output = folder / f"{path.stem}-out"
    before = cpu_of_children()
    command = [sys.executable, "-m", "roughly", "passages", str(path), "-o", str(output), "--quiet", *options]
    subprocess.run(command, check=True)
    run = json.loads((output / "run.json").read_text())
    counts = run["counts"]
    listed = pq.read_table(output / "passages.parquet").slice(0, TOP).to_pylist()
    return {
        "input": path.stem,
        "documents": counts["documents"],
        "megabytes": round(counts["bytes"] / 1e6, 1),
        "copied_megabytes": round(counts["copied_bytes"] / 1e6, 1),
        "seconds": round(run["seconds"], 1),
        "cpu_seconds": round(cpu_of_children() - before, 1),
        "peak_megabytes": round(run["peak_memory"] / 1e6),
        "threads": run["resources"]["threads"],
        "stages": {stage["name"]: round(stage["seconds"], 2) for stage in run["stages"]},
        "stage_cpu_seconds": {stage["name"]: round(stage["cpu_seconds"], 2) for stage in run["stages"]},
        "stage_megabytes": {stage["name"]: round(stage["peak_memory"] / 1e6) for stage in run["stages"]},
        "passages": [
            {"places": row["places"], "tokens": row["tokens"], "begins": beginning(row["excerpt"])} for row in listed
        ],
    }


def beginning(text: str) -> str:
    """The first words, without what Markdown or a page would take for something else."""
    words = re.sub(r"[^\w.,:;'()/-]+", " ", text).split()
    kept = ""
    for word in words:
        if len(kept) + len(word) > SHOWN:
            break
        kept += f" {word}"
    return (kept or words[0][:SHOWN]).strip()


def grown(path: Path, count: int) -> None:
    """Documents of random words with one page of boilerplate in each, made by all cores."""
    unfinished = path.with_suffix(".partial")
    firsts = range(0, count, MADE_AT_ONCE)
    with unfinished.open("wb") as out, ProcessPoolExecutor() as pool:
        for lines in pool.map(_documents, firsts, (min(count, first + MADE_AT_ONCE) for first in firsts)):
            out.write(lines)
    unfinished.rename(path)


def _documents(first: int, stop: int) -> bytes:
    """Documents first … stop − 1 as lines."""
    draw = np.random.default_rng(first)
    page = " ".join(f"clause{at}" for at in range(SHARED))
    words = [f"w{word}" for word in range(100_000)]
    lines = []
    for number in range(first, stop):
        own = [words[word] for word in draw.integers(0, len(words), OWN).tolist()]
        at = int(draw.integers(0, OWN))
        text = " ".join([*own[:at], page, *own[at:]])
        lines.append(f'{{"id": "{number}", "text": "{text}"}}\n')
    return "".join(lines).encode()


def exponent(rows: list[dict[str, Any]]) -> float | None:
    """How CPU time grows with documents: the slope of the logarithms between the first and the last row."""
    if len(rows) < 2:
        return None
    first, last = rows[0], rows[-1]
    steps = math.log(last["documents"] / first["documents"])
    return math.log(last["cpu_seconds"] / first["cpu_seconds"]) / steps if steps else None


if __name__ == "__main__":
    main()
