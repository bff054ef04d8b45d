"""`roughly.group_results`: ranked results in, duplicates grouped and indented under the first, nothing discarded.

Conrad 2003 §8 and Broder 1997 §6.3. Results are taken in the order of who is to be shown (by rank, date or length), and
each joins the first of those before it that it is a duplicate of: the star of `cluster.star`. So the result that is
shown was compared with every one below it, and a chain of small differences never brings two unlike results together.
A group stands where the best-ranked of its results stood.
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from roughly import checks, methods
from roughly.cluster.candidates import NO_DAY
from roughly.cluster.in_memory import ClusterRules, first_of, resolve_in_memory
from roughly.cluster.scoring import ResolveBudget
from roughly.errors import SettingsError
from roughly.features.sketch import estimate
from roughly.methods.method import Method
from roughly.results.groups import Grouped, RankedResult, ResultGroup
from roughly.results.in_memory import JudgedResults, StoredSignatures, sign_texts
from roughly.results.ranked_list import RankedList, read_results
from roughly.settings import Settings
from roughly.signing.dates import days_of

if TYPE_CHECKING:
    from roughly.index import Index

Ints = npt.NDArray[np.int64]
SHOW = ("rank", "newest", "oldest", "longest")
_BUDGET = 1 << 30


def group_results(
    results: Any,
    *,
    show: str = "rank",
    settings: Settings | None = None,
    index: Index | None = None,
    signatures: Any = None,
    **options: Any,
) -> Grouped:
    """Group ranked results, best first; duplicates go under the one that is shown.

    A result is a mapping with `text` and what else is known (`doc_id`, `title`, `url`, `date`, `source`), or a string.
    With an `index`, or `signatures` (a file of `roughly sign`, or `StoredSignatures` to read it once for many calls),
    results are found there by their `doc_id` and need no text. `options` are those of `Settings` and of the method.
    """
    checks.refuse(checks.one_of("show", show, SHOW))
    stored = [name for name, value in (("index", index), ("signatures", signatures)) if value is not None]
    if len(stored) > 1:
        raise SettingsError("give an index or signatures, not both")
    if stored and (options or settings is not None):
        raise SettingsError(f"the {stored[0]} was made with settings of its own; leave yours out, or give the texts")
    if options:
        if settings is not None:
            raise SettingsError(f"give settings, or options by name, not both: {', '.join(options)}")
        settings = Settings.gather(options)
    given = read_results(results, with_texts=not stored)
    if not len(given):
        return Grouped((), "none")
    if index is not None:
        from roughly.results.indexed import hold_indexed  # the database's packages only where there is one

        return _grouped(given, hold_indexed(index, given), show)
    if signatures is not None:
        held = StoredSignatures(signatures) if isinstance(signatures, str | os.PathLike) else signatures
        return _grouped(given, held.hold(given), show)
    settings = settings or Settings()
    return _grouped(given, sign_texts(given, settings, _method(settings)), show)


def _method(settings: Settings) -> Method:
    """The method, made once: opening a lexicon takes longer than grouping. What a file holds may change."""
    if methods.needs_count(settings):
        raise SettingsError(
            "a few results are no collection to count; build a lexicon with `roughly lexicon build`, and name it"
        )
    return methods.make(settings) if settings.files() else _made(settings)


@lru_cache(maxsize=16)
def _made(settings: Settings) -> Method:
    return methods.make(settings)


def _grouped(given: RankedList, held: JudgedResults, show: str) -> Grouped:
    facts = {name: _merged(given.facts[name], held.told.get(name)) for name in given.facts}
    rank = _order(show, held.tokens, facts["date"])
    shown, scores = _resolved(held, rank)
    columns = (given.ids, *facts.values(), held.tokens.tolist(), *scores)
    results = [RankedResult(*told) for told in zip(range(1, len(given) + 1), *columns, strict=True)]
    members: dict[int, list[RankedResult]] = {}
    for head, result in zip(shown.tolist(), results, strict=True):
        members.setdefault(head, []).append(result)
    groups = tuple(
        ResultGroup(results[head], () if len(found) == 1 else tuple(one for one in found if one.rank != head + 1))
        for head, found in members.items()
    )
    return Grouped(groups, held.scores)


def _merged(given: list[str | None], known: list[str | None] | None) -> list[str | None]:
    """What the results say themselves, and where they do not, what the store knows."""
    if known is None:
        return given
    return [one if one is not None else other for one, other in zip(given, known, strict=True)]


def _order(show: str, tokens: Ints, dates: list[str | None]) -> Ints:
    """The results, those first that are to be shown. Results without a date come after those with one."""
    places = np.arange(len(tokens))
    if show == "rank":
        return places
    if show == "longest":
        return np.lexsort((places, -tokens))
    days = days_of(dates).astype(np.int64)
    return np.lexsort((places, -days if show == "newest" else days, days == NO_DAY))


def _resolved(held: JudgedResults, rank: Ints) -> tuple[Ints, list[list[float | None]]]:
    """Who is shown in the place of each result, and how alike they are."""
    if held.keys is None or held.judge is None:
        shown = first_of(held.equal, rank)
        return shown, _scores(held, shown)
    if held.judge.measure == "containment":  # only the longer can contain the shorter; rules break ties
        place = np.empty(len(rank), np.int64)
        place[rank] = np.arange(len(rank))
        rank = np.lexsort((place, -held.tokens))
    found = resolve_in_memory(
        held.keys, held.judge, held.facts, rank=rank, first=first_of(held.equal, rank), work=ResolveBudget(_BUDGET),
        rules=ClusterRules(common=held.common),
    )  # fmt: skip
    return found.witness, _scores(held, found.witness)


def _scores(held: JudgedResults, shown: Ints) -> list[list[float | None]]:
    """Of each result with the one that is shown; equal ones wholly resemble each other, whatever is stored."""
    same = held.equal == held.equal[shown]
    same = same.all(axis=1) if same.ndim == 2 else same
    measured = np.where(same, 1.0, np.nan)[None, :].repeat(3, axis=0)
    others = np.flatnonzero(~same)
    if held.scores != "none" and held.facts.sets is not None and len(others):
        guess = estimate(held.facts.sets, others, shown[others])
        measured[:, others] = guess.resemblance, guess.containment, guess.contained_in
    measured[:, shown == np.arange(len(shown))] = np.nan
    return [[None if value != value else value for value in column] for column in measured.tolist()]
