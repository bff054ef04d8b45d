"""The arithmetic of banding: which bands and rows guarantee a recall.

Two documents of resemblance J agree on one min-hash with probability J (Broder 1997, §3), on all `rows` of a
band with J^rows, and on at least one of `bands` bands with

    candidate_probability(J) = 1 − (1 − J^rows)^bands

Peers choose bands and rows to balance two errors and so lose a third to a half of the pairs *at* the threshold.
Here the probability at the threshold is at least the required recall; among all settings with this property the
cheapest is used. Every candidate is verified, so a false one costs time and never precision.

| symbol | name |
|---|---|
| b | `bands` |
| r | `rows` |
| t | `threshold` |
"""

from __future__ import annotations

import math

from roughly.errors import SettingsError

MOST_HASHES = 2048
_TOO_MANY = 1 << 40
FALSE_CANDIDATE_COST = 1000.0
"""Cost of verifying a document's false candidates at half the threshold, in min-hashes. An estimate: at threshold 0.8
and recall 0.99 anything from 300 to 3,000 chooses 5 to 7 rows."""


def candidate_probability(similarity: float, bands: int, rows: int) -> float:
    """Probability that two documents of this similarity share at least one band."""
    agree = similarity**rows
    if agree >= 1:
        return 1.0
    return -math.expm1(bands * math.log1p(-agree))


def fewest_bands(threshold: float, recall: float, rows: int) -> int:
    """The fewest bands of `rows` rows whose candidate probability at the threshold is at least the recall."""
    agree = threshold**rows
    if agree >= 1:
        return 1
    if candidate_probability(threshold, _TOO_MANY, rows) < recall:
        return _TOO_MANY
    bands = max(1, math.ceil(math.log1p(-recall) / math.log1p(-agree)))
    while candidate_probability(threshold, bands, rows) < recall:  # rounding only
        bands += 1
    return bands


def cost(threshold: float, bands: int, rows: int) -> float:
    """Cost of a setting per document, in min-hashes: computing them, and verifying false candidates."""
    return bands * rows + FALSE_CANDIDATE_COST * candidate_probability(threshold / 2, bands, rows)


def choose(threshold: float, recall: float) -> tuple[int, int]:
    """The cheapest (bands, rows) whose candidate probability at the threshold is at least the recall."""
    options = [
        (cost(threshold, bands, rows), bands * rows, bands, rows)
        for rows in range(1, 33)
        if (bands := fewest_bands(threshold, recall, rows)) * rows <= MOST_HASHES and bands <= 1024
    ]
    if not options:
        raise SettingsError(
            f"no banding within {MOST_HASHES} min-hashes finds pairs at threshold {threshold} with recall {recall}; "
            "raise the threshold or lower the recall"
        )
    _, _, bands, rows = min(options)
    return bands, rows
