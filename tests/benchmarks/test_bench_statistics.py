"""The benchmark of the collection-statistics family measures what it says, on a few documents."""

from __future__ import annotations

import hashlib
import itertools

import numpy as np
import pyarrow as pa

from benchmarks import statistics
from roughly.text.canonical import tokenise

BATCH = pa.array(["one two three four five " * 20, "six seven eight " * 30], pa.large_string())


def test_every_step_has_a_speed() -> None:
    found = statistics.measure([BATCH], repeats=1)
    assert {"tokenise only", "I-Match IDF-L-10, 1 + 10 lexicons", "lexicon build"} <= set(found)
    assert all(speed > 0 for speed in found.values())


def test_the_paper_s_way_is_really_sha1_of_sorted_terms() -> None:
    digests = statistics._sha1(BATCH)
    tokens = tokenise(BATCH)
    whole = [
        hashlib.sha1(np.unique(tokens.hashes[a:b])).digest() for a, b in itertools.pairwise(tokens.offsets.tolist())
    ]
    assert isinstance(digests, list) and digests[::11] == whole and len(digests) == 22
