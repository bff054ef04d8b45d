"""Lexicon files: a changed one is refused, or answers every question about its terms.

Half of the changed files get checksums that fit, as a file has that was made to do harm.
"""

from __future__ import annotations

import hashlib
import random
from pathlib import Path

import mutation
import numpy as np

from roughly.lexicon.format import MAGIC, PREAMBLE, VERSION, head_digest
from roughly.lexicon.lexicon import Lexicon

SEEDS = Path(__file__).resolve().parents[1] / "tests" / "fuzz_seeds" / "lexicon_file"


def change(data: bytes, chance: random.Random) -> bytes:
    """A changed copy, with checksums that fit or not."""
    data = mutation.mutated(data, chance)
    return with_checksums(data) if chance.random() < 0.5 else data


def with_checksums(data: bytes) -> bytes:
    """The same with the checksums of what it holds, where it has a header at all."""
    if len(data) < PREAMBLE.size:
        return data
    length = min(PREAMBLE.unpack_from(data)[2], len(data) - PREAMBLE.size)
    header, body = data[PREAMBLE.size : PREAMBLE.size + length], data[PREAMBLE.size + length :]
    digest = hashlib.sha256(body).digest()
    return PREAMBLE.pack(MAGIC, VERSION, length, head_digest(header, digest), digest) + header + body


def use(path: Path) -> None:
    """Open a lexicon and ask it for everything."""
    lexicon = Lexicon.open(path)
    hashes = np.append(lexicon.table.hashes, np.array([0, 1, 2**63, 2**64 - 1], np.uint64))
    assert len(lexicon.frequencies(hashes)) == len(hashes)
    assert len(list(lexicon.terms())) == len(lexicon)
    lexicon.top(3)
    lexicon.idf(hashes)
    lexicon.with_thresholds(min_df=2, min_length=2).summary()


def run(wanted: int, findings: Path) -> dict[str, int]:
    """Try this many bytes."""
    return mutation.run_target([p.read_bytes() for p in sorted(SEEDS.iterdir())], change, use, wanted, findings)
