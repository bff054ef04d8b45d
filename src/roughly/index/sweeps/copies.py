"""Whole and partial copies of a document (Broder 1997, §6.4 and 6.6): whom to tell when it changes.

Every text that shares a key with it is measured, whatever the threshold of the index. A copy is *whole* where it holds
as much of the document as the threshold asks for, and *part* where it holds less. What shares no key is not looked at:
an index of `shingles`, or of `minhash` with `measure="containment"`, finds passages; one of `minhash` with resemblance
finds documents that are alike as wholes, and `complete` says so.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from sqlalchemy import Connection

from roughly import checks
from roughly.errors import InputMissing
from roughly.index import incoming as documents
from roughly.index.config import IndexConfig
from roughly.index.index import Index
from roughly.index.matching import scored_answers as answers
from roughly.index.matching.comparer import Comparer
from roughly.index.matching.matcher import asking_signed, body_sets, judged_sets
from roughly.index.storage import contents
from roughly.index.storage.schema import DOCUMENTS, REVOKED
from roughly.index.sweeps.sweep import versions_of
from roughly.index.sweeps.urls import canonical_url

MINIMUM = 0.1


@dataclass(frozen=True, slots=True)
class DocumentCopy:
    """A document that holds some or all of the one asked about."""

    doc_id: str
    kind: Literal["whole", "part"]
    containment: float | None  # share of the document asked about that this one holds
    contained_in: float | None  # share of this one that the document asked about holds
    resemblance: float | None
    url: str | None
    date: str | None
    title: str | None
    source: str | None

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Copies:
    """All copies that were found, those that hold most of the document first."""

    of: str | None  # the id, where the document is in the index
    found: tuple[DocumentCopy, ...]
    complete: bool  # whether passages are looked for, and not only documents that are alike as wholes
    estimated: bool

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self) | {"found": [copy.to_dict() for copy in self.found]}


def copies(index: Index, document: Any, *, minimum: float = MINIMUM, limit: int | None = None) -> Copies:
    """The copies of a document: its id, its address (then the last version), or a mapping with a `text`.

    `minimum` is the least share of either that the other holds.
    """
    checks.refuse(
        [*checks.share("minimum", minimum), *([] if limit is None else checks.whole("limit", limit, 1, 2**31))]
    )
    named = _named(index, document) if isinstance(document, str) else None
    return index._read(lambda connection, bound: _copies(index, connection, bound, document, named, minimum, limit))


def _named(index: Index, given: str) -> str:
    """The id that is meant."""
    if index.get(given) is not None:
        return given
    versions = versions_of(index, given)
    if versions:
        return versions[-1].doc_id
    entries = index.by_url(given) or index.by_url(canonical_url(given))
    if not entries:
        raise InputMissing(f"{index.name} holds no document with the id or the url {given!r}; check the spelling")
    return entries[-1].doc_id


def _copies(
    index: Index, connection: Connection, bound: IndexConfig, document: Any, named: str | None, minimum: float,
    limit: int | None,
) -> Copies:  # fmt: skip
    comparer = Comparer(index._store, connection, bound)
    scores: dict[int, tuple[float | None, ...]] = {}
    if named is not None:
        row = connection.execute(answers.told().where(DOCUMENTS.c.doc_id == named)).one()
        if row.state == REVOKED:
            raise InputMissing(f"{named!r} was revoked, so {index.name} keeps nothing of it to compare with")
        own = np.array([row.content], np.int64)
        scores[row.content] = (1.0, 1.0, 1.0)
        _, texts = comparer.candidates(comparer.asking(own, {row.content: row.day}))
        found = comparer.measure(np.repeat(own, len(texts)), texts)
    else:
        signed = index._sign(documents.one(document, bound.settings.markup), bound)
        equal = [text.content for text in contents.known(index._store, connection, signed.hi, signed.lo).values()]
        scores |= dict.fromkeys(equal, (1.0, 1.0, 1.0))
        asking = asking_signed(bound, signed, equal=np.array(equal or [-1], np.int64))
        _, texts = comparer.candidates(asking)
        one = np.zeros(1, np.int64)
        on_sketch = bound.store == "sketch" and bound.judge.on == "sketch"
        mine = judged_sets(bound, signed, one) if on_sketch else body_sets(bound, signed.tokens)
        found = comparer.measure_one(mine, texts)
    columns = (found.resemblance.tolist(), found.containment.tolist(), found.contained_in.tolist())
    for text, *values in zip(texts.tolist(), *columns, strict=True):
        if not max(values[1], values[2]) < minimum:  # what could not be measured is told as well
            scores[text] = tuple(None if value != value else value for value in values)
    listed = _listed(comparer, scores, named, bound.settings.threshold)
    return Copies(named, tuple(listed[:limit]), bound.method.finds_passages, comparer.estimated)


def _listed(
    comparer: Comparer, scores: dict[int, tuple[float | None, ...]], named: str | None, threshold: float
) -> list[DocumentCopy]:
    texts = np.array(sorted(scores), np.int64)
    found = []
    for at in range(0, len(texts), 10_000):
        asked = answers.told().where(comparer.store.among(DOCUMENTS.c.content, texts[at : at + 10_000]))
        for row in comparer.connection.execute(asked):
            if row.doc_id == named or row.state == REVOKED:
                continue
            resemblance, held, holds = scores[row.content]
            kind: Literal["whole", "part"] = "whole" if held is not None and held >= threshold else "part"
            found.append(
                DocumentCopy(row.doc_id, kind, held, holds, resemblance, row.url, row.date, row.title, row.source)
            )  # fmt: skip
    return sorted(found, key=lambda copy: (-(copy.containment or 0.0), -(copy.contained_in or 0.0), copy.doc_id))
