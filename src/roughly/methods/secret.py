"""A secret key for hashing, so that outsiders do not know which terms a lexicon drops or which shingles are sampled.

A spammer who wants a message to pass a filter would change just the terms that every lexicon keeps, or the shingles in
the sample (Kołcz 2008, §4). With a key, these depend on something that the spammer does not know.

Seeds are BLAKE2b of the purpose and a number under the key. Only a digest of the key is ever shown: it proves which key
was used and reveals nothing about it, provided that the key cannot be guessed; hence at least 16 bytes.

The seeds are used in fast hashes, which are not message authentication: a key hides lexicons and samples from those who
have texts and this program, not from those who can study many signatures. Keep both secret.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from roughly.errors import InputError, InputMissing

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

SHORTEST_KEY = 16
NO_KEY = b""


def problems(key: object) -> Iterator[str]:
    """What is wrong with a key, if anything. No key at all is fine: then the seeds are public."""
    if not isinstance(key, bytes):
        yield f"key must be bytes, not {type(key).__name__}"
    elif key and len(key) < SHORTEST_KEY:
        yield f"key must have {SHORTEST_KEY} bytes or more, not {len(key)}: a shorter one can be guessed"


def read_key(path: Path) -> bytes:
    """The bytes of a key file, without white space at its ends."""
    try:
        key = path.read_bytes().strip()
    except FileNotFoundError as problem:
        raise InputMissing(f"no such key file: {path}") from problem
    except OSError as problem:
        raise InputError(f"cannot read the key file {path}: {problem.strerror or problem}") from problem
    for line in problems(key):
        raise InputError(f"{path}: {line}")
    if not key:
        raise InputError(f"{path} is empty: a key has {SHORTEST_KEY} random bytes or more")
    return key


def seeds(key: bytes, purpose: str, count: int) -> npt.NDArray[np.uint64]:
    """`count` seeds for one purpose; the first n of them are the same for any count ≥ n."""
    import numpy as np

    words = [_digest(key, f"{purpose} {number}") for number in range(count)]
    return np.array([int.from_bytes(word[:8], "little") for word in words], np.uint64)


def seed(key: bytes, purpose: str) -> int:
    """One seed from 0 to 2^63 − 1, for generators of random numbers."""
    return int(seeds(key, purpose, 1)[0]) >> 1


def key_digest(key: bytes) -> str | None:
    """Sixteen hex digits that prove which key was used; None without one."""
    return _digest(key, "fingerprint")[:8].hex() if key else None


def _digest(key: bytes, text: str) -> bytes:
    short = key if len(key) <= hashlib.blake2b.MAX_KEY_SIZE else hashlib.blake2b(key).digest()
    return hashlib.blake2b(text.encode(), key=short, digest_size=16, person=b"roughly seeds").digest()
