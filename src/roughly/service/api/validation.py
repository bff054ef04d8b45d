"""Many documents matched without being stored, answered line by line."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool

from roughly.errors import RoughlyError
from roughly.service.api.bulk import BULK, Items, documents_of
from roughly.service.api.models import Measure, Text
from roughly.service.api.needs import Configured, Counted, Indexed
from roughly.service.api.responses import TROUBLES
from roughly.service.ndjson import Stopped, StreamedAnswers, refused_line

router = APIRouter(prefix="/api", tags=["ask"], responses=TROUBLES)


@router.post("/check/batch", summary="Match many documents, answered line by line", **BULK)
async def check_many(
    request: Request,
    index: Indexed,
    config: Configured,
    metrics: Counted,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1,
    minimum: Annotated[float | None, Query(ge=0, le=1)] = None,
    measure: Measure | None = None,
) -> StreamedAnswers:
    """A list of documents, or a document a line; for each a line with `known` and its `matches`, in order."""
    lines = await documents_of(request, config)

    def work(some: list[bytes]) -> list[dict[str, Any]]:
        items = Items(some, Text, config, stored=False)
        metrics.count("documents_refused", items.refused)
        try:
            named = [{**document, "doc_id": document["doc_id"] or "?"} for document in items.good]
            found = index.queries(named, limit=limit, minimum=minimum, measure=measure) if named else []
        except RoughlyError as problem:
            raise Stopped(items.told([refused_line(problem)] * len(items.good))) from problem
        metrics.count("documents_checked", len(found))
        answers = []
        for document, matches in zip(items.good, found, strict=True):
            told = {"known": bool(matches), "matches": [match.to_dict() for match in matches]}
            answers.append({"doc_id": document["doc_id"] or None} | told)
        return items.told(answers)

    return StreamedAnswers(lines, lambda some: run_in_threadpool(work, some))
