"""Read a collection once, and ask for the answer at several thresholds.

python examples/thresholds.py
"""

from __future__ import annotations

from pathlib import Path

import roughly

POLICIES = Path(__file__).parent / "policies.jsonl.gz"


def main() -> None:
    """Print how many documents are kept at each threshold, from the lowest upwards."""
    lowest = roughly.dedupe(POLICIES, threshold=0.5)
    print(f"0.5  {len(lowest.kept)} kept")
    for threshold in (0.6, 0.7, 0.8, 0.9, 1.0):
        print(f"{threshold}  {len(lowest.rethreshold(threshold).kept)} kept")


if __name__ == "__main__":
    main()
