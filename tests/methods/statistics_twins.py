"""The collection-statistics methods once more, in plain Python on whole numbers without end and on words.

Written from the formulas in the docstrings of `kernels.terms`, `kernels.imatch` and `kernels.vectors`.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from pathlib import Path

from kernels.kernel_twins import MASK, mix, token_hash
from roughly.lexicon import Lexicon, build
from roughly.text.canonical import words

A, B = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F
ALL_TERMS = 1 << 20
NOTHING = 2**64 - 1


def hash_of(word: str) -> int:
    """The token hash of a word."""
    return token_hash(unicodedata.normalize("NFD", word).encode())


def distinct(tokens: Sequence[int]) -> list[tuple[int, int]]:
    """Each token once, with the place where it was first seen."""
    seen: dict[int, int] = {}
    for place, token in enumerate(tokens):
        seen.setdefault(token, place)
    return list(seen.items())


def rarity(term: int, df: int) -> int:
    return (2**32 - 1 - df << 32) + (term >> 32)


def rarest(terms: Sequence[int], df: dict[int, int], low: int, high: int, most: int) -> list[int]:
    known = [t for t in set(terms) if df.get(t, 0) and low <= rarity(t, df[t]) < high]
    return sorted(known, key=lambda t: (-rarity(t, df[t]), t))[:most]


def select(
    terms: Sequence[int], df: dict[int, int], by: int, low: int, high: int, round_up: bool, outer: bool
) -> tuple[set[int], int]:
    """What a filter keeps, and from which rarity on the secondary lexicon begins."""
    known = {t: rarity(t, df[t]) for t in terms if df.get(t, 0)}
    if by == 1:
        ranks, n = sorted(known.values()), len(known)
        if not n:
            return set(), 0
        first = low * n // 100
        last = -(-high * n // 100) if round_up else high * n // 100
        low, high = ranks[first], ranks[last] if last < n else NOTHING
    return {t for t, r in known.items() if (low <= r < high) != outer}, high


def signatures(
    terms: Sequence[int],
    df: dict[int, int],
    chosen: tuple[int, int, int, bool, bool],
    demands: tuple[int, float, bool],
    seeds: Sequence[int],
    lexicons: int,
    dropped: float,
) -> list[int]:
    kept, high = select(terms, df, *chosen)
    min_terms, min_share, secondary = demands
    needed = max(min_terms, math.ceil(min_share * len(set(terms)) - 1e-9))
    rarer = [t for t in set(terms) if df.get(t, 0) and rarity(t, df[t]) >= high] if secondary else []
    rarer.sort(key=lambda t: (rarity(t, df[t]), t))
    out = []
    for k in range(lexicons + 1):
        own = {t for t in kept if not drops(t, k, seeds, dropped)}
        for t in rarer:
            if len(own) < needed and not drops(t, k, seeds, dropped):
                own.add(t)
        out.append(finish(own, seeds, k) if own and len(own) >= needed else 0)
    return out


def drops(term: int, lexicon: int, seeds: Sequence[int], dropped: float) -> bool:
    if lexicon == 0:
        return False
    word = mix((mix(term ^ seeds[0]) + seeds[2 + (lexicon - 1) // 4]) & MASK)
    return (word >> 16 * ((lexicon - 1) % 4) & 0xFFFF) < round(dropped * 65536)


def finish(terms: set[int], seeds: Sequence[int], lexicon: int) -> int:
    total = parity = 0
    for t in terms:
        m = mix((mix(t ^ seeds[0]) + seeds[1]) & MASK)
        total, parity = (total + m) & MASK, parity ^ m
    return mix(total ^ mix((parity + len(terms) * A + lexicon * B) & MASK)) or 1


def vector(terms: Sequence[int], size: int) -> list[tuple[int, int]]:
    """(entry, term) of the rarest terms, repeated up to the size."""
    return [
        (terms[j % len(terms)] if j < len(terms) else mix((terms[j % len(terms)] + j // len(terms) * A) & MASK),
         terms[j % len(terms)])
        for j in range(size)
    ]  # fmt: skip


def frequencies(texts: Sequence[str]) -> dict[int, int]:
    """In how many texts each term stands, by token hash."""
    counts: dict[int, int] = {}
    for text in texts:
        for word in set(words(text)):
            counts[hash_of(word)] = counts.get(hash_of(word), 0) + 1
    return counts


def lexicon_of(texts: Sequence[str], folder: Path | None = None, **options: object) -> Lexicon:
    """A lexicon of texts, in memory."""
    return build(list(texts), **options)  # type: ignore[arg-type]
