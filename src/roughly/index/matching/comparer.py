"""Texts of an index compared with each other, beyond what the verdict of the index needs.

`duplicates` gives the duplicates by the verdict of the index. `candidates` gives every text that shares a key, and
`measure` how much any two have in common: that finds partial copies, which no threshold of resemblance would admit
(Broder 1997, §6.1, *on the fly resemblance*).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection

from roughly.dates import midnight
from roughly.features.shingle_sets import Sets
from roughly.features.sketch import estimate, joined
from roughly.index.index_config import IndexConfig
from roughly.index.matching.candidate_finder import QueryKeys
from roughly.index.matching.content_sets import content_keys
from roughly.index.matching.matcher import NO_DOCUMENT, NO_ID, Matcher
from roughly.index.matching.pair_scores import PairScores
from roughly.index.matching.rank_order import RankedDocument
from roughly.index.storage.contents import live_lengths
from roughly.index.storage.store import IndexStore

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
_AT_ONCE = 1_000


class Comparer:
    """Compares texts in one transaction of an index."""

    def __init__(self, store: IndexStore, connection: Connection, config: IndexConfig) -> None:
        self.store, self.connection, self.config = store, connection, config
        self.matcher = Matcher(store, connection, config)

    def live(self, texts: Ints) -> dict[int, int]:
        """Those of the texts that were not revoked, with their lengths in tokens."""
        return live_lengths(self.store, self.connection, np.unique(texts))

    def query_with(self, texts: Ints, days: dict[int, int | None]) -> QueryKeys:
        """A query with live texts of the index, which does not find these texts themselves."""
        keys = content_keys(self.store, self.connection, self.config, texts)
        lengths = self.live(texts)
        tokens = np.array([lengths[text] for text in texts.tolist()], np.int64)
        published = {text: midnight(day) for text, day in days.items() if day is not None}
        ranked = [
            RankedDocument(length, 0, published.get(text), NO_DOCUMENT, None, None, NO_ID)
            for text, length in zip(texts.tolist(), tokens.tolist(), strict=True)
        ]
        sets = self.matcher.sets
        return QueryKeys(
            keys, tokens, lambda rows: sets.load(texts[rows]), lambda rows: sets.load_words(texts[rows]), None, ranked,
            texts,
        )  # fmt: skip

    def duplicates(self, query: QueryKeys) -> tuple[Ints, Ints]:
        """(text of the query, text of the index) that are duplicates by the verdict of the index, and not equal."""
        if self.config.method.equality:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        found = self.matcher.match(query)
        return found.pairs.owner, found.pairs.content

    def candidates(self, query: QueryKeys) -> tuple[Ints, Ints]:
        """(text of the query, text of the index) that share a key, and are not equal."""
        none = np.empty(0, np.int64)
        found = [] if self.config.method.equality else list(self.matcher.finder.find(query, prefilter=False))
        owners, texts = ([none, *(getattr(some.pairs, name) for some in found)] for name in ("owner", "content"))
        return np.concatenate(owners), np.concatenate(texts)

    @property
    def loader(self) -> Callable[[Ints], Sets] | None:
        """Loads sets to measure on; None where no such sets are stored."""
        judge = self.config.judge
        if self.config.store != "sketch" or judge.on == "text":
            return self.matcher.sets.load_bodies
        return self.matcher.sets.load if judge.on == "sketch" and judge.measure != "common" else None

    @property
    def estimated(self) -> bool:
        """Whether measured scores are estimates."""
        return self.config.store == "sketch"

    def measure(self, left: Ints, right: Ints) -> PairScores:
        """How much live texts left[i] and right[i] have in common."""
        found = np.full((3, len(left)), np.nan)
        if self.loader is not None:
            order = np.argsort(left)
            for at in range(0, len(left), _AT_ONCE):
                some = order[at : at + _AT_ONCE]
                texts = np.unique(np.concatenate((left[some], right[some])))
                found[:, some] = _scores(
                    self.loader(texts), np.searchsorted(texts, left[some]), np.searchsorted(texts, right[some])
                )
        return PairScores(found[0], found[1], found[2], self.estimated)

    def measure_one(self, mine: Sets, right: Ints) -> PairScores:
        """The same for one document, which need not be in the index."""
        found = np.full((3, len(right)), np.nan)
        if self.loader is not None:
            for at in range(0, len(right), _AT_ONCE):
                some = right[at : at + _AT_ONCE]
                sets = joined([mine, self.loader(some)])
                numbers = np.arange(len(some))
                found[:, at : at + _AT_ONCE] = _scores(sets, 0 * numbers, numbers + 1)
        return PairScores(found[0], found[1], found[2], self.estimated)


def _scores(sets: Sets, left: Ints, right: Ints) -> Floats:
    found = estimate(sets, left, right)
    return np.array([found.resemblance, found.containment, found.contained_in])
