"""Services over an index of the bundled documents, on SQLite and on PostgreSQL; one process each for all tests."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "index"))

from postgres_server import Server, binaries
from serving_process import Service

import roughly
from roughly import Index
from roughly.service.application import create_app
from roughly.service.served_data import ServedData
from service.in_process import PATIENT, client_of
from service.looked_at import looked_at_rows, write_rows

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
Row = dict[str, Any]


@pytest.fixture
def client(run: Path) -> Iterator[httpx.Client]:
    """A client of a service in this process, over the run of the tests."""
    with client_of(create_app(ServedData(run=run), PATIENT)) as client:
        yield client


@pytest.fixture(scope="session")
def policies() -> list[Row]:
    """Some of the bundled documents."""
    with gzip.open(EXAMPLES / "policies.jsonl.gz", "rt", encoding="utf-8") as stream:
        rows = [json.loads(line) for line in stream]
    return [{**row, "doc_id": row["id"], "url": f"https://policies.example/{n}"} for n, row in enumerate(rows[:60])]


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A PostgreSQL server of our own."""
    if binaries() is None:
        pytest.skip("no PostgreSQL server is installed; `make system` installs it")
    made = Server()
    yield made
    made.close()


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def service(
    request: pytest.FixtureRequest, policies: list[Row], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    """A service without tokens."""
    place = str(tmp_path_factory.mktemp("service") / "a.db")
    if request.param == "postgresql":
        place = request.getfixturevalue("postgres").database()
    with Index.create(place) as index:
        index.add(policies)
    made = Service(place, options=("--rate", "0"))
    yield made
    assert made.end() == 0, "".join(made.log)[-2000:]
    assert not [line for line in made.log if "Traceback" in line], "".join(made.log)[-4000:]


@pytest.fixture(scope="session")
def looked_at_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run over the documents of `looked_at.py`, with every pair stored; its input lies beside it."""
    folder = tmp_path_factory.mktemp("looked-at")
    given = write_rows(looked_at_rows(), folder / "documents.jsonl")
    roughly.dedupe(given, output=folder / "out", threshold=0.7, pairs="all", cluster="components")
    return folder / "out"
