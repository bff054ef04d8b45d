"""The inputs of the fuzzers, and whatever they have found, are tried again with every change."""

from __future__ import annotations

import importlib
import json
import os
import random
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
python_targets = importlib.import_module("python_targets")
WHOLE_RUNS = [
    "index_file", "sketches", "run_folder", "passages_run", "decisions_file", "http_api", "packed_index",
    "applied_decisions", "test_sets",
]  # fmt: skip
"""Targets whose seeds are whole runs or indexes."""
SEEDED = ["lexicon_file", "signature_file"]
"""Targets whose seeds are all files of the repository."""
COMPILER = os.environ.get("CXX") or shutil.which("c++")


def seeds(target: str) -> list[Path]:
    return sorted((SEEDS / target).glob("*"))


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


@pytest.mark.parametrize("target", [name for name in python_targets.TARGETS if name not in WHOLE_RUNS])
def test_files_are_used_or_refused(target: str, tmp_path: Path) -> None:
    tried(target, tmp_path, 4)


@pytest.mark.parametrize("target", WHOLE_RUNS)
def test_runs_and_requests_are_used_or_refused(target: str, tmp_path: Path) -> None:
    tried(target, tmp_path, 20)


def tried(target: str, folder: Path, changed: int) -> None:
    """The seeds, which are good, what was found, and some changed files."""
    (folder / "scratch").mkdir()
    prepared = python_targets.TARGETS[target](folder / "scratch")
    places = {path.name: path for path, _ in prepared.seeds}
    for path, data in prepared.seeds:
        path.write_bytes(data)
        if target not in SEEDED:
            prepared.use(path)
        else:
            mutation.try_file(path, prepared.use)
    for finding in seeds(target) if target not in SEEDED else []:
        path = places[finding.name.partition("-")[2]]
        good = path.read_bytes()
        path.write_bytes(finding.read_bytes())
        mutation.try_file(path, prepared.use)
        path.write_bytes(good)
    chance = random.Random(1)
    for _ in range(changed):
        path, data = chance.choice(prepared.seeds)
        path.write_bytes(mutation.mutated(data, chance, prepared.words))
        mutation.try_file(path, prepared.use)
        path.write_bytes(data)


def test_inputs_that_reach_new_lines_are_kept(tmp_path: Path) -> None:
    from roughly.settings import parse_size

    guide, path = mutation.Guide(), tmp_path / "size"
    for text in ("12MB", "13MB", "x", "y"):
        path.write_text(text)
        guide.try_file(path, lambda path: parse_size(path.read_text()))
    assert [data for _, data in guide.inputs] == [b"12MB", b"x"]


def test_every_compiled_target_has_seeds() -> None:
    names = {path.name for path in SEEDS.iterdir()}
    assert {*targets.COMPILED, *SEEDED} <= names <= {*targets.COMPILED, *python_targets.TARGETS}
    assert sum(path.stat().st_size for path in SEEDS.glob("*/*")) < 1_000_000


def test_a_finding_is_kept_and_counted(tmp_path: Path) -> None:
    def use(path: Path) -> None:
        if b"x" in path.read_bytes():
            raise ValueError("x")

    prepared = mutation.Prepared([(tmp_path / "file", b"abc")], use, lambda data, chance: data + b"x", ())
    found = mutation.run_target("none", prepared, (8, 60.0), tmp_path / "findings")
    assert found["inputs"] == 2 and len(found["findings"]) == 2 and "ValueError: x" in found["findings"][0]
    assert len(list((tmp_path / "findings").iterdir())) == 2
