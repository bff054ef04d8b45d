"""What is kept of a document so that a pair can be scored without its text (Broder 1997, §3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Sketch:
    """What is kept of each document to score a pair without its text: sorted distinct values, complete below `limits`.

    Document i owns values[offsets[i]:offsets[i + 1]], ascending and distinct. It holds every feature hash up to
    limits[i] that the document has; None: complete everywhere. `most` is the s of MIN_s: a resemblance is estimated
    from the `most` smallest of the union; 0: no cap.
    """

    values: npt.NDArray[np.uint64]
    offsets: npt.NDArray[np.int64]
    limits: npt.NDArray[np.uint64] | None = None
    most: int = 0
