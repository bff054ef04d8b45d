"""`roughly.suggest`: settings for a collection without labels, from a sample of it.

**Shingles** follow from the texts: characters where most tokens are single characters (scripts without spaces), two
words where half of the documents have fewer than `SHORT` words, otherwise five words.

**The threshold** lies in the gap of the resemblances. Each document has a best partner; the resemblances of these form
one heap of unrelated documents near 0 and, if there are near-duplicates, another towards 1. The threshold is the middle
of the widest stretch between the two in which fewest of them lie. Without such a gap it is the default, 0.8, and the
answer says so: labels (`judge`, `tune`) are then the only way to know.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import field
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.declarations import gather
from roughly.errors import InputError
from roughly.fast_dataclass import dataclass
from roughly.meter import Listener, Meter
from roughly.model import Reject
from roughly.option_types import SuggestRequestOptions
from roughly.settings import Settings
from roughly.sources import data_or_paths
from roughly.text.canonical import words
from roughly.tools.suggest.collection_kind import CollectionKind, kind_of
from roughly.tools.suggest.request import SuggestRequest
from roughly.tools.tune.draw import DrawnSample, DrawSize, draw
from roughly.tools.tune.scored_sample import ScoredSample

SHORT = 40
"""Words; collections of shorter documents are compared on shingles of two words."""
LOWEST, HIGHEST = 0.2, 0.95
"""The gap is looked for between these resemblances."""
LEAST_BINS = 2
"""Width of a gap, in bins of 0.05."""
FEW_PARTNERS = 10
"""Documents with a partner above the gap, below which there is no second heap; and how many times as many as in a bin
of the gap there must be."""
MOST_PAIRS = 500_000
LOOKED_AT, READ = 200, 2000
"""Texts whose scripts and words are looked at, and characters of each."""
_BINS = 20
_SHOWN = 60  # characters of a text

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class PairExample:
    """Two documents near the threshold, and how their texts begin."""

    left_id: str
    right_id: str
    resemblance: float
    left: str
    right: str


@dataclass(frozen=True)
class Suggestion:
    """What was seen, and what is suggested."""

    documents: int  # of the input
    sampled: int
    words: tuple[int, int, int]  # quartiles of the number of words
    equal: int  # documents of the sample with the words of another
    empty: int
    settings: dict[str, Any]
    gap: tuple[float, float] | None  # the stretch in which few best partners lie
    removed: float  # fraction of the sample
    histogram: list[int]  # resemblance of each document's best partner, in bins of 0.05
    above: list[PairExample]
    below: list[PairExample]
    reasons: list[str]
    kind: CollectionKind
    rejects: list[Reject] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        shown = {name: [vars(one) for one in getattr(self, name)] for name in ("above", "below")}
        names = ("documents", "sampled", "equal", "empty", "settings", "removed", "histogram", "reasons")
        values = {name: getattr(self, name) for name in names}
        gap = None if self.gap is None else list(self.gap)
        values |= {"words": list(self.words), "gap": gap, "rejected": len(self.rejects), "kind": vars(self.kind)}
        return values | shown


def suggest(
    data: Any = None,
    *,
    paths: Sequence[str | os.PathLike[str]] | None = None,
    **options: Unpack[SuggestRequestOptions],
) -> Suggestion:
    """Look at a sample of documents and suggest settings for `roughly.dedupe`.

    `data` and `paths` are those of `roughly.dedupe`; `options` those of `SuggestRequest`: `sample`, `pairs`, `seed`, ….
    """
    data, paths = data_or_paths(data, paths)
    return suggest_settings(data, paths, gather(SuggestRequest, options))


def suggest_settings(
    data: Any, paths: Sequence[Any] | None, request: SuggestRequest, listener: Listener | None = None
) -> Suggestion:
    """The same with the request as an object."""
    meter = Meter(listener)
    sample = draw(
        data,
        paths,
        wanted=DrawSize(request.sample, request.seed, request.main_text),
        set_of=lambda doc_id, _: doc_id,
        resources=request.resources,
        reading=request.reading,
        meter=meter,
    )
    if len(sample) < 2:
        raise InputError("fewer than two documents with words have no pairs to look at; give more documents")
    with meter.stage("tune"):
        return _look_at(sample, request)


def _look_at(sample: DrawnSample, request: SuggestRequest) -> Suggestion:
    scored = ScoredSample(sample, request.resources.threads, MOST_PAIRS)
    lengths = scored.lengths
    quartiles = tuple(int(value) for value in np.quantile(lengths, [0.25, 0.5, 0.75]))
    unit, size, reasons = _shingles(sample, quartiles[1])
    kind = kind_of(_beginnings(sample), scored.sets(unit, size))
    reasons += kind.reasons(unit)
    pairs = scored.score(unit, size)
    listed, leaders = scored.leader_pairs(pairs)
    resemblance = pairs.scores["resemblance"]
    best = np.zeros(len(leaders))
    for side in (0, 1):
        np.maximum.at(best, listed[:, side], resemblance)
    gap = _gap(best)
    threshold = 0.8 if gap is None else round((gap[0] + gap[1]) / 2, 2)
    reasons.append(
        "no gap between unrelated documents and near-duplicates: the default threshold; judge some pairs and tune"
        if gap is None
        else f"few documents have their best partner between {gap[0]:.2f} and {gap[1]:.2f}: the threshold is between"
    )
    group = scored.groups(pairs, "resemblance", [threshold], linked=False)[0]
    removed = 1 - len(np.unique(group)) / len(group)
    settings = {"method": "minhash", "threshold": threshold, "shingle_size": size}
    settings |= {"shingle_unit": unit} if unit != "word" else {}
    Settings.gather(settings)
    order = np.lexsort((listed[:, 1], listed[:, 0], np.abs(resemblance - threshold)))
    reached = resemblance[order] >= threshold

    def shown(rows: npt.NDArray[np.int64]) -> list[PairExample]:
        return [
            PairExample(
                sample.ids[left],
                sample.ids[right],
                float(resemblance[row]),
                _start(sample, left),
                _start(sample, right),
            )
            for row in rows[: request.pairs].tolist()
            for left, right in [leaders[listed[row]].tolist()]
        ]

    return Suggestion(
        sample.documents, len(sample), (quartiles[0], quartiles[1], quartiles[2]), len(sample) - len(leaders),
        sample.empty, settings, gap, removed, np.histogram(best, _BINS, (0.0, 1.0))[0].tolist(),
        shown(order[reached]), shown(order[~reached]), reasons, kind, sample.rejects,
    )  # fmt: skip


def _shingles(sample: DrawnSample, median: int) -> tuple[str, int, list[str]]:
    """(unit, size, the reason)."""
    tokens = [token for text in _beginnings(sample) for token in words(text)]
    single = sum(len(token) == 1 and not token.isascii() for token in tokens)
    if tokens and single > len(tokens) / 2:
        return "character", 5, ["most tokens are single characters: shingles of characters"]
    if median < SHORT:
        return "word", 2, [f"half of the documents have fewer than {SHORT} words: shingles of two words"]
    return "word", 5, ["running text: shingles of five words"]


def _gap(best: Floats) -> tuple[float, float] | None:
    """The widest stretch of bins with the fewest best partners, if a heap of near-duplicates lies above it."""
    edges = np.round(np.arange(LOWEST, HIGHEST + 1e-9, 0.05), 2)
    counts = np.histogram(best, edges)[0]
    low = counts.min()
    inside = np.r_[False, counts == low, False]
    starts, ends = np.flatnonzero(np.diff(inside.astype(int)) == 1), np.flatnonzero(np.diff(inside.astype(int)) == -1)
    at = int(np.argmax(ends - starts))
    gap = float(edges[starts[at]]), float(edges[ends[at]])
    is_gap = ends[at] - starts[at] >= LEAST_BINS and FEW_PARTNERS * low <= (best >= gap[1]).sum()
    return gap if is_gap and (best >= gap[1]).sum() >= FEW_PARTNERS and (best < gap[0]).any() else None


def _beginnings(sample: DrawnSample) -> list[str]:
    """The beginnings of some texts, from the first id to the last."""
    some = np.linspace(0, len(sample) - 1, min(len(sample), LOOKED_AT)).astype(np.int64)
    return [text[:READ] for text in sample.texts.take(pa.array(some)).to_pylist()]


def _start(sample: DrawnSample, number: int) -> str:
    return " ".join(str(sample.texts[number].as_py())[: 4 * _SHOWN].split())[:_SHOWN]
