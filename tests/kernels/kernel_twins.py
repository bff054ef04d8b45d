"""Every kernel once more in plain Python, on whole numbers without end, to be compared bit for bit.

Written from the formulas in the kernels' docstrings. Canonical form has its twin in the package (`words`, `spans`).
"""

from __future__ import annotations

import itertools
import unicodedata

import numpy as np

from roughly.text.canonical import words

MASK = 2**64 - 1
SEED, SEED2 = 0x243F6A8885A308D3, 0x13198A2E03707344
LANES = ((SEED, 0xD1342543DE82EF95), (SEED2, 0x9E3779B185EBCA87))


def rotate(x: int, by: int) -> int:
    by %= 64
    return (x << by | x >> (64 - by)) & MASK


def mix(h: int) -> int:
    h ^= h >> 27
    h = h * 0x3C79AC492BA7B653 & MASK
    h ^= h >> 33
    h = h * 0x1C69B3F74AC4AE35 & MASK
    return h ^ h >> 27


def absorb(h: int, word: int) -> int:
    return rotate((h + word * 0x9E3779B97F4A7C15) & MASK, 31) * 0xC2B2AE3D27D4EB4F & MASK


def spread(h: int) -> int:
    h = h * 0x3C79AC492BA7B653 & MASK
    return h ^ h >> 32


def fold(h: int, word: int, lane: int) -> int:
    h = (h ^ word ^ word >> 29) * LANES[lane][1] & MASK
    return h ^ h >> 32


def hash_bytes(data: bytes) -> tuple[int, int]:
    whole = len(data) // 8 * 8
    lanes = []
    for lane in (0, 1):
        h = LANES[lane][0]
        for at in range(0, whole + 1, 8):
            h = fold(h, int.from_bytes(data[at : at + 8], "little"), lane)
        lanes.append(mix((h + len(data)) & MASK))
    return lanes[0], lanes[1]


def hash_sequence(values: list[int]) -> tuple[int, int]:
    lanes = []
    for lane in (0, 1):
        h = LANES[lane][0]
        for value in values:
            h = fold(h, value, lane)
        lanes.append(mix((h + len(values)) & MASK))
    return lanes[0], lanes[1]


def token_hash(token: bytes) -> int:
    """Of canonical, lower-case UTF-8."""
    last = (len(token) - 1) // 8 * 8
    h = SEED
    for at in range(0, last, 8):
        h = absorb(h, int.from_bytes(token[at : at + 8], "little"))
    return mix(h ^ int.from_bytes(token[last:], "little"))


def tokenise(text: str) -> list[int]:
    return [token_hash(unicodedata.normalize("NFD", word).encode()) for word in words(text)]


def shingles(tokens: list[int], size: int) -> list[int]:
    """In order, with repeats."""
    if not tokens:
        return []
    width = min(size, len(tokens))
    found = []
    for start in range(len(tokens) - width + 1):
        p = 0
        for token in tokens[start : start + width]:
            p = rotate(p, 1) ^ token
        found.append(spread(p))
    return found


def shingle_set(tokens: list[int], size: int) -> list[int]:
    return sorted(set(shingles(tokens, size)))


def signature(
    tokens: list[int], size: int, multipliers: list[int], increments: list[int], samples: int | None = None
) -> list[int]:
    high = [shingle >> 32 for shingle in shingles(tokens, size)]
    samples = len(multipliers) if samples is None else samples
    if not high:
        return [2**32 - 1] * samples
    found = []
    for sample in range(samples):
        end, ordering = divmod(sample, len(multipliers))
        images = [(multipliers[ordering] * x + increments[ordering]) % 2**32 for x in high]
        signed = [y - 2**32 if y >= 2**31 else y for y in images]
        found.append([min(images), max(images), min(signed) % 2**32, max(signed) % 2**32][end])
    return found


def band_keys(minima: list[int], bands: int, rows: int) -> list[int]:
    keys = []
    for band in range(bands):
        h = (SEED + band) & MASK
        for minimum in minima[band * rows : (band + 1) * rows]:
            h = absorb(h, minimum)
        keys.append(mix(h))
    return keys


def flat(groups: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Values and offsets, as kernels take them."""
    values = np.array([value for group in groups for value in group], np.uint64)
    return values, np.cumsum([0, *map(len, groups)]).astype(np.int64)


def split(values: np.ndarray, offsets: np.ndarray) -> list[list[int]]:
    """The opposite of `flat`."""
    return [values[a:b].tolist() for a, b in itertools.pairwise(offsets.tolist())]
