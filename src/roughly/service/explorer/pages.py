"""A page and its twin: one function makes what is shown, a template shows it, the twin hands it out as JSON."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse, JSONResponse, Response
from jinja2 import Environment, PackageLoader, StrictUndefined

STATIC = Path(__file__).parent / "static"


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("roughly.service.explorer"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def show(request: Request, template: str, shown: dict[str, Any], status: int = 200) -> Response:
    """`shown` as a page; as JSON where the address ends in `.json`; as a part of the page where htmx asks for one.

    A template extends `base.html`. For htmx (`HX-Request`) and a template `clusters.html` that has a block `part`,
    only that block is sent.
    """
    if request.url.path.endswith(".json"):
        return JSONResponse(shown, status)
    found = _environment().get_template(template)
    context = {"request": request, "holdings": request.app.state.holdings, **shown}
    if request.headers.get("HX-Request") == "true" and "part" in found.blocks:
        return HTMLResponse("".join(found.blocks["part"](found.new_context(context))), status)
    return HTMLResponse(found.render(context), status)
