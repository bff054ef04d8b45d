"""Numbers from the query of an address, checked."""

from __future__ import annotations

from fastapi import Request

from roughly.errors import SettingsError


def whole_number(request: Request, name: str, default: int = 0) -> int:
    """A whole number from 0 in the query."""
    value = request.query_params.get(name) or str(default)
    if not value.isascii() or not value.isdigit() or len(value) > 12:
        raise SettingsError(f"{name} must be a whole number from 0, not {value[:40]!r}")
    return int(value)


def page_number(request: Request, most: int) -> int:
    """`?page=`, from 1."""
    value = request.query_params.get("page") or "1"
    if not value.isascii() or not value.isdigit() or not 1 <= len(value) <= 9 or not 1 <= int(value) <= most:
        raise SettingsError(f"page must be a whole number from 1 to {most:,}, not {value[:40]!r}; filter instead")
    return int(value)


def pages(rows: int, per_page: int) -> int:
    """The number of pages that rows fill, 1 at least."""
    return max(1, -(-rows // per_page))
