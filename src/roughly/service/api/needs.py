"""What endpoints ask of the service, and what they say where it is not there."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Depends, Query, Request

from roughly.index import Index
from roughly.service.collection import Collection, collections_of
from roughly.service.config import Config
from roughly.service.error_responses import ErrorResponse
from roughly.service.metrics import Metrics
from roughly.service.served_data import ServedData
from roughly.service.writer import Writer

Where = Literal["run", "index"]


def _index(request: Request) -> Index:
    index: Index | None = request.app.state.holdings.index
    if index is None:
        raise ErrorResponse(
            409, "only a run is served, which holds no texts to ask and takes no documents",
            "serve an index as well: roughly serve RUN INDEX; `roughly index import` makes one of a run",
        )  # fmt: skip
    return index


def _writer(request: Request) -> Writer:
    _index(request)
    writer: Writer = request.app.state.writer
    return writer


def _config(request: Request) -> Config:
    config: Config = request.app.state.config
    return config


def _metrics(request: Request) -> Metrics:
    metrics: Metrics = request.app.state.metrics
    return metrics


Indexed = Annotated[Index, Depends(_index)]
Writing = Annotated[Writer, Depends(_writer)]
Configured = Annotated[Config, Depends(_config)]
Counted = Annotated[Metrics, Depends(_metrics)]


def _looked(request: Request, index_or_run: Annotated[Where | None, Query(alias="in")] = None) -> Collection | Index:
    """What a question is about: the index, unless the run is meant or is all there is."""
    holdings: ServedData = request.app.state.holdings
    if holdings.index is not None and index_or_run != "run":
        return holdings.index
    if holdings.run is None or index_or_run == "index":
        raise ErrorResponse(404, f"no {index_or_run} is served", "start `roughly serve` with one")
    return collections_of(request).of_run()


Looked = Annotated[Collection | Index, Depends(_looked)]
"""An index, or the collection of a run: `?in=run` or `?in=index`."""


def check_id(doc_id: str) -> str:
    """An id that can be asked for: no database stores NUL, so nothing has such an id."""
    if "\0" in doc_id:
        raise ErrorResponse(404, "no document has an id or a url with the character NUL in it")
    return doc_id
