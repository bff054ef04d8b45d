"""Results that an index has, fetched by their ids; they are compared on what the index stores of them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from roughly.cluster.in_memory import DocumentFacts
from roughly.cluster.scoring import slice_of, tokens_of
from roughly.dates import NO_DAY
from roughly.errors import InputError
from roughly.index import Index
from roughly.index.matching.fetching import FACTS, fetch
from roughly.results.judged_results import JudgedResults, keys_of
from roughly.results.ranked_list import RankedList

_FACTS = ("title", "url", "date", "source")


def read_indexed(index: Index, given: RankedList) -> JudgedResults:
    """The results with what the index stores of them."""
    store = index.transactions.store
    found = index.transactions.read(lambda connection, config: fetch(store, connection, config, given.ids))
    missing = [doc_id for doc_id in given.ids if doc_id not in found.rows]
    if missing:
        raise InputError(
            f"{index.name} does not hold {len(missing):,} of the results, {missing[0]!r} for one; add them, or give "
            "the texts instead of the index"
        )
    columns = dict(zip(FACTS, zip(*map(found.rows.__getitem__, given.ids), strict=True), strict=True))
    tokens = np.array(columns["tokens"], np.int64)
    days = np.array([NO_DAY if day is None else day for day in columns["day"]], np.int32)
    place = np.array([found.place[content] for content in columns["content"]], np.int64)
    facts = {name: list(columns[name]) for name in _FACTS}
    if found.keys is None:
        return JudgedResults(None, None, DocumentFacts(), tokens, place, 0, "none", stored_facts=facts)
    sets = None if found.sets is None else slice_of(found.sets, place)
    words = None if found.words is None else tokens_of(found.words, place)
    judge, settings = found.config.judge, found.config.settings
    known = None
    if settings.compared_fields:
        from roughly.cluster.fields import Fields

        table = pa.table({name: pa.array(facts[name], pa.string()) for name in _FACTS})
        known = Fields.of(settings.compared_fields, table, days)
    measured = sets is not None and judge.measure != "common"
    return JudgedResults(
        keys_of(found.keys, place), judge, DocumentFacts(sets, tokens, days, words, known), tokens, place,
        found.config.method.common, "none" if not measured else "estimated" if found.config.estimated else "exact",
        settings.verdict, facts,
    )  # fmt: skip
