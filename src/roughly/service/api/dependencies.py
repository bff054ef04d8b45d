"""What endpoints need of the service, and the error if it is not there."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Depends, Query, Request

from roughly.index import Index
from roughly.service.collection.collection_types import Collection
from roughly.service.collection.served_collections import collections_of
from roughly.service.error_responses import ErrorResponse
from roughly.service.index_writer import IndexWriter
from roughly.service.markup_trial import MarkupTrial
from roughly.service.served_data import ServedData
from roughly.service.service_config import ServiceConfig
from roughly.service.service_metrics import Metrics


async def _index(request: Request) -> Index:
    index: Index | None = request.app.state.served.index
    if index is None:
        raise ErrorResponse(
            409, "only a run is served, which takes no documents and cannot be queried with a text",
            "serve an index as well: roughly serve RUN INDEX; `roughly index import` makes one of a run",
        )  # fmt: skip
    return index


async def _writer(request: Request) -> IndexWriter:
    await _index(request)
    writer: IndexWriter = request.app.state.writer
    return writer


async def _config(request: Request) -> ServiceConfig:
    config: ServiceConfig = request.app.state.config
    return config


async def _metrics(request: Request) -> Metrics:
    metrics: Metrics = request.app.state.metrics
    return metrics


async def _served(request: Request) -> ServedData:
    served: ServedData = request.app.state.served
    return served


async def _markup_trial(request: Request) -> MarkupTrial:
    trial: MarkupTrial = request.app.state.markup_trial
    return trial


RequiredIndex = Annotated[Index, Depends(_index)]
RequiredWriter = Annotated[IndexWriter, Depends(_writer)]
RequiredConfig = Annotated[ServiceConfig, Depends(_config)]
RequiredMetrics = Annotated[Metrics, Depends(_metrics)]
RequiredTrial = Annotated[MarkupTrial, Depends(_markup_trial)]
RequiredData = Annotated[ServedData, Depends(_served)]


def _index_or_run(
    request: Request,
    served: RequiredData,
    choice: Annotated[
        Literal["run", "index"] | None, Query(alias="in", description="Which of the two, if both are served.")
    ] = None,
) -> Collection | Index:
    """The index, unless the run is chosen or is the only one."""
    if served.index is not None and choice != "run":
        return served.index
    if served.run is None or choice == "index":
        raise ErrorResponse(404, f"no {choice} is served", "start `roughly serve` with one")
    return collections_of(request).require_run()


IndexOrRun = Annotated[Collection | Index, Depends(_index_or_run)]
"""An index, or the collection of a run: `?in=run` or `?in=index`."""


def check_id(doc_id: str) -> str:
    """An id that can be looked up: no database stores NUL, so nothing has such an id."""
    if "\0" in doc_id:
        raise ErrorResponse(404, "no document has an id or a url with the character NUL in it")
    return doc_id
