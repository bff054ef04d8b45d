"""Run `dedupe` on files that are made to hurt and on damaged ones, and count what must not happen.

    python -m benchmarks.hostile --damaged 10000 --workers 16 --out benchmarks/results/hostile.json

A file of `hostile_files.py` is read by a process of its own, with `--memory 640MB` and beside 20 good files. Damaged
ones are copies of good files of every format with bits flipped, bytes inserted, moved or removed, or the end cut off
(`fuzz/mutation.py`), 25 in a run, and each alone if something is wrong with a run. What is done is written to a file
beside --out (hostile.jsonl): a run that was stopped goes on where it was. Counted are: memory above the limit by more
than a tenth, more than 10 CPU seconds per megabyte (the first megabyte counts as a whole one), tracebacks and errors
that nobody expected, and documents unaccounted for: documents are neither kept nor removed, a table or `kept/` has
another number of them, a good file beside is missing, or a refused run leaves output.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks import measure
from benchmarks.hostile_files import every

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "fuzz")]
MEMORY = 640 << 20
MOST_MEMORY = MEMORY * 1.1
SECONDS = 10.0
"""CPU seconds per megabyte."""
GOOD = 20
_AT_ONCE = 25
_PROTECTION = 24 << 30
"""Bytes of address space of a process, to protect the machine."""


@dataclass
class Count:
    """What happened to some files."""

    files: int = 0
    read: int = 0
    refused: int = 0
    over_memory: int = 0
    too_slow: int = 0
    tracebacks: int = 0
    unaccounted: int = 0
    peak_mb: int = 0
    slowest_seconds: float = 0.0
    problems: list[str] = field(default_factory=list)

    def add(self, name: str, size: int, cpu: float, peak: int, wrong: dict[str, str], refused: bool) -> None:
        """Add one file; `wrong` has the counts that it belongs to, with the reason."""
        if peak > MOST_MEMORY:
            wrong = {**wrong, "over_memory": f"{peak >> 20} MB"}
        if cpu > SECONDS * max(1.0, size / 1e6):
            wrong = {**wrong, "too_slow": f"{cpu:.0f} CPU seconds for {size:,} bytes"}
        self.files += 1
        self.read, self.refused = self.read + (not refused), self.refused + refused
        for what, why in wrong.items():
            setattr(self, what, getattr(self, what) + 1)
            self.problems.append(f"{name}: {what}: {why}"[:400])
        self.peak_mb = max(self.peak_mb, peak >> 20)
        self.slowest_seconds = round(max(self.slowest_seconds, cpu), 1)

    def merge(self, other: Count) -> None:
        """Add the counts of another process."""
        for name, value in asdict(other).items():
            mine = getattr(self, name)
            setattr(self, name, max(mine, value) if name in ("peak_mb", "slowest_seconds") else mine + value)


def hostile(name: str, scratch: Path) -> Count:
    """One file that is made to hurt, in a process of its own."""
    folder = Path(tempfile.mkdtemp(prefix="hostile-", dir=scratch))
    try:
        (folder / "files").mkdir()
        arguments = every()[name](folder / "files")
        good, log = folder / "good", folder / "log"
        good.mkdir()
        log.mkdir()
        for number in range(GOOD):
            (good / f"good{number}.txt").write_text(f"a good text with number {number}\n" * (number + 1))
        out = folder / "out"
        size = sum(path.stat().st_size for path in (folder / "files").glob("*.*") if path.is_file())
        command = [sys.executable, "-m", "roughly", "dedupe", *arguments, str(good), "-o", str(out)]
        settings = ["--memory", str(MEMORY), "--threads", "2", "--quiet"]
        most = int(3 * SECONDS * max(1.0, size / 1e6))  # CPU seconds: the machine may be busy
        limited = ["sh", "-c", f'ulimit -t {most}; exec "$@"', "sh", *command, *settings]
        done = measure.run(limited, folder=log, environment={}, timeout=20.0 * most)
        wrong: dict[str, str] = {}
        is_failed = done.failure and not out.exists() and done.cpu_seconds < 0.9 * most  # else it was ended: too slow
        if "Traceback" in done.output or "nexpected" in done.output:
            wrong["tracebacks"] = done.output[-300:]
        elif is_failed and not done.output.startswith(("error:", "Usage:")):
            wrong["tracebacks"] = f"{done.failure} {done.output[-200:]}"
        if problem := unaccounted(out, done.failure is not None, GOOD):
            wrong["unaccounted"] = problem
        count = Count()
        count.add(name, size, done.cpu_seconds, done.peak_bytes, wrong, not out.exists())
        return count
    finally:
        os.chdir(scratch)
        _remove(folder)


def unaccounted(out: Path, failed: bool, good: int = 0) -> str:
    """What is wrong with the documents of a run, if anything is."""
    import pyarrow.parquet as pq

    from roughly.errors import InputError

    if not out.exists():
        return "" if failed else "no output"
    counts = json.loads((out / "run.json").read_text(encoding="utf-8"))["counts"]
    documents, kept, removed = (int(counts[name]) for name in ("documents", "kept", "removed"))
    table = pq.read_table(out / "documents.parquet", columns=["doc_id", "kept"])
    if documents != kept + removed or table.num_rows != documents or sum(table["kept"].to_pylist()) != kept:
        return f"{documents} documents, {kept} kept, {removed} removed, {table.num_rows} in the table"
    names = table["doc_id"].to_pylist()
    if found := good - sum(name.startswith("good") for name in names):
        return f"{found} good files beside it are missing"
    try:
        again = _documents(out / "kept")
    except InputError:  # nothing of some file is kept
        again = 0
        for file in (path for path in (out / "kept").rglob("*") if path.is_file()):
            with contextlib.suppress(InputError):
                again += _documents(file)
    if (out / "kept").is_dir() and again != kept:
        return f"{again} documents in kept/, not {kept}"
    return ""


def _documents(path: Path) -> int:
    from roughly.settings import ReadOptions
    from roughly.sources import open_parts

    parts = open_parts([path], ReadOptions(), ROOT)
    return sum(part.parse(chunk).batch.num_rows for part in parts for chunk in part.chunks())


def damaged(number: int, count: int, scratch: Path) -> Count:
    """Damaged files of one format, in this process: together, and each alone where something is wrong."""
    from mutation import mutated
    from reader_targets import READERS

    folder = Path(tempfile.mkdtemp(prefix="damaged-", dir=scratch))
    chance, name = random.Random(number), list(READERS)[number % len(READERS)]
    target, paths = READERS[name](folder), list[Path]()
    for at in range(count):
        path, data = chance.choice(target.seeds)
        paths.append(folder / str(at) / path.name)
        paths[-1].parent.mkdir()
        paths[-1].write_bytes(mutated(data, chance, target.words))
    done = _read(paths, name, folder / "out")
    if done.problems and count > 1:
        alone = Count()
        for path in paths:
            alone.merge(one := _read([path], f"{name} {number}-{path.parent.name}", folder / "out"))
            if one.problems:
                shutil.copy(path, scratch / f"{number}-{path.parent.name}-{path.name}")
        done = alone if alone.problems else done
    shutil.rmtree(folder, ignore_errors=True)
    return done


def _read(paths: list[Path], name: str, out: Path) -> Count:
    """Run `dedupe` on some files; one that is refused must be named, and the others are read without it."""
    import roughly

    done, left, wrong = Count(), list(paths), dict[str, str]()
    _reset_peak()
    started = time.process_time()
    while left:
        refusal = ""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", roughly.errors.RoughlyWarning)
                roughly.dedupe(
                    paths=left, output=out, memory=MEMORY, threads=1, progress=False, on_duplicate_id="number"
                )
        except roughly.errors.UnexpectedError as problem:
            wrong["tracebacks"] = str(problem)
        except roughly.RoughlyError as problem:
            refusal = str(problem)
        except Exception as problem:
            wrong["tracebacks"] = f"{type(problem).__name__}: {problem}"
        if not wrong and (missing := unaccounted(out, bool(refusal))):
            wrong["unaccounted"] = missing
        shutil.rmtree(out, ignore_errors=True)
        named = [path for path in left if str(path) in refusal] if len(left) > 1 else left
        if wrong or not refusal:
            break
        if len(named) != 1:
            wrong["unaccounted"] = f"which file was refused? {refusal}"
            break
        left.remove(named[0])
    cpu = time.process_time() - started
    for at, path in enumerate(paths):  # what is wrong and what it cost, once
        first = (cpu, _peak(), wrong) if at == 0 else (0.0, 0, {})
        done.add(name, path.stat().st_size, *first, path not in left)
    return done


def _reset_peak() -> None:
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _peak() -> int:
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def _remove(folder: Path) -> None:
    """Remove a folder of any depth, which `shutil` does not."""
    subprocess.run(["rm", "-rf", str(folder)], check=True)


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_PROTECTION, _PROTECTION))


def run(names: list[str], damage: int, workers: int, scratch: Path, log: Path | None = None) -> dict[str, Any]:
    """Run all of them side by side; those that have a line in the log were run before."""
    works = {name: (hostile, name, scratch) for name in names} | {
        f"damaged {at // _AT_ONCE}": (damaged, at // _AT_ONCE, min(_AT_ONCE, damage - at), scratch)
        for at in range(0, damage, _AT_ONCE)
    }
    lines = log.read_text(encoding="utf-8").splitlines() if log is not None and log.exists() else []
    found = {line["work"]: Count(**line["count"]) for line in map(json.loads, lines)}
    for kind in (hostile, damaged):  # each in processes of its own: those that make bombs take much memory themselves
        with ProcessPoolExecutor(workers, get_context("spawn"), initializer=_limit) as pool:
            left = {name: work for name, work in works.items() if work[0] is kind and name not in found}
            waiting = {pool.submit(*work): name for name, work in left.items()}
            for future in as_completed(waiting):
                found[waiting[future]] = future.result()
                if log is not None:
                    with log.open("a", encoding="utf-8") as file:
                        line = {"work": waiting[future], "count": asdict(found[waiting[future]])}
                        file.write(json.dumps(line) + "\n")
    counts = {"hostile": Count(), "damaged": Count()}
    for name, count in found.items():
        counts["damaged" if name.startswith("damaged ") else "hostile"].merge(count)
    return {"machine": measure.machine(), "memory_mb": MEMORY >> 20} | {
        name: asdict(count) for name, count in counts.items()
    }


def rows(found: dict[str, Any]) -> Iterator[str]:
    """The counts as a table."""
    columns = ("files", "read", "refused", "over_memory", "too_slow", "tracebacks", "unaccounted")
    yield "| | files | read | refused | over memory | too slow | tracebacks | unaccounted |"
    yield "|---|" + "---:|" * len(columns)
    for name in ("hostile", "damaged"):
        yield f"| {name} | " + " | ".join(f"{found[name][column]:,}" for column in columns) + " |"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--damaged", type=int, default=1_000, help="damaged files")
    parser.add_argument("--only", default="", help="hostile files with this in their names; `none` for none")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    names = [name for name in every() if asked.only in name]
    log = None if asked.out is None else asked.out.with_suffix(".jsonl")
    with tempfile.TemporaryDirectory(prefix="roughly-hostile-") as scratch:
        found = run(names, asked.damaged, asked.workers, Path(scratch), log)
    print("\n".join(rows(found)))
    problems = found["hostile"]["problems"] + found["damaged"]["problems"]
    print("\n".join(problems))
    if asked.out is not None:
        asked.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
