"""The application: what is served, its API, its pages."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio.to_thread
from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from fastapi.staticfiles import StaticFiles
from markupsafe import Markup
from starlette.exceptions import HTTPException

from roughly.errors import RoughlyError
from roughly.service.answering import answer
from roughly.service.api import asking, health, login, looking
from roughly.service.api import document_endpoints as documents
from roughly.service.api import paging as page
from roughly.service.api import validation as checking
from roughly.service.collection import Collections
from roughly.service.config import Config
from roughly.service.error_responses import broken, refusal_of
from roughly.service.explorer import (
    ask,
    cluster,
    clusters,
    compare,
    document,
    judge,
    overview,
    search,
    swept,
    threshold,
)
from roughly.service.explorer.rendering import STATIC
from roughly.service.guard import Guard
from roughly.service.limits import WRONG_BURST, WRONG_RATE, RateLimit
from roughly.service.metrics import Metrics
from roughly.service.security import FIELD, Authenticator
from roughly.service.served_data import ServedData
from roughly.service.writer import Writer
from roughly.version import __version__

ROUTERS: tuple[APIRouter, ...] = (
    asking.router, checking.router, documents.router, looking.router, health.router, login.router, page.router,
    overview.router, clusters.router, cluster.router, compare.router, document.router, judge.router, threshold.router,
    ask.router, search.router, swept.router,
)  # fmt: skip
"""Of api/ and explorer/, one a file."""
_THREADS = 12
"""That answer requests; fewer than the connections that an index may open, so that none waits for one."""


def create_app(holdings: ServedData, config: Config | None = None) -> FastAPI:
    """The service over these holdings; the caller closes them."""
    config = config or Config()
    app = FastAPI(title="Roughly", version=__version__, docs_url=None, redoc_url=None, lifespan=_lifespan)
    app.state.holdings = holdings
    app.state.collections = Collections(holdings)
    app.state.config = config
    app.state.metrics = Metrics(holdings.index)
    app.state.keeper = keeper = Authenticator(config)
    app.state.csrf_field = csrf_field
    app.state.wrong = wrong = RateLimit(WRONG_RATE, WRONG_BURST)
    app.state.writer = None if holdings.index is None else Writer(holdings.index, app.state.metrics)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    for router in ROUTERS:
        app.include_router(router)
    for kind in (HTTPException, RequestValidationError, RoughlyError):
        app.add_exception_handler(kind, _trouble)
    app.add_middleware(Guard, config=config, keeper=keeper, metrics=app.state.metrics, wrong=wrong)
    _describe(app)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    anyio.to_thread.current_default_thread_limiter().total_tokens = _THREADS
    yield
    if app.state.writer is not None:
        await anyio.to_thread.run_sync(app.state.writer.close)  # all that was taken is added
    await anyio.to_thread.run_sync(app.state.collections.close)


def _trouble(request: Request, problem: Exception) -> Response:
    return answer(request, refusal_of(problem) or broken())


def csrf_field(request: Request) -> Markup:
    """The field that every form which posts must hold."""
    return Markup('<input type="hidden" name="{}" value="{}">').format(FIELD, request.state.csrf)


def _describe(app: FastAPI) -> None:
    """Say in the OpenAPI description that a token is sent as a bearer's."""
    made = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            described = made()
            schemes = described.setdefault("components", {}).setdefault("securitySchemes", {})
            schemes["token"] = {"type": "http", "scheme": "bearer"}
            described["security"] = [{"token": []}, {}]
            app.openapi_schema = described
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def held(request: Request) -> ServedData:
    """For endpoints: `Annotated[Holdings, Depends(held)]`."""
    holdings: ServedData = request.app.state.holdings
    return holdings
