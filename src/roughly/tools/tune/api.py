"""`roughly.tune`: the method and the settings that do best on a sample of documents."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from roughly.declarations import gather
from roughly.sources import data_or_paths
from roughly.tools.tune.choose import TuneRequest, TuneResult, choose
from roughly.tools.tune.frontier import Goal
from roughly.tools.tune.grid import trials
from roughly.tools.tune.request import TuneQuestion

_AS_GIVEN = (
    "unlisted", "label_columns", "same_column", "ignore_unknown", "threshold", "shingle_size", "sample", "held_back",
    "budget", "seed", "main_text",
)  # fmt: skip


def tune(data: Any = None, *, paths: Sequence[str | os.PathLike[str]] | None = None, **options: Any) -> TuneResult:
    """Try methods and settings on a sample, against labels or, without them, the exact truth at a threshold.

    `data` and `paths` are those of `roughly.dedupe`; `options` those of `TuneQuestion` (`labels`, `precision`,
    `recall`, `methods`, `sample`, …), `threads`, the columns and the format. `values` replaces values of settings
    that are tried.
    """
    data, paths = data_or_paths(data, paths)
    question = gather(TuneQuestion, options)
    return choose(data, paths, request_of(question), resources=question.resources, reading=question.reading)


def request_of(question: TuneQuestion) -> TuneRequest:
    """The request with its trials and its goal; what was not asked is as `TuneRequest` has it."""
    given = {name: value for name in _AS_GIVEN if (value := getattr(question, name)) is not None}
    truth = {name: given.get(name, getattr(TuneRequest, name)) for name in ("threshold", "shingle_size")}
    known = {} if question.labels is not None else truth
    return TuneRequest(
        trials=trials(question.methods, question.values, **known),
        goal=Goal(precision=question.precision, recall=question.recall, slack=question.slack or 0.0),
        labels=None if question.labels is None else Path(question.labels),
        **given,
    )
