"""Texts signed in one pass: tokens, fingerprints and keys of min-hash bands, document by document.

The same as `tokens.tokenise`, `hashing.hash_bytes`, `hashing.hash_sequences` and `minhash.band_keys` one after the
other, without tokens that are written to memory and read again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from roughly import _core
from roughly.kernels.arrays import Bytes, Hashes, Offsets, Table, Words, frozen, frozen_offsets
from roughly.kernels.minhash import check_bands
from roughly.kernels.tokens import refuse_longer


class BandSampling(NamedTuple):
    """How min-hash bands are drawn: see `minhash.band_keys`."""

    shingle_size: int
    multipliers: Words
    increments: Words
    bands: int
    rows: int


class SignedTexts(NamedTuple):
    """What was found of each document."""

    raw: Hashes  # fingerprints of the bytes: (n, 2)
    lexical: Hashes  # fingerprints of the tokens in order: (n, 2)
    keys: Hashes  # (n, bands)
    lengths: npt.NDArray[np.int64]  # in tokens


def sign_texts(data: Bytes, offsets: Offsets, table: Table, sampling: BandSampling) -> SignedTexts:
    """Sign each document data[offsets[i]:offsets[i + 1]]."""
    data = frozen(data, np.uint8, "data")
    offsets = frozen_offsets(offsets, len(data))
    refuse_longer(int(np.diff(offsets).max(initial=0)))
    size, multipliers, increments, bands, rows = sampling
    check_bands(size, multipliers, increments, bands, rows)
    stage1, stage2 = frozen(table.stage1, np.uint16, "stage1"), frozen(table.stage2, np.uint32, "stage2")
    return SignedTexts(
        *_core.sign_texts(data, offsets, stage1, stage2, size, multipliers, increments, bands, rows)
    )  # fmt: skip
