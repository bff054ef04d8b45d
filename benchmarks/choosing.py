"""What `roughly tune --labels` recommends on 20 Newsgroups, beside every preset, on labels that it did not see.

    python -m benchmarks.choosing
    python -m benchmarks.choosing --sample 5000 --seed 1

The labels are the collection's own: messages that share a Message-ID were posted to several groups, and have one body.
All others count as different, also reposts of the same words under another Message-ID.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks import corpora
from roughly.settings import ReadOptions, Resources
from roughly.tools.tune.choose import TuneRequest, choose
from roughly.tools.tune.grid import trials
from roughly.tools.tune.show import lines, recommended_lines, unseen_lines


def main() -> int:
    """Print it; 1 where a preset does better than what is recommended."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, default=corpora.CORPORA)
    parser.add_argument("--sample", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=0)
    given = parser.parse_args()
    labels = given.corpora / "newsgroups20_clusters.csv"
    chosen = choose(
        None, [given.corpora / "newsgroups20.parquet"],
        TuneRequest(trials=trials(), labels=labels, sample=given.sample, seed=given.seed),
        resources=Resources(threads=given.threads), reading=ReadOptions(),
    )  # fmt: skip
    print(f"{chosen.sampled:,} of {chosen.documents:,} documents; {chosen.counted}")
    print("\n".join([*lines(chosen, everything=True), "", *unseen_lines(chosen), "", *recommended_lines(chosen)]))
    best = max(one.unseen.f1 for one in chosen.tried if one.trial.preset)
    won = chosen.recommended is not None and chosen.recommended.unseen.f1 >= best
    print(f"the best preset has F1 {best:.3f} on unseen labels: {'not better' if won else 'BETTER'}")
    return 0 if won else 1


if __name__ == "__main__":
    sys.exit(main())
