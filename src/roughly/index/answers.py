"""What an index answers with."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Match:
    """A document of the index that is a duplicate of the one asked about."""

    doc_id: str
    cluster_id: int
    resemblance: float | None  # None: the method judges by keys in common, and no text is stored to measure on
    containment: float | None  # share of what was asked about that this document holds
    contained_in: float | None  # share of this document that what was asked about holds
    estimated: bool  # the scores are estimates, from samples
    shared_keys: int
    url: str | None = None
    date: str | None = None
    title: str | None = None
    source: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Added:
    """What became of a document that was added."""

    doc_id: str
    cluster_id: int
    status: Literal["added", "updated", "unchanged"]
    match: Match | None  # the document that it joined

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Entry:
    """A document of the index."""

    doc_id: str
    cluster_id: int
    state: Literal["live", "revoked"]
    tokens: int
    added: int  # seconds since 1970
    title: str | None
    url: str | None
    date: str | None
    source: str | None

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Stats:
    """What an index holds."""

    where: str
    format: int
    method: str
    fingerprint: str
    store: str
    documents: int
    contents: int  # distinct texts that can be matched
    revoked: int  # distinct texts that cannot
    clusters: int
    keys: int
    bytes: int  # on disk
    oldest: str | None  # by date
    newest: str | None

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)
