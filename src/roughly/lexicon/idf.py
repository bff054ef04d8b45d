"""Inverse document frequency, in the two normalisations of the papers.

| name | formula | range |
|---|---|---|
| `conrad` | log((N + 0.5) / n) / log(N + 1) (Conrad 2003, eq. 1) | just above 0 … just below 1 |
| `imatch` | log(N / n), scaled so that the most frequent term has 0 and the rarest 1 (I-Match 2002, §3 and §4.1) | 0 …
1 |

N is the number of documents, n that of documents with the term. The base of the logarithm cancels out in both. A term
that is not in the lexicon has no idf: NaN, which is neither above nor below any bound.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from roughly.errors import SettingsError

NORMS = ("conrad", "imatch")

Floats = npt.NDArray[np.float64]


def check_norm(norm: str) -> None:
    """Refuse an unknown normalisation."""
    if norm not in NORMS:
        raise SettingsError(f"norm must be one of {', '.join(NORMS)}, not {norm!r}")


def conrad(frequencies: npt.NDArray[np.uint32], documents: int) -> Floats:
    """Conrad 2003, eq. 1."""
    n = _known(frequencies)
    out: Floats = np.log((documents + 0.5) / n) / np.log(documents + 1.0)
    return out


def imatch(frequencies: npt.NDArray[np.uint32], least: int, most: int) -> Floats:
    """I-Match 2002: log(N/n) scaled between the most frequent term, in `most` documents, and the rarest, in `least`.

    N cancels out: log(most/n) / log(most/least). If all terms are equally frequent: 0.
    """
    n = _known(frequencies)
    span = np.log(most / least) if most > least else 0.0
    out: Floats = np.log(most / n) / span if span else n * 0.0
    return out


def _known(frequencies: npt.NDArray[np.uint32]) -> Floats:
    return np.where(frequencies > 0, frequencies, np.nan).astype(np.float64)
