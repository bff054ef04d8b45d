"""The inputs of the fuzzers, and whatever they have found, are tried again with every change."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SEEDS = ROOT / "tests" / "fuzz_seeds"
sys.path.insert(0, str(ROOT / "fuzz"))
targets = importlib.import_module("fuzz_targets")
mutation = importlib.import_module("mutation")
COMPILER = os.environ.get("CXX") or shutil.which("c++")


def seeds(target: str) -> list[Path]:
    return sorted((SEEDS / target).iterdir())


@pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler on this machine")
@pytest.mark.parametrize("target", targets.COMPILED)
def test_the_compiled_targets_hold(target: str, tmp_path: Path) -> None:
    program = tmp_path / target
    targets.compile_target(target, str(COMPILER), ["-O0", "-DROUGHLY_REPLAY", *targets.SANITIZE], program)
    environment = os.environ | {
        "TABLE": str(targets.write_table(tmp_path / "table.bin")),
        "ASAN_OPTIONS": "detect_leaks=0",
    }
    environment.pop("LD_PRELOAD", None)  # of another sanitizer
    done = subprocess.run(
        [program, *seeds(target)], env=environment, capture_output=True, text=True, check=False
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["inputs"] == len(seeds(target))


@pytest.mark.parametrize("target", targets.PYTHON)
def test_the_files_are_used_or_refused(target: str, tmp_path: Path) -> None:
    module = importlib.import_module(target)
    for seed in seeds(target):
        mutation.try_file(seed, module.use)
    assert module.run(100_000, tmp_path)["inputs"] > 10


def test_every_target_has_seeds() -> None:
    assert sorted(path.name for path in SEEDS.iterdir()) == sorted([*targets.COMPILED, *targets.PYTHON])
    assert sum(path.stat().st_size for path in SEEDS.glob("*/*")) < 1_000_000
