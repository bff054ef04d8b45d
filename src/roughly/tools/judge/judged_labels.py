"""Verdicts as labels for `tune`: the decided pairs, what is still missing to learn from them, and which of them a run
agrees with.

Pairs that were not judged count as unknown, although all decided ones may be the same: judges see a sample.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from roughly.amounts import counted
from roughly.errors import OutputError
from roughly.fast_dataclass import dataclass
from roughly.tools.judge.judge_report import csv_of, decided_pairs
from roughly.tools.judge.verdict_file import VerdictFile
from roughly.tools.metrics.overlap import numbered
from roughly.tools.tune.labelled_sample import SampleLabels
from roughly.tools.tune.learn import LEAST, too_few_to_learn
from roughly.tools.tune.reference import LabelledPairs, score
from roughly.tools.tune.request import NEEDS_SCIPY, has_scipy
from roughly.tools.tune.selection import FEW_SETS, interval_figures, too_few_to_choose
from roughly.tools.tune.trial import TrialOutcome

LISTED = 20
"""Pairs on which a run and its judges differ that are listed."""


@dataclass
class JudgedDocuments:
    """The documents of decided pairs, each with the name of its set."""

    ids: list[str]
    sets: list[str | None]


class JudgedLabels:
    """The decided pairs of a file of verdicts."""

    def __init__(self, verdicts: VerdictFile) -> None:
        decided = [(verdicts.drawn.pairs[number], same, weight) for number, same, weight in decided_pairs(verdicts)]
        self._verdicts = verdicts
        self.pairs = [(one.left_id, one.right_id, same) for one, same, _ in decided]
        self._weights = [weight for _, _, weight in decided]
        self.same = sum(same for _, _, same in self.pairs)
        self.different = len(self.pairs) - self.same

    @property
    def documents(self) -> list[str]:
        """The ids of all documents that are judged."""
        return sorted({name for left, right, _ in self.pairs for name in (left, right)})

    @property
    def sets(self) -> int:
        """Sets of documents that pairs judged the same connect: true sets."""
        return len({self._labels.sets[left] for left, _, same in self.pairs if same}) if self.same else 0

    def to_dict(self) -> dict[str, int]:
        """The numbers."""
        return {"same": self.same, "different": self.different, "sets": self.sets}

    def missing(self) -> list[str]:
        """What keeps settings from being chosen; nothing if they can be."""
        if not self.same:
            return ["no pair is judged the same, so there is nothing to find; judge pairs that are the same too"]
        if not self.different:
            return ["all judged pairs are the same, so no setting is wrong about any; judge different pairs too"]
        return []

    def remarks(self) -> list[str]:
        """What makes a choice worse, in the words of `roughly tune`."""
        found = []
        if not has_scipy():
            found.append(f"{NEEDS_SCIPY}; without it, settings without a verdict are chosen")
        elif self.sets < LEAST:
            found.append(too_few_to_learn(self.sets))
        if self.sets < FEW_SETS:
            found.append(too_few_to_choose(counted(self.sets, "true set"), "add labels"))
        return found

    def write(self, path: Path) -> None:
        """Write them as `roughly judge --csv` does, without a column for each judge."""
        try:
            path.write_text(csv_of(self._verdicts, with_judges=False)[1], encoding="utf-8", newline="")
        except OSError as problem:
            raise OutputError(f"cannot write {path}: {problem.strerror}") from problem

    def score(self, clusters: Mapping[str, str]) -> dict[str, Any]:
        """Precision, recall and F1 of these clusters of documents, as `tune` has them for a setting."""
        names = self.documents
        truth = LabelledPairs(JudgedDocuments(names, [self._labels.of_id(name) for name in names]), self._labels)
        group = numbered(np.array([clusters[name] for name in names], dtype=object))
        columns = truth.columns(TrialOutcome(group, None, 0.0, 0.0))
        return score_values(score(columns).to_dict(), interval_figures(columns))

    def agreement(self, clusters: Mapping[str, str]) -> dict[str, Any]:
        """How many pairs these clusters have as judged, and some of the others: (left, right, judged the same)."""
        differ = [pair for pair in self.pairs if (clusters[pair[0]] == clusters[pair[1]]) != pair[2]]
        return {"agree": len(self.pairs) - len(differ), "of": len(self.pairs), "differ": [*map(list, differ[:LISTED])]}

    @cached_property
    def _labels(self) -> SampleLabels:
        return SampleLabels.of_pairs(Path("the verdicts"), self.pairs, self._weights, "ignore")


def score_values(score: Mapping[str, float | None], intervals: Mapping[str, Any]) -> dict[str, Any]:
    """Scores with their intervals as plain values."""
    ends = {name: None if one is None else [one.low, one.high] for name, one in intervals.items()}
    return {**score, "intervals": ends}
