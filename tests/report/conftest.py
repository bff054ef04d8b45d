"""Fixtures of the report's tests."""

from __future__ import annotations

import pytest
from filled_report import Page, filled, read_page

from roughly.report import RunData


@pytest.fixture
def data() -> RunData:
    """A report with every section filled."""
    return filled()


@pytest.fixture
def page(data: RunData) -> Page:
    """Its page, read back."""
    return read_page(data)
