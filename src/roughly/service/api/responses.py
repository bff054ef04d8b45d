"""What the API gives, beyond the classes of the index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from roughly.index import Entry, Match
from roughly.service.collection import ClusterRow, Document
from roughly.verify.diff import Segment
from roughly.verify.passages import Passage


@dataclass(frozen=True, slots=True)
class Checked:
    """What a document is a duplicate of, the most alike first."""

    known: bool
    matches: list[Match]


@dataclass(frozen=True, slots=True)
class Stored:
    """A stored document and its text, where it was asked for and is kept."""

    entry: Entry
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """Stored documents."""

    documents: list[Stored]


@dataclass(frozen=True, slots=True)
class Cluster:
    """The documents of a cluster, in the order in which they came."""

    cluster_id: int
    documents: list[Entry]


@dataclass(frozen=True, slots=True)
class RunStored:
    """A document of a run and what became of it, with its text where it was asked for and can be found."""

    entry: Document
    text: str | None = None


@dataclass(frozen=True, slots=True)
class RunFound:
    """Documents of a run."""

    documents: list[RunStored]


@dataclass(frozen=True, slots=True)
class RunCluster:
    """A cluster of a run: the figures of it, and its documents, those that stay first."""

    cluster_id: str
    row: ClusterRow
    documents: list[Document]


@dataclass(frozen=True, slots=True)
class RunStats:
    """What a run found."""

    where: str
    measure: str
    threshold: float | None
    counts: dict[str, int]


@dataclass(frozen=True, slots=True)
class Gone:
    """The ids that were there, of those that were given."""

    ids: list[str]


@dataclass(frozen=True, slots=True)
class Compared:
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
class Trouble:
    """Why a request was refused."""

    error: str
    remedy: str | None = None


@dataclass(frozen=True, slots=True)
class Health:
    """Whether the service answers, and can reach what it serves."""

    live: bool
    ready: bool
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ResultShown:
    """One result of a group."""

    rank: int
    doc_id: str
    title: str | None
    url: str | None
    date: str | None
    source: str | None
    tokens: int
    resemblance: float | None
    containment: float | None
    contained_in: float | None


@dataclass(frozen=True, slots=True)
class GroupShown:
    """A result that is shown, and its duplicates."""

    shown: ResultShown
    duplicates: list[ResultShown]


@dataclass(frozen=True, slots=True)
class GroupedResults:
    """All results, each once."""

    results: int
    groups: list[GroupShown]
    scores: Literal["exact", "estimated", "none"]


TROUBLES: dict[int | str, dict[str, Any]] = {
    code: {"model": Trouble, "description": said}
    for code, said in (
        (400, "the request cannot be read"),
        (401, "a token is needed"),
        (403, "the token has not the right"),
        (404, "not there"),
        (409, "what is served cannot do that"),
        (413, "too much at once"),
        (422, "it makes no sense"),
        (429, "too many requests; see Retry-After"),
        (503, "not now; see Retry-After"),
    )
}
