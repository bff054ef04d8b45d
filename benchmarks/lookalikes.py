"""What a learned verdict tells apart that resemblance does not: copies, and texts that look like copies.

    python -m benchmarks.lookalikes      # the table of docs/tune.md

Of news articles, copies are made that are the same (words substituted, sentences in another order) and texts that are
not (`perturb`): pages of one template, forms, other numbers, replies that quote. Labels are split and scored as in
`benchmarks.tuning`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow.parquet as pq

import roughly
from benchmarks import corpora
from benchmarks.tuning import Labelled, measured
from roughly.settings import Resources

SAME = ["substituted", "reordered"]
DIFFERENT = ("template", "form", "numbers", "quoted")


def main() -> int:
    """Print F1 of each way to choose, by what looks alike."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, default=corpora.CORPORA)
    parser.add_argument("--documents", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=0)
    given = parser.parse_args()
    articles = pq.read_table(given.corpora / "reuters21578.parquet", columns=["id", "text"])
    articles = articles.slice(0, 4 * given.documents)
    print("| not the same | default 0.8 | best threshold | `tune` | learned | without labels |")
    print("|---|---:|---:|---:|---:|---:|")
    with TemporaryDirectory() as folder:
        source = Path(folder) / "articles.parquet"
        pq.write_table(articles, source)
        for kinds in (*([one] for one in DIFFERENT), list(DIFFERENT)):
            name = "all four" if len(kinds) > 1 else f"`{kinds[0]}`"
            made = Path(folder) / kinds[-1] / str(len(kinds))
            made.parent.mkdir(exist_ok=True)
            roughly.perturb(source, output=made, kinds=SAME + kinds, documents=given.documents, alpha=7.0)
            corpus = Labelled(name, "documents.parquet", column="cluster", sample=10**6)
            row = measured(corpus, made, given.seeds, Resources(threads=given.threads))
            found = [np.array(row[way], np.float64) for way in ("default", "threshold", "tune", "learn", "estimated")]
            cells = [f"{own.mean():.3f}" if len(own) else "–" for own in found]
            print(f"| {name} | {' | '.join(cells)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
