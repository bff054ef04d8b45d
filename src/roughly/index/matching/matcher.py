"""Which contents of an index are duplicates of the texts of a query: candidates by keys, judged as in a batch run.

    pairs that share a key and may be similar (`candidate_finder`) → rank and constraints → full bitmaps and sets
    (`pair_scorer`) → verdicts

Where only the best are wanted, sets are loaded in the order of how similar the two can be (`nearest`).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, select

from roughly.cluster.candidates import PairConstraints
from roughly.dates import NO_DAY
from roughly.index.index_config import IndexConfig
from roughly.index.matching import rank_order
from roughly.index.matching.candidate_finder import CandidateFinder, CandidatePairs, OwnerPairs, QueryKeys
from roughly.index.matching.content_sets import ContentSets, judged_sets
from roughly.index.matching.match_verdicts import MatchVerdicts, concatenate
from roughly.index.matching.nearest import nearest
from roughly.index.matching.pair_scorer import PairScorer
from roughly.index.matching.rank_order import RankedDocument
from roughly.index.matching.signed_batch import SignedBatch
from roughly.index.storage.schema import DOCUMENTS
from roughly.index.storage.store import IndexStore
from roughly.keep_rules import sort_order

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

NO_DOCUMENT = 2**62
"""The number of a document that is not in the index: it ranks after all that are."""
NO_ID = "\U0010ffff"


class Matcher:
    """Finds duplicates in one transaction of an index."""

    def __init__(self, store: IndexStore, connection: Connection, config: IndexConfig) -> None:
        self.store, self.connection, self.config = store, connection, config
        self.judge = config.judge
        self.finder = CandidateFinder(store, connection, config)
        self.sets = ContentSets(store, connection, config)
        self.order = sort_order(config.settings.keep, config.settings.measure)

    def match(self, query: QueryKeys, best: int | None = None) -> MatchVerdicts:
        """All duplicates of the query's texts, or at least the `best` first of each, by `MatchVerdicts.scores`.

        Ties are broken by the number of the content, the lower first.
        """
        parts = [self._judge(query, candidates, best) for candidates in self.finder.find(query)]
        return concatenate([part for part in parts if len(part)])

    def _judge(self, query: QueryKeys, candidates: CandidatePairs, best: int | None) -> MatchVerdicts:
        pairs = candidates.pairs
        lower = self._ranks_lower(query, pairs)
        use = np.where(lower, pairs.owner_probes, pairs.content_probes) & self._admitted(query, pairs)
        if self.judge.on == "keys":
            use &= pairs.shared_keys >= self.judge.threshold
            count = pairs.shared_keys[use]
            return MatchVerdicts(pairs.of(use), count, count, count, lower[use])
        pairs, lower = pairs.of(use), lower[use]
        scorer = PairScorer(self.sets, query.words)
        if best is not None and self.config.marked:
            return nearest(scorer, candidates, pairs, lower, best)
        return scorer.duplicates(candidates, *scorer.possible(candidates, pairs, lower))

    def _ranks_lower(self, query: QueryKeys, pairs: OwnerPairs) -> Flags:
        """Whether the owner ranks below the content."""
        mine = query.lengths[pairs.owner]
        lower = mine < pairs.tokens
        equal = np.flatnonzero(mine == pairs.tokens)
        if self.judge.measure == "containment" and len(equal):
            theirs = self._best_documents(pairs.content[equal], pairs.tokens[equal])
            ours = self._best_of_owners(query, pairs.owner[equal])
            for pair in equal.tolist():
                one, other = ours[int(pairs.owner[pair])], theirs.get(int(pairs.content[pair]))
                lower[pair] = one is None or other is None or self.order(one) > self.order(other)
        return lower

    def _admitted(self, query: QueryKeys, pairs: OwnerPairs) -> Flags:
        """Whether dates and lengths allow the two to be duplicates."""
        judge = self.judge
        if judge.dates is None and judge.lengths is None:
            return np.ones(len(pairs), np.bool_)
        both = np.column_stack((np.arange(len(pairs)), np.arange(len(pairs)) + len(pairs))).astype(np.int32)
        days, lengths = np.empty(0, np.int32), np.empty(0, np.int64)
        if judge.lengths is not None:
            lengths = np.concatenate((query.lengths[pairs.owner], pairs.tokens))
        if judge.dates is not None:
            ours = self._best_of_owners(query, pairs.owner)
            theirs = self._best_documents(pairs.content, pairs.tokens)
            days = np.concatenate(
                (
                    rank_order.days_of(ours[owner] for owner in pairs.owner.tolist()),
                    rank_order.days_of(theirs.get(content) for content in pairs.content.tolist()),
                )
            )
            if not (days != NO_DAY).any() and not self._has_dates:
                days = days[:0]  # where no document has a date, the window does not apply
        return PairConstraints(days, judge.dates or 0, lengths, 1.0 - (judge.lengths or 0.0)).admit(both)

    @cached_property
    def _has_dates(self) -> bool:
        dated = select(DOCUMENTS.c.document).where(DOCUMENTS.c.day.is_not(None)).limit(1)
        return self.connection.execute(dated).first() is not None

    def _best_documents(self, contents: Ints, lengths: Ints) -> dict[int, RankedDocument]:
        unique, first = np.unique(contents, return_index=True)
        tokens = dict(zip(unique.tolist(), lengths[first].tolist(), strict=True))
        return {text: min(listed, key=self.order) for text, listed in self.documents_of(unique, tokens).items()}

    def documents_of(self, contents: Ints, tokens: dict[int, int]) -> dict[int, list[RankedDocument]]:
        """The documents of each of these contents, with their numbers of tokens; contents without one are left out."""
        rows = self.store.fetch(self.connection, rank_order.COLUMNS, DOCUMENTS.c.content, contents)
        return rank_order.documents_of(rows, tokens, self.config.settings.date_format)

    def _best_of_owners(self, query: QueryKeys, owners: Ints) -> dict[int, RankedDocument | None]:
        """The best document of each text of the query.

        If a document is not in the index but its text is, the best of all documents with that text counts.
        """
        unique = np.unique(owners)
        if query.own is not None:
            best = self._best_documents(query.own[unique], query.lengths[unique])
            return {owner: best.get(int(query.own[owner])) for owner in unique.tolist()}
        given = query.ranked or []
        found: dict[int, RankedDocument | None] = {o: given[o] if given else None for o in unique.tolist()}
        if query.equal is None or not given:
            return found
        known = unique[query.equal[unique] >= 0]
        best = self._best_documents(query.equal[known], query.lengths[known])
        for owner in known.tolist():
            if (other := best.get(int(query.equal[owner]))) is not None:
                found[owner] = min(given[owner], other, key=self.order)
        return found


def query_for(
    config: IndexConfig, signed: SignedBatch, own: Ints | None = None, equal: Ints | None = None
) -> QueryKeys:
    """A query with documents that were just signed."""
    ranked = None
    if own is None:
        columns = (signed.column(name) for name in ("url", "source", "doc_id"))
        ranked = [
            RankedDocument(tokens, size, published, NO_DOCUMENT, url, source, doc_id or NO_ID)
            for tokens, size, published, url, source, doc_id in zip(
                signed.lengths.tolist(), signed.bytes.tolist(), signed.published.to_pylist(), *columns, strict=True
            )
        ]
    return QueryKeys(
        signed.keys, signed.lengths, lambda rows: judged_sets(config, signed, rows),
        signed.words, own, ranked, equal,
    )  # fmt: skip
