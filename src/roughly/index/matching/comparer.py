"""Texts of an index compared with each other, beyond what its own verdict asks for.

`judged` gives the duplicates as the index judges them. `candidates` gives every text that shares a key, and `measure`
how much any two have in common: that is how partial copies are found, which no threshold of resemblance would let
through (Broder 1997, §6.1, *on the fly resemblance*).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection

from roughly.dates import midnight
from roughly.features.shingles import Sets
from roughly.features.sketch import estimate, joined
from roughly.index.config import IndexConfig
from roughly.index.matching.candidate_finder import QueryKeys
from roughly.index.matching.matcher import Matcher
from roughly.index.matching.rank_order import RankedDocument
from roughly.index.storage import contents
from roughly.index.storage.schema import CONTENTS, LIVE
from roughly.index.storage.store import IndexStore

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
_AT_ONCE = 1_000


@dataclass(frozen=True)
class MeasuredPairs:
    """Of pairs; NaN where nothing is stored to measure on."""

    resemblance: Floats
    containment: Floats  # share of the left text that the right one holds
    contained_in: Floats  # share of the right text that the left one holds


class Comparer:
    """One moment of an index."""

    def __init__(self, store: IndexStore, connection: Connection, bound: IndexConfig) -> None:
        self.store, self.connection, self.bound = store, connection, bound
        self.matcher = Matcher(store, connection, bound)

    def live(self, texts: Ints) -> dict[int, int]:
        """Those of the texts that were not revoked, with their lengths in tokens."""
        columns = (CONTENTS.c.content, CONTENTS.c.tokens, CONTENTS.c.state)
        rows = self.store.fetch(self.connection, columns, CONTENTS.c.content, np.unique(texts))
        return {row[0]: row[1] for row in rows if row[2] == LIVE}

    def asking(self, texts: Ints, days: dict[int, int | None]) -> QueryKeys:
        """Live texts of the index as what is asked about; they are not found themselves."""
        keys = contents.keys_of(self.store, self.connection, self.bound, texts)
        lengths = self.live(texts)
        tokens = np.array([lengths[text] for text in texts.tolist()], np.int64)
        published = {text: midnight(day) for text, day in days.items() if day is not None}
        ranked = [
            RankedDocument(length, 0, published.get(text), 2**62, None, None, "\U0010ffff")
            for text, length in zip(texts.tolist(), tokens.tolist(), strict=True)
        ]
        return QueryKeys(keys, tokens, lambda rows: self.matcher.load(texts[rows]), None, ranked, texts)

    def judged(self, asking: QueryKeys) -> tuple[Ints, Ints]:
        """(asked about, text of the index): the duplicates by the verdict of the index, equal texts left out."""
        if self.bound.method.equality:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        found = self.matcher.match(asking)
        return found.pairs.owner, found.pairs.content

    def candidates(self, asking: QueryKeys) -> tuple[Ints, Ints]:
        """(asked about, text of the index): all that share a key, equal texts left out."""
        none = np.empty(0, np.int64)
        met = [] if self.bound.method.equality else list(self.matcher.meeting.meet(asking, sift=False))
        owners, texts = ([none, *(getattr(one.pairs, name) for one in met)] for name in ("owner", "content"))
        return np.concatenate(owners), np.concatenate(texts)

    @property
    def loader(self) -> Callable[[Ints], Sets] | None:
        """Loads what can be measured on; None: nothing of that kind is stored."""
        judge = self.bound.judge
        if self.bound.store != "sketch" or judge.on == "text":
            return self.matcher.load_bodies
        return self.matcher.load if judge.on == "sketch" and judge.measure != "common" else None

    @property
    def estimated(self) -> bool:
        """Whether what is measured is an estimate."""
        return self.bound.store == "sketch"

    def measure(self, left: Ints, right: Ints) -> MeasuredPairs:
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
        return MeasuredPairs(*found)

    def measure_one(self, mine: Sets, right: Ints) -> MeasuredPairs:
        """The same for one document that need not be in the index."""
        found = np.full((3, len(right)), np.nan)
        if self.loader is not None:
            for at in range(0, len(right), _AT_ONCE):
                some = right[at : at + _AT_ONCE]
                sets = joined([mine, self.loader(some)])
                numbers = np.arange(len(some))
                found[:, at : at + _AT_ONCE] = _scores(sets, 0 * numbers, numbers + 1)
        return MeasuredPairs(*found)


def _scores(sets: Sets, left: Ints, right: Ints) -> Floats:
    guess = estimate(sets, left, right)
    return np.array([guess.resemblance, guess.containment, guess.contained_in])
