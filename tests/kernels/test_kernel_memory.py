"""Memory that kernels keep between batches: used again, bounded, and given back."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from roughly.kernels.hashing import hash_bytes
from roughly.kernels.memory import keep_memory, kept_memory, release_memory

DOCUMENTS = 1 << 15
"""Their fingerprints take half a megabyte, a block that is kept."""


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    keep_memory(0)
    yield
    keep_memory(0)


def fingerprints() -> np.ndarray:
    return hash_bytes(np.arange(DOCUMENTS, dtype=np.uint64).view(np.uint8), np.arange(0, 8 * DOCUMENTS + 1, 8))


def test_freed_memory_is_used_again() -> None:
    keep_memory(64 << 20)
    first = fingerprints()
    expected, place = first.tobytes(), first.ctypes.data
    assert kept_memory() == 0
    del first
    assert 16 * DOCUMENTS <= kept_memory() < 32 * DOCUMENTS
    again = fingerprints()
    assert again.ctypes.data == place and again.tobytes() == expected and kept_memory() == 0


def test_no_more_is_kept_than_allowed_and_all_is_given_back() -> None:
    keep_memory(40 * DOCUMENTS)
    some = [fingerprints() for _ in range(5)]
    del some
    assert 0 < kept_memory() <= 40 * DOCUMENTS
    release_memory()
    assert kept_memory() == 0
    keep_memory(0)
    fingerprints()
    assert kept_memory() == 0
