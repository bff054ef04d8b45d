"""From documents, and labels if there are any, to settings: read, draw, try, measure, recommend."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roughly import checks
from roughly.amounts import counted
from roughly.errors import InputError
from roughly.fast_dataclass import dataclass
from roughly.meter import Listener, Meter
from roughly.settings import ReadOptions, Resources
from roughly.tools.metrics.intervals import Interval
from roughly.tools.tune.draw import DrawnSample, DrawSize, draw
from roughly.tools.tune.estimate import EstimatedVerdict, estimate_verdict
from roughly.tools.tune.frontier import Goal, Tried, frontier, nearest
from roughly.tools.tune.grid import Trial
from roughly.tools.tune.labelled_sample import READINGS, SampleLabels
from roughly.tools.tune.learn import LEAST, Learned, is_recommended, learn_from, too_few_to_learn
from roughly.tools.tune.logistic import Floats
from roughly.tools.tune.reference import ExactPairs, LabelledReference, Reference, Score, exact_pairs, score, truth_of
from roughly.tools.tune.sample_fields import columns_of
from roughly.tools.tune.search import SIZES, Search, SearchRequest
from roughly.tools.tune.selection import FEW_SETS, Selection, interval_figures, too_few_to_choose
from roughly.tools.tune.trial import TrialBench

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
        values |= {"markup": self.markup} if self.markup != "auto" else {}
        return values | ({"main_text": True} if self.request.main_text else {})

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


def choose(
    data: Any,
    paths: Sequence[Any] | None,
    question: TuneRequest,
    *,
    resources: Resources,
    reading: ReadOptions,
    listener: Listener | None = None,
) -> TuneResult:
    """Run all trials on a sample, and recommend one."""
    labels = _labels(question)
    meter = Meter(listener)
    by_column = question.label_column is not None
    outside = labels is not None and labels.unlisted != "ignore"
    size = DrawSize(
        question.sample, question.seed, question.main_text, outside, question.reads_dom,
        question.search and reading.text_column is None, columns_of(question.learn and labels is not None, by_column),
    )  # fmt: skip
    sample = draw(
        data,
        paths,
        wanted=size,
        set_of=_itself if labels is None else labels.take if by_column else labels.of_id,
        resources=resources,
        reading=replace(reading, url_column=question.label_column) if by_column else reading,
        meter=meter,
    )
    unknown = 0 if labels is None else labels.check_seen(question.ignore_unknown)
    if len(sample) < 2:
        raise InputError("a sample of fewer than two documents has no pairs to learn from; give more documents")
    if question.estimates:
        with meter.stage("learn"):
            return _estimated(sample, question, resources, reading.markup)
    _warm_up(question.trials, resources)
    with meter.stage("truth"):
        labelled = None if labels is None else truth_of(sample, labels)
        truth: Reference = labelled or ExactPairs(
            len(sample), exact_pairs(sample, question.threshold, question.shingle_size, resources)
        )
    if not truth.true_sets and labels is not None:
        raise InputError(
            "no two documents of the sample are the same by the labels, so there is nothing to find; check the labels, "
            "or raise --sample"
        )
    end = time.monotonic() + question.budget
    count = len(question.trials)
    if labels is not None and question.search:
        asked = SearchRequest(question.trials, question.goal, end)
        searched = Search(sample, labels, asked, resources, meter).run()
        tried, left_out, count = searched.tried, searched.left_out, searched.count
    else:
        tried, left_out = _try(TrialBench(sample, resources), truth, sample, question, meter)
    selection = Selection(tried, question.goal, question.seed)
    best = selection.best()
    if best is not None and math.isnan(tried[best].cpu):  # read off scored pairs: now as dedupe does it
        read = sample.with_titles(tried[best].trial.is_titled)
        tried[best] = _measured(tried[best], TrialBench(read, resources), truth, read)
    unseen = None if best is None or truth.kind == "exact" else selection.unseen(question.held_back)
    scored = tried[best].columns if unseen is None and best is not None else unseen
    chosen = TuneResult(
        question, sample.documents, len(sample), sample.share, truth.kind, truth.count(), tried, best,
        scored, {} if scored is None else interval_figures(scored), count=count, markup=reading.markup,
        left_out=left_out, rejects=sample.rejects, notes=sample.notes,
    )  # fmt: skip
    if question.learn and labelled is not None:
        with meter.stage("learn"):
            _learn(chosen, sample, labelled, resources)
    chosen.warnings += [*_warnings(chosen, labels, sample, unknown, truth), *_edges(chosen, selection)]
    return chosen


def _labels(question: TuneRequest) -> SampleLabels | None:
    if question.label_column is not None:
        return SampleLabels.of_column(question.label_column, question.unlisted)
    if question.labels is None:
        return None
    return SampleLabels.read(question.labels, question.unlisted, question.label_columns, question.same_column)


def _estimated(sample: DrawnSample, question: TuneRequest, resources: Resources, markup: str) -> TuneResult:
    """A verdict without labels, or a note why there is none."""
    found = TuneResult(
        question, sample.documents, len(sample), sample.share, "none", "no labels", [], None, None, {},
        markup=markup, rejects=sample.rejects, notes=sample.notes,
    )  # fmt: skip
    try:
        found.estimated = estimate_verdict(sample, resources.threads)
    except InputError as problem:
        found.warnings.append(str(problem))
    return found


def _learn(chosen: TuneResult, sample: DrawnSample, truth: LabelledReference, resources: Resources) -> None:
    """Learn a verdict, or note why there is none."""
    from roughly.tools.tune.verdict_study import study_verdict

    if truth.true_sets < LEAST:
        chosen.warnings.append(too_few_to_learn(truth.true_sets))
        return
    try:
        best = None if chosen.best is None else chosen.tried[chosen.best].trial
        read = sample if best is None else sample.read_as(best.settings.tokens).with_titles(best.is_titled)
        asked = chosen.request
        learning, chosen.learned = learn_from(read, truth, resources.threads, asked.goal, asked.held_back, asked.seed)
        chosen.study = None if chosen.learned is None else study_verdict(learning, chosen.learned)
    except InputError as problem:
        chosen.warnings.append(str(problem))
        return
    if chosen.learned is not None and not chosen.is_learned and chosen.unseen is not None:
        chosen.warnings.append(
            f"the learned verdict has F1 {chosen.learned.unseen.f1:.3f} on unseen labels; settings without it have "
            f"{chosen.unseen.f1:.3f} and are recommended"
        )


def _measured(one: Tried, bench: TrialBench, truth: Reference, sample: DrawnSample) -> Tried:
    """A trial run as `dedupe` runs it."""
    outcome = bench.run(one.trial.settings)
    columns = truth.columns(outcome)
    return Tried(one.trial, score(columns), outcome.cpu / max(sample.megabytes, 1e-9), outcome.bytes, columns)


def _try(
    bench: TrialBench, truth: Reference, sample: DrawnSample, question: TuneRequest, meter: Meter
) -> tuple[list[Tried], list[Trial]]:
    """Every trial in the order of the grid; none begins after the time budget, but one is always made."""
    end = time.monotonic() + question.budget
    tried: list[Tried] = []
    megabytes = max(sample.megabytes, 1e-9)
    with meter.stage("tune", len(question.trials), "trials") as stage:
        for number, trial in enumerate(question.trials):
            if tried and time.monotonic() >= end:
                return tried, list(question.trials[number:])
            outcome = bench.run(trial.settings, every_pair=truth.kind == "exact")
            columns = truth.columns(outcome)
            tried.append(Tried(trial, score(columns), outcome.cpu / megabytes, outcome.bytes, columns))
            meter.advance(stage, number + 1)
    return tried, []


def _itself(doc_id: str, label: str | None) -> str:
    del label
    return doc_id


def _warm_up(trials: Sequence[Trial], resources: Resources) -> None:
    """Load what each method needs, so that no trial is charged for loading."""
    import pyarrow as pa

    words = " ".join(f"word{i}" for i in range(80))
    texts = pa.array([words, f"{words} more", "something else"], pa.large_string())
    bench = TrialBench(DrawnSample(["a", "b", "c"], texts, [None] * 3, ["a", "b", "c"], 1.0, 3), resources)
    for settings in {str(trial.values["method"]): trial.settings for trial in trials}.values():
        bench.run(settings)


def _warnings(
    chosen: TuneResult, labels: SampleLabels | None, sample: DrawnSample, unknown: int, truth: Reference
) -> list[str]:
    warnings = [] if labels is None else list(labels.notes)
    if unknown:
        named = f"{counted(unknown, 'document')} of the labels"
        warnings.append(f"{named} {'is' if unknown == 1 else 'are'} not in the input, and left out")
    if sample.empty:
        warnings.append(f"{sample.empty:,} documents without words are left out")
    if labels is not None and labels.unlisted == "different":
        unlisted = sum(name is None for name in sample.sets)
        if unlisted:
            warnings.append(
                f"{unlisted:,} documents are in no label and count as different from all others, since labels are "
                "complete"
            )
    if truth.true_sets < FEW_SETS:
        what = counted(truth.true_sets, "true set" if truth.kind != "exact" else "set of exact pairs")
        warnings.append(too_few_to_choose(what, "add labels" if labels is not None else "raise --sample"))
    if labels is not None and truth.true_sets < 2 and chosen.best is not None:
        warnings.append("with one true set nothing can be held back: the figures are of labels chosen on")
    if chosen.left_out:
        warnings.append(
            f"{len(chosen.left_out)} of {len(chosen.request.trials)} settings were not tried for lack of time; raise "
            "--budget, or name --methods"
        )
    return warnings


def _edges(chosen: TuneResult, selection: Selection) -> list[str]:
    """What was chosen although it is the last value that was tried: better ones may lie beyond."""
    best = chosen.recommended
    if best is None or chosen.best is None or not chosen.request.search or best.trial.shape is None:
        return []
    low, high = selection.is_on_edge(chosen.best)
    found = []
    if low:
        found.append(
            f"the chosen threshold, {best.trial.threshold:g}, is the lowest that was tried for these shingles: these "
            "documents may need another way to compare them"
        )
    if high and best.trial.threshold < 1:
        found.append(f"the chosen threshold, {best.trial.threshold:g}, is the highest that was tried")
    unit, size = best.trial.shape
    if size == SIZES[unit][-1]:
        units = "tokens" if unit == "dom" else f"{unit}s"
        found.append(f"the chosen shingles, of {size} {units}, are the longest that were tried; see --try shingle_size")
    return found


def _plain(value: Any) -> Any:
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
