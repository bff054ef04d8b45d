"""The application: the served data, the API and the pages."""

from __future__ import annotations

import atexit
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.to_thread
from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from roughly.errors import RoughlyError
from roughly.service.api import (
    api_page,
    batch_check,
    collection_endpoints,
    document_endpoints,
    health,
    login,
    query_endpoints,
)
from roughly.service.collection.served_collections import ServedCollections
from roughly.service.error_rendering import render_error
from roughly.service.error_responses import internal_error, to_error_response
from roughly.service.explorer import (
    ask_page,
    cluster_page,
    clusters_page,
    compare_page,
    decisions_page,
    document_page,
    documents_page,
    judge_page,
    overview_page,
    passages_pages,
    search_page,
    sweep_pages,
    threshold_page,
    tune_page,
)
from roughly.service.explorer.background_task import BackgroundTask
from roughly.service.explorer.rendering import STATIC
from roughly.service.guard import Guard
from roughly.service.index_writer import IndexWriter
from roughly.service.limits import WRONG_BURST, WRONG_RATE, RateLimit
from roughly.service.markup_trial import MarkupTrial
from roughly.service.security import Authenticator
from roughly.service.served_data import ServedData
from roughly.service.service_config import ServiceConfig
from roughly.service.service_metrics import Metrics
from roughly.version import __version__

ROUTERS: tuple[APIRouter, ...] = tuple(
    module.router
    for module in (
        query_endpoints, batch_check, document_endpoints, collection_endpoints, health, login, api_page, overview_page,
        clusters_page, cluster_page, compare_page, documents_page, document_page, decisions_page, judge_page,
        tune_page, threshold_page, ask_page, search_page, sweep_pages, passages_pages,
    )
)  # fmt: skip
_THREADS = 12
"""Threads that answer requests: fewer than the connections that an index may open, so that none waits for one."""
_RESERVED_THREADS = 2
"""Threads for health and error pages, which must not wait until one of the others is free."""

_STOPPING = 10.0
"""Seconds that the end waits for pages that are being prepared; they are interrupted."""


def create_app(served: ServedData, config: ServiceConfig | None = None) -> FastAPI:
    """The application over this data; the caller closes the data."""
    config = config or ServiceConfig()
    app = FastAPI(title="Roughly", version=__version__, docs_url=None, redoc_url=None, lifespan=_lifespan)
    app.state.served = served
    app.state.collections = ServedCollections(served)
    app.state.config = config
    app.state.apply_task = BackgroundTask("apply decisions")
    app.state.tune_task = BackgroundTask("choose settings")
    app.state.metrics = Metrics(served.index)
    app.state.authenticator = Authenticator(config)
    app.state.reserved_threads = anyio.CapacityLimiter(_RESERVED_THREADS)
    app.state.markup_trial = MarkupTrial(config.timeout)
    app.state.unknown_tokens = RateLimit(WRONG_RATE, WRONG_BURST)
    app.state.writer = None if served.index is None else IndexWriter(served.index, app.state.metrics)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    for router in ROUTERS:
        app.include_router(router)
    for kind in (HTTPException, RequestValidationError, RoughlyError):
        app.add_exception_handler(kind, _handle_error)
    app.add_middleware(
        Guard, config=config, authenticator=app.state.authenticator, metrics=app.state.metrics,
        unknown_tokens=app.state.unknown_tokens, reserved_threads=app.state.reserved_threads,
    )  # fmt: skip
    _describe_tokens(app)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    anyio.to_thread.current_default_thread_limiter().total_tokens = _THREADS
    preparing = threading.Thread(target=app.state.collections.prepare, name="prepare run", daemon=True)
    preparing.start()

    def stop() -> None:
        if app.state.writer is not None:
            app.state.writer.close()  # every accepted document is added
        app.state.tune_task.close()
        app.state.collections.close()
        app.state.markup_trial.close()
        preparing.join(_STOPPING)

    atexit.register(stop)  # a thread that is in the database when the interpreter ends takes the process down
    yield
    atexit.unregister(stop)
    await anyio.to_thread.run_sync(stop)


async def _handle_error(request: Request, problem: Exception) -> Response:
    error = to_error_response(problem) or internal_error()
    return await anyio.to_thread.run_sync(render_error, request, error, limiter=request.app.state.reserved_threads)


def _describe_tokens(app: FastAPI) -> None:
    """Say in the OpenAPI description that a token is sent as a bearer token."""
    describe = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            description = describe()
            schemes = description.setdefault("components", {}).setdefault("securitySchemes", {})
            schemes["token"] = {"type": "http", "scheme": "bearer"}
            description["security"] = [{"token": []}, {}]
            app.openapi_schema = description
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]
