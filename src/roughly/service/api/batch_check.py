"""The endpoint that matches many documents without storing them, answered line by line."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool

from roughly.errors import RoughlyError
from roughly.service.api.batch_body import BATCH, Batch, documents_of
from roughly.service.api.dependencies import RequiredConfig, RequiredIndex, RequiredMetrics
from roughly.service.ndjson import StreamAborted, StreamedAnswers, refused_line
from roughly.service.request_models import Measure, QueryDocument
from roughly.service.response_models import ERRORS

router = APIRouter(prefix="/api", tags=["ask"], responses=ERRORS)


@router.post("/check/batch", summary="Match many documents, answered line by line", **BATCH)
async def check_many(
    request: Request,
    index: RequiredIndex,
    config: RequiredConfig,
    metrics: RequiredMetrics,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1,
    minimum: Annotated[float | None, Query(ge=0, le=1)] = None,
    measure: Measure | None = None,
) -> StreamedAnswers:
    """A list of documents, or one per line; an answer per line with `known` and `matches`, in order."""
    lines = await documents_of(request, config)

    def work(some: list[bytes]) -> list[dict[str, Any]]:
        batch = Batch(some, QueryDocument, config, stored=False)
        metrics.count("documents_refused", batch.refused)
        try:
            named = [{**document, "doc_id": document["doc_id"] or "?"} for document in batch.valid]
            found = index.queries(named, limit=limit, minimum=minimum, measure=measure) if named else []
        except RoughlyError as problem:
            raise StreamAborted(batch.answers([refused_line(problem)] * len(batch.valid))) from problem
        metrics.count("documents_checked", len(found))
        return batch.answers(
            [
                {
                    "doc_id": document["doc_id"] or None,
                    "known": bool(matches),
                    "matches": [match.to_dict() for match in matches],
                }
                for document, matches in zip(batch.valid, found, strict=True)
            ]
        )

    return StreamedAnswers(lines, lambda some: run_in_threadpool(work, some))
