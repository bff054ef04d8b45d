"""A page and its JSON twin: one function builds the values, a template renders them, the twin returns them as JSON.

Every template has these names, in addition to the values of its page:

| name | meaning |
|---|---|
| `m` | the macros of `macros.html` |
| `here(request, page=2, q=None)` | this page's address with changed query parameters; None removes one |
| `twin_url(request)` | this page as JSON |
| `to(request, "cluster", id)` | addresses of other pages, see `links.py` |
| `navigation(request)` | the pages that can be shown, see `navigation.py` |
| `csrf_field(request)` | the hidden field that every form with `method="post"` needs |
| filters `label`, `excerpt`, `flow`, `reveal` | foreign text made fit to be shown (`report/visible.py`) |
| filter `broken` | the same for text that has passed `flow`: paragraphs begin on a new line |
| filter `sentence` | a message of ours with its first letter as a capital |
| filter `coded` | a message of ours: what is in backticks as code |
| filter `day` | the day of an ISO date; other dates as they are written |
| filters `count`, `counted`, `share`, `size`, `duration`, `score`, `plain` | figures in words (`report/wording.py`) |
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from fastapi import Request
from fastapi.responses import HTMLResponse, JSONResponse, Response
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from roughly.report import visible, wording
from roughly.service.collection.collection_types import Collection
from roughly.service.explorer.links import to
from roughly.service.explorer.navigation import navigation
from roughly.service.security import FIELD

STATIC = Path(__file__).parent / "static"
_PARAGRAPH = re.compile(" ?¶ ?")
_CODE = re.compile(r"`([^`\n]+)`")
_PATH_CHARACTERS = "/%:@!$&'()*+,;=~"


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("roughly.service.explorer"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {name: getattr(visible, name) for name in ("label", "reveal")}
    made.filters |= {
        "excerpt": excerpt,
        "flow": flow,
        "broken": broken,
        "coded": coded,
        "day": day,
        "sentence": sentence,
    }
    numbers = ("count", "counted", "share", "size", "duration", "score", "plain")
    made.filters |= {name: getattr(wording, name) for name in numbers}
    made.globals |= {
        "here": here,
        "twin_url": twin_url,
        "navigation": navigation,
        "csrf_field": csrf_field,
        "to": to,
    }
    made.globals["m"] = made.get_template("macros.html").module
    return made


def excerpt(text: str, limit: int) -> str:
    """The beginning of a text on one line."""
    return visible.excerpt(text, limit).replace(" ¶ ", " ")


def flow(text: str) -> Markup:
    """A text with a line break between its paragraphs, all other white space as one space."""
    return broken(visible.flow(text))


def broken(text: str) -> Markup:
    """Text that has passed `visible.flow`, with line breaks instead of its signs for paragraphs."""
    return Markup("<br>").join(_PARAGRAPH.split(text))


def day(date: str) -> str:
    """The day of an ISO date; a date in another form, such as `Tue, 6 Apr 1993 07:05:17 GMT`, as it is written."""
    return date[:10] if date[10:11] == "T" and date[:1].isdigit() else date


def coded(message: str) -> Markup:
    """A message of ours, with code where it has backticks."""
    pieces = _CODE.split(visible.flow(message).replace(" ¶ ", " "))
    return Markup("").join(Markup("<code>{}</code>").format(one) if at % 2 else one for at, one in enumerate(pieces))


def sentence(message: str) -> str:
    """A message of ours with its first letter as a capital."""
    return message[:1].upper() + message[1:]


def csrf_field(request: Request) -> Markup:
    """The hidden field that every form with `method="post"` needs."""
    return Markup('<input type="hidden" name="{}" value="{}">').format(FIELD, request.state.csrf)


def here(request: Request, **changes: Any) -> str:
    """This page with changed query parameters."""
    query = {name: value for name, value in request.query_params.multi_items() if name not in changes}
    query |= {name: str(value) for name, value in changes.items() if value is not None}
    return _path(request) + (f"?{urlencode(query)}" if query else "")


def twin_url(request: Request) -> str:
    """This page as JSON."""
    path, query = _path(request), quote(request.scope["query_string"], safe=_PATH_CHARACTERS + "?")
    return f"{'/index' if path == '/' else path}.json" + (f"?{query}" if query else "")


def _path(request: Request) -> str:
    """The path as it arrived: an id may contain slashes and question marks."""
    return quote(request.scope["raw_path"], safe=_PATH_CHARACTERS)


def show(
    request: Request, template: str, values: dict[str, Any], status: int = 200, *,
    page_only: dict[str, Any] | None = None, twin: bool | None = None,
) -> Response:  # fmt: skip
    """The values as a page, as JSON if the address ends in `.json`, or as a part of the page if htmx requests one.

    A template extends `base.html`. If htmx sent the request (`HX-Request`) and the template has a block `part`, only
    that block is sent. `page_only` are values that JSON has no use for, such as plots. `twin` says which of the two is
    wanted if the address cannot, because an id may end in `.json`.
    """
    if request.scope["path"].endswith(".json") if twin is None else twin:
        return JSONResponse(values, status)
    found = _environment().get_template(template)
    context = {"request": request, **values, **(page_only or {})}
    headers = {"Vary": "HX-Request"}
    if wants_part(request) and "part" in found.blocks:
        return HTMLResponse("".join(found.blocks["part"](found.new_context(context))), status, headers)
    return HTMLResponse(found.render(context), status, headers)


def counting_page(request: Request, collection: Collection) -> Response | None:
    """What is shown instead of a page while the documents are being counted; JSON waits for the counts."""
    if request.scope["path"].endswith(".json") or (about := collection.counting()) is None:
        return None
    return show(request, "counting.html", {"about": about})


def fragment(request: Request, template: str, values: dict[str, Any]) -> Response:
    """A piece of a page that htmx requests on its own."""
    return HTMLResponse(_environment().get_template(template).render({"request": request, **values}))


def wants_part(request: Request) -> bool:
    """Whether htmx requests a part, not a whole page (for a boosted link, or a page missing from its history)."""
    whole = ("HX-Boosted", "HX-History-Restore-Request")
    return request.headers.get("HX-Request") == "true" and not any(request.headers.get(name) for name in whole)
