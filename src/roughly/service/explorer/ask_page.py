"""`/ask`: which stored documents a text resembles, contains or is contained in. Nothing is stored.

A short text, an id or a url is in the address; a long text and a file are posted. The results are the duplicates of
`Index.query`, followed by the other results of `copies`: documents that share passages with it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path, PurePosixPath
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import FormData, UploadFile

from roughly.errors import InputError, InputMissing, RoughlyError
from roughly.index import Index
from roughly.index.sweeps.copies import copies
from roughly.report.visible import label
from roughly.service.error_responses import without_address
from roughly.service.explorer.containing import containing
from roughly.service.explorer.highlights import highlight_passages
from roughly.service.explorer.links import require_index, stored_url
from roughly.service.explorer.rendering import show
from roughly.service.limits import check_texts
from roughly.temporary_space import LockedFolder
from roughly.verify.passages import agreeing_pieces, passages_of_readings
from roughly.verify.tokenised import Reading

router = APIRouter(include_in_schema=False)
SHORT = 1_500  # characters of a text that may be in an address
RESULTS = 20
DOCUMENTS = 50  # per file
_COMPARED = 10  # results that are shown with their passages
_WINDOW = 200_000  # characters of a text in which passages are searched for
_ENDINGS = (".txt", ".text", ".md", ".html", ".htm", ".xhtml", ".eml", ".jsonl", ".ndjson", ".json", ".csv", ".tsv")
"""Files that may be uploaded, uncompressed: whatever their names, the size of compressed ones is not known."""


async def _form(request: Request) -> AsyncIterator[FormData]:
    async with request.form(max_files=1, max_fields=20) as form:
        yield form


@router.get("/ask")
@router.get("/ask.json")
def ask(request: Request) -> Response:
    """Query with the text, id or url of the address."""
    given = {name: request.query_params.get(name, "") for name in ("text", "id", "url")}
    return _results(request, given)


@router.post("/ask")
@router.post("/ask.json")
async def post(request: Request, form: Annotated[FormData, Depends(_form)]) -> Response:
    """Query with the text, id, url or file of the form."""
    file = form.get("file")
    if isinstance(file, UploadFile) and file.filename:
        documents = await run_in_threadpool(_read_file, request, file)
        await request.app.state.markup_trial.check(documents)
        return await run_in_threadpool(_results, request, {"file": label(file.filename, 80)}, documents)
    given = {name: str(form.get(name) or "") for name in ("text", "id", "url")}
    short = len(given["text"]) <= SHORT and len(given["id"]) + len(given["url"]) <= SHORT
    if short and any(given.values()) and not request.scope["path"].endswith(".json"):
        return RedirectResponse("/ask?" + urlencode({name: value for name, value in given.items() if value}), 303)
    return await run_in_threadpool(_results, request, given)


def _results(request: Request, given: dict[str, str], documents: list[dict[str, Any]] | None = None) -> Response:
    index = require_index(request)
    values: dict[str, Any] = {name: given.get(name, "") for name in ("text", "id", "url", "file")}
    values |= {"trouble": "", "remedy": "", "asked": None, "found": [], "several": []}
    status = 200
    try:
        if documents is None:
            documents = _query_document(request, index, given)
        if len(documents) == 1:
            values |= _similar(index, documents[0])
        elif documents:
            values["several"] = _best_matches(index, documents)
    except RoughlyError as problem:
        status = 404 if isinstance(problem, InputMissing) else 422
        values["trouble"], _, values["remedy"] = without_address(str(problem)).partition("; ")
    page_only = {"stored_url": stored_url, "endings": _ENDINGS, "complete": values.pop("complete", True)}
    return show(request, "ask.html", values, status, page_only=page_only)


def _query_document(request: Request, index: Index, given: dict[str, str]) -> list[dict[str, Any]]:
    """The document to query with: a text, or a document of the index; empty if nothing is given."""
    if given["text"].strip():
        check_texts(request.app.state.config, [given["text"]])
        return [{"text": given["text"].replace("\r\n", "\n")}]
    name = given["id"] or given["url"]
    if not name:
        return []
    entry = index.get(given["id"]) if given["id"] else None
    if entry is None:
        at_url = index.by_url(name)
        if not at_url:
            raise InputMissing(f"the index has no document with the id or the url {label(name)}; check the spelling")
        entry = at_url[-1]
    text = index.text(entry.doc_id)
    if text is None:
        raise InputMissing(f"the text of {label(entry.doc_id)} is not stored; paste the text instead")
    return [{"doc_id": entry.doc_id, "text": text, "title": entry.title, "url": entry.url, "date": entry.date}]


def _similar(index: Index, document: dict[str, Any]) -> dict[str, Any]:
    """The documents similar to one document, with the passages in common."""
    own = document.get("doc_id")
    matches = [match for match in index.query(document, limit=RESULTS + 1) if match.doc_id != own][:RESULTS]
    known = {match.doc_id for match in matches} | {own}
    others = copies(index, own if own and index.get(own) else document, limit=2 * RESULTS + len(known))
    found = [{"is": "duplicate", **match.to_dict()} for match in matches]
    found += [{"is": "part", "estimated": others.estimated, **copy.to_dict()} for copy in others.found
              if copy.doc_id not in known][:RESULTS]  # fmt: skip
    text = document["text"]
    complete = others.complete
    if not complete:
        known |= {one["doc_id"] for one in found}
        by_words = containing(index, text, known)
        complete = by_words is not None
        found += [{"is": "part", "estimated": False, **copy.to_dict()} for copy in by_words or ()]
    places: list[tuple[int, int]] = []
    for place, one in enumerate(found):
        one["passages"], one["marks"] = [], []
        stored = index.text(one["doc_id"]) if place < _COMPARED else None
        if stored is None or one["resemblance"] == 1:  # all words are the same: there is nothing to highlight
            continue
        size = index.settings.shingle_size
        left, right = Reading(text[:_WINDOW], "left"), Reading(stored[:_WINDOW], "right")
        passages = passages_of_readings(left, right, size)
        pieces = [piece for some in agreeing_pieces(passages, left, right, size) for piece in some]
        one["passages"] = [[p.left_start, p.left_end, p.right_start, p.right_end, p.words] for p in passages[:100]]
        one["marks"] = highlight_passages(stored, [(p.right_start, p.right_end) for p in pieces])
        places += [(p.left_start, p.left_end) for p in pieces]
    wanted = {"doc_id": own, "title": document.get("title"), "characters": len(text)}
    wanted["marks"] = highlight_passages(text, places) if places else []
    return {"asked": wanted, "found": found, "complete": complete}


def _best_matches(index: Index, documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The best match of each document of a file."""
    rows = []
    for document, matches in zip(documents, index.queries(documents, limit=RESULTS), strict=True):
        best = matches[0].to_dict() if matches else None
        about = {name: document.get(name) for name in ("doc_id", "title")}
        rows.append({**about, "matches": len(matches), "best": best})
    return rows


def _read_file(request: Request, file: UploadFile) -> list[dict[str, Any]]:
    """The documents of an uploaded file."""
    from roughly.sources import open_parts
    from roughly.sources.streams import compression_of

    name = PurePosixPath((file.filename or "").replace("\\", "/")).name
    ending = PurePosixPath(name.lower()).suffix
    if ending not in _ENDINGS:
        raise InputError(f"a file whose name ends in {label(ending or name, 20)} is not read here; "
                         f"upload one that ends in {', '.join(_ENDINGS)}, or paste the text")  # fmt: skip
    content = file.file.read()
    if compression := compression_of(content[:4]):
        raise InputError(f"{label(name, 60)} is compressed with {compression}; upload it uncompressed")
    documents: list[dict[str, Any]] = []
    with LockedFolder("roughly-ask-") as folder:
        path = Path(folder) / f"file{ending}"
        path.write_bytes(content)
        spool = Path(folder) / "spool"
        spool.mkdir()
        for part in open_parts([str(path)], require_index(request).settings.reading(), spool):
            for chunk in part.chunks():
                documents += part.parse(chunk).batch.to_pylist()
                if len(documents) >= DOCUMENTS:
                    break
    if not documents:
        raise InputError(f"{label(name, 60)} has no document that can be read; check that its content fits its name")
    check_texts(request.app.state.config, [document["text"] for document in documents[:DOCUMENTS]])
    if len(documents) == 1:
        documents[0]["doc_id"] = None
    return documents[:DOCUMENTS]
