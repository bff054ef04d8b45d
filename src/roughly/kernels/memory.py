"""Memory that the kernels keep from one batch to the next, since new memory is slow to touch: see `core/memory.hpp`."""

from __future__ import annotations

from roughly import _core


def keep_memory(limit: int) -> None:
    """Keep at most this many bytes of what is freed; what is kept beyond that is given back at once."""
    _core.keep_memory(max(0, limit))


def kept_memory() -> int:
    """Bytes that are kept now."""
    return _core.kept_memory()


def release_memory() -> None:
    """Give back what is kept; what is freed later is kept again."""
    _core.release_memory()
