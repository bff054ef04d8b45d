"""The application: what is served, its API, its pages."""

from __future__ import annotations

from fastapi import APIRouter, FastAPI, Request
from fastapi.staticfiles import StaticFiles

import roughly
from roughly.service.config import Config
from roughly.service.explorer.pages import STATIC
from roughly.service.holdings import Holdings

ROUTERS: tuple[APIRouter, ...] = ()  # of api/ and explorer/, one a file


def create_app(holdings: Holdings, config: Config | None = None) -> FastAPI:
    """The service over these holdings; the caller closes them."""
    app = FastAPI(title="Roughly", version=roughly.__version__, docs_url=None, redoc_url=None)
    app.state.holdings = holdings
    app.state.config = config or Config()
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    for router in ROUTERS:
        app.include_router(router)
    return app


def held(request: Request) -> Holdings:
    """For endpoints: `Annotated[Holdings, Depends(held)]`."""
    holdings: Holdings = request.app.state.holdings
    return holdings
