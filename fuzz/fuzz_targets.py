"""Runs fuzzers: `make fuzz TARGET=tokens BYTES=1000000000`, or `make fuzz TARGET=python WORKERS=16` for all of Python.

Targets in C++ (fuzz/NAME.cpp) are built with clang's libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer, begin
with tests/fuzz_seeds/NAME and stop at the first finding. Targets in Python (python_targets.py) change bytes of files
at random, and go on with those that reach new lines, on any number of processes. Inputs of findings are kept in
build/fuzz/findings, and packed in build/fuzz/findings.tar.gz. With --record the counts are added to
benchmarks/results/fuzz.json; `python docs/make_reliability.py` writes them into docs/reliability.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FUZZ, SEEDS, BUILD = ROOT / "fuzz", ROOT / "tests" / "fuzz_seeds", ROOT / "build" / "fuzz"
RESULTS = ROOT / "benchmarks" / "results" / "fuzz.json"
COMPILED = sorted(path.stem for path in FUZZ.glob("*.cpp") if path.stem != "main")
ALL_PYTHON = "python"
CLANG = ("clang++", *(f"clang++-{version}" for version in range(20, 13, -1)))
LONG = 70_000
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


def compile_target(target: str, compiler: str, flags: list[str], program: Path) -> None:
    """Build one C++ target."""
    program.parent.mkdir(parents=True, exist_ok=True)
    sources = [str(FUZZ / "main.cpp"), str(FUZZ / f"{target}.cpp")]
    includes = [f"-I{ROOT / 'core'}", f"-I{FUZZ}"]
    subprocess.run([compiler, "-std=c++20", "-g1", *flags, *includes, *sources, "-o", str(program)], check=True)


def write_table(path: Path) -> Path:
    """The Unicode table as the targets read it: the length of stage2, stage1, stage2."""
    from roughly.text import tables

    table = tables.load()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(struct.pack("=Q", len(table.stage2)) + table.stage1.tobytes() + table.stage2.tobytes())
    return path


def run_compiled(target: str, wanted: int, seconds: int) -> dict[str, int]:
    """Feed this many bytes to a C++ target; returns how many bytes and inputs it was given."""
    compiler = next((name for name in CLANG if shutil.which(name)), None)
    if compiler is None:
        sys.exit("fuzzing needs clang with its runtime libraries: apt-get install clang libclang-rt-14-dev")
    program = BUILD / target
    # without a note of every comparison: a third of the time, and the seeds hold what comparisons look for
    compile_target(
        target, compiler, ["-O2", "-fsanitize=fuzzer", "-fno-sanitize-coverage=trace-cmp", *SANITIZE], program
    )
    corpus, findings = BUILD / "corpus" / target, BUILD / "findings"
    for folder in (corpus, findings):
        folder.mkdir(parents=True, exist_ok=True)
    environment = os.environ | {"BYTES": str(wanted), "TABLE": str(write_table(BUILD / "table.bin"))}
    options = [f"-artifact_prefix={findings}/{target}-", f"-max_total_time={seconds}", "-print_final_stats=0"]
    for seed in (SEEDS / target).iterdir():  # long ones too: texts are read in pieces of 16 KB, files of 64 KB
        data = seed.read_bytes()
        (corpus / f"long-{seed.name}").write_bytes(data * (LONG // max(1, len(data))))
    lengths = [f"-max_len={2 * LONG}", "-len_control=0", "-reduce_inputs=0"]
    command = [str(program), *lengths, *options, str(corpus), str(SEEDS / target)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, int] = json.loads(done.stdout)
    return found


def main() -> None:
    """The command line."""
    from python_targets import TARGETS, run_all

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="+", choices=[*COMPILED, *TARGETS, ALL_PYTHON], metavar="TARGET")
    parser.add_argument("--bytes", type=int, default=10**8, help="of each target; stop after this many of input")
    parser.add_argument("--seconds", type=int, default=86_400, help="or after this long")
    parser.add_argument("--workers", type=int, default=1, help="processes for targets in Python")
    parser.add_argument("--seed", type=int, default=1, help="other changes, for targets in Python")
    parser.add_argument("--record", action="store_true", help="add the counts to benchmarks/results/fuzz.json")
    parser.add_argument("--missing", action="store_true", help="only the bytes that are missing there, by target")
    asked = parser.parse_args()
    found: dict[str, dict[str, Any]] = {}
    had = {name: counts["bytes"] for name, counts in recorded().items()} if asked.missing else {}
    names = {*asked.targets, *(TARGETS if ALL_PYTHON in asked.targets else ())} - {ALL_PYTHON}
    wanted = {name: asked.bytes - had.get(name, 0) for name in sorted(names) if had.get(name, 0) < asked.bytes}
    for target in [name for name in wanted if name in COMPILED]:
        started = time.monotonic()
        counts = run_compiled(target, wanted[target], asked.seconds)
        found[target] = {**counts, "cpu_seconds": round(time.monotonic() - started), "findings": []}
    in_python = {name: count for name, count in wanted.items() if name in TARGETS}
    found |= run_all(in_python, asked.seconds, asked.workers, BUILD / "findings", asked.seed) if in_python else {}
    for target, counts in found.items():
        speed = counts["bytes"] / max(counts["cpu_seconds"], 0.1) / 1e6
        print(json.dumps({target: counts | {"mb_per_cpu_second": round(speed, 3)}}))
    if asked.record:
        record(found)
    is_found = any(counts["findings"] for counts in found.values())
    if is_found:
        shutil.make_archive(str(BUILD / "findings"), "gztar", BUILD / "findings")
    sys.exit(is_found)


def recorded() -> dict[str, dict[str, Any]]:
    """The counts of earlier runs."""
    held: dict[str, dict[str, Any]] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    return held


def record(found: dict[str, dict[str, Any]]) -> None:
    """Add the counts of a run to those of earlier ones."""
    held = recorded()
    for target, counts in found.items():
        before = held.get(target, {})
        held[target] = {name: before.get(name, 0) + counts[name] for name in ("bytes", "inputs", "cpu_seconds")} | {
            "peak_mb": max(before.get("peak_mb", 0), counts.get("peak_mb", 0)),
            "findings": before.get("findings", 0) + len(counts["findings"]),
            "machines": sorted({*before.get("machines", []), platform.machine()}),
        }
    RESULTS.write_text(json.dumps(held, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
