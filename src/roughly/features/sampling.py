"""Which shingles of a document a sketch keeps: one rule, a limit on the 64-bit hash, in five forms.

| written | keeps | from |
|---|---|---|
| `all` | every shingle | |
| `mod:25` | one in 25: hashes up to 2^64/25 − 1 | MOD_m, Broder 1997, §3 |
| `min:400` | the 400 smallest | MIN_s, Broder 1997, §3 |
| `adaptive` | one in 2^i of a document of 100·2^i to 100·2^(i+1) tokens: 100 to 200 of them | V_i, Broder 1997, §3 |
| `adaptive` with groups | a ratio for each group of lengths | Ye 2008, §6 |

Groups are pairs (most tokens, ratio), ascending; a document longer than all of them has the last ratio. Two documents
are compared at the smaller of their limits, that is, at the larger modulus.

Departure: the papers take remainders modulo m. A limit on a uniform hash samples as well, and its sample is a prefix of
the sorted set. (Broder writes that V_i holds 50 to 100 shingles; with the bounds that he gives it is 100 to 200.)

A seed other than 0 draws another sample: it changes the hashes of the tokens, one to one, before they are shingled.
Values of different seeds have nothing in common.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from roughly.errors import SettingsError
from roughly.fast_dataclass import dataclass
from roughly.features.sketch import EVERY, Hashes, Sketch
from roughly.text.canonical import Tokens

FORMS = ("all", "mod:M", "min:S", "adaptive")
SHORTEST = 100
"""V_0 holds every shingle of documents of fewer than twice this number of tokens (Broder 1997, §3)."""
MOST = 2**31 - 1

Groups = tuple[tuple[int, float], ...]
_WRITTEN = re.compile(r"(all|adaptive)|(mod|min):([0-9]{1,19})")


@dataclass(frozen=True)
class Sampling:
    """One form of sampling. `parse` reads how people write it; `str` writes it so."""

    kind: str = "all"  # all, mod, min, adaptive
    number: int = 0  # m of mod, s of min
    groups: Groups = ()
    seed: int = 0

    def __post_init__(self) -> None:
        problems = list(self._problems())
        if problems:
            raise SettingsError(*problems)

    def _problems(self) -> Iterable[str]:
        if self.kind not in ("all", "mod", "min", "adaptive"):
            yield f"sketch must be one of {', '.join(FORMS)}, not {self.kind!r}"
        elif self.kind in ("mod", "min") and not 1 <= self.number <= MOST:
            yield f"sketch {self.kind}:{self.number} makes no sense; the number is from 1 to {MOST}"
        if self.groups and self.kind != "adaptive":
            yield f"groups belong to the sketch adaptive, not to {self.kind}: leave them out, or use sketch adaptive"
        if not isinstance(self.seed, int) or not 0 <= self.seed < 2**63:
            yield f"seed must be a whole number from 0, not {self.seed!r}"
        before = 0
        for tokens, ratio in self.groups:
            if tokens <= before:
                yield f"groups must rise from 1 token on; {tokens} comes after {before}"
            if not 0 < ratio <= 1:
                yield f"the ratio of a group must be above 0 and at most 1, not {ratio!r}"
            before = tokens

    @classmethod
    def parse(cls, text: str, groups: Sequence[Sequence[float]] = (), seed: int = 0) -> Self:
        """The sampling written as `all`, `mod:25`, `min:400` or `adaptive`, with groups for the last of these."""
        match = _WRITTEN.fullmatch(text.strip()) if isinstance(text, str) else None
        if not match:
            raise SettingsError(f"sketch must be one of {', '.join(FORMS)}, not {text!r}; for instance mod:25")
        return cls(match[1] or match[2], int(match[3] or 0), as_groups(groups), seed)

    def __str__(self) -> str:
        return f"{self.kind}:{self.number}" if self.kind in ("mod", "min") else self.kind

    @property
    def fixed(self) -> bool:
        """Whether all documents are sampled at one limit."""
        return self.kind in ("all", "mod")

    def ratio(self, tokens: int) -> float:
        """The share of shingles kept of documents of these numbers of tokens; for MIN_s, the expected share."""
        if self.kind == "min":
            return min(1.0, self.number / max(tokens, 1))
        return (int(self.limits(np.array([tokens]))[0]) + 1) / 2**64

    def limits(self, tokens: npt.NDArray[np.integer[Any]]) -> Hashes:
        """The limit of documents of these numbers of tokens. (Those of MIN_s depend on the values.)"""
        if self.kind == "adaptive" and self.groups:
            bounds = np.array([bound for bound, _ in self.groups])
            limits = np.array([limit_of(ratio) for _, ratio in self.groups], np.uint64)
            return limits[np.minimum(np.searchsorted(bounds, tokens), len(bounds) - 1)]
        if self.kind == "adaptive":
            level = np.frexp(np.maximum(tokens // SHORTEST, 1))[1] - 1  # ⌊log2⌋, exactly
            halved: Hashes = np.uint64(EVERY) >> level.astype(np.uint64)
            return halved
        return np.full(len(tokens), 2**64 // max(self.number, 1) - 1 if self.kind == "mod" else EVERY, np.uint64)

    def apply(self, tokens: Tokens, size: int) -> Sketch:
        """The sketch of each document: its sampled `size`-shingles."""
        from roughly.kernels import sketches

        tokens = reseeded(tokens, self.seed)
        if self.kind == "min":
            values, offsets, limits = sketches.smallest(tokens.hashes, tokens.offsets, size, self.number)
            return Sketch(values, offsets, limits, self.number)
        limits = self.limits(np.diff(tokens.offsets))
        values, offsets = sketches.samples(tokens.hashes, tokens.offsets, size, limits)
        return Sketch(values, offsets, None if self.kind == "all" else limits)


def reseeded(tokens: Tokens, seed: int) -> Tokens:
    """The tokens with other hashes, one to one, so that other shingles are sampled; as they are for the seed 0."""
    if not seed:
        return tokens
    digest = hashlib.blake2b(str(seed).encode(), digest_size=16, person=b"roughly sketch").digest()
    key, factor = (np.uint64(int.from_bytes(part, "little")) for part in (digest[:8], digest[8:]))
    return Tokens((tokens.hashes ^ key) * (factor | np.uint64(1)), tokens.offsets)


def limit_of(ratio: float) -> int:
    """The largest hash that a sample of this ratio holds: ⌊ratio · 2^64⌋ − 1."""
    return max(int(Fraction(ratio) * 2**64) - 1, 0)


def as_groups(groups: Sequence[Sequence[float]]) -> Groups:
    """Groups as written in a settings file, checked."""
    if isinstance(groups, str) or not isinstance(groups, Sequence):
        raise SettingsError(f"groups must be a list of [most tokens, ratio], not {groups!r}")
    checked = []
    for group in groups:
        if not isinstance(group, Sequence) or len(group) != 2 or not all(_is_number(part) for part in group):
            raise SettingsError(f"a group is [most tokens, ratio], for instance [400, 0.25], not {group!r}")
        if not math.isfinite(group[0]) or int(group[0]) != group[0]:
            raise SettingsError(f"a group ends at a whole number of tokens, not at {group[0]!r}")
        checked.append((int(group[0]), float(group[1])))
    return tuple(checked)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**63
