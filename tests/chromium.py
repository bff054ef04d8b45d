"""The browser of this machine. A process has one driver: the first test that asks starts it, and ends it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Playwright, sync_playwright

_FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
_drivers: list[Playwright] = []


@contextmanager
def chromium(*flags: str) -> Iterator[Browser]:
    """A browser with these flags more."""
    path = shutil.which("chromium")
    if path is None:
        pytest.fail("no chromium on this machine: run `make system`, which installs it")
    with _driver() as driver:
        browser = driver.chromium.launch(executable_path=path, args=[*_FLAGS, *flags])
        yield browser
        browser.close()


@contextmanager
def _driver() -> Iterator[Playwright]:
    if _drivers:  # that of a session's fixture: two at a time would wait for each other
        yield _drivers[0]
        return
    with sync_playwright() as driver:
        _drivers.append(driver)
        try:
            yield driver
        finally:
            _drivers.clear()
