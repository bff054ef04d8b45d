"""`/ask`: which stored documents a text looks like, holds or is held by. Nothing is stored.

A short text, an id or a url is in the address; a long text and a file are posted. What is found is what `Index.query`
calls duplicates, and then what `copies` finds besides: documents that hold part of it, or of which it holds part.
"""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from pathlib import Path, PurePosixPath
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import FormData, UploadFile

from roughly.errors import InputError, InputMissing, RoughlyError
from roughly.index import Index
from roughly.index.sweeps.copies import copies
from roughly.report.visible import label
from roughly.service.explorer.rendering import show
from roughly.service.explorer.stored import index_of, shared_marks, stored_url
from roughly.service.limits import check_texts
from roughly.verify.passages import shared_passages

router = APIRouter(include_in_schema=False)
SHORT = 1_500  # characters of a text that may stand in an address
FOUND = 20
DOCUMENTS = 50  # of a file
_COMPARED = 10  # of the documents found, how many are shown with their passages
_WINDOW = 200_000  # characters of a text in which passages are looked for
_ENDINGS = (".txt", ".text", ".md", ".html", ".htm", ".xhtml", ".eml", ".jsonl", ".ndjson", ".json", ".csv", ".tsv")
"""Files that may be dropped: uncompressed, so that they are no larger than they look."""


async def _form(request: Request) -> AsyncIterator[FormData]:
    async with request.form(max_files=1, max_fields=20) as form:
        yield form


@router.get("/ask")
@router.get("/ask.json")
def ask(request: Request) -> Response:
    """Ask about what the address says."""
    given = {name: request.query_params.get(name, "") for name in ("text", "id", "url")}
    return _answer(request, given)


@router.post("/ask")
@router.post("/ask.json")
def asked(request: Request, form: Annotated[FormData, Depends(_form)]) -> Response:
    """Ask about what was sent."""
    file = form.get("file")
    if isinstance(file, UploadFile) and file.filename:
        return _answer(request, {"file": label(file.filename, 80)}, _read(request, file))
    given = {name: str(form.get(name) or "") for name in ("text", "id", "url")}
    short = len(given["text"]) <= SHORT and len(given["id"]) + len(given["url"]) <= SHORT
    if short and any(given.values()) and not request.scope["path"].endswith(".json"):
        return RedirectResponse("/ask?" + urlencode({name: value for name, value in given.items() if value}), 303)
    return _answer(request, given)


def _answer(request: Request, given: dict[str, str], documents: list[dict[str, Any]] | None = None) -> Response:
    index = index_of(request)
    said: dict[str, Any] = {name: given.get(name, "") for name in ("text", "id", "url", "file")}
    shown: dict[str, Any] = {**said, "trouble": "", "remedy": "", "asked": None, "found": [], "several": []}
    status = 200
    try:
        if documents is None:
            documents = _named(request, index, given)
        if len(documents) == 1:
            shown |= _found(index, documents[0])
        elif documents:
            shown["several"] = _several(index, documents)
    except RoughlyError as problem:
        status = 404 if isinstance(problem, InputMissing) else 422
        shown["trouble"], _, shown["remedy"] = str(problem).partition("; ")
    drawn = {"stored_url": stored_url, "endings": _ENDINGS, "complete": shown.pop("complete", True)}
    return show(request, "ask.html", shown, status, drawn=drawn)


def _named(request: Request, index: Index, given: dict[str, str]) -> list[dict[str, Any]]:
    """The document that is meant: a text, or one of the index."""
    if given["text"].strip():
        check_texts(request.app.state.config, [given["text"]])
        return [{"text": given["text"].replace("\r\n", "\n")}]
    name = given["id"] or given["url"]
    if not name:
        return []
    entry = index.get(given["id"]) if given["id"] else None
    if entry is None:
        there = index.by_url(name)
        if not there:
            raise InputMissing(f"the index has no document with the id or the url {label(name)}; check the spelling")
        entry = there[-1]
    text = index.text(entry.doc_id)
    if text is None:
        raise InputMissing(f"nothing is stored of the text of {label(entry.doc_id)}; paste the text instead")
    return [{"doc_id": entry.doc_id, "text": text, "title": entry.title, "url": entry.url, "date": entry.date}]


def _found(index: Index, document: dict[str, Any]) -> dict[str, Any]:
    """What is like one document."""
    own = document.get("doc_id")
    matches = [match for match in index.query(document, limit=FOUND + 1) if match.doc_id != own][:FOUND]
    known = {match.doc_id for match in matches} | {own}
    others = copies(index, own if own and index.get(own) else document, limit=2 * FOUND + len(known))
    found = [{"is": "duplicate", **match.to_dict()} for match in matches]
    found += [{"is": "part", "estimated": others.estimated, **copy.to_dict()} for copy in others.found
              if copy.doc_id not in known][:FOUND]  # fmt: skip
    text = document["text"]
    places: list[tuple[int, int]] = []
    for place, one in enumerate(found):
        one["passages"], one["marks"] = [], []
        held = index.text(one["doc_id"]) if place < _COMPARED else None
        if held is None or one["resemblance"] == 1:  # the same words all through: there is nothing to mark
            continue
        passages = shared_passages(text[:_WINDOW], held[:_WINDOW], index.settings.shingle_size)
        one["passages"] = [[p.left_start, p.left_end, p.right_start, p.right_end, p.words] for p in passages[:100]]
        one["marks"] = shared_marks(held, [(p.right_start, p.right_end) for p in passages])
        places += [(p.left_start, p.left_end) for p in passages]
    asked = {"doc_id": own, "title": document.get("title"), "characters": len(text)}
    asked["marks"] = shared_marks(text, places) if places else []
    return {"asked": asked, "found": found, "complete": others.complete}


def _several(index: Index, documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of each document of a file, the best match."""
    told = []
    for document, matches in zip(documents, index.queries(documents, limit=FOUND), strict=True):
        best = matches[0].to_dict() if matches else None
        about = {name: document.get(name) for name in ("doc_id", "title")}
        told.append({**about, "matches": len(matches), "best": best})
    return told


def _read(request: Request, file: UploadFile) -> list[dict[str, Any]]:
    """The documents of a file that was dropped."""
    from roughly.sources import ReadOptions, open_parts

    name = PurePosixPath((file.filename or "").replace("\\", "/")).name
    ending = PurePosixPath(name.lower()).suffix
    if ending not in _ENDINGS:
        raise InputError(f"a file whose name ends in {label(ending or name, 20)} is not read here; "
                         f"drop one that ends in {', '.join(_ENDINGS)}, or paste the text")  # fmt: skip
    documents: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="roughly-ask-") as folder:
        path = Path(folder) / f"file{ending}"
        path.write_bytes(file.file.read())
        spool = Path(folder) / "spool"
        spool.mkdir()
        for part in open_parts([str(path)], ReadOptions(markup=index_of(request).settings.markup), spool):
            for chunk in part.chunks():
                documents += part.parse(chunk).batch.to_pylist()
                if len(documents) >= DOCUMENTS:
                    break
    if not documents:
        raise InputError(f"{label(name, 60)} holds no document that could be read; see that it is what its name says")
    check_texts(request.app.state.config, [document["text"] for document in documents[:DOCUMENTS]])
    if len(documents) == 1:
        documents[0]["doc_id"] = None
    return documents[:DOCUMENTS]
