"""The command line starts without what it does not use."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import roughly

IMPORTED = re.compile(r"^import time: .*\| +(\S+)$", re.MULTILINE)


def test_a_run_imports_neither_pandas_nor_scipy_nor_readers_of_other_formats(tmp_path: Path) -> None:
    (tmp_path / "n.jsonl").write_text(
        "".join(json.dumps({"id": str(i), "text": f"some words of number {i % 3}"}) + "\n" for i in range(9)),
        encoding="utf-8",
    )
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "roughly", "dedupe", "n.jsonl", "-o", "out", "--quiet"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(roughly.__path__[0]).parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    imported = set(IMPORTED.findall(done.stderr))
    assert {"pyarrow", "roughly._core", "duckdb", "roughly.sources.jsonparse"} <= imported
    left_out = {
        "numba",
        "pandas.core",
        "scipy.linalg",
        "fastwarc",
        "roughly.sources.archive",
        "roughly.sources.mail",
        "numpy.f2py",
    }
    assert not left_out & imported


def test_a_package_that_is_left_out_is_as_if_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    from roughly.console.light import NotInstalled

    monkeypatch.setattr(sys, "meta_path", [NotInstalled("colorsys"), *sys.meta_path])
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    with pytest.raises(ModuleNotFoundError, match="colorsys"):
        __import__("colorsys")
