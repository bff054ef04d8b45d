"""Signatures to components, for peers whose fast path gives signatures but not who matches whom.

In: a matrix of min-hash signatures. Out: for each document the first of its component. Two documents are joined
where they agree on a whole band and, in `join_checked`, on a share of the signature of at least the threshold,
which is how such libraries check a candidate. Equal signatures are one entry, so a hot bucket is not quadratic.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.peers.protocol import Components


def join_checked(signatures: npt.NDArray[Any], bands: int, rows: int, threshold: float) -> list[int]:
    """Components of documents that share a band and agree on at least `threshold` of the signature."""
    components = Components(len(signatures))
    first: dict[bytes, int] = {}
    for number, row in enumerate(signatures):
        components.join(number, first.setdefault(row.tobytes(), number))
    distinct = np.fromiter(first.values(), np.int64)
    for band in range(bands):
        buckets: dict[bytes, list[int]] = {}
        part = np.ascontiguousarray(signatures[distinct, band * rows : (band + 1) * rows])
        for number, row in zip(distinct.tolist(), part, strict=True):
            buckets.setdefault(row.tobytes(), []).append(number)
        for members in buckets.values():
            for place, one in enumerate(members[:-1]):
                others = np.array(members[place + 1 :])
                agreed = (signatures[others] == signatures[one]).mean(axis=1)
                for other in others[agreed >= threshold].tolist():
                    components.join(one, other)
    return components.roots()
