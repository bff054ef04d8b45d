"""A page and its twin: one function makes what is shown, a template shows it, the twin hands it out as JSON.

What every template has at hand, beside what its page hands over:

| name | what it is |
|---|---|
| `m` | the macros of `macros.html` |
| `here(request, page=2, q=None)` | this page's address with something of its query changed; None takes it out |
| `twin_url(request)` | this page as JSON |
| `to(request, "cluster", id)` | addresses that stay with the run or the index, see `links.py` |
| `navigation(request)` | the pages there are, see `navigation.py` |
| `csrf_field(request)` | the hidden field that every form with `method="post"` needs |
| filters `label`, `excerpt`, `flow`, `reveal` | foreign text made fit to be shown (`report/visible.py`) |
| filters `count`, `counted`, `share`, `size`, `duration`, `score`, `plain` | figures in words (`report/words.py`) |
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from fastapi import Request
from fastapi.responses import HTMLResponse, JSONResponse, Response
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from roughly.report import visible
from roughly.report import wording as words
from roughly.service.explorer.links import to
from roughly.service.explorer.navigation import navigation

STATIC = Path(__file__).parent / "static"
_OF_PATHS = "/%:@!$&'()*+,;=~"


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("roughly.service.explorer"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {name: getattr(visible, name) for name in ("label", "excerpt", "flow", "reveal")}
    figures = ("count", "counted", "share", "size", "duration", "score", "plain")
    made.filters |= {name: getattr(words, name) for name in figures}
    made.globals |= {
        "here": here,
        "twin_url": twin_url,
        "navigation": navigation,
        "csrf_field": csrf_field,
        "to": to,
    }
    made.globals["m"] = made.get_template("macros.html").module
    return made


def csrf_field(request: Request) -> Markup:
    """The hidden field of a form that writes; empty where nothing guards the forms."""
    field = getattr(request.app.state, "csrf_field", None)
    return Markup("") if field is None else field(request)


def here(request: Request, **changes: Any) -> str:
    """This page with some of its query changed."""
    query = {name: value for name, value in request.query_params.multi_items() if name not in changes}
    query |= {name: str(value) for name, value in changes.items() if value is not None}
    return _path(request) + (f"?{urlencode(query)}" if query else "")


def twin_url(request: Request) -> str:
    """This page as JSON."""
    path, query = _path(request), quote(request.scope["query_string"], safe=_OF_PATHS + "?")
    return f"{'/index' if path == '/' else path}.json" + (f"?{query}" if query else "")


def _path(request: Request) -> str:
    """As it came: an id may hold slashes and question marks."""
    return quote(request.scope["raw_path"], safe=_OF_PATHS)


def show(
    request: Request, template: str, shown: dict[str, Any], status: int = 200, *, drawn: dict[str, Any] | None = None,
    twin: bool | None = None,
) -> Response:  # fmt: skip
    """`shown` as a page; as JSON where the address ends in `.json`; as a part of the page where htmx asks for one.

    A template extends `base.html`. For htmx (`HX-Request`) and a template `clusters.html` that has a block `part`,
    only that block is sent. `drawn` is for the page alone: plots, and what else JSON has no use for. `twin` says which
    of the two is wanted where the address cannot, because an id may end in `.json`.
    """
    if request.scope["path"].endswith(".json") if twin is None else twin:
        return JSONResponse(shown, status)
    found = _environment().get_template(template)
    context = {"request": request, "holdings": request.app.state.holdings, **shown, **(drawn or {})}
    headers = {"Vary": "HX-Request"}
    if wants_part(request) and "part" in found.blocks:
        return HTMLResponse("".join(found.blocks["part"](found.new_context(context))), status, headers)
    return HTMLResponse(found.render(context), status, headers)


def fragment(request: Request, template: str, drawn: dict[str, Any]) -> Response:
    """A piece of a page that htmx asks for on its own."""
    context = {"request": request, "holdings": request.app.state.holdings, **drawn}
    return HTMLResponse(_environment().get_template(template).render(context))


def wants_part(request: Request) -> bool:
    """Whether htmx asks, and not for a whole page: it boosts a link, or its history has forgotten the page."""
    whole = ("HX-Boosted", "HX-History-Restore-Request")
    return request.headers.get("HX-Request") == "true" and not any(request.headers.get(name) for name in whole)
