"""Whole and partial copies of a document (Broder 1997, §6.4 and 6.6): whom to inform when it changes.

Every text that shares a key with it is measured, whatever the threshold of the index. A copy is *whole* where it
contains at least the threshold's fraction of the document, and *part* where it contains less. Texts that share no key
are not measured: an index made with `shingles` and all of them, or with `minhash` and `measure="containment"`, finds
every passage; one made with a sample of shingles may miss short ones, one made with `minhash` and resemblance finds
only documents that are similar as a whole, and `complete` says so. Shingles that very many texts have are looked up
from the rarest on, up to a bounded number of texts; `left_out` counts the others.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection

from roughly import checks
from roughly.errors import InputMissing
from roughly.fast_dataclass import dataclass
from roughly.index import incoming
from roughly.index.answers import PlainAnswer
from roughly.index.index import Index
from roughly.index.index_config import IndexConfig
from roughly.index.matching.comparer import Comparer
from roughly.index.matching.content_sets import body_sets, judged_sets
from roughly.index.matching.matcher import query_for
from roughly.index.matching.pair_scores import EQUAL, PairScores, Scores
from roughly.index.matching.signed_batch import sign
from roughly.index.storage.contents import find_by_digest
from roughly.index.storage.document_rows import select_documents
from roughly.index.storage.schema import DOCUMENTS, REVOKED
from roughly.index.sweeps.sweep import versions_of

MINIMUM = 0.1
_AT_ONCE = 10_000


@dataclass(frozen=True, slots=True)
class DocumentCopy(PlainAnswer):
    """A document that contains some or all of the original."""

    doc_id: str
    kind: Literal["whole", "part"]
    containment: float | None  # fraction of the original that this document contains
    contained_in: float | None  # fraction of this document that the original contains
    resemblance: float | None
    url: str | None
    date: str | None
    title: str | None
    source: str | None


@dataclass(frozen=True, slots=True)
class Copies(PlainAnswer):
    """All copies that were found, those that contain most of the document first."""

    of: str | None  # the id, where the document is in the index
    found: tuple[DocumentCopy, ...]
    complete: bool  # whether all copies are found: passages too, and nothing was left out
    estimated: bool
    left_out: int = 0  # shingles of the document that too many texts have, so that they were not looked up

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return PlainAnswer.to_dict(self) | {"found": [copy.to_dict() for copy in self.found]}


def copies(index: Index, document: Any, *, minimum: float = MINIMUM, limit: int | None = None) -> Copies:
    """The copies of a document, given by its id, its url (then the last version), or as a mapping with a `text`.

    `minimum` is the least fraction of one of the two that the other contains.
    """
    checks.refuse(
        [*checks.share("minimum", minimum), *([] if limit is None else checks.whole("limit", limit, 1, 2**31))]
    )
    named = _named(index, document) if isinstance(document, str) else None

    def work(connection: Connection, config: IndexConfig) -> Copies:
        comparer = Comparer(index.transactions.store, connection, config)
        scores = _stored(comparer, named, minimum) if named is not None else _given(comparer, document, minimum)
        listed = _listed(comparer, scores, named)
        left_out = comparer.matcher.finder.left_out
        complete = config.method.finds_passages and not left_out
        return Copies(named, tuple(listed[:limit]), complete, comparer.estimated, left_out)

    return index.transactions.read(work)


def _named(index: Index, given: str) -> str:
    """The id of a document, given by its id or its url."""
    if index.get(given) is not None:
        return given
    versions = versions_of(index, given)
    if versions:
        return versions[-1].doc_id
    entries = index.by_url(given)
    if not entries:
        raise InputMissing(f"{index.name} has no document with the id or the url {given!r}; check the spelling")
    return entries[-1].doc_id


def _stored(comparer: Comparer, doc_id: str, minimum: float) -> dict[int, Scores]:
    """The contents that are copies of a document of the index, with their scores."""
    row = comparer.connection.execute(select_documents().where(DOCUMENTS.c.doc_id == doc_id)).one()
    if row.state == REVOKED:
        raise InputMissing(f"{doc_id!r} was revoked, so {comparer.store.name} keeps nothing of it to compare with")
    own = np.array([row.content], np.int64)
    _, texts = comparer.candidates(comparer.query_with(own, {row.content: row.day}))
    return {row.content: EQUAL} | _reaching(minimum, texts, comparer.measure(np.repeat(own, len(texts)), texts))


def _given(comparer: Comparer, document: Any, minimum: float) -> dict[int, Scores]:
    """The contents that are copies of a document that need not be in the index, with their scores."""
    config = comparer.config
    signed = sign(incoming.one(document, config.settings.reading()), config.method, config.settings)
    known = find_by_digest(comparer.store, comparer.connection, signed.hi, signed.lo)
    equal = [content.content for content in known.values()]
    _, texts = comparer.candidates(query_for(config, signed, equal=np.array(equal or [-1], np.int64)))
    on_sketch = config.store == "sketch" and config.judge.on == "sketch"
    mine = judged_sets(config, signed, np.zeros(1, np.int64)) if on_sketch else body_sets(config, signed.tokens)
    return dict.fromkeys(equal, EQUAL) | _reaching(minimum, texts, comparer.measure_one(mine, texts))


def _reaching(minimum: float, texts: npt.NDArray[np.int64], found: PairScores) -> dict[int, Scores]:
    """The texts with a containment of at least `minimum`, and those that could not be measured."""
    too_small = np.maximum(found.containment, found.contained_in) < minimum
    return {text: found.at(place) for place, text in enumerate(texts.tolist()) if not too_small[place]}


def _listed(comparer: Comparer, scores: dict[int, Scores], named: str | None) -> list[DocumentCopy]:
    texts, threshold = np.array(sorted(scores), np.int64), comparer.config.settings.threshold
    found = []
    for at in range(0, len(texts), _AT_ONCE):
        some = comparer.store.among(DOCUMENTS.c.content, texts[at : at + _AT_ONCE])
        for row in comparer.connection.execute(select_documents().where(some)):
            if row.doc_id == named or row.state == REVOKED:
                continue
            resemblance, forth, back = scores[row.content]
            kind: Literal["whole", "part"] = "whole" if forth is not None and forth >= threshold else "part"
            found.append(
                DocumentCopy(row.doc_id, kind, forth, back, resemblance, row.url, row.date, row.title, row.source)
            )  # fmt: skip
    return sorted(found, key=lambda copy: (-(copy.containment or 0.0), -(copy.contained_in or 0.0), copy.doc_id))
