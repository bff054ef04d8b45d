"""No two headers of the core define one name twice: a program with both would use either, without a word."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from pathlib import Path

import nanobind
import pytest

CORE = Path(__file__).resolve().parents[2] / "core"
COMPILER = os.environ.get("CXX") or shutil.which("c++")


def compiled(source: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = folder / "all.cpp"
    path.write_text(source, encoding="utf-8")
    includes = [CORE, nanobind.include_dir(), sysconfig.get_path("include")]
    command = [str(COMPILER), "-std=c++20", "-fsyntax-only", "-w", *(f"-I{folder}" for folder in includes), str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler on this machine")
def test_all_headers_fit_into_one_program(tmp_path: Path) -> None:
    headers = "".join(f'#include "{path.name}"\n' for path in sorted(CORE.glob("*.hpp")))
    done = compiled(headers, tmp_path)
    assert done.returncode == 0, done.stderr
    twice = compiled(headers + "namespace roughly { struct Buffer {}; }\n", tmp_path)
    assert "redeclared" in twice.stderr or "redefinition" in twice.stderr
