"""`roughly.tune`: the best method and settings on a sample of documents."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Unpack

from roughly.declarations import gather
from roughly.errors import SettingsError
from roughly.option_types import TuneQuestionOptions
from roughly.python_words import for_python
from roughly.sources import data_or_paths
from roughly.tools.tune.choose import choose
from roughly.tools.tune.frontier import Goal
from roughly.tools.tune.grid import trials
from roughly.tools.tune.request import TuneQuestion
from roughly.tools.tune.tune_result import TuneRequest, TuneResult

_AS_GIVEN = (
    "label_column", "unlisted", "label_columns", "same_column", "ignore_unknown", "threshold", "shingle_size", "sample",
    "held_back", "learn", "budget", "seed", "main_text", "date_format",
)  # fmt: skip


@for_python
def tune(
    data: Any = None, *, paths: Sequence[str | os.PathLike[str]] | None = None, **options: Unpack[TuneQuestionOptions]
) -> TuneResult:
    """Try methods and settings on a sample, against labels or, without them, the exact truth at a threshold; with
    `learn`, a verdict over several comparisons too.

    `data` and `paths` are those of `roughly.dedupe`; `options` those of `TuneQuestion` (`labels`, `precision`,
    `recall`, `methods`, `sample`, …), `threads`, the columns and the format. `values` replaces the values of settings
    that are tried.
    """
    data, paths = data_or_paths(data, paths)
    question = gather(TuneQuestion, options)
    return choose(data, paths, request_of(question), resources=question.resources, reading=question.reading)


def request_of(question: TuneQuestion) -> TuneRequest:
    """The request with its trials and its goal; options that were not given have the defaults of `TuneRequest`."""
    given = {name: value for name in _AS_GIVEN if (value := getattr(question, name)) is not None}
    if question.complete:
        if question.unlisted not in (None, "different"):
            raise SettingsError(f"--complete means --unlisted different, not {question.unlisted}; leave one out")
        given["unlisted"] = "different"
    truth = {name: given.get(name, getattr(TuneRequest, name)) for name in ("threshold", "shingle_size")}
    labelled = question.labelled
    estimates = question.learn and not labelled
    listed = [] if estimates else trials(question.methods, question.values, **({} if labelled else truth))
    search = labelled and not question.values and any(trial.shape is not None for trial in listed)
    return TuneRequest(
        trials=[trial for trial in listed if not search or trial.shape is None],
        search=search,
        goal=Goal(precision=question.precision, recall=question.recall, slack=question.slack or 0.0),
        labels=None if question.labels is None else Path(question.labels),
        **given,
    )
