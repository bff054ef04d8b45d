"""Documents of the index: put in one by one or in bulk, found, taken out, revoked."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from roughly.errors import RoughlyError
from roughly.index import Added
from roughly.service.api.answers import TROUBLES, Found, Gone, Stored
from roughly.service.api.bulk import BULK, Items, documents_of
from roughly.service.api.models import Document, Ids
from roughly.service.api.needs import Configured, Counted, Indexed, Writing, check_id
from roughly.service.limits import check_count, check_texts
from roughly.service.ndjson import Answers, Stopped, refused_line
from roughly.service.troubles import Refused
from roughly.service.writer import check_storable

router = APIRouter(prefix="/api", tags=["documents"], responses=TROUBLES)


@router.post("/documents", summary="Add a document")
async def add(document: Document, writer: Writing, config: Configured) -> Added:
    """It is on disk when this is answered. The same again changes nothing; another text replaces what was there."""
    check_texts(config, [document.text])
    stored = document.model_dump()
    check_storable([stored])
    return (await asyncio.wrap_future(writer.add([stored])))[0]


@router.post("/documents/batch", summary="Add many documents, answered line by line", **BULK)
async def add_many(request: Request, writer: Writing, config: Configured, metrics: Counted) -> Answers:
    """A list of documents, or a document a line; an answer a line, in order, each sent when its document is on disk.

    A document that cannot be stored is answered with `error`, and the others go in.
    """
    lines = await documents_of(request, config)

    async def work(some: list[bytes]) -> list[dict[str, Any]]:
        items = await asyncio.to_thread(Items, some, Document, config, stored=True)
        metrics.count("documents_refused", items.refused)
        try:
            added = await asyncio.wrap_future(writer.add(items.good)) if items.good else []
        except (RoughlyError, Refused) as problem:
            raise Stopped(items.told([refused_line(problem)] * len(items.good))) from problem
        return items.told([one.to_dict() for one in added])

    return Answers(lines, work)


@router.get("/documents", summary="Find a document by its id or url")
def find(
    index: Indexed,
    id: Annotated[str | None, Query(description="The id of a document.")] = None,
    url: Annotated[str | None, Query(description="The url of documents.")] = None,
    text: Annotated[bool, Query(description="Give the stored text as well.")] = False,
) -> Found:
    """The document with this id, or those with this url."""
    if (id is None) == (url is None):
        raise Refused(422, "ask by id or by url", "give one of the two")
    if id is not None:
        entry = index.get(check_id(id))
        entries = [] if entry is None else [entry]
    else:
        entries = index.by_url(check_id(url or ""))
    if not entries:
        raise Refused(404, "the index holds no such document", "check the spelling")
    return Found([Stored(entry, index.text(entry.doc_id) if text else None) for entry in entries])


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
