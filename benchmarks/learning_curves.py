"""How many labels are enough, and how often the intervals that `roughly tune` states hold the truth.

    python -m benchmarks.learning_curves             # a table of docs/tune.md

Splits and scores are those of `benchmarks.tuning`. The curve is the F1 on the other half of the verdict that `tune
--learn` finds from a file of some labelled pairs of one half; *all* has those of its pairs that are candidates, *sets*
the labels themselves, which also say what no candidate shows: which of the same are not similar. For the intervals a
setting is chosen on `FEW` true sets drawn at random; what its interval should hold is the F1 of that setting on all
other sets.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks import corpora
from benchmarks.tuning import CORPORA, HELD_BACK, drawn, every_trial
from roughly.errors import InputError
from roughly.settings import Resources
from roughly.tools.tune.draw import DrawnSample
from roughly.tools.tune.frontier import Goal, Tried
from roughly.tools.tune.labelled_sample import SampleLabels
from roughly.tools.tune.learn import LEARNED_PAIRS, Flags, Learning, choose
from roughly.tools.tune.reference import score, truth_of
from roughly.tools.tune.selection import Selection, interval_figures

COUNTS = {"25 pairs": 25, "100 pairs": 100, "all": None}
RANGES = 10
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
    print(f"| corpus | {' | '.join(COUNTS)} | sets | held |")
    print(f"|---|{'---:|' * (len(COUNTS) + 2)}")
    for corpus in CORPORA:
        if not wanted or corpus.name in wanted:
            sample, labels = drawn(corpus, given.corpora, resources)
            cells = curve(sample, labels, given.seeds, resources.threads)
            held = held_intervals(list(every_trial(sample, labels, resources)))
            print(f"| {corpus.name} | {' | '.join(cells)} | {held:.2f} |", flush=True)
    return 0


def curve(sample: DrawnSample, labels: SampleLabels, seeds: int, threads: int) -> list[str]:
    """Mean F1 on the other half, by the number of labelled pairs, and with the labels themselves."""
    truth = truth_of(sample, labels)
    learning = Learning(sample, truth, threads, LEARNED_PAIRS)
    found: list[list[float]] = [[] for _ in range(len(COUNTS) + 1)]
    sets = len(learning.columns(np.zeros(len(learning.listed), np.bool_), "star"))
    for seed in range(seeds):
        half = np.random.default_rng(seed).permutation(sets) % 2 == 0
        for own, count in zip(found, COUNTS.values(), strict=False):
            own += scored(learning, half, seed, count)
        found[-1] += scored(learning, half, seed, None, by_sets=True)
    return [f"{np.mean(own):.3f}" if own else "–" for own in found]


def scored(learning: Learning, half: Flags, seed: int, count: int | None, by_sets: bool = False) -> list[float]:
    """The F1 on the other half of the verdict learnt from this number of pairs, or all; nothing if all are alike."""
    try:
        few = learning if by_sets else learning.with_truth(truth_of(*listed(learning, half, seed, count)))
        known = half if by_sets else None
        verdict, probabilities, _ = few.fit(known)
    except InputError:
        return []
    chosen = choose(few, verdict, probabilities, Goal(), seed, known)
    if chosen is None:
        return []
    verdict, settled = chosen
    accepted = few.accepted(verdict, probabilities, known)
    cluster = str(settled.trial.values.get("cluster", "star"))
    return [score(learning.columns(accepted, cluster), ~half).f1]


def listed(learning: Learning, half: Flags, seed: int, count: int | None) -> tuple[DrawnSample, SampleLabels]:
    """The sample with a file of some labelled pairs, drawn from the candidates of one half."""
    numbers, weights = drawn_pairs(learning, half, seed, count)
    ids = learning.sample.ids
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            lines = csv.writer(file)
            lines.writerow(("left_id", "right_id", "same", "weight"))
            for number, weight in zip(numbers, weights, strict=True):
                left, right = learning.documents[number]
                lines.writerow((ids[left], ids[right], int(learning.labels.same[number]), weight))
        labels = SampleLabels.read(path, unlisted="ignore")
    return replace(learning.sample, sets=[labels.of_id(name) for name in ids]), labels


def drawn_pairs(
    learning: Learning, half: Flags, seed: int, count: int | None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """(Candidates of one half: the same number from each range of resemblances, or all of it; what each stands for)."""
    known = np.flatnonzero(learning.ends(half).sum(axis=1) > 0)
    stream = np.random.default_rng(seed)
    ranges = (learning.resemblance[known] * RANGES).astype(np.int64)
    left = len(known) if count is None else count
    names, sizes = np.unique(ranges, return_counts=True)
    numbers, weights = [np.empty(0, np.int64)], [np.empty(0)]
    for place, at in enumerate(np.argsort(sizes, kind="stable")):  # what small ranges do not use is for larger ones
        inside = stream.permutation(known[ranges == names[at]])
        some = inside if count is None else inside[: left // (len(names) - place)]
        numbers.append(some)
        weights.append(np.full(len(some), len(inside) / max(1, len(some))))
        left -= len(some)
    return np.concatenate(numbers), np.concatenate(weights)


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
