"""How long a command takes before and beside its work: help, the demo's run, a query, a small run within Python.

    python -m benchmarks.startup
    python -m benchmarks.startup --before ../other-checkout/src --out benchmarks/results/startup.json

With `--before`, each command is run with both packages in turn, so that both meet the same machine. The median of the
runs is shown; CPU seconds (all threads, user and system) hardly depend on who else uses the machine. Sources are
compiled to bytecode first, as they are in an installed package.
"""

from __future__ import annotations

import argparse
import compileall
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.measure import cpu_of_children, machine
from benchmarks.tables import markdown, write_json

ROOT = Path(__file__).resolve().parent.parent
DEMO = ROOT / "examples" / "policies.jsonl.gz"
IN_MEMORY = """
import time, roughly
texts = [f"document {i // 2} " + " ".join(str(i // 2 * k) for k in range(60)) + " end" * (i % 2) for i in range(500)]
roughly.dedupe(texts)
taken = []
for _ in range(5):
    start, cpu = time.perf_counter(), time.process_time()
    roughly.dedupe(texts)
    taken.append((time.perf_counter() - start, time.process_time() - cpu))
print(*(sorted(values)[2] for values in zip(*taken)))
"""
_IMPORTED = re.compile(r"^import time: .*\| +(\S+)$", re.MULTILINE)


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.startup", description=__doc__.split("\n\n")[0])
    parser.add_argument("--before", type=Path, help="the folder `src` of another checkout, to compare with")
    parser.add_argument("--repeat", type=int, default=9, help="runs of each command")
    parser.add_argument("--out", type=Path, help="JSON to write")
    given = parser.parse_args()
    packages = {"now": ROOT / "src"} | ({"before": given.before.resolve()} if given.before else {})
    for source in packages.values():
        compileall.compile_dir(source, quiet=1)
        refuse_another(source)
    with tempfile.TemporaryDirectory(prefix="roughly-startup-") as work:
        rows = [
            measure(name, command, packages, given.repeat, Path(work)) for name, command in commands(Path(work)).items()
        ]
        rows.append(in_memory(packages, given.repeat))
    print(table(rows))
    if given.out:
        write_json(given.out, {"machine": machine(), "repeat": given.repeat, "rows": rows})


def refuse_another(source: Path) -> None:
    """Stop if this environment imports another checkout: an editable install comes before PYTHONPATH."""
    where = [sys.executable, "-c", "import roughly; print(roughly.__file__)"]
    found = subprocess.run(where, check=True, capture_output=True, text=True, cwd="/", env=_environment(source)).stdout
    if Path(found.strip()).parents[1].resolve() != source.resolve():
        raise SystemExit(f"{source} is not imported, but {found.strip()}: use an environment without `pip install -e`")


def commands(work: Path) -> dict[str, list[str]]:
    """What is measured, by the name in the table."""
    index = work / "demo.db"
    roughly = [sys.executable, "-m", "roughly"]
    lines = work / "query.jsonl"
    lines.write_text('{"id": "q", "text": "a rose is a rose is a rose is a rose"}\n', encoding="utf-8")
    subprocess.run([*roughly, "index", "create", str(index), "--quiet"], check=True, env=_environment(ROOT / "src"))
    add = [*roughly, "index", "add", str(index), str(DEMO), "--quiet"]
    subprocess.run(add, check=True, env=_environment(ROOT / "src"))
    return {
        "python -c pass": [sys.executable, "-c", "pass"],
        "roughly --version": [*roughly, "--version"],
        "roughly --help": [*roughly, "--help"],
        "roughly dedupe --help": [*roughly, "dedupe", "--help"],
        "roughly dedupe, 511 documents": [*roughly, "dedupe", str(DEMO), "-o", str(work / "out"), "--overwrite"],
        "roughly index query, 1 document": [*roughly, "index", "query", str(index), str(lines)],
    }


def measure(name: str, command: list[str], packages: dict[str, Path], repeat: int, work: Path) -> dict[str, Any]:
    """One command with every package, in turn: seconds, CPU seconds and modules."""
    taken: dict[str, list[tuple[float, float]]] = {which: [] for which in packages}
    for turn in range(repeat + 1):
        for which, source in packages.items():
            start, cpu = time.perf_counter(), cpu_of_children()
            subprocess.run(command, check=True, capture_output=True, cwd=work, env=_environment(source))
            if turn:  # the first fills the caches of the system
                taken[which].append((time.perf_counter() - start, cpu_of_children() - cpu))
    row: dict[str, Any] = {"name": name}
    for which, source in packages.items():
        seconds, cpu_seconds = (statistics.median(values) for values in zip(*taken[which], strict=True))
        imported = _modules(command, source, work)
        row[which] = {
            "seconds": seconds,
            "cpu_seconds": cpu_seconds,
            "modules": len(imported),
            "own_modules": sum(module.split(".")[0] == "roughly" for module in imported),
        }
    return row


def in_memory(packages: dict[str, Path], repeat: int) -> dict[str, Any]:
    """`roughly.dedupe` of 500 texts in a process that has called it before: the median of five calls, and of runs."""
    taken: dict[str, list[tuple[float, ...]]] = {which: [] for which in packages}
    for _ in range(max(1, repeat // 3)):
        for which, source in packages.items():
            command = [sys.executable, "-c", IN_MEMORY]
            done = subprocess.run(command, check=True, capture_output=True, text=True, env=_environment(source))
            taken[which].append(tuple(map(float, done.stdout.split())))
    row: dict[str, Any] = {"name": "roughly.dedupe(list of 500), again"}
    for which, values in taken.items():
        seconds, cpu_seconds = (statistics.median(each) for each in zip(*values, strict=True))
        row[which] = {"seconds": seconds, "cpu_seconds": cpu_seconds}
    return row


def table(rows: list[dict[str, Any]]) -> str:
    """Commands in rows; with another package to compare with, its figures and the ratio."""
    compared = "before" in rows[0]
    head = ["command", "s", "CPU s", "modules", "of ours"]
    lines = [[row["name"], *_cells(row["now"])] for row in rows]
    if compared:
        head += ["before, s", "CPU s", "modules", "of ours", "before / now"]
        for line, row in zip(lines, rows, strict=True):
            line += [*_cells(row["before"]), f"{row['before']['seconds'] / row['now']['seconds']:.1f}"]
    return markdown(head, lines)


def _cells(figures: dict[str, Any]) -> list[str]:
    cpu = f"{figures['cpu_seconds']:.3f}" if "cpu_seconds" in figures else "–"
    return [f"{figures['seconds']:.3f}", cpu, *(str(figures.get(name, "–")) for name in ("modules", "own_modules"))]


def _modules(command: list[str], source: Path, work: Path) -> list[str]:
    timed = [command[0], "-X", "importtime", *command[1:]]
    done = subprocess.run(timed, check=True, capture_output=True, text=True, cwd=work, env=_environment(source))
    return _IMPORTED.findall(done.stderr)


def _environment(source: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(source)}


if __name__ == "__main__":
    main()
