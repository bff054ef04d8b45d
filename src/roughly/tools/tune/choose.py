"""From documents, and labels if there are any, to settings: read, draw, try, measure, recommend."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from roughly.errors import InputError
from roughly.meter import Listener, Meter
from roughly.settings import ReadOptions, Resources
from roughly.tools.tune.draw import DrawnSample, DrawSize, draw
from roughly.tools.tune.estimate import estimate_verdict
from roughly.tools.tune.frontier import Tried
from roughly.tools.tune.grid import Trial
from roughly.tools.tune.labelled_sample import SampleLabels
from roughly.tools.tune.learn import LEAST, learn_from, too_few_to_learn
from roughly.tools.tune.reference import ExactPairs, LabelledReference, Reference, exact_pairs, score, truth_of
from roughly.tools.tune.sample_fields import columns_of
from roughly.tools.tune.search import Search, SearchRequest
from roughly.tools.tune.selection import Selection, interval_figures
from roughly.tools.tune.trial import TrialBench
from roughly.tools.tune.tune_result import TuneRequest, TuneResult
from roughly.tools.tune.tune_warnings import edges, warnings_of

_STEPS = 1_000
"""The steps in which the progress of learning is shown."""


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
        question.date_format,
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
        with meter.stage("learn", _STEPS) as stage:
            _learn(chosen, sample, labelled, resources, lambda share: meter.advance(stage, round(share * _STEPS)))
    chosen.warnings += [*warnings_of(chosen, labels, sample, unknown, truth), *edges(chosen, selection)]
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


def _learn(
    chosen: TuneResult, sample: DrawnSample, truth: LabelledReference, resources: Resources,
    advance: Callable[[float], None],
) -> None:  # fmt: skip
    """Learn a verdict, or note why there is none."""
    from roughly.tools.tune.verdict_study import study_verdict

    if truth.true_sets < LEAST:
        chosen.warnings.append(too_few_to_learn(truth.true_sets))
        return
    try:
        best = None if chosen.best is None else chosen.tried[chosen.best].trial
        read = sample if best is None else sample.read_as(best.settings.tokens).with_titles(best.is_titled)
        asked = chosen.request
        learning, chosen.learned = learn_from(
            read, truth, resources.threads, asked.goal, asked.held_back, asked.seed, advance
        )
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
