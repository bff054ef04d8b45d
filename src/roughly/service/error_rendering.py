"""Renders an error: JSON for programs, a page for people."""

from __future__ import annotations

import json
from urllib.parse import quote

from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from roughly.service.error_responses import ErrorResponse
from roughly.service.explorer.rendering import show
from roughly.service.security import is_for_programs

_BARE = (401, 403, 429, 500, 503)
"""Shown on a page without navigation: the reader may not see more, or rendering more would fail as well."""


def render_error(request: Request, error: ErrorResponse) -> Response:
    """The response to a request that is refused."""
    headers = dict(error.headers or {})
    if is_for_programs(request.scope["path"]):
        # only ASCII, so that whatever a message quotes can be sent
        content = json.dumps(error.to_dict())
        return Response(content, error.status, headers, "application/json")
    if error.status == 401:
        query = b"?" + request.scope["query_string"] if request.scope["query_string"] else b""
        after = quote(request.scope["raw_path"] + query, safe="") if request.method == "GET" else "%2F"
        if request.headers.get("HX-Request") == "true":  # htmx would insert the login page into this one
            return HTMLResponse("", 401, {"HX-Redirect": f"/login?next={after}"})
        return RedirectResponse(f"/login?next={after}", 303)
    template = "refused.html" if error.status in _BARE else "error.html"
    remedy = None if error.remedy is None else _sentence(error.remedy)
    values = {"title": error.title, "error": _sentence(error.error), "remedy": remedy}
    response = show(request, template, values, error.status)
    response.headers.update(headers)
    return response


def _sentence(message: str) -> str:
    """A message as a sentence, with a capital letter and a full stop."""
    return message[:1].upper() + message[1:] + ("" if message.endswith((".", "!", "?", "…")) else ".")
