"""The truth of Kołcz 2008, §6.4: the cosine of two documents' sets of distinct terms.

    cosine(i, j) = |U_i ∩ U_j| / √(|U_i| · |U_j|)                    (eq. 2)

computed for all pairs, block by block.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from roughly.errors import SettingsError
from roughly.text.canonical import Tokens

_BLOCK = 256


def cosine_neighbours(
    tokens: Tokens, queries: Sequence[int], threshold: float = 0.9
) -> Iterator[tuple[int, npt.NDArray[np.int64]]]:
    """For each query, the other documents whose cosine with it is at least the threshold."""
    matrix, sizes = term_matrix(tokens)
    transposed = matrix.T.tocsr()
    for first in range(0, len(queries), _BLOCK):
        block = list(queries[first : first + _BLOCK])
        shared = np.asarray((matrix[block] @ transposed).todense())
        needed = threshold * np.sqrt(np.outer(sizes[block], sizes))
        near = (shared >= needed - 1e-9) & (shared > 0)
        for row, query in enumerate(block):
            near[row, query] = False
            yield query, np.flatnonzero(near[row])


def term_matrix(tokens: Tokens, names: npt.NDArray[np.uint64] | None = None) -> tuple[Any, npt.NDArray[np.int64]]:
    """Documents × terms as a sparse matrix of ones, and the number of distinct terms of each document.

    The columns are the terms in the order of their hashes, or `names`, in the same order; other terms are left out.
    """
    try:
        from scipy.sparse import csr_matrix
    except ImportError:
        raise SettingsError("this experiment needs scipy; install it with pip install 'roughly[lab]'") from None

    from roughly.kernels.terms import distinct_terms

    terms, _, offsets = distinct_terms(tokens.hashes, tokens.offsets)
    known = np.unique(terms) if names is None else names
    columns = np.searchsorted(known, terms)
    ones = np.ones(len(terms), np.int32)
    if names is not None:
        columns = np.minimum(columns, len(known) - 1)
        ones[known[columns] != terms] = 0
    return csr_matrix((ones, columns, offsets), shape=(len(tokens), len(known))), np.diff(offsets)
