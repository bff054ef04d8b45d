"""One server and one browser for all browser tests of a session: two runs and an index of the same documents."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import Look
from playwright.sync_api import Browser

import roughly
from chromium import chromium
from roughly.index import Index
from roughly.index.sweeps.sweep import SweepWriter
from roughly.service.application import create_app
from roughly.service.served_data import ServedData
from service.hostile_documents import hostile_rows
from service.in_process import PATIENT, serving

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
Row = dict[str, Any]


@pytest.fixture(scope="session")
def shown_rows() -> list[Row]:
    """The bundled documents, and hostile ones."""
    with gzip.open(EXAMPLES / "policies.jsonl.gz", "rt", encoding="utf-8") as stream:
        return [*(json.loads(line) for line in stream), *hostile_rows()]


@pytest.fixture(scope="session")
def shown_run(shown_rows: list[Row], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run over them."""
    folder = tmp_path_factory.mktemp("shown")
    given = folder / "documents.jsonl"
    given.write_text("".join(json.dumps(row) + "\n" for row in shown_rows), encoding="utf-8")
    roughly.dedupe(given, output=folder / "out", pairs="all")
    return folder / "out"


@pytest.fixture(scope="session")
def shown_index(shown_run: Path, shown_rows: list[Row]) -> Path:
    """An index of the run, with two sweeps of some pages besides."""
    where = shown_run.parent / "archive.db"
    pages = [row["text"] for row in shown_rows[:40]]
    with Index.import_run(shown_run, where) as index:
        index.make_searchable()
        for date, moved in (("2024-01-01", "old"), ("2024-02-01", "new")):
            sweeping = SweepWriter(index, date)
            sweeping.add(
                {"url": f"http://site.example/{moved if n < 5 else 'stays'}/{n}", "text": text, "title": f"Page {n}"}
                for n, text in enumerate(pages if moved == "old" else pages[:30])
            )
            sweeping.finish()
    return where


@pytest.fixture(scope="session")
def shown_passages(shown_run: Path) -> Path:
    """The folder of a run of `passages` over the same documents."""
    folder = shown_run.parent / "passages"
    roughly.passages(shown_run.parent / "documents.jsonl", output=folder)
    return folder


@pytest.fixture(scope="session")
def site(shown_run: Path, shown_index: Path, shown_passages: Path) -> Iterator[str]:
    """The address of a service over all of them."""
    served = ServedData.open([shown_run, shown_index, shown_passages])
    with serving(create_app(served, PATIENT)) as address:
        yield address
    served.close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium."""
    with chromium("--hide-scrollbars") as browser:
        yield browser


@pytest.fixture
def look(browser: Browser, site: str) -> Iterator[Look]:
    """`look("/clusters", width=390, scheme="dark")` opens a page and watches it to the end of the test."""
    looking = Look(browser, site)
    yield looking
    looking.finish()
