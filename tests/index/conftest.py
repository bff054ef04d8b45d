"""Fixtures for indexes."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from postgres_server import Server, binaries

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
Row = dict[str, Any]


@pytest.fixture(scope="session")
def policies() -> list[Row]:
    """The bundled documents: versions of terms of service and privacy policies."""
    with gzip.open(EXAMPLES / "policies.jsonl.gz", "rt", encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


@pytest.fixture(scope="session")
def rows(policies: list[Row]) -> list[Row]:
    """Some of them, a copy, one that says little and two that say nothing."""
    few = [{**row, "doc_id": row["id"]} for row in policies if row["source"] < "D"][:75]
    more = [("copy", few[0]["text"]), ("little", "Terms of service"), ("e1", " "), ("e2", "…")]
    return [*few, *({"doc_id": name, "id": name, "text": text} for name, text in more)]


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A PostgreSQL server of our own."""
    if binaries() is None:
        pytest.skip("no PostgreSQL server is installed; `make system` installs it")
    made = Server()
    yield made
    made.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where an index may be made: a file that is not there, or an empty database."""
    if request.param == "sqlite":
        return str(tmp_path / "a.db")
    server: Server = request.getfixturevalue("server")
    return server.database()
