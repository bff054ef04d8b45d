"""Endpoints about the collection: clusters, copies, lost pages, statistics."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi import Path as PathParameter

from roughly.index import Index, Stats
from roughly.index.sweeps.copies import MINIMUM, Copies, copies
from roughly.index.sweeps.lost import Lost, lost
from roughly.service.api.dependencies import IndexOrRun, RequiredIndex, check_id
from roughly.service.collection.collection_types import cluster_number
from roughly.service.collection.page_limits import DEEPEST, MOST, PAGE
from roughly.service.error_responses import ErrorResponse
from roughly.service.response_models import ERRORS, IndexCluster, RunCluster, RunStats

router = APIRouter(prefix="/api", tags=["look"], responses=ERRORS)


@router.get("/clusters/{cluster_id:path}", summary="A cluster by its id")
def cluster(
    source: IndexOrRun,
    cluster_id: Annotated[str, PathParameter(description="The id of the cluster.")],
    limit: Annotated[int, Query(ge=1, le=MOST, description="Documents of a run's cluster.")] = PAGE,
    offset: Annotated[int, Query(ge=0, le=DEEPEST, description="How many of them to skip.")] = 0,
) -> IndexCluster | RunCluster:
    """For an index, all documents in the order in which they were added; for a run, a page of them, the kept first."""
    if isinstance(source, Index):
        number = cluster_number(cluster_id)
        if number is not None and (entries := source.cluster(number)):
            return IndexCluster(number, entries)
    elif found := source.cluster(check_id(cluster_id), offset, limit):
        return RunCluster(cluster_id, found.row, list(found.members))
    raise ErrorResponse(404, "there is no cluster with this id", "each document has the id of its cluster")


@router.get("/lost", summary="Where the page of an address is now")
def find_lost(
    index: RequiredIndex,
    url: Annotated[str, Query(description="The address of the page.")],
    limit: Annotated[int, Query(ge=1, le=1_000, description="Pages where it may be now.")] = 10,
) -> Lost:
    """For an index of sweeps: whether the last sweep has the page, and otherwise where it is now."""
    return lost(index, check_id(url), limit=limit)


@router.get("/copies", summary="Whole and partial copies of a document")
def find_copies(
    index: RequiredIndex,
    id: Annotated[str, Query(description="An id, or a url.")],
    minimum: Annotated[float, Query(ge=0, le=1, description="Lowest share of one that the other contains.")] = MINIMUM,
    limit: Annotated[int, Query(ge=1, le=10_000, description="Copies returned.")] = 100,
) -> Copies:
    """The documents that contain most of it come first."""
    return copies(index, check_id(id), minimum=minimum, limit=limit)


@router.get("/stats", summary="The size of the index, or the counts of the run")
def stats(source: IndexOrRun) -> Stats | RunStats:
    """Documents, clusters, bytes and days of an index; the counts of a run."""
    if isinstance(source, Index):
        return source.stats()
    return RunStats(source.name, source.measure, source.threshold, dict(source.statistics().counts))
