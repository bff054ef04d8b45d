"""`/documents/{id}`: a document, what became of it and why, whom it resembles, and its text a window at a time."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from roughly.errors import InputMissing, SettingsError
from roughly.report.visible import label
from roughly.service.collection import Collection, collections_of
from roughly.service.explorer.links import to
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
    looked = collections_of(request).named(request.query_params.get("in"), "run")
    found = looked.at_url(url)
    if not found:
        raise InputMissing(f"the {looked.kind} has no document with the address {label(url)}")
    if len(found) == 1 and not twin:
        return RedirectResponse(to(request, "document", found[0].doc_id), 303)
    shown = {"in": looked.kind, "url": url, "documents": [one.to_dict() for one in found]}
    return show(request, "documents.html", shown, twin=twin)


@router.get("/documents/{doc_id:path}")
def document(request: Request, doc_id: str) -> Response:
    """A document by its id; the twin is at the id plus `.json`."""
    return _page(request, doc_id.removesuffix(".json"), doc_id.endswith(".json"))


def _page(request: Request, doc_id: str, twin: bool) -> Response:
    looked = collections_of(request).named(request.query_params.get("in"), "run")
    found = looked.document(doc_id)
    if found is None:
        raise InputMissing(f"the {looked.kind} has no document {label(doc_id)}; the search finds ids, titles and words")
    others = looked.evidence(doc_id, OTHERS)
    text = looked.texts([doc_id])[doc_id]
    length = 0 if text.text is None else len(text.text)
    start = _start(request, length)
    window = None if text.text is None else text.text[start : start + WINDOW]
    shown = {
        "in": looked.kind,
        "document": found.to_dict(),
        "others": [one.to_dict() for one in others],
        "text": window,
        "text_missing": text.why,
        "start": start,
        "length": length,
    }
    names = [edge.right_id if edge.left_id == doc_id else edge.left_id for edge in others]
    return show(
        request,
        "document.html",
        shown,
        drawn={
            "about": found,
            "beside": list(zip(names, others, strict=True)),
            "window": WINDOW,
            "archive": _of_archive(looked, found.kept_id),
        },
        twin=twin,
    )


def _start(request: Request, length: int) -> int:
    value = request.query_params.get("start") or "0"
    if not value.isascii() or not value.isdigit() or len(value) > 12:
        raise SettingsError(f"start must be a whole number from 0, not {value[:40]!r}")
    return min(int(value), max(0, length - 1))


def _of_archive(looked: Collection, kept_id: str | None) -> bool:
    """Whether what stays in its place is a document of an archive, which the run does not have."""
    return kept_id is not None and looked.kind == "run" and looked.document(kept_id) is None
