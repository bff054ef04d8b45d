"""From verdicts on contents to matching documents with their scores."""

from __future__ import annotations

import numpy as np

from roughly.cluster.scoring import set_arrays, tokens_of
from roughly.features.sketch import joined
from roughly.index.answers import Match
from roughly.index.index_config import IndexConfig
from roughly.index.matching.candidate_finder import QueryKeys
from roughly.index.matching.content_sets import body_sets
from roughly.index.matching.match_verdicts import MatchVerdicts
from roughly.index.matching.matcher import Matcher
from roughly.index.matching.pair_scores import EQUAL, PairScores
from roughly.index.matching.signed_batch import SignedBatch
from roughly.index.storage.document_rows import DocumentRow


def scores_of(matcher: Matcher, signed: SignedBatch, verdicts: MatchVerdicts) -> PairScores:
    """The scores by which the method decided; where it counts shared keys, measured on what is stored."""
    config = matcher.config
    if config.judge.on != "keys":
        return PairScores.of_counts(verdicts.c, verdicts.m, verdicts.n, estimated=config.estimated)
    if config.store == "sketch" or not len(verdicts):
        return PairScores.unmeasured(len(verdicts))
    return _measured(matcher, signed, verdicts)


def _measured(matcher: Matcher, signed: SignedBatch, verdicts: MatchVerdicts) -> PairScores:
    from roughly.kernels import resolve
    from roughly.kernels.judging import COMMON

    owners, left = np.unique(verdicts.pairs.owner, return_inverse=True)
    contents, right = np.unique(verdicts.pairs.content, return_inverse=True)
    mine = body_sets(matcher.config, tokens_of(signed.tokens, owners))
    sets = set_arrays(joined([mine, matcher.sets.load_bodies(contents)]))
    numbers = np.column_stack((left, right)).astype(np.int32)
    rows = resolve.score_pairs(numbers, left, right + len(owners), sets, resolve.Rule(COMMON, 0.0, 0, 0.0), 0.0)
    return PairScores.of_counts(*(rows[:, column].astype(np.int64) for column in (2, 3, 4)))


def match_of(row: DocumentRow, scores: PairScores | None, place: int, shared_keys: int) -> Match:
    """A match with this document; without scores the two are equal."""
    resemblance, containment, contained_in = EQUAL if scores is None else scores.at(place)
    estimated = scores is not None and scores.estimated
    return Match(
        row.doc_id, row.cluster, resemblance, containment, contained_in, estimated, shared_keys, row.url, row.date,
        row.title, row.source,
    )  # fmt: skip


def key_count(query: QueryKeys, owner: int) -> int:
    """The number of keys of a text of the query: what it shares with one that is equal to it."""
    owners = query.keys.owners
    return int(np.searchsorted(owners, owner, "right") - np.searchsorted(owners, owner, "left"))


def measure_of(config: IndexConfig) -> str:
    """The measure by which the best match is chosen."""
    return config.judge.measure if not config.method.equality else "resemblance"
