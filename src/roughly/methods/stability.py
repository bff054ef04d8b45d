"""The number of lexicons needed for a signature to survive changes of a document (Kołcz 2008, §4 and §7.4).

A document changes in n terms of the lexicon. A randomised lexicon, which lacks each term with probability p, does not
notice if it lacks all n of them. So one of K lexicons keeps its signature with probability

    survival(n) = 1 − (1 − pⁿ)^K                                     (eq. 1)

and the expected number of lexicons until one does is 1 / pⁿ.

The paper's eq. 6 says otherwise: it counts the lexicons of which *none* of the n terms was eliminated,
C(L−n, M) / C(L, M) ≈ (1 − p)ⁿ, and Table 4 lists the inverse of that. But a lexicon that still holds a changed term
gives another signature: (1 − p)ⁿ is the probability that a lexicon notices all of the n changes. This contradicts eq.
1, in whose derivation a change "will not affect the signature as long as the change occurs within the subset of the
original lexicon that is missing". With exactly M = p·L of L terms dropped the right ratio is

    q = C(L−n, M−n) / C(L, M) = M(M−1)…(M−n+1) / L(L−1)…(L−n+1) ≈ pⁿ

For p = 1/3 and n = 5 it takes 243 lexicons on average, not 7.4. A simulation in the tests decides for eq. 1.

| symbol | parameter |
|---|---|
| n | `changes` |
| K | `lexicons` |
| p | `dropped` |
| L | `terms` |
"""

from __future__ import annotations

import math

from roughly.methods import lexicon_checks as checks


def survival(changes: int, lexicons: int, dropped: float = 1 / 3) -> float:
    """Probability that at least one of K randomised lexicons keeps its signature under n changes: 1 − (1 − pⁿ)^K."""
    _check(changes, dropped)
    checks.refuse(checks.whole("lexicons", lexicons, 0, 10**9))
    if changes == 0:
        return 1.0
    each = dropped**changes
    return 1.0 if each >= 1 and lexicons else -math.expm1(lexicons * math.log1p(-each)) if lexicons else 0.0


def fewest_lexicons(changes: int, wanted: float, dropped: float = 1 / 3) -> int:
    """The least K whose survival under n changes is at least `wanted`."""
    _check(changes, dropped)
    checks.refuse(checks.share("wanted", wanted, most=0.999999))
    if changes == 0 or wanted == 0:
        return 0
    each = dropped**changes
    checks.refuse([] if each > 0 else ["dropped must be above 0: a lexicon that drops no term notices every change"])
    if each >= 1:
        return 1
    count = max(1, math.ceil(math.log1p(-wanted) / math.log1p(-each)))
    while survival(changes, count, dropped) < wanted:  # rounding only
        count += 1
    return count


def unaltered(changes: int, terms: int, dropped: float = 1 / 3) -> float:
    """The same for one lexicon of L terms with exactly M = p·L, rounded, dropped: C(L−n, M−n) / C(L, M)."""
    _check(changes, dropped)
    checks.refuse(checks.whole("terms", terms, max(changes, 1), 2**40))
    missing = round(dropped * terms)
    return math.prod((missing - i) / (terms - i) for i in range(changes)) if changes <= missing else 0.0


def expected_lexicons(changes: int, terms: int | None = None, dropped: float = 1 / 3) -> float:
    """Expected number of lexicons until one keeps its signature: 1 / q; infinite if none can."""
    _check(changes, dropped)
    each = dropped**changes if terms is None else unaltered(changes, terms, dropped)
    return 1 / each if each > 0 else math.inf


def _check(changes: int, dropped: float) -> None:
    checks.refuse([*checks.whole("changes", changes, 0, 10**6), *checks.share("dropped", dropped)])
