"""`/documents/{id}`: a document, its verdict and why, similar documents, and its text in windows."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from roughly.errors import InputMissing, SettingsError
from roughly.report.visible import label
from roughly.service.collection.collection_types import Collection
from roughly.service.collection.served_collections import collection_of
from roughly.service.explorer.links import to
from roughly.service.explorer.paging import whole_number
from roughly.service.explorer.rendering import show

router = APIRouter(include_in_schema=False)
WINDOW = 20_000  # characters shown at once
OTHERS = 50


@router.get("/documents")
@router.get("/documents.json")
def documents(request: Request) -> Response:
    """A document by `?id=` or `?url=`: several may have one address."""
    twin = request.scope["path"].endswith(".json")
    if (doc_id := request.query_params.get("id")) is not None:
        return _page(request, doc_id, twin)
    url = request.query_params.get("url")
    if not url:
        raise SettingsError("name a document: /documents?id=… or /documents?url=…")
    collection = collection_of(request)
    found = collection.at_url(url)
    if not found:
        raise InputMissing(f"the {collection.kind} has no document with the address {label(url)}")
    if len(found) == 1 and not twin:
        return RedirectResponse(to(request, "document", found[0].doc_id), 303)
    values = {"in": collection.kind, "url": url, "documents": [one.to_dict() for one in found]}
    return show(request, "documents.html", values, twin=twin)


@router.get("/documents/{doc_id:path}")
def document(request: Request, doc_id: str) -> Response:
    """A document by its id; the twin is at the id plus `.json`."""
    return _page(request, doc_id.removesuffix(".json"), doc_id.endswith(".json"))


def _page(request: Request, doc_id: str, twin: bool) -> Response:
    collection = collection_of(request)
    found = collection.document(doc_id)
    if found is None:
        raise InputMissing(f"the {collection.kind} has no document {label(doc_id)}; search for its title or words")
    others = collection.evidence(doc_id, OTHERS)
    text = collection.texts([doc_id])[doc_id]
    length = 0 if text.text is None else len(text.text)
    start = min(whole_number(request, "start"), max(0, length - 1))
    window = None if text.text is None else text.text[start : start + WINDOW]
    values = {
        "in": collection.kind,
        "document": found.to_dict(),
        "others": [one.to_dict() for one in others],
        "text": window,
        "text_missing": text.why,
        "start": start,
        "length": length,
    }
    names = [edge.right_id if edge.left_id == doc_id else edge.left_id for edge in others]
    page_only = {
        "about": found,
        "beside": list(zip(names, others, strict=True)),
        "window": WINDOW,
        "archive": _is_in_archive(collection, found.kept_id),
    }
    return show(request, "document.html", values, page_only=page_only, twin=twin)


def _is_in_archive(collection: Collection, kept_id: str | None) -> bool:
    """Whether the kept document belongs to an archive, which the run does not contain."""
    return kept_id is not None and collection.kind == "run" and collection.document(kept_id) is None
