"""`roughly.tune`: the method and the settings that do best on a sample of documents."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from roughly.errors import SettingsError
from roughly.settings import ReadOptions, Resources
from roughly.tools.tune.choose import TuneRequest, TuneResult, choose
from roughly.tools.tune.frontier import Goal
from roughly.tools.tune.grid import trials


def tune(
    data: Any = None,
    *,
    paths: Sequence[str | os.PathLike[str]] | None = None,
    labels: str | os.PathLike[str] | None = None,
    unlisted: str | None = None,
    label_columns: Sequence[str] = (),
    same_column: str | None = None,
    ignore_unknown: bool = False,
    precision: float | None = None,
    recall: float | None = None,
    slack: float = 0.0,
    methods: Sequence[str] = (),
    values: Mapping[str, Sequence[Any]] | None = None,
    threshold: float = 0.8,
    shingle_size: int = 5,
    sample: int = 20_000,
    held_back: float = 0.5,
    budget: float = 600.0,
    seed: int = 0,
    main_text: bool = False,
    threads: int = 0,
    **reading: Any,
) -> TuneResult:
    """Try methods and settings on a sample, against labels or, without them, the exact truth at a threshold.

    `data`, `paths` and `reading` are those of `roughly.dedupe`; `values` puts other values of settings in the place of
    those that are tried.
    """
    if (data is None) == (paths is None):
        raise SettingsError("give either data or paths")
    if isinstance(data, str | os.PathLike):
        data, paths = None, [data]
    known: dict[str, Any] = {} if labels is not None else {"threshold": threshold, "shingle_size": shingle_size}
    asked = TuneRequest(
        trials=trials(methods, values, **known), goal=Goal(precision=precision, recall=recall, slack=slack),
        labels=None if labels is None else Path(labels), unlisted=unlisted, label_columns=label_columns,
        same_column=same_column, ignore_unknown=ignore_unknown, threshold=threshold, shingle_size=shingle_size,
        sample=sample, held_back=held_back, budget=budget, seed=seed, main_text=main_text,
    )  # fmt: skip
    return choose(data, paths, asked, resources=Resources(threads=threads), reading=ReadOptions(**reading))
