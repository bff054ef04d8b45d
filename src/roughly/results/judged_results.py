"""What results are compared on: made from their texts, or read from signatures or an index by their ids.

| from | keys and sketch | scores |
|---|---|---|
| the texts | made now, with any method | exact where the method or `verify` compares texts |
| signatures (`roughly sign`) | read once, kept in memory | estimated or exact where the method stores a sketch |
| an index | fetched with a few statements for all results | exact where the index stores texts or shingles |
"""

from __future__ import annotations

import os
from dataclasses import field
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly import methods
from roughly.cluster.in_memory import DocumentFacts
from roughly.cluster.scoring import slice_of
from roughly.dates import days_of
from roughly.errors import InputError
from roughly.fast_dataclass import dataclass
from roughly.features.shingle_sets import Sets, shingle_sets
from roughly.methods.method import Judge, Keys, Method
from roughly.results.ranked_list import RankedList
from roughly.settings import Settings
from roughly.signing.signature_file import Signatures, read_signatures
from roughly.signing.text_batch import TextBatch

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class JudgedResults:
    """Results with all that they are compared on."""

    keys: Keys | None  # None: the method only finds equal texts
    judge: Judge | None
    facts: DocumentFacts
    tokens: Ints
    equal: npt.NDArray[Any]  # a value, or a row of values, that is the same for equal results
    hot_key_limit: int  # keys that more results share are ignored; 0: none
    scores: Literal["exact", "estimated", "none"]
    verdict: str | None = None  # a learned one
    stored_facts: dict[str, list[str | None]] = field(default_factory=dict)


def sign_texts(given: RankedList, settings: Settings, method: Method | None = None) -> JudgedResults:
    """Sign the texts of results."""
    method = method or methods.make(settings)
    try:
        raw = pa.array(given.texts, pa.large_string())
    except UnicodeEncodeError as problem:
        raise InputError(f"a result is not valid Unicode: {problem.reason}; repair it first") from problem
    is_html = {"html": [True] * len(given), "none": [False] * len(given)}.get(settings.markup, given.markup)
    texts = TextBatch(raw, pa.array(is_html, pa.bool_()), settings.page_text)
    lengths, equal = texts.lengths, texts.digests(method.collapse)
    days, fields = days_of(given.facts["date"], settings.date_format), None
    if settings.compared_fields:
        from roughly.cluster.fields import Fields

        table = pa.table({name: pa.array(values, pa.string()) for name, values in given.facts.items()})
        fields = Fields.of(settings.compared_fields, table, days)
        equal = fields.mixed(equal)
    signature, judge = texts.sign(method), method.judge()
    if signature.keys is None:
        return JudgedResults(None, None, DocumentFacts(), lengths, equal, 0, "none")
    sets = (
        shingle_sets(texts.units(settings.shingle_unit), settings.shingle_size)
        if judge.on == "text"
        else signature.sketch
    )
    exact = judge.on == "text" or (judge.on == "sketch" and method.describe().get("sketch", "all") == "all")
    keys = _without_empty(signature.keys, lengths)
    words = None if settings.verdict is None else texts.units(settings.shingle_unit)
    facts = DocumentFacts(sets, lengths, days, words, fields)
    measured = judge.measure != "common"
    return JudgedResults(
        keys, judge, facts, lengths, equal, method.common,
        "none" if sets is None or not measured else "exact" if exact else "estimated", settings.verdict,
    )  # fmt: skip


def _without_empty(keys: Keys, lengths: Ints) -> Keys:
    """The keys without those of results that have no token: these are only equal to each other."""
    if lengths.all():
        return keys
    if keys.offsets is None:
        return Keys(np.where(lengths[:, None] == 0, np.uint64(0), keys.values))
    use = np.repeat(lengths > 0, np.diff(keys.offsets))
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(np.where(lengths > 0, np.diff(keys.offsets), 0), out=offsets[1:])
    values = keys.values[keys.offsets[0] : keys.offsets[-1]]
    probes = None if keys.probes is None else keys.probes[keys.offsets[0] : keys.offsets[-1]][use]
    return Keys(values[use], offsets, probes)


class StoredSignatures:
    """A file of signatures, read once, in which `group_results` finds results by their ids."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.name = os.fspath(path)
        self._signatures: Signatures = read_signatures([self.name])

    @cached_property
    def _places(self) -> dict[str, int]:
        return {doc_id: place for place, doc_id in enumerate(self._signatures.ids)}

    def read(self, given: RankedList) -> JudgedResults:
        """The signatures of the results."""
        stored, places = self._signatures, self._places
        missing = [doc_id for doc_id in given.ids if doc_id not in places]
        if missing:
            raise InputError(
                f"{self.name} has no signature of {len(missing):,} results, {missing[0]!r} for one; sign them as well"
            )
        rows = np.array([places[doc_id] for doc_id in given.ids], np.int64)
        dates = [stored.dates[row] for row in rows.tolist()]
        judge = stored.made.judge
        if judge.on == "text":  # without texts candidates cannot be compared, so sharing a key decides
            judge = Judge("keys", "common", 1, judge.dates, judge.lengths)
        sketch = None if stored.sketch is None else slice_of(stored.sketch, rows)
        measured = judge.on == "sketch" and judge.measure != "common"
        exact = measured and stored.made.described.get("sketch", "all") == "all"
        return JudgedResults(
            keys_of(stored.keys, rows),
            judge,
            DocumentFacts(sketch, stored.tokens[rows], days_of(dates)),
            stored.tokens[rows],
            stored.equal[rows],
            int(stored.made.described.get("common", 0)),
            "exact" if exact else "estimated" if measured else "none",
            stored_facts={"date": dates},
        )


def keys_of(keys: Keys, rows: Ints) -> Keys:
    """The keys of some documents."""
    if keys.offsets is None:
        return Keys(keys.values[rows])
    some = slice_of(Sets(keys.values, keys.offsets), rows)
    probes = None
    if keys.probes is not None:
        probes = slice_of(Sets(keys.probes.astype(np.uint64), keys.offsets), rows).values.astype(np.bool_)
    return Keys(some.values, some.offsets, probes)
