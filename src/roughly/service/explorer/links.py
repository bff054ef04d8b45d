"""Addresses of pages about the run or the index that is looked at: `?in=` is carried along."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlencode

from fastapi import Request

_PLACES = {"document": "/documents", "cluster": "/clusters"}


def to(request: Request, page: str, id: str | None = None, **query: Any) -> str:
    """The address of a page; `document` and `cluster` have an id, which may hold any character."""
    path = _PLACES.get(page, page)
    asked = {name: value for name, value in query.items() if value is not None and value != ""}
    if id is not None and (not id.strip("./") or id.endswith(".json")):  # a browser would make another path of it
        asked = {"id": id, **asked}
    elif id is not None:
        path = f"{path}/{quote(id, safe='')}"
    if (looked := request.query_params.get("in")) in ("run", "index"):
        asked["in"] = looked
    return path + (f"?{urlencode(asked)}" if asked else "")
