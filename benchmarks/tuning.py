"""What `roughly tune` reaches on labels it was not given, on every labelled corpus, beside simpler choices.

    python -m benchmarks.tuning                      # the table of docs/tune.md
    python -m benchmarks.tuning --only guides,rfc --seeds 3

Labels are split in halves by true set, by ten seeds. On one half a setting is chosen, on the other it is scored:

- `default`: `minhash` at 0.8 on shingles of five words;
- `threshold`: the best threshold of that, chosen on the half;
- `tune`: what `roughly tune` chooses on the half (`tune.selection`), among shingles of words and characters, both
  measures, both clusterings, all thresholds in steps of 0.02, and texts with their titles and without.

- `learn`: the verdict that `roughly tune --learn` fits to the half, whatever `tune` alone reaches; of one over texts
  alone and one over titles, sources and dates too, the better on unseen labels of the half (with `--json`, `texts` and
  `fields` are the two);
- `recommended`: what `roughly tune --learn` recommends for the half (`learn.is_recommended`): that verdict, or what
  `tune` chooses;
- `estimated`: the verdict that `roughly tune --learn` finds without labels; it is the same for all seeds.

`benchmarks.learning_curves` has verdicts learnt from a few labelled pairs.

What is tried does not depend on labels, so all settings are scored once per true set, and a split is a sum over sets.
*25 sets*: the F1 that `tune` reaches with the labels of these only, on the same other half.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import corpora
from roughly.errors import InputError
from roughly.settings import ReadOptions, Resources
from roughly.tools.tune.draw import DrawnSample, DrawSize, draw
from roughly.tools.tune.estimate import SIZE, estimate_verdict
from roughly.tools.tune.frontier import Goal, Tried
from roughly.tools.tune.grid import named_trial
from roughly.tools.tune.labelled_sample import SampleLabels
from roughly.tools.tune.learn import LEARNED_PAIRS, SIZES, Flags, Learned, Learning, is_recommended, learn
from roughly.tools.tune.reference import Floats, Reference, score, truth_of
from roughly.tools.tune.sample_fields import columns_of
from roughly.tools.tune.scored_sample import ScoredSample
from roughly.tools.tune.search import COARSE, COARSE_DOM, trial_values
from roughly.tools.tune.selection import Selection
from roughly.tools.tune.trial import TrialOutcome

STEPS = [round(0.04 + 0.02 * step, 2) for step in range(1, 49)]
FEW = (25,)
HELD_BACK = 0.2
WAYS = {
    "default": "default 0.8",
    "threshold": "best threshold",
    "tune": "`tune`",
    "25": "`tune`, 25 sets",
    "learn": "learned",
    "recommended": "recommended",
    "estimated": "without labels",
}
"""What is measured, and the head of its column."""


@dataclass(frozen=True)
class Labelled:
    """A corpus with labels: a file, or a column of the documents."""

    name: str
    documents: str
    labels: str | None = None
    column: str | None = None
    columns: tuple[str, ...] = ()
    sample: int = 4000


CORPORA = (
    Labelled("terms", "terms_versions.parquet", column="cluster", sample=600),
    Labelled("RFC revisions", "rfc_revisions.parquet", "rfc_revisions_pairs.csv"),
    Labelled("newsgroups", "newsgroups20.parquet", "newsgroups20_clusters.csv"),
    Labelled("licences", "licence_texts.parquet", column="cluster"),
    Labelled("guides", "install_guide_html.parquet", column="cluster"),
    Labelled(
        "PAN",
        "pan13_no_obfuscation.parquet",
        "pan13_no_obfuscation_passages.csv",
        columns=("suspicious_id", "source_id"),
    ),
)


def main() -> int:
    """Print the table; 1 where something is worse than it must be (`shortfalls`)."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, default=corpora.CORPORA)
    parser.add_argument("--only", default="", help="names of corpora, with commas")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    wanted = [name for name in given.only.split(",") if name]
    rows = []
    print(f"| corpus | true sets | {' | '.join(WAYS.values())} |")
    print(f"|---|{'---:|' * (len(WAYS) + 1)}")
    for corpus in CORPORA:
        if not wanted or corpus.name in wanted:
            rows.append(measured(corpus, given.corpora, given.seeds, Resources(threads=given.threads)))
            print(_row(rows[-1]), flush=True)
    if given.json is not None:
        given.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    found = shortfalls(rows)
    print("\n".join(found), file=sys.stderr)
    return int(bool(found))


def shortfalls(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Where `tune` is below the best threshold, or what `tune --learn` recommends by more than 0.01; and whether this
    is not above it on two thirds of the corpora."""
    means = [{name: float(np.mean(row[name])) for name in ("threshold", "tune", "recommended")} for row in rows]
    found = [
        f"{row['name']}: {name} {mean[name]:.4f}, best threshold {mean['threshold']:.4f}"
        for row, mean in zip(rows, means, strict=True)
        for name, slack in (("tune", 0.0005), ("recommended", 0.01))
        if mean[name] < mean["threshold"] - slack
    ]
    above = sum(mean["recommended"] > mean["threshold"] for mean in means)
    return found + ([] if 3 * above >= 2 * len(rows) else [f"recommended: above on {above} of {len(rows)} corpora"])


def measured(corpus: Labelled, folder: Path, seeds: int, resources: Resources) -> dict[str, Any]:
    """F1 on the other half, by seed, for each way to choose."""
    start = time.process_time()
    sample, labels = drawn(corpus, folder, resources, titles=True)
    tried = list(every_trial(sample, labels, resources))
    columns = np.stack([one.columns for one in tried]).astype(np.float32)
    true = columns[0, :, 2] > 0
    plain = np.array([one.trial.choices == 0 for one in tried])
    default = next(n for n, one in enumerate(tried) if plain[n] and one.trial.threshold == 0.8)
    found: dict[str, list[float]] = {name: [] for name in (*WAYS, "texts", "fields")}
    truth = truth_of(sample, labels)
    ways = (sample,) if sample.titles is None else (sample, sample.with_titles())
    threads = resources.threads
    learnings = {
        (is_titled, with_fields): [
            Learning(one, truth, threads, LEARNED_PAIRS, (size,), with_fields=with_fields) for size in SIZES
        ]
        for is_titled, one in enumerate(ways)
        for with_fields in (False, True)[: 1 if sample.known is None else 2]
    }
    estimated = estimated_columns(sample, truth, resources.threads)
    for seed in range(seeds):
        stream = np.random.default_rng(seed)
        half = stream.permutation(len(true)) % 2 == 0
        selection = Selection(tried, Goal(), seed)
        single = Selection([one for n, one in enumerate(tried) if plain[n]], Goal(), seed)
        chosen = {
            "default": default,
            "threshold": int(np.flatnonzero(plain)[single.best(half) or 0]),
            "tune": selection.best(half),
        }
        listed = stream.permutation(np.flatnonzero(half & true))
        for few in FEW:
            if few < len(listed):
                some = half.copy()
                some[listed[few:]] = False
                chosen[str(few)] = selection.best(some)
        number = chosen["tune"]
        is_titled = number is not None and tried[number].trial.is_titled
        learned = None
        for (titled, with_fields), by_size in learnings.items():
            if titled == is_titled:
                learning = max(reversed(by_size), key=lambda one: one.true_pairs(half))
                other = learned_from(learning, seed, half)
                if other is not None:
                    found["fields" if with_fields else "texts"].append(score(other.tried.columns, ~half).f1)
                if other is not None and (learned is None or other.unseen.f1 > learned.unseen.f1):
                    learned = other
        if learned is not None:
            found["learn"].append(score(learned.tried.columns, ~half).f1)
        own = Selection([replace(one, columns=one.columns[half]) for one in tried], Goal(), seed)
        unseen = own.unseen(HELD_BACK)
        if learned is not None and is_recommended(learned, unseen, half):
            found["recommended"].append(score(learned.tried.columns, ~half).f1)
        else:
            chosen["recommended"] = chosen["tune"]
        if estimated is not None:
            found["estimated"].append(score(estimated, ~half).f1)
        for name, number in chosen.items():
            found[name].append(0.0 if number is None else score(columns[number], ~half).f1)
    facts = {"name": corpus.name, "documents": len(sample), "sets": int(true.sum()), "trials": len(tried)}
    return facts | {"cpu": time.process_time() - start} | found


def learned_from(learning: Learning, seed: int, half: Flags) -> Learned | None:
    """The verdict learnt from the labels of some sets, as `tune --learn` does it; None if there is none."""
    try:
        return learn(learning, Goal(), HELD_BACK, seed, half)
    except InputError:  # all duplicates are equal: there is nothing to learn
        return None


def estimated_columns(sample: DrawnSample, truth: Reference, threads: int) -> Floats | None:
    """The scores of the verdict without labels, by set; None if there is none."""
    try:
        found = estimate_verdict(sample, threads)
    except InputError as problem:
        print(problem, file=sys.stderr)
        return None
    learning = Learning(sample, truth, threads, LEARNED_PAIRS, (SIZE,))
    likely = found.verdict.accepts(learning.compared)
    return learning.columns(likely & (learning.resemblance >= found.trial.threshold), "star")


def drawn(
    corpus: Labelled, folder: Path, resources: Resources, titles: bool = False
) -> tuple[DrawnSample, SampleLabels]:
    """The sample of a corpus, and its labels."""
    if corpus.column is not None:
        labels = SampleLabels.of_column(corpus.column)
    else:
        labels = SampleLabels.read(folder / str(corpus.labels), columns=corpus.columns)
    fields = columns_of(titles, corpus.column is not None)
    sample = draw(
        None, [folder / corpus.documents], wanted=DrawSize(corpus.sample, 0, False, True, titles=titles, fields=fields),
        set_of=labels.of_id if corpus.column is None else labels.take, resources=resources,
        reading=ReadOptions(url_column=corpus.column, text_column="text", markup="none"),
    )  # fmt: skip
    return sample, labels


def every_trial(sample: DrawnSample, labels: SampleLabels, resources: Resources) -> Iterator[Tried]:
    """All settings, scored by set."""
    yield from trials_of(sample, truth_of(sample, labels), resources, {})
    if sample.titles is not None:
        beside = {"text_column": sample.titled}
        yield from trials_of(sample.with_titles(), truth_of(sample, labels), resources, beside)


def trials_of(sample: DrawnSample, truth: Reference, resources: Resources, beside: dict[str, Any]) -> Iterator[Tried]:
    """The same for texts of one kind; `beside` is what their settings say of them."""
    scored, is_dom = ScoredSample(sample, resources.threads, 2_000_000), sample.tokens == "dom"
    for unit, size in COARSE_DOM if is_dom else COARSE:
        pairs = scored.score("word" if is_dom else unit, size)
        for measure in ("resemblance", "containment"):
            for cluster in ("star", "components"):
                steps = [step for step in STEPS if step >= pairs.floors[measure]]
                groups = scored.groups(pairs, measure, steps, linked=cluster == "components")
                for step, group in zip(steps, groups, strict=True):
                    columns = truth.columns(TrialOutcome(group, None, 0.0, 0.0)).astype(np.float32)
                    trial = named_trial(trial_values((unit, size), measure, cluster, step) | beside)
                    yield Tried(trial, score(columns), 0.0, 0.0, columns)


def _row(row: dict[str, Any]) -> str:
    def cell(name: str) -> str:
        values = np.array(row[name], dtype=np.float64)
        if not len(values):
            return "–"
        about = 2.262 * values.std(ddof=1) / len(values) ** 0.5 if len(values) > 1 else 0.0
        return f"{values.mean():.3f}±{about:.3f}"

    cells = [cell(name) for name in WAYS]
    return f"| {row['name']} | {row['sets']:,} | {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
