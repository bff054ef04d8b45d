"""The answers of the API: what the service sends and what the client parses into, one set of classes for both.

Answers of an index are its own classes (`index.answers`, `index.sweeps`, `results.groups`); the others are here.
"""

from __future__ import annotations

from typing import Any, get_type_hints

from pydantic import create_model

from roughly.fast_dataclass import dataclass
from roughly.index.answers import Entry, Match
from roughly.results.groups import Grouped, RankedResult, ResultGroup
from roughly.service.collection.collection_types import ClusterRow, DocumentRow
from roughly.verify.diff import Segment
from roughly.verify.passages import Passage


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The stored documents that a document duplicates, the most similar first."""

    known: bool
    matches: list[Match]


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document of the index, and its text if it was requested and is stored."""

    entry: Entry
    text: str | None = None


@dataclass(frozen=True, slots=True)
class FoundDocuments:
    """Documents of the index."""

    documents: list[StoredDocument]


@dataclass(frozen=True, slots=True)
class IndexCluster:
    """The documents of a cluster, in the order in which they were added."""

    cluster_id: int
    documents: list[Entry]


@dataclass(frozen=True, slots=True)
class RunDocument:
    """A document of a run and its verdict, with its text if it was requested and can be found."""

    entry: DocumentRow
    text: str | None = None


@dataclass(frozen=True, slots=True)
class RunDocuments:
    """Documents of a run."""

    documents: list[RunDocument]


@dataclass(frozen=True, slots=True)
class RunCluster:
    """A cluster of a run: its row in the list of clusters, and its documents, the kept ones first."""

    cluster_id: str
    row: ClusterRow
    documents: list[DocumentRow]


@dataclass(frozen=True, slots=True)
class RunStats:
    """What a run found."""

    where: str
    measure: str
    threshold: float | None
    counts: dict[str, int]


@dataclass(frozen=True, slots=True)
class AffectedIds:
    """Those of the requested ids that the index had."""

    ids: list[str]


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """Two documents compared exactly."""

    resemblance: float
    containment: float
    contained_in: float
    shared: int
    left_size: int
    right_size: int
    shingle_size: int
    kind: str | None
    passages: list[Passage]
    diff: list[Segment] | None


@dataclass(frozen=True, slots=True)
class ErrorMessage:
    """Why a request was refused, and what to do."""

    error: str
    remedy: str | None = None


@dataclass(frozen=True, slots=True)
class RefusedLine:
    """Why a line of a batch was refused."""

    line: int
    error: str
    remedy: str | None = None
    code: int | None = None


@dataclass(frozen=True, slots=True)
class Health:
    """Whether the service answers, and can reach what it serves."""

    live: bool
    ready: bool
    reason: str | None = None


def _required(kind: type, **changed: Any) -> dict[str, Any]:
    """The fields of a named tuple, each required, some with another type."""
    return {name: (changed.get(name, hint), ...) for name, hint in get_type_hints(kind).items()}


# Named tuples would be sent as lists; these are the same fields as objects.
_Result: Any = create_model("ResultShown", **_required(RankedResult))
_Group: Any = create_model("GroupShown", **_required(ResultGroup, shown=_Result, duplicates=list[_Result]))
GROUPED: Any = create_model("GroupedResults", results=(int, ...), **_required(Grouped, groups=list[_Group]))

ERRORS: dict[int | str, dict[str, Any]] = {
    code: {"model": ErrorMessage, "description": description}
    for code, description in (
        (400, "the request cannot be read"),
        (401, "a token is needed"),
        (403, "the token does not have the right"),
        (404, "not found"),
        (409, "what is served cannot do that"),
        (413, "too much at once"),
        (422, "a value in the request is not valid"),
        (429, "too many requests; see Retry-After"),
        (503, "not now; see Retry-After"),
    )
}
