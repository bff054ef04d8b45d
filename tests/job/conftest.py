"""Fixtures for whole runs."""

from __future__ import annotations

import gzip
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from commands import run_roughly

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
Row = dict[str, object]
Roughly = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def policies() -> list[Row]:
    """The bundled documents: versions of terms of service and privacy policies."""
    with gzip.open(EXAMPLES / "policies.jsonl.gz", "rt", encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


@pytest.fixture(scope="session")
def roughly() -> Roughly:
    """The command line, run as a user would."""

    return run_roughly


@pytest.fixture
def jsonl(tmp_path: Path) -> Callable[..., Path]:
    """Write rows as a JSONL file."""

    def write(rows: list[Row], name: str = "docs.jsonl") -> Path:
        path = tmp_path / name
        content = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
        path.write_bytes(gzip.compress(content, mtime=0) if name.endswith(".gz") else content)
        return path

    return write
