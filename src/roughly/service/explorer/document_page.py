"""`/documents/{id}`: a document, its verdict and why, similar documents, and its text in windows."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from roughly.errors import InputMissing
from roughly.report.visible import label
from roughly.service.collection.collection_types import Collection
from roughly.service.collection.served_collections import collection_of
from roughly.service.explorer.decided_marks import decisions_by_id, may_decide
from roughly.service.explorer.links import to
from roughly.service.explorer.paging import whole_number
from roughly.service.explorer.readable_text import readable
from roughly.service.explorer.rendering import show

router = APIRouter(include_in_schema=False)
WINDOW = 20_000  # characters shown at once
OTHERS = 50


def documents_at_url(request: Request, url: str, twin: bool) -> Response:
    """The document with an address, or the list of those that have it."""
    collection = collection_of(request)
    found = collection.at_url(url)
    if not found:
        raise InputMissing(f"the {collection.kind} has no document with the address {label(url)}")
    if len(found) == 1 and not twin:
        return RedirectResponse(to(request, "document", found[0].doc_id), 303)
    values = {"in": collection.kind, "url": url, "documents": [one.to_dict() for one in found]}
    return show(request, "at_url.html", values, twin=twin)


@router.get("/documents/{doc_id:path}")
def document(request: Request, doc_id: str) -> Response:
    """A document by its id; the twin is at the id plus `.json`."""
    return document_page(request, doc_id.removesuffix(".json"), doc_id.endswith(".json"))


def document_page(request: Request, doc_id: str, twin: bool) -> Response:
    """The page of a document, or its twin."""
    collection = collection_of(request)
    found = collection.document(doc_id)
    if found is None:
        raise InputMissing(f"the {collection.kind} has no document {label(doc_id)}; search for its title or words")
    others = collection.evidence(doc_id, OTHERS)
    names = [edge.right_id if edge.left_id == doc_id else edge.left_id for edge in others]
    known = {row.doc_id: row for row in collection.named(names)}
    decided = decisions_by_id(request)
    text = collection.texts([doc_id])[doc_id]
    length = 0 if text.text is None else len(text.text)
    start = min(whole_number(request, "start"), max(0, length - 1))
    window = None if text.text is None else text.text[start : start + WINDOW]
    values = {
        "in": collection.kind,
        "document": found.to_dict(),
        "others": [one.to_dict() for one in others],
        "neighbours": {
            row.doc_id: {"title": row.title, "date": row.date, "source": row.source} for row in known.values()
        },
        "decisions": [one.to_dict() for one in decided.get(doc_id, ())],
        "text": window,
        "text_missing": text.why,
        "start": start,
        "length": length,
    }
    page_only = {
        "about": found,
        "beside": [(name, known.get(name), edge) for name, edge in zip(names, others, strict=True)],
        "blocks": [] if window is None else readable(window),
        "as_written": request.query_params.get("as") == "written",
        "decided": decided,
        "may_decide": may_decide(request),
        "window": WINDOW,
        "archive": _is_in_archive(collection, found.kept_id),
    }
    return show(request, "document.html", values, page_only=page_only, twin=twin)


def _is_in_archive(collection: Collection, kept_id: str | None) -> bool:
    """Whether the kept document belongs to an archive, which the run does not contain."""
    return kept_id is not None and collection.kind == "run" and collection.document(kept_id) is None
