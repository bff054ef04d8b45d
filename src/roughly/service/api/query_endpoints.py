"""Endpoints that store nothing: check, compare, group."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool

from roughly.report.visible import label
from roughly.results import group_results
from roughly.service.api.dependencies import (
    RequiredConfig,
    RequiredData,
    RequiredIndex,
    RequiredMetrics,
    RequiredTrial,
    check_id,
)
from roughly.service.collection.served_collections import ServedCollections, collections_of
from roughly.service.error_responses import ErrorResponse
from roughly.service.limits import check_count, check_texts
from roughly.service.request_models import CheckRequest, CompareRequest, CompareSide, GroupRequest
from roughly.service.response_models import ERRORS, GROUPED, CheckResult, ComparedPair
from roughly.verify.comparison import compare as compare_texts

router = APIRouter(prefix="/api", tags=["ask"], responses=ERRORS)


@router.post("/check", summary="Match a document without storing it")
async def check(
    wanted: CheckRequest, index: RequiredIndex, config: RequiredConfig, metrics: RequiredMetrics, trial: RequiredTrial
) -> CheckResult:
    """The documents of the index that it duplicates, the most similar first."""
    check_texts(config, [wanted.text])
    wanted.check_kind(index.settings.reading())
    document = wanted.document()
    await trial.check([document])
    matches = await run_in_threadpool(index.query, document, **wanted.options())
    metrics.count("documents_checked")
    return CheckResult(bool(matches), matches)


@router.post("/compare", summary="Compare two texts, or two stored documents")
def compare(wanted: CompareRequest, request: Request, config: RequiredConfig) -> ComparedPair:
    """Exact scores, the kind of duplicate, the passages that both contain, and the difference word by word."""
    check_texts(config, [wanted.left.text, wanted.right.text])
    collections = collections_of(request)
    left, right = (_text(collections, side) for side in (wanted.left, wanted.right))
    found = compare_texts(left, right, shingle_size=wanted.shingle_size)
    scores = found.scores
    return ComparedPair(
        scores.resemblance, scores.containment, scores.contained_in, scores.shared, scores.left_size, scores.right_size,
        found.shingle_size, found.kind, found.passages, found.diff(wanted.context) if wanted.diff else None,
    )  # fmt: skip


def _text(collections: ServedCollections, side: CompareSide) -> str:
    """The text of a side: given, stored in the index, or found in the input of the run."""
    if side.text is not None:
        return side.text
    doc_id = check_id(side.doc_id or "")
    text = None if collections.index is None else collections.index.index.text(doc_id)
    why = "it is not in the index, or its text is not stored"
    if text is None and collections.run is not None:
        found = collections.run.texts([doc_id])[doc_id]
        text, why = found.text, found.why
    if text is None:
        raise ErrorResponse(404, f"there is no text of {label(doc_id, 60)}: {why}", "give its text instead")
    return text


@router.post("/group", response_model=GROUPED, summary="Group ranked results")
async def group(
    wanted: GroupRequest, served: RequiredData, config: RequiredConfig, trial: RequiredTrial
) -> dict[str, Any]:
    """Duplicates are listed under the result that is shown; every result is returned."""
    check_count(config, len(wanted.results), "results")
    check_texts(config, [result.text for result in wanted.results])
    results = [result.model_dump(exclude_none=True) for result in wanted.results]
    for result in wanted.results:
        check_id(result.doc_id or "")
    await trial.check(results)
    with_texts = [result.text is not None for result in wanted.results]
    if all(with_texts):
        options: dict[str, Any] = {} if wanted.threshold is None else {"threshold": wanted.threshold}
        return (await run_in_threadpool(group_results, results, show=wanted.show, **options)).to_dict()
    if any(with_texts):
        raise ErrorResponse(422, "some results have a text and some have none", "give all texts, or none and the ids")
    if served.index is None:
        raise ErrorResponse(
            409, "only a run is served, which stores no texts", "give the texts, or serve an index as well"
        )
    if wanted.threshold is not None:
        raise ErrorResponse(422, "the index has a threshold of its own", "leave threshold out, or give the texts")
    return (await run_in_threadpool(group_results, results, show=wanted.show, index=served.index)).to_dict()
