"""The scripts in examples/ run, without a warning, and print what they are there to show."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from docs_blocks import ROOT

EXAMPLES = ROOT / "examples"
PRINTS = {
    "strings.py": ["kept    0: Heavy rain", "removed 1: exact of 0, resemblance 1.000", "removed 2: revision of 0"],
    "frame.py": ["511 rows, 215 kept", "Twitter: 29 rows removed"],
    "thresholds.py": ["0.5  124 kept", "0.8  168 kept", "1.0  416 kept"],
    "melodies.py": ["Twinkle: Twinkle in G, Twinkle, slow", "alone: Frère Jacques"],
    "measure.py": ["ocr: 60 copies, mean resemblance 0.85", "found 60 of 60, precision 1.00"],
    "service.py": ["rain was added", "its copy is known: rain", "sunshine is known: False", "ended with 0"],
    "excerpts.py": ["the letter contains the notice: True", "notice is removed: 100% of it is in letter"],
    "sweeps.py": [],
}
WRITES = {"sweeps.py": ["2021-01-01.jsonl", "2022-01-01.jsonl", "2023-01-01.jsonl"]}


def test_every_script_is_tried() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(PRINTS)


@pytest.mark.parametrize("script", PRINTS)
def test_a_script_prints_what_it_shows(script: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / script)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONWARNINGS": "error"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for words in PRINTS[script]:
        assert words in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == WRITES.get(script, []), "a script leaves nothing else"
