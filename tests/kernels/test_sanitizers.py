"""The sanitizers see the core: mistakes that are built in for this test are reported and end the process."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

NAME = os.environ.get("ROUGHLY_SANITIZED")
FAULTS = [
    ("address", "_fault_read_past_end(numpy.zeros(3, numpy.uint64))", "AddressSanitizer: heap-buffer-overflow"),
    ("address", "_fault_overflow(1)", "runtime error: signed integer overflow"),
    ("thread", "_fault_race()", "ThreadSanitizer: data race"),
]

pytestmark = pytest.mark.skipif(NAME is None, reason="the core is not built with sanitizers: see `make sanitize`")


@pytest.mark.parametrize(("call", "report"), [fault[1:] for fault in FAULTS if fault[0] == NAME])
def test_a_mistake_is_reported_and_ends_the_process(call: str, report: str) -> None:
    done = run(f"import numpy; from roughly import _core; _core.{call}; print('went on')")
    assert report in done.stderr
    assert done.returncode != 0
    assert "went on" not in done.stdout


def test_the_tests_run_with_the_core_that_has_the_sanitizers() -> None:
    done = run("from roughly import _core; print(_core.__file__, hasattr(_core, '_fault_race'))")
    assert f"build/sanitize/{NAME}/package" in done.stdout
    assert done.stdout.endswith("True\n")
    assert done.stderr == ""


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=False)
