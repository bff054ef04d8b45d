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
    limit: Annotated[int, Query(ge=1, le=10_000, description="Matches returned per document.")] = 1,
    minimum: Annotated[float | None, Query(ge=0, le=1, description="Lowest value of the measure.")] = None,
    measure: Annotated[Measure | None, Query(description="The measure of `minimum`.")] = None,
    match_empty: Annotated[bool, Query(description="Whether documents without words match each other.")] = False,
) -> StreamedAnswers:
    """A list of documents, or one per line; an answer per line with `known` and `matches`, in order."""
    lines = await documents_of(request, config)

    async def work(some: list[bytes]) -> list[dict[str, Any]]:
        batch = await run_in_threadpool(Batch, some, QueryDocument, config, index.settings.reading(), stored=False)
        await batch.refuse_slow_markup(request.app.state.markup_trial)
        return await run_in_threadpool(match, batch)

    def match(batch: Batch) -> list[dict[str, Any]]:
        metrics.count("documents_refused", batch.refused)
        try:
            named = [{**document, "doc_id": document["doc_id"] or "?"} for document in batch.valid]
            asked = {"limit": limit, "minimum": minimum, "measure": measure, "match_empty": match_empty}
            found = index.queries(named, **asked) if named else []  # type: ignore[arg-type]
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

    return StreamedAnswers(lines, work)
