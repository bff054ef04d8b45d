"""Documents of the index: put in one by one or in bulk, found, taken out, revoked."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool

from roughly.errors import RoughlyError
from roughly.index import Added, Index
from roughly.service.api.bulk import BULK, Items, documents_of
from roughly.service.api.models import Ids, NewDocument
from roughly.service.api.needs import Configured, Counted, Indexed, Looked, Writing, check_id
from roughly.service.api.responses import TROUBLES, Found, Gone, RunFound, RunStored, Stored
from roughly.service.collection import Collection
from roughly.service.error_responses import ErrorResponse
from roughly.service.limits import check_count, check_texts
from roughly.service.ndjson import Stopped, StreamedAnswers, refused_line
from roughly.service.writer import check_storable

router = APIRouter(prefix="/api", tags=["documents"], responses=TROUBLES)


@router.post("/documents", summary="Add a document")
async def add(document: NewDocument, writer: Writing, config: Configured) -> Added:
    """It is on disk when this is answered. The same again changes nothing; another text replaces what was there."""
    check_texts(config, [document.text])
    stored = document.model_dump()
    check_storable([stored])
    return (await asyncio.wrap_future(writer.add([stored])))[0]


@router.post("/documents/batch", summary="Add many documents, answered line by line", **BULK)
async def add_many(request: Request, writer: Writing, config: Configured, metrics: Counted) -> StreamedAnswers:
    """A list of documents, or a document a line; an answer a line, in order, each sent when its document is on disk.

    A document that cannot be stored is answered with `error`, and the others go in.
    """
    lines = await documents_of(request, config)

    async def work(some: list[bytes]) -> list[dict[str, Any]]:
        items = await run_in_threadpool(Items, some, NewDocument, config, stored=True)
        metrics.count("documents_refused", items.refused)
        try:
            added = await asyncio.wrap_future(writer.add(items.good)) if items.good else []
        except (RoughlyError, ErrorResponse) as problem:
            raise Stopped(items.told([refused_line(problem)] * len(items.good))) from problem
        return items.told([one.to_dict() for one in added])

    return StreamedAnswers(lines, work)


@router.get("/documents", summary="Find a document by its id or url")
def find(
    looked: Looked,
    id: Annotated[str | None, Query(description="The id of a document.")] = None,
    url: Annotated[str | None, Query(description="The url of documents.")] = None,
    text: Annotated[bool, Query(description="Give the text as well.")] = False,
) -> Found | RunFound:
    """The document with this id, or those with this url."""
    if (id is None) == (url is None):
        raise ErrorResponse(422, "ask by id or by url", "give one of the two")
    return (_stored if isinstance(looked, Index) else _of_run)(looked, id, check_id(id or url or ""), text)  # type: ignore[arg-type]


def _stored(index: Index, id: str | None, named: str, text: bool) -> Found:
    entry = None if id is None else index.get(named)
    entries = index.by_url(named) if id is None else [] if entry is None else [entry]
    if not entries:
        raise _not_there()
    return Found([Stored(entry, index.text(entry.doc_id) if text else None) for entry in entries])


def _of_run(run: Collection, id: str | None, named: str, text: bool) -> RunFound:
    document = None if id is None else run.document(named)
    documents = run.at_url(named) if id is None else [] if document is None else [document]
    if not documents:
        raise _not_there()
    texts = run.texts([one.doc_id for one in documents]) if text else {}
    return RunFound([RunStored(one, texts[one.doc_id].text if text else None) for one in documents])


def _not_there() -> ErrorResponse:
    return ErrorResponse(404, "there is no such document", "check the spelling")


@router.delete("/documents", summary="Take documents out")
def remove(
    index: Indexed, config: Configured, id: Annotated[list[str], Query(description="Ids; any number of them.")]
) -> Gone:
    """The ids that were there. Clusters keep their ids."""
    check_count(config, len(id), "ids")
    return Gone(sorted(index.remove([one for one in id if "\0" not in one])))


@router.post("/revoke", summary="Declare that the texts of documents match nothing, for good")
def revoke(asked: Ids, index: Indexed, config: Configured) -> Gone:
    """The ids that were there. The documents stay, listed as revoked."""
    check_count(config, len(asked.ids), "ids")
    return Gone(sorted(index.revoke([one for one in asked.ids if "\0" not in one])))
