"""The results of all verdicts; and the pairs as a table."""

from __future__ import annotations

import csv
import io
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

from roughly.errors import OutputError, OutputExists
from roughly.fast_dataclass import dataclass
from roughly.tools.judge.implied_threshold import Implied, implied_threshold
from roughly.tools.judge.statistics import Agreement, Precision, agreements, consensus, precision_of
from roughly.tools.judge.verdict_file import VerdictFile
from roughly.tools.metrics.intervals import Interval

TARGET = 0.95


@dataclass(frozen=True)
class StratumCount:
    """The verdicts of one stratum."""

    name: str
    found: bool
    pairs: float
    drawn: int
    same: int
    different: int
    undecided: int


@dataclass(frozen=True)
class JudgeReport:
    """All results of the verdicts."""

    measure: str
    threshold: float
    pairs: int
    judged: dict[str, int]  # by judge, without skips
    skipped: dict[str, int]
    disputed: int  # judges disagree and none has the majority
    agreement: list[Agreement]
    strata: list[StratumCount]
    precision: Precision | None
    even: Implied
    target: float
    for_target: Implied

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        values = asdict(self)
        for one, own in zip(values["agreement"], self.agreement, strict=True):
            one["share"] = own.share
        if self.precision is not None:
            values["precision"]["interval"] = _ends(self.precision.interval)
        for name in ("even", "for_target"):
            values[name]["interval"] = _ends(getattr(self, name).interval)
        return values


def make_report(verdicts: VerdictFile, target: float = TARGET) -> JudgeReport:
    """From the verdicts so far."""
    said, decided = verdicts.said, consensus(verdicts)
    strata = []
    for number, stratum in enumerate(verdicts.drawn.strata):
        own = [same for pair, same in decided.items() if verdicts.drawn.pairs[pair].stratum == number]
        strata.append(
            StratumCount(
                stratum.name, stratum.found, stratum.pairs, stratum.drawn, own.count(True), own.count(False),
                own.count(None),
            )
        )  # fmt: skip
    return JudgeReport(
        verdicts.drawn.measure, verdicts.drawn.threshold, len(verdicts.drawn.pairs),
        {judge: sum(v != "skip" for v in said[judge].values()) for judge in verdicts.judges},
        {judge: sum(v == "skip" for v in said[judge].values()) for judge in verdicts.judges},
        list(decided.values()).count(None), agreements(verdicts), strata, precision_of(verdicts),
        implied_threshold(verdicts), target, implied_threshold(verdicts, target),
    )  # fmt: skip


def write_csv(verdicts: VerdictFile, path: Path, overwrite: bool = False) -> int:
    """Write the pairs that are decided, in the form that `roughly tune --labels` reads; returns their number."""
    if path.exists() and not overwrite:
        raise OutputExists(f"{path} exists; add --overwrite to replace it, or choose another name")
    rows, text = csv_of(verdicts)
    try:
        path.write_text(text, encoding="utf-8", newline="")
    except OSError as problem:
        raise OutputError(f"cannot write {path}: {problem.strerror}; choose another name") from problem
    return rows


def decided_pairs(verdicts: VerdictFile) -> list[tuple[int, bool, float]]:
    """(pair, whether it is the same, the number of pairs of the run that it stands for) of each decided pair."""
    rows = [(pair, same) for pair, same in consensus(verdicts).items() if same is not None]
    decided = Counter(verdicts.drawn.pairs[pair].stratum for pair, _ in rows)
    found = []
    for pair, same in rows:
        stratum = verdicts.drawn.pairs[pair].stratum
        found.append((pair, same, verdicts.drawn.strata[stratum].pairs / decided[stratum]))
    return found


def csv_of(verdicts: VerdictFile, *, with_judges: bool = True) -> tuple[int, str]:
    """(number of decided pairs, these as a table)."""
    rows, judges = decided_pairs(verdicts), verdicts.judges if with_judges else []
    target = io.StringIO()
    table = csv.writer(target, lineterminator="\n")
    table.writerow(["left_id", "right_id", "same", "weight", "score", "stratum", *judges])
    for pair, same, weight in rows:
        one = verdicts.drawn.pairs[pair]
        said_by_judge = [verdicts.said[judge].get(pair, "") for judge in judges]
        stratum = verdicts.drawn.strata[one.stratum]
        table.writerow(
            [one.left_id, one.right_id, str(same).lower(), f"{weight:.6g}", repr(one.score), stratum.name,
             *said_by_judge]
        )  # fmt: skip
    return len(rows), target.getvalue()


def _ends(interval: Interval | None) -> list[float] | None:
    return None if interval is None else [interval.low, interval.high]
