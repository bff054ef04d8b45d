"""An error as an answer: JSON for programs, a page for people."""

from __future__ import annotations

import json
from urllib.parse import quote

from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from roughly.service.error_responses import ErrorResponse
from roughly.service.explorer.rendering import show
from roughly.service.security import is_for_programs

_BARE = (401, 403, 429, 500, 503)
"""Told on a page without navigation: whoever sees it may not see more, or making more of it would fail as well."""


def answer(request: Request, refused: ErrorResponse) -> Response:
    """What is sent for a request that is refused."""
    headers = dict(refused.headers or {})
    if is_for_programs(request.scope["path"]):
        # only ASCII, so that whatever a message quotes can be sent
        content = json.dumps(refused.to_dict())
        return Response(content, refused.status, headers, "application/json")
    if refused.status == 401:
        query = b"?" + request.scope["query_string"] if request.scope["query_string"] else b""
        after = quote(request.scope["raw_path"] + query, safe="") if request.method == "GET" else "%2F"
        if request.headers.get("HX-Request") == "true":  # htmx would put the page of login into this one
            return HTMLResponse("", 401, {"HX-Redirect": f"/login?next={after}"})
        return RedirectResponse(f"/login?next={after}", 303)
    template = "refused.html" if refused.status in _BARE else "error.html"
    remedy = None if refused.remedy is None else _sentence(refused.remedy)
    shown = {"title": refused.title, "error": _sentence(refused.error), "remedy": remedy}
    response = show(request, template, shown, refused.status)
    response.headers.update(headers)
    return response


def _sentence(said: str) -> str:
    """As it is read on a page."""
    return said[:1].upper() + said[1:] + ("" if said.endswith((".", "!", "?", "…")) else ".")
