"""Addresses of pages. `?in=`, which chooses the run or the index, is kept from page to page."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlencode

from fastapi import Request

from roughly.errors import InputMissing
from roughly.index import Index
from roughly.service.served_data import ServedData

_PATHS = {"document": "/documents", "cluster": "/clusters"}


def to(request: Request, page: str, id: str | None = None, **query: Any) -> str:
    """The address of a page; `document` and `cluster` have an id, which may contain any character."""
    path = _PATHS.get(page, page)
    parameters = {name: value for name, value in query.items() if value is not None and value != ""}
    if id is not None and (not id.strip("./") or id.endswith(".json")):  # a browser would change the path
        parameters = {"id": id, **parameters}
    elif id is not None:
        path = f"{path}/{quote(id, safe='')}"
    if (choice := request.query_params.get("in")) in ("run", "index"):
        parameters["in"] = choice
    return path + (f"?{urlencode(parameters)}" if parameters else "")


def stored_url(request: Request, page: str, id: str | None = None, **query: Any) -> str:
    """The address of a page about the index, also if a run is served too."""
    both = request.app.state.served.run is not None
    return to(request, page, id, **query, **({"in": "index"} if both else {}))


def require_index(request: Request) -> Index:
    """The index; an error if none is served."""
    served: ServedData = request.app.state.served
    if served.index is None:
        raise InputMissing("this page is about an index, and none is served; give `roughly serve` an index as well")
    return served.index
