"""The protocol `Collection` and what it returns, for a run and an index alike. Cluster ids are strings in both.

The rows have the columns that a run writes (`model.WRITTEN`), typed here for the service; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, field
from typing import Any, Literal, Protocol

from roughly import checks
from roughly.errors import SettingsError
from roughly.fast_dataclass import dataclass
from roughly.service.collection.document_query import DocumentQuery
from roughly.service.collection.page_limits import DEEPEST, MOST, PAGE
from roughly.settings import Settings

SORTS = ("size", "smallest", "lowest", "mean", "bytes", "sources", "newest", "id")
SUSPICIONS = ("any", "large", "loose", "chained", "sparse", "sources")


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A document and its verdict. What is not known is None."""

    doc_id: str
    cluster_id: str | None
    kept: bool | None  # None in an index, which removes nothing
    kept_id: str | None
    resemblance: float | None = None  # with kept_id
    containment: float | None = None
    contained_in: float | None = None
    kind: str | None = None
    title: str | None = None
    url: str | None = None
    date: str | None = None
    source: str | None = None
    bytes: int | None = None
    tokens: int | None = None
    equal_to: str | None = None  # exactly the same words
    revoked: bool = False

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Edge:
    """Two documents that were verified. `left` ranks below `right`."""

    left_id: str
    right_id: str
    resemblance: float | None
    containment: float | None
    contained_in: float | None
    kind: str | None
    witness: bool  # left was removed because of right

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


Pair = tuple[str, str]  # a document, and the one that it is compared with


@dataclass(frozen=True, slots=True)
class ClusterWarning:
    """What looks wrong about a cluster: a sentence and the number behind it."""

    name: str  # one of SUSPICIONS, or template
    text: str
    figure: float

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class ClusterRow:
    """A cluster in a list."""

    cluster_id: str
    size: int
    kept: int | None
    min_resemblance: float | None
    mean_resemblance: float | None
    sources: int | None
    removed_bytes: int | None
    pairs: int | None  # verified, between its documents
    kinds: tuple[str, ...]
    title: str | None
    url: str | None
    source: str | None
    first: str | None  # day
    last: str | None
    first_id: str  # its representative document
    empty: bool = False  # none of its documents has a word
    warnings: tuple[ClusterWarning, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class ClusterList:
    """A page of clusters, and how many there are in all."""

    total: int
    rows: tuple[ClusterRow, ...]


@dataclass(frozen=True, slots=True)
class ClusterDetail:
    """A cluster with a page of its members and the verified pairs among those."""

    row: ClusterRow
    members: tuple[DocumentRow, ...]
    edges: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class DocumentText:
    """The text of a document, or why it cannot be shown."""

    text: str | None
    why: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterQuery:
    """Which clusters are wanted, and in which order. All problems are reported together."""

    q: str = ""  # part of an id, a title or an address
    kind: str = ""
    source: str = ""
    least: int = 2
    most: int | None = None
    low: float | None = None  # bounds of the lowest resemblance
    high: float | None = None
    suspicion: str = ""
    sort: str = "size"
    offset: int = 0
    limit: int = PAGE

    def __post_init__(self) -> None:
        problems = [
            *checks.whole("offset", self.offset, 0, DEEPEST),
            *checks.whole("limit", self.limit, 1, MOST),
            *checks.whole("least", self.least, 1, 2**62),
            *([] if self.most is None else checks.whole("most", self.most, 1, 2**62)),
        ]
        if self.sort not in SORTS:
            problems.append(f"sort must be one of {', '.join(SORTS)}, not {self.sort!r}")
        if self.suspicion and self.suspicion not in SUSPICIONS:
            problems.append(f"suspicion must be one of {', '.join(SUSPICIONS)}, not {self.suspicion!r}")
        for name, value in (("low", self.low), ("high", self.high)):
            if value is not None and not 0 <= value <= 1:
                problems.append(f"{name} must be from 0 to 1, not {value!r}")
        if problems:
            raise SettingsError("; ".join(problems))


@dataclass(frozen=True, slots=True)
class CollectionStatistics:
    """Counts over the whole collection, for plots; empty where unknown."""

    counts: dict[str, int]
    cluster_sizes: Sequence[tuple[int, int]] = ()
    resemblance: tuple[Sequence[float], Sequence[int]] = field(default=((), ()))
    kinds: Sequence[tuple[str | None, int]] = ()
    by_source: Sequence[tuple[str | None, int, int, int]] = ()
    suspicious: int = 0  # clusters with a warning


def cluster_number(cluster_id: str) -> int | None:
    """The id of a cluster of an index as a number, or None if it cannot be one."""
    return int(cluster_id) if cluster_id.isascii() and cluster_id.isdigit() and len(cluster_id) < 19 else None


@dataclass(frozen=True, slots=True)
class DocumentList:
    """A page of documents; `total` is None if they are not counted, and then `more` says whether others follow."""

    total: int | None
    more: bool
    rows: tuple[DocumentRow, ...]


@dataclass(frozen=True, slots=True)
class CollectionFacts:
    """What every page says about the run or index it shows."""

    kind: str
    name: str
    input: str
    method: str
    date: str  # a day, or empty

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


class Collection(Protocol):
    """A run or an index, as the pages read it."""

    kind: Literal["run", "index"]
    name: str
    measure: str
    threshold: float | None
    shingle_size: int
    learned: Settings | None  # the settings, if they have a learned verdict
    has_scores: bool  # whether clusters have scores to filter and sort by
    sorts: tuple[str, ...]
    document_columns: tuple[str, ...]  # of a table of documents, those shown by default first
    document_sorts: tuple[str, ...]

    @property
    def by_beginning(self) -> bool:
        """Whether words are looked for at the beginning of ids and addresses only."""
        ...

    def counting(self) -> int | None:
        """About how many documents there are, while they are being counted; then None."""
        ...

    def facts(self) -> CollectionFacts:
        """Its name, input, method and date."""
        ...

    def statistics(self) -> CollectionStatistics:
        """Counts over the whole collection."""
        ...

    def months(self) -> Sequence[tuple[str, int, int]]:
        """(month, documents, removed ones) of the documents that have a date."""
        ...

    def documents(self, query: DocumentQuery) -> DocumentList:
        """A page of the documents that match a query."""
        ...

    def all_documents(self, query: DocumentQuery, limit: int) -> Iterator[DocumentRow]:
        """All documents that match a query, up to a limit."""
        ...

    def input_columns(self) -> list[str]:
        """The columns of the input; empty if it has none or cannot be read."""
        ...

    def input_values(self, ids: Sequence[str], names: Sequence[str]) -> dict[str, dict[str, str | None]]:
        """The values of columns of the input, by document."""
        ...

    def clusters(self, query: ClusterQuery) -> ClusterList:
        """Clusters of two documents or more that match a query."""
        ...

    def cluster(self, cluster_id: str, offset: int = 0, limit: int = PAGE) -> ClusterDetail | None:
        """A cluster with a page of its members, the kept ones first."""
        ...

    def document(self, doc_id: str) -> DocumentRow | None:
        """A document by its id."""
        ...

    def named(self, ids: Sequence[str]) -> list[DocumentRow]:
        """Those of these documents that there are, in any order."""
        ...

    def at_url(self, url: str) -> list[DocumentRow]:
        """The documents with this address."""
        ...

    def evidence(self, doc_id: str, limit: int = PAGE) -> list[Edge]:
        """The verified pairs of a document, the most similar first."""
        ...

    def pair(self, left: str, right: str) -> Edge | None:
        """What was verified about two documents."""
        ...

    def neighbours(self, cluster_id: str, doc_id: str) -> tuple[Pair | None, Pair | None]:
        """(the previous pair, the next pair) in a cluster, for a document that is compared with the kept one."""
        ...

    def texts(self, ids: Sequence[str]) -> dict[str, DocumentText]:
        """The texts of documents, or why a text is missing."""
        ...

    def method(self) -> Any:
        """The method that found the candidate pairs; raises if it cannot be created again."""
        ...

    def close(self) -> None:
        """Close what was opened."""
        ...
