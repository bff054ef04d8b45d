"""Which of two documents ranks above the other: the order of `cluster.keep`, over what an index knows of them.

A batch run judges equal documents by the best of them, and containment as that of the lower document in the higher. So
an index needs the same order where a method has a window of dates, and where containment meets documents of the same
length. (Dates count by the day here.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection

from roughly.index.storage.schema import DOCUMENTS
from roughly.index.storage.store import IndexStore
from roughly.settings import Settings

Ints = npt.NDArray[np.int64]


class RankedDocument(NamedTuple):
    """What the rules look at."""

    tokens: int
    bytes: int
    day: int | None
    document: int
    url: str | None
    source: str | None
    doc_id: str


Key = Callable[[RankedDocument], tuple[Any, ...]]

_RULES: dict[str, Key] = {
    "longest": lambda d: (-d.tokens, -d.bytes),
    "shortest": lambda d: (d.tokens, d.bytes),
    "newest": lambda d: (d.day is None, -(d.day or 0)),
    "oldest": lambda d: (d.day is None, d.day or 0),
    "first": lambda d: (d.document,),
    "last": lambda d: (-d.document,),
    "url": lambda d: (d.url is None, len(d.url or ""), d.url or ""),
}


def order_of(settings: Settings) -> Key:
    """The key to sort documents by, best first."""
    rules: list[Key] = [lambda d: (-d.tokens,)] if settings.measure == "containment" else []
    for rule in settings.keep:
        rules.append(_by_source(rule[7:]) if rule.startswith("source:") else _RULES[rule])
    return lambda d: (*(part for rule in rules for part in rule(d)), d.doc_id)


def _by_source(preferences: str) -> Key:
    names = [name.strip() for name in preferences.split(">")]
    places = {name: place for place, name in reversed(list(enumerate(names)))}
    return lambda d: (places.get(d.source or "", len(names)),)


def best_documents(
    store: IndexStore, connection: Connection, contents: Ints, lengths: Sequence[int], order: Key
) -> dict[int, RankedDocument]:
    """The best document of each content."""
    tokens = dict(zip(contents.tolist(), lengths, strict=True))
    columns = [DOCUMENTS.c[name] for name in ("content", "bytes", "day", "document", "url", "source", "doc_id")]
    found: dict[int, RankedDocument] = {}
    for row in store.fetch(connection, columns, DOCUMENTS.c.content, contents):
        one = RankedDocument(tokens[row[0]], *row[1:])
        if row[0] not in found or order(one) < order(found[row[0]]):
            found[row[0]] = one
    return found


def days_of(ranked: Iterable[RankedDocument | None], unknown: int) -> npt.NDArray[np.int32]:
    """Their days."""
    return np.array([unknown if d is None or d.day is None else d.day for d in ranked], np.int32)
