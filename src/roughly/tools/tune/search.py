"""The search of `minhash` settings with labels, from coarse to fine.

1. *Coarse*: on a part of the sample, shingles of some sizes and all units (words, characters, and tokens of the DOM if
   there is HTML), both measures, both clusterings, and all thresholds in steps of 0.05. The pairs of a size and unit
   are scored once; the rest is read off the scores. The best sizes are tried again with titles, where there are some.
2. *Fine*: on the whole sample, the best sizes and their neighbours, with steps of 0.01 around the best threshold.

The other methods are tried on the part, and those that come near the best again on the whole sample.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from roughly.fast_dataclass import dataclass
from roughly.meter import Meter
from roughly.settings import Resources
from roughly.tools.tune.draw import DrawnSample
from roughly.tools.tune.frontier import Goal, Tried
from roughly.tools.tune.grid import Trial, named_trial
from roughly.tools.tune.labelled_sample import SampleLabels
from roughly.tools.tune.reference import Reference, score, truth_of
from roughly.tools.tune.scored_sample import LOWEST, ScoredSample
from roughly.tools.tune.trial import TrialBench, TrialOutcome

PART = 4000
"""Documents of the part."""
SIZES = {"word": range(1, 11), "character": range(2, 9), "dom": range(1, 11)}
COARSE = (
    ("word", 5), ("word", 1), ("word", 2), ("word", 3), ("word", 7), ("word", 10), ("character", 3), ("character", 5),
    ("character", 8),
)  # fmt: skip
COARSE_DOM = (("dom", 5), ("dom", 1), ("dom", 2), ("dom", 3), ("dom", 10))
FINALISTS = 3
NEAR = 0.05
"""Methods whose F1 on the part is at most this much below the best are tried on the whole sample."""
STEPS = [round(0.05 * step, 2) for step in range(1, 20)] + [0.97, 0.99, 1.0]
MOST_PAIRS, PAIRS_PER_TRUE = 1_000_000, 20

Shape = tuple[str, int]
Kind = tuple[Shape, bool]
"""A shape, and whether titles are compared too."""


@dataclass
class SearchRequest:
    """What is searched, and for how long."""

    others: Sequence[Trial]  # of other methods
    goal: Goal
    end: float  # by `time.monotonic`; nothing begins after it


@dataclass
class SearchResult:
    """The trials made on the whole sample, those left out for lack of time, and the number of all that were made."""

    tried: list[Tried]
    left_out: list[Trial]
    count: int


class Search:
    """A search on one sample."""

    def __init__(
        self, sample: DrawnSample, labels: SampleLabels, request: SearchRequest, resources: Resources, meter: Meter
    ) -> None:
        self._sample, self._labels, self._request = sample, labels, request
        self._resources, self._meter, self._count = resources, meter, 0

    def run(self) -> SearchResult:
        """Coarse, then fine."""
        part, request = self._sample.part(PART), self._request
        whole = part is self._sample
        truth = truth_of(part, self._labels)
        scored, bench = self._scored(part, truth), TrialBench(part, self._resources)
        shapes = (*COARSE, *(COARSE_DOM if part.doms is not None else ()))
        total = len(shapes) + len(request.others) + FINALISTS + 3
        total += FINALISTS if part.titles is not None else 0
        tried: list[Tried] = []
        left_out: list[Trial] = []
        with self._meter.stage("tune", total, "steps") as stage:
            for step, shape in enumerate(shapes):
                if not tried or not self._is_late():
                    tried += self._of_kind(scored, truth, (shape, False), {})
                self._meter.advance(stage, step + 1)
            done = len(shapes)
            if part.titles is not None:
                for shape in self._best_shapes(tried):
                    tried += self._of_kind(scored, truth, (shape, True), {}) if not self._is_late() else ()
                    done += 1
                    self._meter.advance(stage, done)
            for step, trial in enumerate(request.others, done):
                if self._is_late():
                    left_out.append(trial)
                else:
                    tried.append(self._of_method(bench, truth, trial, part))
                self._meter.advance(stage, step + 1)
            coarse = tried
            if not whole:
                truth = truth_of(self._sample, self._labels)
                scored, bench = self._scored(self._sample, truth), TrialBench(self._sample, self._resources)
                floor = max((one.score.f1 for one in coarse), default=0.0) - NEAR
                near = [one for one in coarse if one.trial in request.others and one.score.f1 >= floor]
                near = sorted(near, key=lambda one: -one.score.f1)[:8]
                tried = [self._of_method(bench, truth, one.trial, self._sample) for one in near if not self._is_late()]
            known = {one.trial.name for one in tried}
            for step, (kind, around) in enumerate(self._finalists(coarse)):
                if step and self._is_late():
                    break
                tried += [one for one in self._of_kind(scored, truth, kind, around) if one.trial.name not in known]
                self._meter.advance(stage, min(total, done + len(request.others) + step + 1))
        return SearchResult(tried, left_out, self._count)

    def _scored(self, sample: DrawnSample, truth: Reference) -> dict[str, ScoredSample]:
        """By the tokens of the texts."""
        nothing = TrialOutcome(np.arange(len(sample)), None, 0.0, 0.0)
        true = float(truth.columns(nothing)[:, 2].sum()) / 2
        most = max(MOST_PAIRS, int(PAIRS_PER_TRUE * true))
        samples = {"words": sample}
        samples |= {"dom": sample.read_as("dom")} if sample.doms is not None else {}
        samples |= {"titled": sample.with_titles()} if sample.titles is not None else {}
        return {name: ScoredSample(one, self._resources.threads, most) for name, one in samples.items()}

    def _is_late(self) -> bool:
        return time.monotonic() >= self._request.end

    def _of_kind(
        self, samples: dict[str, ScoredSample], truth: Reference, kind: Kind, around: dict[tuple[str, str], float]
    ) -> Iterator[Tried]:
        """All trials with one size and unit of shingles, with titles or without."""
        shape, is_titled = kind
        unit, size = shape
        beside = {"text_column": self._sample.titled} if is_titled else {}
        scored = samples["titled" if is_titled else "dom" if unit == "dom" else "words"]
        unit = "word" if unit == "dom" else unit
        pairs = scored.score(unit, size)
        for measure in ("resemblance", "containment"):
            for cluster in ("star", "components"):
                near = around.get((measure, cluster))
                fine = () if near is None else [round(near + step / 100, 2) for step in range(-4, 5)]
                steps = sorted({*STEPS, *fine})
                steps = [t for t in steps if max(LOWEST, pairs.floors[measure]) <= t <= 1.0]
                groups = scored.groups(pairs, measure, steps, linked=cluster == "components")
                for threshold, group in zip(steps, groups, strict=True):
                    values = trial_values(shape, measure, cluster, threshold) | beside
                    columns = truth.columns(TrialOutcome(group, None, 0.0, 0.0)).astype(np.float32)
                    stored = scored.stored_bytes(pairs, measure, threshold, unit)
                    self._count += 1
                    yield Tried(named_trial(values), score(columns), float("nan"), stored, columns)

    def _of_method(self, bench: TrialBench, truth: Reference, trial: Trial, sample: DrawnSample) -> Tried:
        outcome = bench.run(trial.settings)
        columns = truth.columns(outcome).astype(np.float32)
        self._count += 1
        return Tried(trial, score(columns), outcome.cpu / max(sample.megabytes, 1e-9), outcome.bytes, columns)

    def _best_shapes(self, coarse: Sequence[Tried]) -> list[Shape]:
        """Those of words and characters with the best trials."""
        best: dict[Shape, tuple[bool, float, float]] = {}
        for one in coarse:
            if one.trial.shape is not None and one.trial.shape[0] != "dom":
                best[one.trial.shape] = max(self._rank(one), best.get(one.trial.shape, self._rank(one)))
        return sorted(best, key=lambda shape: best[shape], reverse=True)[:FINALISTS]

    def _finalists(self, coarse: Sequence[Tried]) -> list[tuple[Kind, dict[tuple[str, str], float]]]:
        """The best kinds, the neighbours of the very best, and the default one, each with the thresholds to refine."""
        best: dict[Kind, dict[tuple[str, str], Tried]] = {}
        for one in coarse:
            if one.trial.shape is None:
                continue
            way = str(one.trial.values.get("measure", "resemblance")), str(one.trial.values.get("cluster", "star"))
            own = best.setdefault((one.trial.shape, one.trial.is_titled), {})
            if way not in own or self._rank(one) > self._rank(own[way]):
                own[way] = one
        order = sorted(best, key=lambda kind: max(map(self._rank, best[kind].values())), reverse=True)
        found = {kind: best[kind] for kind in order[:FINALISTS]}
        (unit, size), is_titled = order[0]
        for near in (size - 1, size + 1):
            if near in SIZES[unit]:
                kind = (unit, near), is_titled
                found.setdefault(kind, best.get(kind, best[order[0]]))
        default = COARSE[0], False
        found.setdefault(default, best[default])
        return [
            (kind, {way: one.trial.threshold for way, one in own.items()}) for kind, own in found.items()
        ]  # fmt: skip

    def _rank(self, one: Tried) -> tuple[bool, float, float]:
        goal = self._request.goal
        both = goal.precision is not None and goal.recall is not None
        return goal.reached(one), 0.0 if both else goal.worth(one), one.score.f1


def trial_values(shape: Shape, measure: str, cluster: str, threshold: float) -> dict[str, Any]:
    """Settings; those at their defaults are left out, except for size and threshold."""
    unit, size = shape
    values: dict[str, Any] = {"method": "minhash", "threshold": threshold, "shingle_size": size}
    tokens, unit = ("dom", "word") if unit == "dom" else ("words", unit)
    others = {
        "tokens": (tokens, "words"),
        "shingle_unit": (unit, "word"),
        "measure": (measure, "resemblance"),
        "cluster": (cluster, "star"),
    }
    return values | {name: own for name, (own, default) in others.items() if own != default}
