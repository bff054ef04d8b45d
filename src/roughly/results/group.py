"""`roughly.group_results`: ranked results with their duplicates grouped under the result that is shown.

Conrad 2003 §8 and Broder 1997 §6.3. Results are taken in the order in which they should be shown (by rank, date or
length), and each joins the first earlier one that it is a duplicate of: the star of `cluster.star`. So the result that
is shown was compared with every one below it, and a chain of small differences never groups two results that differ
much. A group has the place of its best-ranked result. No result is discarded.
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import numpy.typing as npt

from roughly import checks, methods
from roughly.cluster.in_memory import ClusterRules, first_of, resolve_in_memory
from roughly.cluster.scoring import ResolveBudget
from roughly.dates import NO_DAY, Days, days_of
from roughly.errors import SettingsError
from roughly.features.sketch import estimate
from roughly.methods.method import Method
from roughly.option_types import SettingsOptions
from roughly.python_words import for_python
from roughly.results.groups import Grouped, RankedResult, ResultGroup
from roughly.results.judged_results import JudgedResults, StoredSignatures, sign_texts
from roughly.results.ranked_list import RankedList, read_results
from roughly.settings import Settings

if TYPE_CHECKING:
    from roughly.index import Index

Ints = npt.NDArray[np.int64]
SHOW = ("rank", "newest", "oldest", "longest")
_BUDGET = 1 << 30


@for_python
def group_results(
    results: Any,
    *,
    show: str = "rank",
    settings: Settings | None = None,
    index: Index | None = None,
    signatures: Any = None,
    **options: Unpack[SettingsOptions],
) -> Grouped:
    """Group ranked results, best first; duplicates are listed under the result that is shown.

    A result is a mapping with `text` and other facts (`doc_id`, `title`, `url`, `date`, `source`), or a string. With an
    `index`, or `signatures` (a file of `roughly sign`, or `StoredSignatures` to read it once for many calls), results
    are found there by their `doc_id` and need no text. `options` are those of `Settings` and of the method.
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
        from roughly.results.indexed import read_indexed  # imports the database's packages only for an index

        return _grouped(given, read_indexed(index, given), show, index.settings.date_format)
    if signatures is not None:
        stored_signatures = StoredSignatures(signatures) if isinstance(signatures, str | os.PathLike) else signatures
        return _grouped(given, stored_signatures.read(given), show)
    settings = settings or Settings()
    return _grouped(given, sign_texts(given, settings, _method(settings)), show, settings.date_format)


def _method(settings: Settings) -> Method:
    """The method; made once per settings, unless they name files, which may change. Opening a lexicon takes long."""
    if methods.needs_count(settings):
        raise SettingsError(
            "a few results are no collection to count; build a lexicon with `roughly lexicon build`, and name it"
        )
    return methods.make(settings) if settings.files() else _made(settings)


@lru_cache(maxsize=16)
def _made(settings: Settings) -> Method:
    return methods.make(settings)


def _grouped(given: RankedList, judged: JudgedResults, show: str, date_format: str | None = None) -> Grouped:
    facts = {name: _merged(given.facts[name], judged.stored_facts.get(name)) for name in given.facts}
    rank = _order(show, judged.tokens, days_of(facts["date"], date_format))
    shown, scores = _resolved(judged, rank)
    columns = (given.ids, *facts.values(), judged.tokens.tolist(), *scores)
    results = [RankedResult(*values) for values in zip(range(1, len(given) + 1), *columns, strict=True)]
    members: dict[int, list[RankedResult]] = {}
    for head, result in zip(shown.tolist(), results, strict=True):
        members.setdefault(head, []).append(result)
    groups = tuple(
        ResultGroup(results[head], () if len(found) == 1 else tuple(one for one in found if one.rank != head + 1))
        for head, found in members.items()
    )
    return Grouped(groups, judged.scores)


def _merged(given: list[str | None], known: list[str | None] | None) -> list[str | None]:
    """The facts that were given with the results; where one is missing, the stored fact."""
    if known is None:
        return given
    return [one if one is not None else other for one, other in zip(given, known, strict=True)]


def _order(show: str, tokens: Ints, days: Days) -> Ints:
    """The results in the order in which they should be shown; those without a date come after those with one."""
    places = np.arange(len(tokens))
    if show == "rank":
        return places
    if show == "longest":
        return np.lexsort((places, -tokens))
    days = days.astype(np.int64)
    return np.lexsort((places, -days if show == "newest" else days, days == NO_DAY))


def _resolved(judged: JudgedResults, rank: Ints) -> tuple[Ints, list[list[float | None]]]:
    """For each result the one that is shown for it, and how similar the two are."""
    if judged.keys is None or judged.judge is None:
        shown = first_of(judged.equal, rank)
        return shown, _scores(judged, shown)
    if judged.judge.measure == "containment":  # only the longer can contain the shorter; ties are broken by the order
        place = np.empty(len(rank), np.int64)
        place[rank] = np.arange(len(rank))
        rank = np.lexsort((place, -judged.tokens))
    found = resolve_in_memory(
        judged.keys, judged.judge, judged.facts, rank=rank, first=first_of(judged.equal, rank),
        work=ResolveBudget(_BUDGET), rules=ClusterRules(common=judged.hot_key_limit, verdict=judged.verdict),
    )  # fmt: skip
    return found.witness, _scores(judged, found.witness)


def _scores(judged: JudgedResults, shown: Ints) -> list[list[float | None]]:
    """The scores of each result with the one that is shown; those of equal results are 1, whatever is stored."""
    same = judged.equal == judged.equal[shown]
    same = same.all(axis=1) if same.ndim == 2 else same
    measured = np.where(same, 1.0, np.nan)[None, :].repeat(3, axis=0)
    others = np.flatnonzero(~same)
    if judged.scores != "none" and judged.facts.sets is not None and len(others):
        found = estimate(judged.facts.sets, others, shown[others])
        measured[:, others] = found.resemblance, found.containment, found.contained_in
    measured[:, shown == np.arange(len(shown))] = np.nan
    return [[None if value != value else value for value in column] for column in measured.tolist()]
