"""Word shingles: the features that resemblance and containment are defined on (Broder 1997, §2).

The w-shingling of a document is the *set* of its runs of w consecutive tokens. A document shorter than w is one
shingle of all its tokens, so short documents are compared like any other; one without tokens has the empty set.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from roughly.fast_dataclass import dataclass
from roughly.text.canonical import Tokens


@dataclass(frozen=True, slots=True)
class Sets:
    """Sorted, distinct shingle hashes: document i has values[offsets[i]:offsets[i + 1]].

    A set is complete, or a sample: then it has every value of the document up to limits[i], and with `most` two
    documents are compared among the `most` smallest values of their union only.
    """

    values: npt.NDArray[np.uint64]
    offsets: npt.NDArray[np.int64]
    limits: npt.NDArray[np.uint64] | None = None
    most: int = 0

    def __len__(self) -> int:
        return len(self.offsets) - 1


def shingle_sets(tokens: Tokens, size: int) -> Sets:
    """The set of `size`-shingles of each document."""
    from roughly.kernels import shingles

    return Sets(*shingles.shingle_sets(tokens.hashes, tokens.offsets, size))
