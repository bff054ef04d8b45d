"""Lost and found (Broder 1997, §6.2): where a page is now whose url has disappeared.

The last version that a sweep found is compared with the pages of later sweeps. Pages that are its duplicates, or
contain at least the threshold's fraction of it, are where it went; those whose url is in the last sweep come first,
then the most similar. Where none of them is in the last sweep, they have moved again, and are followed. Where the last
version leads nowhere, earlier versions are tried.

Where the index does not find every passage, a long page that contains the lost one may share no key with it. So the
pages of the last sweep are measured one by one, up to `SCANNED` of them; `complete` says whether these are all.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sqlalchemy import Connection

from roughly.dates import day_of
from roughly.errors import InputMissing
from roughly.fast_dataclass import dataclass
from roughly.index.answers import PlainAnswer
from roughly.index.index import Index
from roughly.index.index_config import IndexConfig
from roughly.index.matching.comparer import Comparer
from roughly.index.matching.pair_scores import EQUAL, Scores
from roughly.index.sweeps.sweep import SweptPage, finished, pages_of, pages_with, sweeps_of, versions_of
from roughly.urls import canonical_url, host_of

_HOPS = 10
SCANNED = 20_000
"""Pages of the last sweep that are measured one by one, at most."""


@dataclass(frozen=True, slots=True)
class FoundPage:
    """A page that the lost one may have become."""

    url: str
    date: str  # of the version that is most like it
    current: bool  # the last sweep has the url
    same_host: bool
    resemblance: float | None
    containment: float | None  # fraction of the lost page that this one contains
    contained_in: float | None  # fraction of this page that the lost one contains
    title: str | None = None
    via: tuple[str, ...] = ()  # urls at which it was in between


@dataclass(frozen=True, slots=True)
class Lost(PlainAnswer):
    """Where the page of a url went."""

    url: str
    first_seen: str
    last_seen: str
    last_sweep: str
    here: bool  # the last sweep has the url: the page is not lost
    found: tuple[FoundPage, ...] = ()
    estimated: bool = False
    complete: bool = True  # whether every page of the last sweep that contains enough of it is found


def lost(index: Index, url: str, *, limit: int = 10) -> Lost:
    """Find where the page of a url is now."""
    sweeps = finished(index)
    last = sweeps[-1].date
    versions = _finished_versions(index, url)
    if not versions:
        raise InputMissing(f"no finished sweep of {index.name} has seen {canonical_url(url)}; check the address")
    newest = versions[-1]
    answer = Lost(newest.url, versions[0].date, newest.date, last, newest.date == last)
    if answer.here:
        return answer
    current = {page.url: page.content for page in pages_of(index, last)}
    found, estimated = _follow(index, versions, current)
    ordered = sorted(found, key=_order)
    complete = index.config.method.finds_passages or len(set(current.values())) <= SCANNED
    return replace(answer, found=tuple(ordered[:limit]), estimated=estimated, complete=complete)


def _follow(index: Index, versions: list[SweptPage], current: dict[str, int]) -> tuple[list[FoundPage], bool]:
    seen, found, estimated = {versions[-1].url}, list[FoundPage](), False
    via: tuple[str, ...] = ()
    for _ in range(_HOPS):
        here: list[FoundPage] = []
        for version in reversed(versions):
            here, estimated = _alike(index, version, versions[-1].date, current)
            here = [replace(one, via=via) for one in here if one.url not in seen]
            if here:
                break
        found += here
        seen |= {one.url for one in here}
        if not here or any(one.current for one in here):
            break
        best = min(here, key=_order)
        via = (*via, best.url)
        versions = _finished_versions(index, best.url)
    return found, estimated


def _alike(index: Index, lost: SweptPage, after: str, current: dict[str, int]) -> tuple[list[FoundPage], bool]:
    """Pages of sweeps after a day that are like this one, each url with the version that is most similar."""
    more = set() if index.config.method.finds_passages else set(list(dict.fromkeys(current.values()))[:SCANNED])
    scores, estimated = index.transactions.read(
        lambda connection, config: _scored(index, connection, config, lost, more)
    )
    done = {sweep.date for sweep in sweeps_of(index) if sweep.state == "done"}
    best: dict[str, FoundPage] = {}
    for page in pages_with(index, scores):
        if page.date <= after or page.url == lost.url or page.date not in done:
            continue
        one = FoundPage(
            page.url, page.date, page.url in current, host_of(page.url) == lost.host, *scores[page.content], page.title
        )
        if page.url not in best or (_score(one), one.date) > (_score(best[page.url]), best[page.url].date):
            best[page.url] = one
    return list(best.values()), estimated


def _scored(
    index: Index, connection: Connection, config: IndexConfig, lost: SweptPage, more: set[int]
) -> tuple[dict[int, Scores], bool]:
    """The texts that are like this one, and this one itself, with their scores; `more` are measured too."""
    comparer = Comparer(index.transactions.store, connection, config)
    scores: dict[int, Scores] = {lost.content: EQUAL}
    own = np.array([lost.content], np.int64)
    if not comparer.live(own):
        return scores, False
    query = comparer.query_with(own, {lost.content: day_of(lost.date)})
    duplicates = set(comparer.duplicates(query)[1].tolist())
    texts = comparer.candidates(query)[1]
    if more := more - set(texts.tolist()) - {lost.content}:
        others = np.array(sorted(comparer.live(np.array(sorted(more), np.int64))), np.int64)
        texts = np.concatenate((texts, others))
    found = comparer.measure(np.repeat(own, len(texts)), texts)
    for place, text in enumerate(texts.tolist()):
        if text in duplicates or found.containment[place] >= config.settings.threshold:
            scores[text] = found.at(place)
    return scores, comparer.estimated


def _score(one: FoundPage) -> float:
    return max(one.resemblance or 0.0, one.containment or 0.0)


def _order(one: FoundPage) -> tuple[Any, ...]:
    return not one.current, -_score(one), not one.same_host, one.url


def _finished_versions(index: Index, url: str) -> list[SweptPage]:
    done = {sweep.date for sweep in sweeps_of(index) if sweep.state == "done"}
    return [page for page in versions_of(index, url) if page.date in done]
