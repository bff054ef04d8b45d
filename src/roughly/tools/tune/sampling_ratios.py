"""`roughly tune --sampling`: from a sample of documents to the sampling ratios that reach a precision (Ye 2008)."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

import numpy as np

from roughly import checks
from roughly.errors import InputMissing
from roughly.fast_dataclass import dataclass
from roughly.features.sampling import Sampling
from roughly.features.sketch import joined
from roughly.features.sketch_store import SketchFacts
from roughly.meter import Listener, Meter
from roughly.methods.shingles import COMMON
from roughly.model import Reject
from roughly.settings import ReadOptions, Resources
from roughly.signing.sketching import Sketched, sketch_parts
from roughly.sources import open_data
from roughly.tools.tune.adaptive import (
    LEAST,
    THRESHOLDS,
    SamplingCheck,
    Study,
    StudySample,
    check,
    default_bounds,
    study,
)


@dataclass(frozen=True, kw_only=True)
class SamplingRequest:
    """The goal of the sampling."""

    precision: float = 0.95
    recall: float = 0.8
    threshold: float = 0.85
    shingle_size: int = 10
    common: int = COMMON
    bounds: tuple[int, ...] = ()  # most tokens of each group but the last; none: doubling from 100 on
    main_text: bool = False

    def __post_init__(self) -> None:
        problems = [
            *checks.above_zero("precision", self.precision),
            *checks.share("recall", self.recall),
            *checks.threshold(self.threshold),
            *checks.shingle_size(self.shingle_size),
            *checks.common(self.common),
        ]
        if list(self.bounds) != sorted(set(self.bounds)) or any(bound < 1 for bound in self.bounds):
            problems.append(f"groups must be rising numbers of tokens, not {list(self.bounds)}")
        checks.refuse(problems)


@dataclass(frozen=True)
class SamplingChoice:
    """The measurements and the chosen ratios."""

    request: SamplingRequest
    study: Study
    levels: list[int]  # of each group
    uniform: int
    checked: SamplingCheck  # scores of the chosen ratios
    rejects: list[Reject] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def share(self) -> float:
        """The fraction of all shingles that the chosen ratios keep."""
        return self.study.share(self.levels)

    def settings(self) -> dict[str, Any]:
        """For `roughly dedupe --settings`."""
        return {
            "method": "shingles", "measure": "resemblance", "threshold": self.request.threshold,
            "shingle_size": self.request.shingle_size, "sketch": "adaptive",
            "groups": [list(group) for group in self.study.groups(self.levels)], "common": self.request.common,
        }  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values."""
        found = self.study
        return {
            "asked": {
                "precision": self.request.precision, "recall": self.request.recall, "threshold": self.request.threshold,
                "shingle_size": self.request.shingle_size, "common": self.request.common,
            },
            "collapsed": found.collapsed, "empty": found.empty, "pairs": found.pairs,
            "groups": [
                {
                    "tokens": name, "documents": int(found.documents[g]), "shingles": int(found.shingles[g]),
                    "ratio": found.ratios[self.levels[g]],
                    "true": [int(n) for n in found.true[g]],
                    "precision": _plain(found.precision[g]), "recall": _plain(found.recall[g]),
                    "checked_precision": _plain(self.checked.precision[g]),
                    "checked_recall": _plain(self.checked.recall[g]),
                }
                for g, name in enumerate(found.names)
            ],
            "ratios": found.ratios, "thresholds": list(found.thresholds),
            "share": self.share, "uniform_ratio": found.ratios[self.uniform],
            "checked": {
                "precision": _plain(self.checked.overall_precision), "recall": _plain(self.checked.overall_recall),
                "share": self.checked.share,
            },
            "settings": self.settings(), "rejected": len(self.rejects), "guesses": self.notes,
        }  # fmt: skip


def tune(
    data: Any,
    paths: Sequence[str | os.PathLike[str]] | None,
    request: SamplingRequest,
    *,
    resources: Resources,
    reading: ReadOptions,
    listener: Listener | None = None,
) -> SamplingChoice:
    """Measure a sample, in memory, and choose the ratios."""
    facts = SketchFacts(Sampling("all"), request.shingle_size, request.main_text)
    done = Sketched(Path(), facts)
    meter = Meter(listener)
    with tempfile.TemporaryDirectory(prefix="roughly-tune-", dir=resources.temp) as name:
        parts = open_data(data, paths, reading, Path(name))
        batches = list(sketch_parts(parts, facts, resources.threads, done, meter))
    if not done.documents:
        raise InputMissing(f"no documents in {', '.join(part.name for part in parts[:3])}: there is nothing to tune on")
    tokens = np.concatenate([batch[1] for batch in batches])
    sets = joined([batch[2] for batch in batches])
    bounds = request.bounds or default_bounds(tokens)
    with meter.stage("tune"):
        sample = StudySample.of(sets, tokens, request.common)
        found = study(sample, bounds, tuple(sorted({*THRESHOLDS, request.threshold})))
        levels = found.choose(request.threshold, request.precision, request.recall)
        sampling = Sampling("adaptive", 0, found.groups(levels))
        checked = check(sample, sampling, bounds, request.threshold)
    uniform = found.uniform(request.threshold, request.precision, request.recall)
    return SamplingChoice(
        request, found, levels, uniform, checked, done.rejects, sorted({note for part in parts for note in part.notes})
    )


def table(tuned: SamplingChoice) -> list[str]:
    """Precision and recall of each group by ratio, the chosen one in brackets, as lines for a screen."""
    found, at = tuned.study, tuned.study.at(tuned.request.threshold)
    width = max(12, *(len(name) for name in found.names))
    head = "".join(f"{_ratio(ratio):>14}" for ratio in found.ratios)
    lines = [f"{'tokens':<{width}} {'documents':>9} {'true pairs':>10}{head}"]
    for g, name in enumerate(found.names):
        few = found.true[g, at] < LEAST
        cells = []
        for level in range(len(found.ratios)):
            both = "/".join(_figure(values[g, level, at]) for values in (found.precision, found.recall))
            cells.append(f"{f'[{both}]' if level == tuned.levels[g] else both:>14}")
        known = bool((found.true[:g, at] >= LEAST).any())
        note = f"  few pairs: {'as the group before' if known else 'everything'}" if few else ""
        lines.append(f"{name:<{width}} {found.documents[g]:>9,} {found.true[g, at]:>10,}{''.join(cells)}{note}")
    return lines


def _ratio(ratio: float) -> str:
    return "1" if ratio == 1 else f"1/{round(1 / ratio)}"


def _figure(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.2f}"


def _plain(value: Any) -> Any:
    """Numbers without NaN, which JSON does not have."""
    if np.ndim(value):
        return [_plain(item) for item in value]
    return None if np.isnan(value) else float(value)
