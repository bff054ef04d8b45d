"""What an index answers with."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Literal

from roughly.fast_dataclass import dataclass


class PlainAnswer:
    """An answer that is a dataclass and can be given as plain values."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)  # type: ignore[call-overload, no-any-return]


@dataclass(frozen=True, slots=True)
class Match(PlainAnswer):
    """A document of the index that is a duplicate of the document of the query."""

    doc_id: str
    cluster_id: int
    resemblance: float | None  # None: the method counts shared keys, and no text is stored to measure on
    containment: float | None  # fraction of the query's document that this document contains
    contained_in: float | None  # fraction of this document that the query's document contains
    estimated: bool  # the scores are estimates, from samples
    shared_keys: int
    url: str | None = None
    date: str | None = None
    title: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Added(PlainAnswer):
    """The result of adding a document."""

    doc_id: str
    cluster_id: int
    status: Literal["added", "updated", "unchanged"]
    match: Match | None  # the document whose cluster it joined


@dataclass(frozen=True, slots=True)
class Entry(PlainAnswer):
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


@dataclass(frozen=True, slots=True)
class Stats(PlainAnswer):
    """The size of an index."""

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
