"""What there is: clusters, copies, pages that were lost, figures."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from roughly.index import Index, Stats
from roughly.index.sweeps.copies import MINIMUM, Copies, copies
from roughly.index.sweeps.lost import Lost, lost
from roughly.service.api.needs import Indexed, Looked, check_id
from roughly.service.api.responses import TROUBLES, Cluster, RunCluster, RunStats
from roughly.service.collection.collection_types import DEEPEST, MOST, PAGE
from roughly.service.error_responses import ErrorResponse

router = APIRouter(prefix="/api", tags=["look"], responses=TROUBLES)


@router.get("/clusters/{cluster_id:path}", summary="A cluster by its id")
def cluster(
    looked: Looked,
    cluster_id: str,
    limit: Annotated[int, Query(ge=1, le=MOST, description="Documents of a run's cluster.")] = PAGE,
    offset: Annotated[int, Query(ge=0, le=DEEPEST, description="How many of them to pass over.")] = 0,
) -> Cluster | RunCluster:
    """Of an index, its documents in the order in which they came; of a run, those that stay first, a page at a time."""
    if isinstance(looked, Index):
        number = int(cluster_id) if cluster_id.isascii() and cluster_id.isdigit() and len(cluster_id) < 19 else -1
        entries = looked.cluster(number)
        if not entries:
            raise _no_cluster()
        return Cluster(number, entries)
    found = looked.cluster(check_id(cluster_id), offset, limit)
    if found is None:
        raise _no_cluster()
    return RunCluster(cluster_id, found.row, list(found.members))


def _no_cluster() -> ErrorResponse:
    return ErrorResponse(404, "there is no cluster with this id", "documents tell the ids of their clusters")


@router.get("/lost", summary="Where the page of an address is now")
def find_lost(index: Indexed, url: str, limit: Annotated[int, Query(ge=1, le=1_000)] = 10) -> Lost:
    """For an index of sweeps: whether the last sweep has it, and where it went if not."""
    return lost(index, check_id(url), limit=limit)


@router.get("/copies", summary="Whole and partial copies of a document")
def find_copies(
    index: Indexed,
    id: Annotated[str, Query(description="An id, or a url.")],
    minimum: Annotated[float, Query(ge=0, le=1)] = MINIMUM,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 100,
) -> Copies:
    """Those that hold most of it first."""
    return copies(index, check_id(id), minimum=minimum, limit=limit)


@router.get("/stats", summary="How much the index holds, or what the run found")
def stats(looked: Looked) -> Stats | RunStats:
    """Documents, clusters, bytes and days of an index; the counts of a run."""
    if isinstance(looked, Index):
        return looked.stats()
    return RunStats(looked.name, looked.measure, looked.threshold, dict(looked.figures().counts))
