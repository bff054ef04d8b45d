"""What there is: clusters, copies, pages that were lost, figures."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query

from roughly.index import Stats
from roughly.index.copies import MINIMUM, Copies, copies
from roughly.index.lost import Lost, lost
from roughly.service.api.answers import TROUBLES, Cluster
from roughly.service.api.needs import Indexed, check_id
from roughly.service.troubles import Refused

router = APIRouter(prefix="/api", tags=["look"], responses=TROUBLES)


@router.get("/clusters/{cluster_id}", summary="A cluster by its id")
def cluster(index: Indexed, cluster_id: Annotated[int, Path(ge=0, lt=2**63)]) -> Cluster:
    """Its documents, in the order in which they came."""
    entries = index.cluster(cluster_id)
    if not entries:
        raise Refused(404, f"the index has no cluster {cluster_id}", "documents tell the ids of their clusters")
    return Cluster(cluster_id, entries)


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


@router.get("/stats", summary="How much the index holds")
def stats(index: Indexed) -> Stats:
    """Documents, texts, clusters, keys, bytes and days."""
    return index.stats()
