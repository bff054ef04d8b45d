"""How pages change over time (Broder 1997, §6.5), for each interval between two sweeps.

| word | a page of the earlier sweep … |
|---|---|
| unchanged | has the same url and text in the later one |
| changed | has the same url and another text; the resemblance of the two versions says how much it changed |
| moved | its url has disappeared, and a new url has a duplicate of it, *within* its host or *between* hosts |
| died | its url has disappeared, and no new url has a duplicate of it |

A page of the later sweep is **born** where its url is new and no page moved there; it has **returned** where an earlier
sweep had seen the url. Every page is counted once, and a page moves to one url, the most similar first::

    pages before = unchanged + changed + moved + died        pages after = unchanged + changed + moved + born
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from sqlalchemy import Connection

from roughly.dates import day_of
from roughly.fast_dataclass import dataclass
from roughly.index.answers import PlainAnswer
from roughly.index.index import Index
from roughly.index.index_config import IndexConfig
from roughly.index.matching.comparer import Comparer
from roughly.index.matching.pair_scores import none_if_nan
from roughly.index.sweeps.lifetimes import LifeRecord, Lifetimes
from roughly.index.sweeps.sweep import SweptPage, finished, pages_of, sweeps_of

BINS = 10
_BLOCK = 2_000


@dataclass(frozen=True, slots=True)
class Move:
    """A page that has another url now."""

    before: str
    after: str
    resemblance: float | None


@dataclass(frozen=True, slots=True)
class SweepInterval(PlainAnswer):
    """How the pages of one sweep changed until the next."""

    before: str
    after: str
    days: int
    pages_before: int
    pages_after: int
    unchanged: int
    changed: int
    moved_within: int
    moved_between: int
    died: int
    born: int
    returned: int  # pages that are born, and that an earlier sweep had seen
    resemblances: tuple[int, ...]  # changed pages by the resemblance of the two versions: 0 to 0.1, …, 0.9 to 1
    unmeasured: int  # changed pages for which nothing is stored to measure on
    mean_resemblance: float | None
    moves: tuple[Move, ...] = ()

    @property
    def moved(self) -> int:
        """Pages that moved within a host or between hosts."""
        return self.moved_within + self.moved_between


@dataclass(frozen=True, slots=True)
class Changes(PlainAnswer):
    """All intervals, and how long pages live."""

    intervals: tuple[SweepInterval, ...]
    unfinished: tuple[str, ...]  # sweeps that are left out
    addresses: int  # urls that any finished sweep has seen
    gone: int  # urls that the last finished sweep has not seen
    lifetimes: Lifetimes
    estimated: bool


def changes(index: Index) -> Changes:
    """Compare every sweep with the one after it."""
    sweeps = finished(index)
    seen: set[str] = set()
    record = LifeRecord()
    intervals: list[SweepInterval] = []
    before: dict[str, SweptPage] = {}
    estimated = False
    for place, sweep in enumerate(sweeps):
        pages = {page.url: page for page in pages_of(index, sweep.date)}
        if place:
            interval, estimated = _interval(index, sweeps[place - 1].date, sweep.date, before, pages, seen)
            intervals.append(interval)
        moves = intervals[-1].moves if place else ()
        record.add(sweep.date, pages, ((move.before, move.after) for move in moves))
        seen |= pages.keys()
        before = pages
    unfinished = tuple(sweep.date for sweep in sweeps_of(index) if sweep.state != "done")
    gone = len(seen - before.keys())
    return Changes(tuple(intervals), unfinished, len(seen), gone, record.lifetimes(), estimated)


def _interval(
    index: Index, one: str, other: str, before: dict[str, SweptPage], after: dict[str, SweptPage], seen: set[str]
) -> tuple[SweepInterval, bool]:
    both = sorted(before.keys() & after.keys())
    changed = [(before[url].content, after[url].content) for url in both if before[url].content != after[url].content]
    gone = [before[url] for url in sorted(before.keys() - after.keys())]
    new = [after[url] for url in sorted(after.keys() - before.keys())]

    def work(connection: Connection, config: IndexConfig) -> tuple[list[float], list[Move], bool]:
        comparer = Comparer(index.transactions.store, connection, config)
        return _measured(comparer, changed), _moves(comparer, gone, new), comparer.estimated

    values, moves, estimated = index.transactions.read(work)
    measured = [value for value in values if value == value]
    bins = np.histogram(np.minimum(measured, 1.0), BINS, (0.0, 1.0))[0].tolist() if measured else [0] * BINS
    hosts = {page.url: page.host for page in [*gone, *new]}
    within = sum(hosts[move.before] == hosts[move.after] for move in moves)
    places = {move.after for move in moves}
    born = [page for page in new if page.url not in places]
    interval = SweepInterval(
        one, other, day_of(other) - day_of(one), len(before), len(after), len(both) - len(changed), len(changed),
        within, len(moves) - within, len(gone) - len(moves), len(born), sum(page.url in seen for page in born),
        tuple(bins), len(values) - len(measured), float(np.mean(measured)) if measured else None, tuple(moves),
    )  # fmt: skip
    return interval, estimated


def _measured(comparer: Comparer, pairs: list[tuple[int, int]]) -> list[float]:
    """The resemblance of each pair of versions; NaN where it cannot be measured."""
    if not pairs:
        return []
    left, right = (np.array(column, np.int64) for column in zip(*pairs, strict=True))
    live = comparer.live(np.concatenate((left, right)))
    use = np.array([a in live and b in live for a, b in pairs], np.bool_)
    values = np.full(len(pairs), np.nan)
    values[use] = comparer.measure(left[use], right[use]).resemblance
    return list(values.tolist())


def _moves(comparer: Comparer, gone: list[SweptPage], new: list[SweptPage]) -> list[Move]:
    """Pairs of a page whose url has disappeared and a new page that is its duplicate, each page in one pair at most."""
    places: dict[int, list[SweptPage]] = defaultdict(list)
    for page in new:
        places[page.content].append(page)
    options = [(1.0, page, other) for page in gone for other in places.get(page.content, ())]
    options += _alike(comparer, gone, places)
    options.sort(
        key=lambda option: (
            -(none_if_nan(option[0]) or 0.0),
            option[1].host != option[2].host,
            option[1].url,
            option[2].url,
        )
    )
    moves, left, taken = [], set(), set()
    for score, page, other in options:
        if page.url not in left and other.url not in taken:
            left.add(page.url)
            taken.add(other.url)
            moves.append(Move(page.url, other.url, none_if_nan(score)))
    return sorted(moves, key=lambda move: move.before)


def _alike(
    comparer: Comparer, gone: list[SweptPage], places: dict[int, list[SweptPage]]
) -> list[tuple[float, SweptPage, SweptPage]]:
    """The same pairs, with scores, for texts that are duplicates by the verdict of the index and not equal."""
    texts: dict[int, list[SweptPage]] = defaultdict(list)
    for page in gone:
        texts[page.content].append(page)
    live = comparer.live(np.array(sorted(texts), np.int64))
    own = np.array(sorted(live), np.int64)
    wanted = np.array(sorted(places), np.int64)
    found = []
    for at in range(0, len(own) if len(wanted) else 0, _BLOCK):
        some = own[at : at + _BLOCK]
        query = comparer.query_with(some, {text: day_of(texts[text][0].date) for text in some.tolist()})
        owners, contents = comparer.duplicates(query)
        use = np.isin(contents, wanted)
        left, right = some[owners[use]], contents[use]
        scores = comparer.measure(left, right).resemblance.tolist()
        for one, other, score in zip(left.tolist(), right.tolist(), scores, strict=True):
            found += [(score, page, place) for page in texts[one] for place in places[other]]
    return found
