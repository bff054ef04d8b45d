"""A whole process stays within `--memory`, as the system counts it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.passages import grown

from roughly.settings import LEAST_MEMORY

DOCUMENTS = 300_000


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the largest resident size is in other units elsewhere")
def test_the_memory_of_a_run_is_what_was_set(tmp_path: Path) -> None:
    """Tokens, places and spans of 680 MB are more than the least memory; each document has a page of boilerplate."""
    grown(tmp_path / "in.jsonl", DOCUMENTS)
    command = [sys.executable, "-m", "roughly", "passages", str(tmp_path / "in.jsonl"), "-o", str(tmp_path / "out")]
    process = subprocess.Popen([*command, "--quiet", "--threads", "2", "--memory", f"{LEAST_MEMORY >> 20}MB"])
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    assert usage.ru_maxrss << 10 <= LEAST_MEMORY
