"""How many labels are enough, and how often the intervals that `roughly tune` states hold the truth.

    python -m benchmarks.learning_curves             # a table of docs/tune.md

Splits and scores are those of `benchmarks.tuning`. The curve is the F1 on the other half of verdicts learnt from some
labelled pairs of one half; `learned` there is what all its labels give. For the intervals a setting is chosen on `FEW`
true sets drawn at random; what its interval
should hold is the F1 of that setting on all other sets.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from benchmarks import corpora
from benchmarks.tuning import CORPORA, HELD_BACK, drawn, every_trial, learnt_from_pairs
from roughly.settings import Resources
from roughly.tools.tune.draw import DrawnSample
from roughly.tools.tune.frontier import Goal, Tried
from roughly.tools.tune.labelled_sample import SampleLabels
from roughly.tools.tune.learn import LEARNED_PAIRS, Learning
from roughly.tools.tune.reference import score, truth_of
from roughly.tools.tune.selection import Selection, interval_figures

COUNTS = (25, 100, 400)
FEW, DRAWS = 30, 40


def main() -> int:
    """Print the curve of each corpus, and the share of intervals that hold the truth."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, default=corpora.CORPORA)
    parser.add_argument("--only", default="", help="names of corpora, with commas")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--threads", type=int, default=0)
    given = parser.parse_args()
    resources = Resources(threads=given.threads)
    wanted = [name for name in given.only.split(",") if name]
    heads = " | ".join(f"{count} pairs" for count in COUNTS)
    print(f"| corpus | {heads} | held |")
    print(f"|---|{'---:|' * (len(COUNTS) + 1)}")
    for corpus in CORPORA:
        if not wanted or corpus.name in wanted:
            sample, labels = drawn(corpus, given.corpora, resources)
            cells = curve(sample, labels, given.seeds, resources.threads)
            held = held_intervals(list(every_trial(sample, labels, resources)))
            print(f"| {corpus.name} | {' | '.join(cells)} | {held:.2f} |", flush=True)
    return 0


def curve(sample: DrawnSample, labels: SampleLabels, seeds: int, threads: int) -> list[str]:
    """Mean F1 on the other half, by the number of labelled pairs."""
    truth = truth_of(sample, labels)
    learning = Learning(sample, truth, threads, LEARNED_PAIRS)
    found: list[list[float]] = [[] for _ in COUNTS]
    sets = len(learning.columns(np.zeros(len(learning.listed), np.bool_), "star"))
    for seed in range(seeds):
        half = np.random.default_rng(seed).permutation(sets) % 2 == 0
        for own, count in zip(found, COUNTS, strict=True):
            columns = learnt_from_pairs(learning, half, seed, count)
            if columns is not None:
                own.append(score(columns, ~half).f1)
    return [f"{np.mean(own):.3f}" if own else "–" for own in found]


def held_intervals(tried: list[Tried]) -> float:
    """The share of draws of `FEW` true sets whose interval holds the F1 of what is chosen on all other sets."""
    columns = np.stack([one.columns for one in tried])
    true, held = np.flatnonzero(columns[0, :, 2] > 0), 0
    for seed in range(DRAWS):
        known = np.zeros(columns.shape[1], np.bool_)
        known[np.random.default_rng(seed).permutation(true)[:FEW]] = True
        own = columns[:, known]
        selection = Selection(
            [Tried(one.trial, one.score, 0.0, 0.0, own[n]) for n, one in enumerate(tried)], Goal(), seed
        )
        best, unseen = selection.best(), selection.unseen(HELD_BACK)
        assert best is not None and unseen is not None
        interval = interval_figures(unseen)["f1"]
        held += interval is not None and interval.low <= score(columns[best], ~known).f1 <= interval.high
    return held / DRAWS


if __name__ == "__main__":
    sys.exit(main())
