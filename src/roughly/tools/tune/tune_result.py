"""What `roughly tune` is asked, and what it answers."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roughly import checks
from roughly.date_forms import format_problem
from roughly.errors import InputError
from roughly.fast_dataclass import dataclass
from roughly.tools.metrics.intervals import Interval
from roughly.tools.tune.estimate import EstimatedVerdict
from roughly.tools.tune.frontier import Goal, Tried, frontier, nearest
from roughly.tools.tune.grid import Trial
from roughly.tools.tune.labelled_sample import READINGS
from roughly.tools.tune.learn import Learned, is_recommended
from roughly.tools.tune.logistic import Floats
from roughly.tools.tune.reference import Score, score

if TYPE_CHECKING:
    from roughly.report.verdict_page import VerdictData


@dataclass(frozen=True, kw_only=True)
class TuneRequest:
    """What to tune for."""

    trials: Sequence[Trial]
    search: bool = False  # whether settings of `minhash` are searched, beside the trials; needs labels
    learn: bool = False  # whether a verdict is learnt from the labels too
    goal: Goal = field(default_factory=Goal)
    labels: Path | None = None
    label_column: str | None = None  # of the documents, instead of labels
    unlisted: str | None = None  # pairs that labels do not list; None: as `SampleLabels` says
    label_columns: Sequence[str] = ()
    same_column: str | None = None
    ignore_unknown: bool = False  # labels of documents that are not in the input
    threshold: float = 0.8  # of the exact truth, without labels
    shingle_size: int = 5
    sample: int = 20_000  # documents
    held_back: float = 0.2  # fraction of the sets that are held back at a time
    budget: float = 600.0  # seconds; no trial begins after it
    seed: int = 0
    main_text: bool = False
    date_format: str | None = None

    def __post_init__(self) -> None:
        problems = [
            *([] if self.unlisted is None else checks.one_of("unlisted", self.unlisted, READINGS)),
            *checks.threshold(self.threshold),
            *checks.shingle_size(self.shingle_size),
            *checks.whole("sample", self.sample, 2, 10**9),
            *checks.whole("seed", self.seed, 0, 2**63 - 1),
        ]
        if not isinstance(self.budget, int | float) or isinstance(self.budget, bool) or self.budget < 0:
            problems.append(f"budget must be a number of seconds from 0, not {self.budget!r}")
        if self.date_format is not None and (problem := format_problem(self.date_format)) is not None:
            problems.append(problem)
        if not 0 < self.held_back < 1:
            problems.append(f"held_back must be between 0 and 1, both excluded, not {self.held_back!r}")
        if self.labels is not None and self.label_column is not None:
            problems.append("labels and label_column both say what is true; leave one of the two out")
        if not self.trials and not self.search and not self.estimates:
            problems.append("there is nothing to try; name methods of the grid")
        checks.refuse(problems)

    @property
    def estimates(self) -> bool:
        """Whether a verdict is wanted without labels."""
        return self.learn and self.labels is None and self.label_column is None

    @property
    def reads_dom(self) -> bool:
        """Whether tokens of the DOM may be tried."""
        return not self.main_text and (self.search or any("tokens" in trial.values for trial in self.trials))


@dataclass
class TuneResult:
    """The trials, their scores, and the recommended one."""

    request: TuneRequest
    documents: int  # of the input
    sampled: int
    share: float  # of all sets that were drawn
    truth: str  # sets, pairs, exact or none
    counted: str
    tried: list[Tried]  # on the whole sample
    best: int | None
    unseen_sets: Floats | None  # columns of choices on labels they were not made on; of the exact truth, their own
    intervals: dict[str, Interval | None]  # of `unseen`
    learned: Learned | None = None  # if it was asked for and could be learnt
    study: VerdictData | None = None  # of the learned verdict
    estimated: EstimatedVerdict | None = None  # without labels
    markup: str = "auto"  # as documents were read
    count: int = 0  # of all trials, those on a part of the sample included
    left_out: list[Trial] = field(default_factory=list)  # because of the time budget
    warnings: list[str] = field(default_factory=list)
    rejects: list[Any] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def unseen(self) -> Score | None:
        """The score on labels that choices were not made on; of the exact truth, the score itself."""
        return None if self.unseen_sets is None else score(self.unseen_sets)

    @property
    def is_learned(self) -> bool:
        """Whether the learned verdict is recommended."""
        return self.learned is not None and is_recommended(self.learned, self.unseen_sets)

    @property
    def recommended(self) -> Tried | None:
        """The recommended trial."""
        if self.learned is not None and self.is_learned:
            return self.learned.tried
        return None if self.best is None else self.tried[self.best]

    @property
    def trial(self) -> Trial | None:
        """What is recommended, with labels or without."""
        if self.estimated is not None:
            return self.estimated.trial
        return None if self.recommended is None else self.recommended.trial

    @property
    def nearest(self) -> Tried | None:
        """The trial nearest to the goal, if none reaches it."""
        place = nearest(self.tried, self.request.goal)
        return None if place is None else self.tried[place]

    def settings(self) -> dict[str, Any] | None:
        """For `roughly dedupe --settings`."""
        trial = self.trial
        if trial is None:
            return None
        values = {name: _plain(value) for name, value in trial.values.items()}
        reading = {
            "markup": self.markup if self.markup != "auto" else None, "main_text": self.request.main_text or None,
            "date_format": self.request.date_format,
        }  # fmt: skip
        return values | {name: value for name, value in reading.items() if value is not None}

    def write_report(self, path: str | os.PathLike[str]) -> None:
        """Write the page of the learned verdict."""
        if self.study is None:
            raise InputError("no verdict was learnt, so there is no report to write; the warnings say why")
        from roughly.report.verdict_page import write_verdict_page

        write_verdict_page(self.study, Path(path))

    def to_dict(self) -> dict[str, Any]:
        """As plain values. All but `cpu_seconds_per_mb` are the same in every run with the same trials."""
        on = frontier(self.tried)
        wanted, goal = self.request, self.request.goal
        labelled = self.truth != "exact"  # or nothing is known
        return {
            "asked": {
                "goal": str(goal), "precision": goal.precision, "recall": goal.recall, "slack": goal.slack,
                "labels": None if wanted.labels is None else str(wanted.labels), "label_column": wanted.label_column,
                "threshold": None if labelled else wanted.threshold,
                "shingle_size": None if labelled else wanted.shingle_size, "seed": wanted.seed,
            },
            "documents": self.documents, "sampled": self.sampled, "share": self.share, "truth": self.truth,
            "counted": self.counted,
            "tried": [
                {
                    "name": one.trial.name, "settings": {n: _plain(v) for n, v in one.trial.values.items()},
                    "score": one.score.to_dict(), "cpu_seconds_per_mb": None if math.isnan(one.cpu) else one.cpu,
                    "bytes_per_document": one.bytes, "frontier": on[n],
                }
                for n, one in enumerate(self.tried)
            ],
            "learned": None if self.learned is None else self.learned.to_dict(),
            "study": None if self.study is None else self.study.to_dict(),
            "trials": self.count, "unseen": None if self.unseen is None else self.unseen.to_dict(),
            "estimated": None if self.estimated is None else self.estimated.to_dict(),
            "recommended": None if self.trial is None else self.trial.name,
            "intervals": {n: None if i is None else [i.low, i.high] for n, i in self.intervals.items()},
            "settings": self.settings(), "left_out": [trial.name for trial in self.left_out],
            "warnings": self.warnings, "rejected": len(self.rejects), "guesses": self.notes,
        }  # fmt: skip


def _plain(value: Any) -> Any:
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
