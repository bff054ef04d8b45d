"""Why a learned verdict says what it says about two texts: the prior, and what each comparison adds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa

from roughly.cluster.comparisons import WordsInMemory, compare_pairs
from roughly.cluster.fields import Fields
from roughly.dates import days_of
from roughly.errors import SettingsError
from roughly.fast_dataclass import dataclass
from roughly.settings import Settings
from roughly.text.canonical import tokenise
from roughly.verdict import COMPARISONS, FIELDS, Verdict
from roughly.verify.scores import score_texts


@dataclass(frozen=True)
class Reason:
    """One comparison: its value, and what it adds to the log-odds."""

    comparison: str
    value: float
    adds: float


@dataclass(frozen=True)
class VerdictReasons:
    """A verdict on two texts, step by step."""

    prior: float
    reasons: tuple[Reason, ...]  # what adds most first
    log_odds: float
    probability: float
    needed: float  # the probability from which pairs are the same
    resemblance: float
    threshold: float  # the resemblance from which pairs are compared
    unknown: tuple[str, ...] = ()  # comparisons of what two texts alone do not have

    @property
    def same(self) -> bool:
        """Whether the two are the same: both the threshold and the probability are reached."""
        return self.probability >= self.needed and self.resemblance >= self.threshold

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        values = asdict(self) | {"same": self.same}
        if not self.unknown:
            del values["unknown"]
        return values

    @property
    def steps(self) -> list[tuple[Reason, float]]:
        """Each comparison, with the log-odds after it."""
        so_far = accumulate((one.adds for one in self.reasons), initial=self.prior)
        return list(zip(self.reasons, list(so_far)[1:], strict=True))

    @property
    def summary(self) -> str:
        """The probability, what is needed, and the answer."""
        below = "" if self.resemblance >= self.threshold else f"; resemblance below {self.threshold:g}"
        says = "the same" if self.same else "different"
        return f"probability {self.probability:.3f}, {self.needed:g} is needed{below}: {says}"

    def lines(self) -> list[str]:
        """For a screen: each step with the log-odds so far."""
        found = [f"verdict       {self.prior:+7.2f}           prior"]
        for one, at in self.steps:
            found.append(f"              {at:+7.2f}  {one.adds:+6.2f}   {one.comparison} {one.value:.3f}")
        if self.unknown:
            found.append(f"              files have no title, address, source or date: 0 for {', '.join(self.unknown)}")
        return [*found, f"              {self.summary}"]


def explain_verdict(
    left: str, right: str, settings: Settings, known: Sequence[Mapping[str, str | None]] = ()
) -> VerdictReasons:
    """The reasons for the verdict of settings on two texts; `known` has title, url, source and date of each, if they
    are documents of a collection."""
    if settings.verdict is None:
        raise SettingsError("these settings have no learned verdict; `roughly tune --learn` writes one")
    tokens = tokenise(pa.array([left, right], pa.large_string()))
    verdict = Verdict.parse(settings.verdict)
    fields = fields_of(known, settings) if known else None
    compared = compare_pairs(np.array([[0, 1]]), WordsInMemory(tokens, fields))
    adds, values = verdict.parts(compared)[0].tolist(), dict(zip(COMPARISONS, compared[0].tolist(), strict=True))
    reasons = [Reason(name, values[name], add) for (name, _, _), add in zip(verdict.weights, adds, strict=True)]
    log_odds = verdict.prior + sum(adds)
    return VerdictReasons(
        verdict.prior, tuple(sorted(reasons, key=lambda one: -one.adds)), log_odds,
        float(verdict.probabilities(compared)[0]), verdict.probability,
        score_texts(left, right, settings.shingle_size).resemblance, settings.threshold,
        () if known else tuple(name for name in verdict.names if name in FIELDS),
    )  # fmt: skip


def fields_of(known: Sequence[Mapping[str, str | None]], settings: Settings) -> Fields | None:
    """What the verdict of settings compares of documents with these titles, urls, sources and dates; None: nothing."""
    if not settings.compared_fields:
        return None
    table = pa.table({
        name: pa.array([one[name] for one in known], pa.string()) for name in ("title", "url", "source")
    })  # fmt: skip
    days = days_of([one["date"] for one in known], settings.date_format)
    return Fields.of(settings.compared_fields, table, days)
