"""A whole process stays within `--memory`, as the system counts it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.passages import grown

from roughly.settings import LEAST_MEMORY

DOCUMENTS = 300_000
MEASURED = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(code)
"""
"""Runs a command and prints its largest resident size: a process begins with the size of the one that starts it, which
would be that of the tests."""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the largest resident size is in other units elsewhere")
def test_the_memory_of_a_run_is_what_was_set(tmp_path: Path) -> None:
    """Tokens, places and spans of 680 MB are more than the least memory; each document has a page of boilerplate."""
    grown(tmp_path / "in.jsonl", DOCUMENTS)
    command = [sys.executable, "-m", "roughly", "passages", str(tmp_path / "in.jsonl"), "-o", str(tmp_path / "out")]
    limited = [*command, "--quiet", "--threads", "2", "--memory", f"{LEAST_MEMORY >> 20}MB"]
    done = subprocess.run([sys.executable, "-c", MEASURED, *limited], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[-1]) << 10 <= LEAST_MEMORY
