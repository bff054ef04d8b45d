"""Why a pair was compared at all: the keys that both documents have, made again from their texts."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from roughly.errors import RoughlyError
from roughly.methods import METHODS, Method
from roughly.report.wording import counted, score, share
from roughly.service.collection import Collection
from roughly.signing.text_batch import TextBatch


@dataclass(frozen=True)
class Candidacy:
    """What made a pair a candidate, in sentences and in figures."""

    method: str
    told: tuple[str, ...]
    shared: int | None = None  # keys in common
    keys: int | None = None  # of how many
    which: tuple[int, ...] = ()  # bands, from 1
    chance: float | None = None  # that a pair so alike becomes a candidate

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


def candidacy(looked: Collection, left: str, right: str, similarity: float | None) -> Candidacy:
    """For two texts as the method sees them."""
    try:
        method = looked.method()
    except RoughlyError as problem:
        return Candidacy("", (f"This cannot be told again: {problem}.",))
    texts = TextBatch(pa.array([left, right], pa.large_string()))
    keys, name = texts.sign(method).keys, method.name
    if (texts.lexical_digests[0] == texts.lexical_digests[1]).all():
        return Candidacy(name, ("Word for word they are the same, so they are one text to the method.",))
    if keys is None:
        return Candidacy(name, (f"{name} takes documents together only where they are equal; these are not.",))
    if keys.offsets is None:
        return _bands(method, keys.values, similarity)
    places = [slice(keys.offsets[n], keys.offsets[n + 1]) for n in (0, 1)]
    left_keys, right_keys = (keys.values[own] for own in places)
    both = np.intersect1d(left_keys, right_keys)
    count = min(len(np.unique(left_keys)), len(np.unique(right_keys)))
    told = [f"They share {counted(len(both), 'key')}; the one with fewer has {counted(count, 'key')} ({name})."]
    if keys.probes is not None:
        asks = np.concatenate([keys.values[own][keys.probes[own]] for own in places])
        asked = len(np.intersect1d(both, asks))
        told.append(f"Of those, {counted(asked, 'key')} {'is' if asked == 1 else 'are'} looked up by one of the two.")
    if not len(both):
        told.append(_NO_KEY)
    return Candidacy(name, tuple(told), len(both), count, (), _chance(method, similarity))


_NO_KEY = (
    "They share no key: either they are no candidates, or they stood in a crowd of documents with much in common, "
    "whose pairs are found by their rarest words instead."
)


def _bands(method: Method, values: Any, similarity: float | None) -> Candidacy:
    shared = np.flatnonzero((values[0] == values[1]) & (values[0] != 0))
    bands = int(values.shape[1])
    described = method.describe()
    each = f" of {described['rows']} samples" if "rows" in described else ""
    told = [f"They agree in {len(shared)} of {counted(bands, 'band')}{each} ({method.name}); one is enough."]
    chance = _chance(method, similarity)
    if chance is not None and similarity is not None:
        told.append(f"A pair that resembles at {score(similarity, 3)} does so with a chance of {share(chance, 1)}.")
    if not len(shared):
        told.append(_NO_KEY)
    return Candidacy(method.name, tuple(told), len(shared), bands, tuple(int(n) + 1 for n in shared[:50]), chance)


def _chance(method: Method, similarity: float | None) -> float | None:
    if similarity is None or not METHODS[method.name].has_curve:
        return None
    return float(method.candidate_probability(similarity))
