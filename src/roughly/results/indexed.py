"""Results that an index holds, fetched by their ids: what is stored of them is what they are judged on."""

from __future__ import annotations

import numpy as np

from roughly.cluster.candidates import NO_DAY
from roughly.cluster.held import Facts
from roughly.cluster.scoring import slice_of
from roughly.errors import InputError
from roughly.index import Index
from roughly.index.fetching import fetch
from roughly.results.given import Given
from roughly.results.held import Held, keys_of

_TOLD = ("title", "url", "date", "source")


def hold_indexed(index: Index, given: Given) -> Held:
    """What the index knows of the results."""
    found = fetch(index, given.ids)
    missing = [doc_id for doc_id in given.ids if doc_id not in found.rows]
    if missing:
        raise InputError(
            f"{index.name} does not hold {len(missing):,} of the results, {missing[0]!r} for one; add them, or give "
            "the texts instead of the index"
        )
    rows = [found.rows[doc_id] for doc_id in given.ids]
    tokens = np.array([row.tokens for row in rows], np.int64)
    days = np.array([NO_DAY if row.day is None else row.day for row in rows], np.int32)
    place = np.array([found.place[row.content] for row in rows], np.int64)
    told = {name: [getattr(row, name) for row in rows] for name in _TOLD}
    if found.keys is None:
        return Held(None, None, Facts(), tokens, place, 0, "none", told)
    sets = None if found.sets is None else slice_of(found.sets, place)
    judge = found.bound.judge
    measured = sets is not None and judge.measure != "common"
    return Held(
        keys_of(found.keys, place), judge, Facts(sets, tokens, days), tokens, place, found.bound.method.common,
        "none" if not measured else "estimated" if found.bound.estimated else "exact", told,
    )  # fmt: skip
