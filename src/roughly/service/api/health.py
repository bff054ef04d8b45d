"""For whoever watches the service: whether it is well, and its figures."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse

from roughly.errors import RoughlyError
from roughly.service.api.needs import Counted
from roughly.service.api.responses import Health
from roughly.service.error_responses import RETRY_SECONDS
from roughly.service.served_data import ServedData

router = APIRouter(tags=["health"])


@router.get("/health/live", summary="Whether the service answers at all")
async def live() -> Health:
    """It does."""
    return Health(live=True, ready=True)


@router.get("/health", responses={503: {"model": Health}}, summary="Whether the service can do its work")
def ready(request: Request, response: Response) -> Health:
    """503 while the database of the index is away. Nothing else is told to those who have no token."""
    holdings: ServedData = request.app.state.holdings
    try:
        holdings.check()
    except RoughlyError:
        response.status_code = 503
        response.headers["retry-after"] = str(RETRY_SECONDS)
        return Health(live=True, ready=False, reason="what is served cannot be reached")
    return Health(live=True, ready=True)


@router.get("/metrics", response_class=PlainTextResponse, summary="Figures for Prometheus")
def metrics(counted: Counted) -> PlainTextResponse:
    """In its text format."""
    return PlainTextResponse(counted.text(), media_type="text/plain; version=0.0.4")
