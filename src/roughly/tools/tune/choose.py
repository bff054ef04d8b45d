"""From documents, and labels where there are any, to settings: read, draw, try, measure, recommend."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from roughly import checks
from roughly.errors import InputError
from roughly.meter import Listener, Meter
from roughly.settings import ReadOptions, Resources
from roughly.tools.evaluate.request import UNLISTED
from roughly.tools.metrics.intervals import Interval
from roughly.tools.tune.draw import DrawnSample, DrawSize, draw
from roughly.tools.tune.frontier import Goal, Tried, frontier, nearest, recommend
from roughly.tools.tune.grid import Trial
from roughly.tools.tune.labelled_sample import SampleLabels
from roughly.tools.tune.reference import ExactPairs, LabelledPairs, Reference, TrueSets, exact_pairs, intervals, score
from roughly.tools.tune.trial import TrialBench

FEW = 30
"""Fewer true pairs than these make figures that mean little."""


@dataclass(frozen=True, kw_only=True)
class TuneRequest:
    """What is asked for."""

    trials: Sequence[Trial]
    goal: Goal = field(default_factory=Goal)
    labels: Path | None = None
    unlisted: str | None = None  # what labels do not list: different, or ignored; None: as `SampleLabels` says
    label_columns: Sequence[str] = ()
    same_column: str | None = None
    ignore_unknown: bool = False  # labels of documents that are not in the input
    threshold: float = 0.8  # of the exact truth, without labels
    shingle_size: int = 5
    sample: int = 20_000  # documents
    held_back: float = 0.5  # share of the sets that settings are not chosen on
    budget: float = 600.0  # seconds; no trial begins after it
    seed: int = 0
    main_text: bool = False

    def __post_init__(self) -> None:
        problems = [
            *([] if self.unlisted is None else checks.one_of("unlisted", self.unlisted, UNLISTED)),
            *checks.threshold(self.threshold),
            *checks.shingle_size(self.shingle_size),
            *checks.whole("sample", self.sample, 2, 10**9),
            *checks.whole("seed", self.seed, 0, 2**63 - 1),
        ]
        if not isinstance(self.budget, int | float) or isinstance(self.budget, bool) or self.budget < 0:
            problems.append(f"budget must be a number of seconds from 0, not {self.budget!r}")
        if not 0 < self.held_back < 1:
            problems.append(f"held_back must be between 0 and 1, both excluded, not {self.held_back!r}")
        if not self.trials:
            problems.append("there is nothing to try; name methods that are in the grid")
        checks.refuse(problems)


@dataclass
class TuneResult:
    """What was tried, how it did, and what is recommended."""

    asked: TuneRequest
    documents: int  # of the input
    sampled: int
    share: float  # of all sets that were drawn
    truth: str  # sets, pairs or exact
    counted: str
    tried: list[Tried]
    best: int | None
    intervals: dict[str, Interval | None]  # of the recommended one: on unseen labels, or on the exact truth
    left_out: list[Trial] = field(default_factory=list)  # for want of time
    warnings: list[str] = field(default_factory=list)
    rejects: list[Any] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def recommended(self) -> Tried | None:
        """The trial that is recommended."""
        return None if self.best is None else self.tried[self.best]

    @property
    def nearest(self) -> Tried | None:
        """Where none does what is asked for, the one that falls least short."""
        place = nearest(self.tried, self.asked.goal)
        return None if place is None else self.tried[place]

    def settings(self) -> dict[str, Any] | None:
        """For `roughly dedupe --settings`."""
        if self.recommended is None:
            return None
        values = {name: _plain(value) for name, value in self.recommended.trial.values.items()}
        return values | ({"main_text": True} if self.asked.main_text else {})

    def to_dict(self) -> dict[str, Any]:
        """As plain values. All but `cpu_seconds_per_mb` are the same in every run that tried the same."""
        on = frontier(self.tried)
        labelled = self.truth != "exact"
        return {
            "asked": {
                "goal": str(self.asked.goal), "precision": self.asked.goal.precision, "recall": self.asked.goal.recall,
                "slack": self.asked.goal.slack, "labels": None if self.asked.labels is None else str(self.asked.labels),
                "threshold": None if labelled else self.asked.threshold,
                "shingle_size": None if labelled else self.asked.shingle_size, "seed": self.asked.seed,
            },
            "documents": self.documents, "sampled": self.sampled, "share": self.share, "truth": self.truth,
            "counted": self.counted,
            "tried": [
                {
                    "name": one.trial.name, "settings": {n: _plain(v) for n, v in one.trial.values.items()},
                    "chosen_on": one.score.to_dict(), "unseen": one.unseen.to_dict() if labelled else None,
                    "cpu_seconds_per_mb": one.cpu, "bytes_per_document": one.bytes, "frontier": on[n],
                }
                for n, one in enumerate(self.tried)
            ],
            "recommended": None if self.recommended is None else self.recommended.trial.name,
            "intervals": {n: None if i is None else [i.low, i.high] for n, i in self.intervals.items()},
            "settings": self.settings(), "left_out": [trial.name for trial in self.left_out],
            "warnings": self.warnings, "rejected": len(self.rejects), "guesses": self.notes,
        }  # fmt: skip


def choose(
    data: Any,
    paths: Sequence[Any] | None,
    question: TuneRequest,
    *,
    resources: Resources,
    reading: ReadOptions,
    listener: Listener | None = None,
) -> TuneResult:
    """Try everything that is asked for on a sample, and recommend."""
    labels = (
        None
        if question.labels is None
        else SampleLabels.read(question.labels, question.unlisted, question.label_columns, question.same_column)
    )
    meter = Meter(listener)
    sample = draw(
        data,
        paths,
        wanted=DrawSize(question.sample, question.seed, question.main_text),
        set_of=_itself if labels is None else labels.set_of,
        resources=resources,
        reading=reading,
        meter=meter,
    )
    unknown = 0 if labels is None else labels.check_seen(question.ignore_unknown)
    if len(sample) < 2:
        raise InputError("a sample of fewer than two documents has no pairs to learn from; give more documents")
    bench = TrialBench(sample, resources)
    _warm_up(question.trials, resources)
    with meter.stage("truth"):
        truth = _truth(sample, labels, question, resources)
    tried, left_out = _try(bench, truth, sample, question, meter)
    best = recommend(tried, question.goal)
    rows = truth.unseen if truth.unseen.any() else np.ones(len(truth.unseen), np.bool_)
    found = {} if best is None else intervals(truth, tried[best].columns, rows, question.seed)
    chosen = TuneResult(
        question, sample.documents, len(sample), sample.share, truth.kind, truth.count(), tried, best, found, left_out,
        [], sample.rejects, sample.notes,
    )  # fmt: skip
    chosen.warnings = _warnings(chosen, labels, sample, unknown)
    return chosen


def _try(
    bench: TrialBench, truth: Reference, sample: DrawnSample, question: TuneRequest, meter: Meter
) -> tuple[list[Tried], list[Trial]]:
    """Every trial in the order of the grid; after the budget of time none begins, but one is always made."""
    end = time.monotonic() + question.budget
    tried: list[Tried] = []
    megabytes = max(sample.megabytes, 1e-9)
    with meter.stage("tune", len(question.trials), "trials") as stage:
        for number, trial in enumerate(question.trials):
            if tried and time.monotonic() >= end:
                return tried, list(question.trials[number:])
            outcome = bench.run(trial.settings, every_pair=truth.kind == "exact")
            columns = truth.columns(outcome)
            tried.append(
                Tried(
                    trial, score(columns, ~truth.unseen), score(columns, truth.unseen), outcome.cpu / megabytes,
                    outcome.bytes, columns,
                )
            )  # fmt: skip
            meter.advance(stage, number + 1)
    return tried, []


def _truth(sample: DrawnSample, labels: SampleLabels | None, question: TuneRequest, resources: Resources) -> Reference:
    if labels is None:
        return ExactPairs(len(sample), exact_pairs(sample, question.threshold, question.shingle_size, resources))
    if labels.pairs is not None:
        return LabelledPairs(sample, labels, question.held_back, question.seed)
    return TrueSets(sample, question.held_back, question.seed)


def _itself(doc_id: str) -> str:
    return doc_id


def _warm_up(trials: Sequence[Trial], resources: Resources) -> None:
    """Load what each method needs, so that no trial is charged for it."""
    import pyarrow as pa

    words = " ".join(f"word{i}" for i in range(80))
    texts = pa.array([words, f"{words} more", "something else"], pa.large_string())
    bench = TrialBench(DrawnSample(["a", "b", "c"], texts, [None] * 3, ["a", "b", "c"], 1.0, 3), resources)
    for settings in {str(trial.values["method"]): trial.settings for trial in trials}.values():
        bench.run(settings)


def _warnings(chosen: TuneResult, labels: SampleLabels | None, sample: DrawnSample, unknown: int) -> list[str]:
    summary = []
    if unknown:
        summary.append(f"{unknown:,} documents of the labels are not in the input, and left out")
    if labels is not None:
        unlisted = sum(name not in labels.sets for name in sample.ids)
        if unlisted:
            summary.append(
                f"{unlisted:,} documents are in no label and count as different from all others; --unlisted ignore "
                "leaves them out"
            )
    pairs = max((one.score.true for one in chosen.tried), default=0.0) / (1 if chosen.truth == "pairs" else 2)
    if pairs < FEW:
        summary.append(
            f"there are {pairs:,.0f} true pairs to choose on, too few to tell settings apart; raise --sample"
        )
    if chosen.left_out:
        summary.append(
            f"{len(chosen.left_out)} of {len(chosen.asked.trials)} settings were not tried for want of time; raise "
            "--budget, or name --methods"
        )
    return summary


def _plain(value: Any) -> Any:
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
