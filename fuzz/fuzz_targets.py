"""Runs a fuzzer over one part of the core: `make fuzz TARGET=tokens BYTES=1000000000`.

Targets in C++ (fuzz/NAME.cpp) are built with clang's libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer;
targets in Python (fuzz/NAME.py) change bytes of files at random. Both begin with tests/fuzz_seeds/NAME and stop at
the first finding, whose input is kept in build/fuzz/findings: put it into tests/fuzz_seeds/NAME, where a test tries it
from then on. With --record the counts are added to benchmarks/results/fuzz.json.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import shutil
import struct
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FUZZ, SEEDS, BUILD = ROOT / "fuzz", ROOT / "tests" / "fuzz_seeds", ROOT / "build" / "fuzz"
RESULTS = ROOT / "benchmarks" / "results" / "fuzz.json"
COMPILED = sorted(path.stem for path in FUZZ.glob("*.cpp") if path.stem != "main")
PYTHON = ("lexicon_file", "signature_file")
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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", choices=[*COMPILED, *PYTHON])
    parser.add_argument("--bytes", type=int, default=10**8, help="stop after this many bytes of input")
    parser.add_argument("--seconds", type=int, default=86_400, help="or after this long")
    parser.add_argument("--record", action="store_true", help="add the counts to benchmarks/results/fuzz.json")
    asked = parser.parse_args()
    started = time.monotonic()
    if asked.target in COMPILED:
        counts = run_compiled(asked.target, asked.bytes, asked.seconds)
    else:
        counts = importlib.import_module(asked.target).run(asked.bytes, BUILD / "findings")
    counts = {**counts, "seconds": round(time.monotonic() - started)}
    print(json.dumps({asked.target: counts}))
    if asked.record:
        record(asked.target, counts)


def record(target: str, counts: dict[str, int]) -> None:
    """Add the counts of a run to those of earlier ones."""
    held = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    before = held.get(target, {})
    held[target] = {
        **{name: before.get(name, 0) + count for name, count in counts.items()},
        "machine": platform.machine(),
    }
    RESULTS.write_text(json.dumps(held, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
