"""Questions that store nothing: check, compare, group."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from roughly.index import Index
from roughly.report.visible import label
from roughly.results import Grouped, group_results
from roughly.service.api.models import Check, Compare, Group, Side
from roughly.service.api.needs import Configured, Counted, Indexed, check_id
from roughly.service.api.responses import TROUBLES, Checked, Compared, GroupedResults
from roughly.service.collection import Collections, collections_of
from roughly.service.error_responses import ErrorResponse
from roughly.service.limits import check_count, check_texts
from roughly.verify.comparison import compare as compare_texts

router = APIRouter(prefix="/api", tags=["ask"], responses=TROUBLES)


@router.post("/check", summary="Match a document without storing it")
def check(asked: Check, index: Indexed, config: Configured, metrics: Counted) -> Checked:
    """The documents of the index that it is a duplicate of, the most alike first."""
    check_texts(config, [asked.text])
    matches = index.query(asked.document(), **asked.options())
    metrics.count("documents_checked")
    return Checked(bool(matches), matches)


@router.post("/compare", summary="Compare two texts, or two stored documents")
def compare(asked: Compare, request: Request, config: Configured) -> Compared:
    """Exact scores, the kind of duplicate, the passages that both hold, and the difference word by word."""
    check_texts(config, [asked.left.text, asked.right.text])
    served = collections_of(request)
    found = compare_texts(_text(served, asked.left), _text(served, asked.right), shingle_size=asked.shingle_size)
    scores = found.scores
    return Compared(
        scores.resemblance, scores.containment, scores.contained_in, scores.shared, scores.left_size, scores.right_size,
        found.shingle_size, found.kind, found.passages, found.diff(asked.context) if asked.diff else None,
    )  # fmt: skip


def _text(served: Collections, side: Side) -> str:
    """The text of a side: given, stored in the index, or found in the input of the run."""
    if side.text is not None:
        return side.text
    doc_id = check_id(side.doc_id or "")
    text = None if served.index is None else served.index.index.text(doc_id)
    why = "it is not in the index, or its text is not stored"
    if text is None and served.run is not None:
        found = served.run.texts([doc_id])[doc_id]
        text, why = found.text, found.why
    if text is None:
        raise ErrorResponse(404, f"there is no text of {label(doc_id, 60)}: {why}", "give its text instead")
    return text


@router.post("/group", response_model=GroupedResults, summary="Group ranked results")
def group(asked: Group, request: Request, config: Configured) -> dict[str, Any]:
    """Duplicates go under the result that is shown; none is left out."""
    check_count(config, len(asked.results), "results")
    check_texts(config, [result.text for result in asked.results])
    results = [result.model_dump(exclude_none=True) for result in asked.results]
    for result in asked.results:
        check_id(result.doc_id or "")
    with_texts = [result.text is not None for result in asked.results]
    if all(with_texts):
        options: dict[str, Any] = {} if asked.threshold is None else {"threshold": asked.threshold}
        return _told(group_results(results, show=asked.show, **options))
    if any(with_texts):
        raise ErrorResponse(422, "some results have a text and some have none", "give all texts, or none and the ids")
    index: Index | None = request.app.state.holdings.index
    if index is None:
        raise ErrorResponse(
            409, "only a run is served, which holds no texts", "give the texts, or serve an index as well"
        )
    if asked.threshold is not None:
        raise ErrorResponse(422, "the index has a threshold of its own", "leave threshold out, or give the texts")
    return _told(group_results(results, show=asked.show, index=index))


def _told(grouped: Grouped) -> dict[str, Any]:
    return grouped.to_dict()
