"""The similarity of two documents, from their sorted sets of values.

The values of document d are compared with those of document k. A set is complete, or it is a sample: all values up to
a limit (the shingle hashes below it, which are a uniform sample). Two samples are compared below the smaller of their
limits, where both are complete; with `most`, only among the `most` smallest values of their union, which is Broder's
MIN_s (1997, §3). A score follows from three counts:

| symbol | meaning |
|---|---|
| c | values that both have |
| m | values of d that count |
| n | values of k that count |

resemblance = c / (m + n − c), containment = c / m, common = c.

The formulas are those of `core/judging.hpp`; here are the numbers of the measures in the core.
"""

from __future__ import annotations

RESEMBLANCE = 0
CONTAINMENT = 1
COMMON = 2
MEASURES = {"resemblance": RESEMBLANCE, "containment": CONTAINMENT, "common": COMMON}
