"""Fixtures shared by all tests."""

from __future__ import annotations

from pathlib import Path

import pytest

CORPORA = Path(__file__).resolve().parents[2] / "shared" / "corpora"
HERE = Path(__file__).resolve().parent
SLOW = (
    "benchmarks", "docs/test_docs_explorer.py", "docs/test_docs_run.py", "engines/spark", "index/test_index_kills.py",
    "service/browser",
)  # fmt: skip
"""Folders and files whose tests take long, mostly for processes that they start: they run in `make test-all`."""
SLOW_TESTS = {
    "test_one_document_of_200_megabytes",
    "test_news_are_matched_within_six_weeks",
    "test_a_million_empty_documents",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that take long."""
    places = [HERE / name for name in SLOW]
    for item in items:
        is_slow = any(item.path == place or place in item.path.parents for place in places)
        if is_slow or item.name.partition("[")[0] in SLOW_TESTS:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def corpora() -> Path:
    """The folder of real corpora beside the checkout; tests that need it are skipped where it is not."""
    if not CORPORA.is_dir():
        pytest.skip(f"the shared corpora are not beside this checkout ({CORPORA.name}/ is missing)")
    return CORPORA
