"""What a collection hands out, the same for a run and an index. Ids of clusters are strings in both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Protocol

from roughly import checks
from roughly.errors import SettingsError

PAGE = 50  # rows of a page, unless asked otherwise
MOST = 500
DEEPEST = 1_000_000  # rows that a list can be paged to; beyond it, filter
SORTS = ("size", "smallest", "lowest", "mean", "bytes", "sources", "newest", "id")
SUSPICIONS = ("any", "large", "loose", "chained", "sparse", "sources")


@dataclass(frozen=True, slots=True)
class Document:
    """A document and what became of it. What is not known is None."""

    doc_id: str
    cluster_id: str | None
    kept: bool | None  # an index keeps all
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
    witness: bool  # left went because of right

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


Pair = tuple[str, str]  # a document, and the one that it is compared with


@dataclass(frozen=True, slots=True)
class Warning:
    """What looks wrong about a cluster, in a sentence with its figure."""

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
    first_id: str  # a document that stands for it
    warnings: tuple[Warning, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class ClusterList:
    """A page of clusters, and how many there are in all."""

    total: int
    rows: tuple[ClusterRow, ...]


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster with some of its members and what is known to hold between those."""

    row: ClusterRow
    members: tuple[Document, ...]
    edges: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """A text, or why it cannot be shown."""

    text: str | None
    why: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterQuery:
    """Which clusters are wanted, and in which order. A problem with any of it is told with all others at once."""

    q: str = ""  # stands in an id, a title or an address
    kind: str = ""
    source: str = ""
    least: int = 2
    most: int | None = None
    low: float | None = None  # of the lowest resemblance
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
class Figures:
    """What a collection looks like as a whole, for plots; empty where it is not known."""

    counts: dict[str, int]
    cluster_sizes: Sequence[tuple[int, int]] = ()
    resemblance: tuple[Sequence[float], Sequence[int]] = field(default=((), ()))
    kinds: Sequence[tuple[str | None, int]] = ()
    by_source: Sequence[tuple[str | None, int, int, int]] = ()
    months: Sequence[tuple[str, int, int]] = ()  # month, documents, removed
    suspicious: int = 0  # clusters that deserve a look


class Collection(Protocol):
    """What is served, looked at."""

    kind: Literal["run", "index"]
    name: str
    measure: str
    threshold: float | None
    shingle_size: int
    has_scores: bool  # whether clusters have scores to filter and sort by
    sorts: tuple[str, ...]

    def figures(self) -> Figures:
        """The whole in figures."""
        ...

    def clusters(self, asked: ClusterQuery) -> ClusterList:
        """Clusters of two documents or more."""
        ...

    def cluster(self, cluster_id: str, offset: int = 0, limit: int = PAGE) -> Cluster | None:
        """One cluster with some of its members, those that stay first."""
        ...

    def document(self, doc_id: str) -> Document | None:
        """A document by its id."""
        ...

    def at_url(self, url: str) -> list[Document]:
        """The documents with this address."""
        ...

    def evidence(self, doc_id: str, limit: int = PAGE) -> list[Edge]:
        """Pairs that a document stands in, the most alike first."""
        ...

    def pair(self, left: str, right: str) -> Edge | None:
        """What was verified about two documents."""
        ...

    def neighbours(self, cluster_id: str, doc_id: str) -> tuple[Pair | None, Pair | None]:
        """(the pair before, the pair after) in a cluster, for a document that is compared with the one that stays."""
        ...

    def texts(self, ids: Sequence[str]) -> dict[str, Text]:
        """The texts of some documents, each or why not."""
        ...

    def method(self) -> Any:
        """The method that made pairs candidates; refused, in words, where it cannot be made again."""
        ...

    def close(self) -> None:
        """Let go of what was opened."""
        ...
