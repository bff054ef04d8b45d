"""Remove near-duplicates from a pandas frame, and keep the newest of each.

python examples/frame.py

Needs pandas.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pandas as pd

import roughly

POLICIES = Path(__file__).parent / "policies.jsonl.gz"


def main() -> None:
    """Print how many rows each of a few services loses."""
    with gzip.open(POLICIES, "rt", encoding="utf-8") as lines:
        frame = pd.DataFrame(map(json.loads, lines))
    result = roughly.dedupe(frame, threshold=0.9, keep=["newest", "longest"])
    kept = result.filter(frame)
    print(f"{len(frame)} rows, {len(kept)} kept")
    lost = frame.groupby("source").size().sub(kept.groupby("source").size(), fill_value=0).astype(int)
    for source, count in lost.sort_values(ascending=False, kind="stable").head(3).items():
        print(f"{source}: {count} rows removed")


if __name__ == "__main__":
    main()
