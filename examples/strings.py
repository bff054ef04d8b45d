"""Find near-duplicates in a list of strings, and say why each one is removed.

python examples/strings.py
"""

from __future__ import annotations

import roughly

REPORTS = [
    "Heavy rain closed the coast road on Friday. Drivers were asked to use the motorway until Sunday evening.",
    "HEAVY RAIN CLOSED THE COAST ROAD ON FRIDAY: drivers were asked to use the motorway until Sunday evening!",
    "Heavy rain closed the coast road on Friday. Drivers were asked to use the motorway until Monday evening.",
    "The ferry runs again from Saturday, the harbour office said.",
]


def main() -> None:
    """Print what is kept, then what is removed, with its witness."""
    result = roughly.dedupe(REPORTS, threshold=0.6)
    for name in result.kept_ids:
        print(f"kept    {name}: {REPORTS[int(name)]}")
    for row in result.removed.to_pylist():
        print(f"removed {row['doc_id']}: {row['kind']} of {row['kept_id']}, resemblance {row['resemblance']:.3f}")


if __name__ == "__main__":
    main()
