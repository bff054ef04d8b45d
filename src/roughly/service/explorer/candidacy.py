"""Why a pair was compared: the keys that both documents have, computed again from their texts."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import pyarrow as pa

from roughly.errors import RoughlyError
from roughly.fast_dataclass import dataclass
from roughly.methods import METHODS, Method
from roughly.report.wording import counted, score, share
from roughly.service.collection.collection_types import Collection
from roughly.signing.text_batch import TextBatch


@dataclass(frozen=True)
class Candidacy:
    """What made a pair a candidate, in sentences and in numbers."""

    method: str
    sentences: tuple[str, ...]
    shared: int | None = None  # keys in common
    keys: int | None = None  # keys of the document that has fewer
    which: tuple[int, ...] = ()  # bands, from 1
    chance: float | None = None  # probability that a pair of this similarity becomes a candidate

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        values = asdict(self)
        return {"method": values.pop("method"), "told": values.pop("sentences"), **values}


def candidacy(collection: Collection, left: str, right: str, similarity: float | None) -> Candidacy:
    """Why two texts are candidates of the method, or are not."""
    try:
        method = collection.method()
    except RoughlyError as problem:
        return Candidacy("", (f"This cannot be computed again: {problem}.",))
    texts = TextBatch(pa.array([left, right], pa.large_string()))
    keys, name = texts.sign(method).keys, method.name
    compares_more = collection.learned is not None and collection.learned.compared_fields
    if (texts.lexical_digests[0] == texts.lexical_digests[1]).all() and not compares_more:
        return Candidacy(name, ("They have the same words in the same order, so they are one text to the method.",))
    if keys is None:
        return Candidacy(name, (f"{name} finds only documents that are equal; these are not.",))
    chance = _chance(method, similarity, int(texts.lengths.min()))
    if keys.offsets is None:
        return _bands(method, keys.values, similarity, chance)
    ranges = [slice(keys.offsets[n], keys.offsets[n + 1]) for n in (0, 1)]
    left_keys, right_keys = (keys.values[own] for own in ranges)
    both = np.intersect1d(left_keys, right_keys)
    count = min(len(np.unique(left_keys)), len(np.unique(right_keys)))
    sentences = [f"They share {counted(len(both), 'key')}; the one with fewer has {counted(count, 'key')} ({name})."]
    if keys.probes is not None:
        probes = np.concatenate([keys.values[own][keys.probes[own]] for own in ranges])
        probed = len(np.intersect1d(both, probes))
        sentences.append(f"One of the two looks up {counted(probed, 'key')} of those.")
    if not len(both):
        sentences.append(_NO_KEY)
    return Candidacy(name, tuple(sentences), len(both), count, (), chance)


_NO_KEY = (
    "They share no key: either they are no candidates, or they shared a hot key with many documents, whose pairs are "
    "found by their rarest words instead."
)


def _bands(method: Method, values: Any, similarity: float | None, chance: float | None) -> Candidacy:
    shared = np.flatnonzero((values[0] == values[1]) & (values[0] != 0))
    bands = int(values.shape[1])
    described = method.describe()
    per_band = f" of {described['rows']} samples" if "rows" in described else ""
    sentences = [f"They agree in {len(shared)} of {counted(bands, 'band')}{per_band} ({method.name}); one is enough."]
    if chance is not None and similarity is not None:
        sentences.append(
            f"A pair with similarity {score(similarity, 3)} does so with a probability of {share(chance, 1)}."
        )
    if not len(shared):
        sentences.append(_NO_KEY)
    return Candidacy(method.name, tuple(sentences), len(shared), bands, tuple(int(n) + 1 for n in shared[:50]), chance)


def _chance(method: Method, similarity: float | None, tokens: int) -> float | None:
    """The chance of a pair of this similarity whose documents are as long as the shorter one."""
    if similarity is None or not METHODS[method.name].has_curve:
        return None
    return float(method.candidate_probability_at(similarity, tokens))
