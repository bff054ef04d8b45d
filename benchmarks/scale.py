"""Time, memory and disk as a collection grows, beside what `--plan` had predicted.

    python -m benchmarks.grow corpora/large/debian_docs.parquet --documents 100000 --out grown/100k
    python -m benchmarks.scale grown/100k grown/300k grown/1m --memory 4GB

Each folder is one that `benchmarks.grow` made. Recall is that of the labelled pairs at or above the threshold: of two
such documents at least one must go. Memory is that of all processes, sampled from outside. The exponents are those
of a straight line through the logarithms.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from benchmarks.measure import machine, run
from benchmarks.tables import markdown, write_json

_THRESHOLD = 0.8
_COLUMNS = (
    "documents", "GB", "input", "memory set", "seconds", "MB/s", "CPU s", "peak MB", "disk GB", "recall", "removed",
    "planned s", "planned MB", "planned disk GB",
)  # fmt: skip


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__.split("\n\n")[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--memory", default="4GB", help="or several, such as 1GB,2GB,4GB")
    parser.add_argument("--timeout", type=float, default=7200)
    parser.add_argument("--work", type=Path, help="where outputs go meanwhile")
    parser.add_argument("--no-plan", action="store_true")
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    rows = []
    for folder in asked.folders:
        for memory in asked.memory.split(","):
            rows.append(measure(folder, memory, asked.timeout, asked.work, plan=not asked.no_plan))
            print(table(rows), flush=True)
            if asked.out:
                write_json(asked.out, {"machine": machine(), "rows": rows, "exponents": exponents(rows)})
    for name, value in exponents(rows).items():
        print(f"exponent of {name}: {value:.2f}")


def measure(folder: Path, memory: str, timeout: float, work: Path | None, *, plan: bool) -> dict[str, Any]:
    """One run over one grown collection."""
    grown = json.loads((folder / "grown.json").read_text())
    command = [sys.executable, "-m", "roughly", "dedupe", str(folder / "documents"), "--memory", memory]
    kind = next((folder / "documents").iterdir()).suffix.lstrip(".")
    row: dict[str, Any] = {
        "documents": grown["documents"], "bytes": grown["text_bytes"], "input": kind, "memory": memory
    }  # fmt: skip
    scratch = Path(tempfile.mkdtemp(prefix="roughly-scale-", dir=work))
    try:
        if plan:
            planned = run([*command, "--plan", "--json"], folder=scratch, environment={}, timeout=timeout)
            if planned.failure:
                raise RuntimeError(planned.failure)
            row["plan"] = json.loads(planned.output[planned.output.index("{") :])
        out = scratch / "out"
        done = run([*command, "-o", str(out), "--quiet"], folder=scratch, environment={}, timeout=timeout)
        row |= {
            "seconds": done.seconds,
            "cpu": done.cpu_seconds,
            "peak": done.peak_bytes,
            "disk": done.written_bytes,
            "failure": done.failure,
        }
        if done.failure is None:
            account = json.loads((out / "run.json").read_text())
            row |= {"counts": account["counts"], "stages": account["stages"]}
            row["recall"] = recall(out / "documents.parquet", folder / "truth")
    finally:
        shutil.rmtree(scratch)
    return row


def recall(documents: Path, truth: Path) -> float:
    """The share of labelled pairs at or above the threshold of which at least one document went."""
    rows = duckdb.sql(
        f"""
        SELECT count(*) FILTER (NOT (a.kept AND b.kept)) / count(*) FROM '{truth}/*.parquet' t
        JOIN '{documents}' a ON a.doc_id = t.child JOIN '{documents}' b ON b.doc_id = t.parent
        WHERE t.resemblance >= {_THRESHOLD}
        """
    ).fetchall()
    return float(rows[0][0])


def exponents(rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    """How seconds, memory and disk grow with the number of documents; needs two sizes."""
    good = [row for row in rows if not row["failure"]]
    if len({row["documents"] for row in good}) < 2:
        return {}
    sizes = np.log([row["documents"] for row in good])
    return {
        name: float(np.polyfit(sizes, np.log([row[name] for row in good]), 1)[0])
        for name in ("seconds", "cpu", "peak", "disk")
    }


def table(rows: Sequence[dict[str, Any]]) -> str:
    """As Markdown."""
    lines = []
    for row in rows:
        if row["failure"]:
            lines.append([f"{row['documents']:,}", "", row["input"], row["memory"], row["failure"], *[""] * 9])
            continue
        plan = row.get("plan")
        lines.append(
            [
                f"{row['documents']:,}",
                f"{row['bytes'] / 1e9:.2f}",
                row["input"],
                row["memory"],
                f"{row['seconds']:.1f}",
                f"{row['bytes'] / 1e6 / row['seconds']:.1f}",
                f"{row['cpu']:.0f}",
                f"{row['peak'] / 2**20:.0f}",
                f"{row['disk'] / 1e9:.2f}",
                f"{row['recall']:.4f}",
                f"{row['counts']['removed']:,}",
                f"{plan['seconds']:.1f}" if plan else "",
                f"{plan['memory'] / 2**20:.0f}" if plan else "",
                f"{(plan['disk'] + plan['output_bytes']) / 1e9:.2f}" if plan else "",
            ]
        )
    return markdown(_COLUMNS, lines)


if __name__ == "__main__":
    main()
