"""Fixtures shared by all tests."""

from __future__ import annotations

from pathlib import Path

import pytest

CORPORA = Path(__file__).resolve().parents[2] / "shared" / "corpora"


@pytest.fixture(scope="session")
def corpora() -> Path:
    """The folder of real corpora beside the checkout; tests that need it are skipped where it is not."""
    if not CORPORA.is_dir():
        pytest.skip(f"the shared corpora are not beside this checkout ({CORPORA.name}/ is missing)")
    return CORPORA
