"""Health and metrics of the service, for monitoring."""

from __future__ import annotations

import anyio.to_thread
from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from roughly.errors import RoughlyError
from roughly.service.api.dependencies import RequiredData, RequiredMetrics
from roughly.service.error_responses import RETRY_SECONDS
from roughly.service.response_models import Health

router = APIRouter(tags=["health"])


@router.get("/health/live", summary="Whether the service answers at all")
async def live() -> Health:
    """It does."""
    return Health(live=True, ready=True)


@router.get("/health", responses={503: {"model": Health}}, summary="Whether the service can do its work")
async def ready(request: Request, served: RequiredData, response: Response) -> Health:
    """503 while the database of the index is unreachable. Without a token nothing else is returned."""
    try:
        await anyio.to_thread.run_sync(served.check, limiter=request.app.state.reserved_threads)
    except RoughlyError:
        response.status_code = 503
        response.headers["retry-after"] = str(RETRY_SECONDS)
        return Health(live=True, ready=False, reason="what is served cannot be reached")
    return Health(live=True, ready=True)


@router.get("/metrics", response_class=PlainTextResponse, summary="Metrics for Prometheus")
def metrics(metrics: RequiredMetrics) -> PlainTextResponse:
    """In Prometheus' text format."""
    return PlainTextResponse(metrics.text(), media_type=CONTENT_TYPE_PLAIN_0_0_4)
