"""Endpoints about documents: add one or many, find, remove, revoke."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool

from roughly.errors import RoughlyError
from roughly.index import Added, Index
from roughly.service.api.batch_body import BATCH, Batch, documents_of
from roughly.service.api.dependencies import (
    IndexOrRun,
    RequiredConfig,
    RequiredIndex,
    RequiredMetrics,
    RequiredTrial,
    RequiredWriter,
    check_id,
)
from roughly.service.collection.collection_types import Collection
from roughly.service.error_responses import ErrorResponse
from roughly.service.index_writer import check_storable
from roughly.service.limits import check_count, check_texts
from roughly.service.ndjson import StreamAborted, StreamedAnswers, refused_line
from roughly.service.request_models import IdList, NewDocument
from roughly.service.response_models import (
    ERRORS,
    AffectedIds,
    FoundDocuments,
    RunDocument,
    RunDocuments,
    StoredDocument,
)

router = APIRouter(prefix="/api", tags=["documents"], responses=ERRORS)


@router.post("/documents", summary="Add a document")
async def add(document: NewDocument, writer: RequiredWriter, config: RequiredConfig, trial: RequiredTrial) -> Added:
    """It is on disk when this is answered. The same text again changes nothing; another text replaces the old one."""
    check_texts(config, [document.text])
    document.check_kind(writer.reading)
    stored = document.model_dump()
    check_storable([stored], writer.reading)
    await trial.check([stored])
    return (await asyncio.wrap_future(writer.add([stored])))[0]


@router.post("/documents/batch", summary="Add many documents, answered line by line", **BATCH)
async def add_many(
    request: Request, writer: RequiredWriter, config: RequiredConfig, metrics: RequiredMetrics, trial: RequiredTrial
) -> StreamedAnswers:
    """A list of documents, or one per line; an answer per line, in order, each sent when its document is on disk.

    A document that cannot be stored is answered with `error`, and the others are added.
    """
    lines = await documents_of(request, config)

    async def work(some: list[bytes]) -> list[dict[str, Any]]:
        batch = await run_in_threadpool(Batch, some, NewDocument, config, writer.reading, stored=True)
        await batch.refuse_slow_markup(trial)
        metrics.count("documents_refused", batch.refused)
        try:
            added = await asyncio.wrap_future(writer.add(batch.valid)) if batch.valid else []
        except (RoughlyError, ErrorResponse) as problem:
            raise StreamAborted(batch.answers([refused_line(problem)] * len(batch.valid))) from problem
        return batch.answers([one.to_dict() for one in added])

    return StreamedAnswers(lines, work)


@router.get("/documents", summary="Find a document by its id or url")
def find(
    source: IndexOrRun,
    id: Annotated[str | None, Query(description="The id of a document.")] = None,
    url: Annotated[str | None, Query(description="The url of documents.")] = None,
    text: Annotated[bool, Query(description="Return the text as well.")] = False,
) -> FoundDocuments | RunDocuments:
    """The document with this id, or those with this url."""
    if (id is None) == (url is None):
        raise ErrorResponse(422, "ask by id or by url", "give one of the two")
    name = check_id(id or url or "")
    found = _in_index(source, id, name, text) if isinstance(source, Index) else _in_run(source, id, name, text)
    if not found.documents:
        raise ErrorResponse(404, "there is no such document", "check the spelling")
    return found


def _in_index(index: Index, id: str | None, name: str, text: bool) -> FoundDocuments:
    entry = None if id is None else index.get(name)
    entries = index.by_url(name) if id is None else [] if entry is None else [entry]
    return FoundDocuments([StoredDocument(entry, index.text(entry.doc_id) if text else None) for entry in entries])


def _in_run(run: Collection, id: str | None, name: str, text: bool) -> RunDocuments:
    document = None if id is None else run.document(name)
    documents = run.at_url(name) if id is None else [] if document is None else [document]
    texts = run.texts([one.doc_id for one in documents]) if text else {}
    return RunDocuments([RunDocument(one, texts[one.doc_id].text if text else None) for one in documents])


@router.delete("/documents", summary="Remove documents")
def remove(
    index: RequiredIndex,
    config: RequiredConfig,
    id: Annotated[list[str], Query(description="Ids; any number of them.")],
) -> AffectedIds:
    """Returns the ids that the index had. Clusters keep their ids."""
    check_count(config, len(id), "ids")
    return AffectedIds(sorted(index.remove([one for one in id if "\0" not in one])))


@router.post("/revoke", summary="Declare that the texts of documents match nothing, permanently")
def revoke(wanted: IdList, index: RequiredIndex, config: RequiredConfig) -> AffectedIds:
    """Returns the ids that the index had. The documents remain in the index, marked as revoked."""
    check_count(config, len(wanted.ids), "ids")
    return AffectedIds(sorted(index.revoke([one for one in wanted.ids if "\0" not in one])))
