"""Text with its tokens found and hashed, in numpy: edited copies and their exact resemblance become cheap.

A `Passage` is UTF-8 text that begins with a token and in which every token is followed by a separator.
Slices between token starts can therefore be put together in any order and no two tokens ever grow into one:
the tokens of the whole are the tokens of the parts. This is what makes 50 MB/s possible: a child's tokens
are known without reading its text again.

Tokens are those of `tokens.py`. A token's hash is 64 bits: Σ v(c_i)·M^i over its characters (v random, M
odd), mixed; a shingle's hash is a polynomial in its five token hashes. Resemblance is counted on these
hashes, which is exact unless two different shingles of one pair collide in 63 bits: about 1 in 10¹³ pairs of
1,000 shingles.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from benchmarks.tokens import SHINGLE_SIZE, TOKEN

Hashes = npt.NDArray[np.uint64]
Places = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_CODE_POINTS = 0x110000
_FACTOR = 0x9E3779B97F4A7C15 | 1
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHINGLE_FACTOR = np.uint64(0xD1342543DE82EF95)
_ONE, _EVEN = np.uint64(1), np.uint64(2**64 - 2)
_BREAKS = b".!?\n"


@dataclass(slots=True)  # not frozen: millions are made, and freezing costs two microseconds each
class Run:
    """Tokens in a row: where they start and end (bytes, `shift` to be added), and which begin a sentence."""

    starts: Places
    ends: Places
    breaks: Flags
    shift: int = 0


@dataclass(slots=True)
class Passage:
    """Text, the hashes of its tokens, and their places as runs, which are put together only when needed."""

    text: bytes
    hashes: Hashes
    runs: tuple[Run, ...]

    def __len__(self) -> int:
        return len(self.hashes)

    def cut(self, first: int, last: int) -> bytes:
        """The text of tokens first … last − 1 with the separators that follow each."""
        return self.text[self._byte_at(first) : self._byte_at(last)]

    def starts(self) -> Places:
        """The byte at which each token starts."""
        return np.concatenate([run.starts + run.shift for run in self.runs])

    def ends(self) -> Places:
        """The byte after the end of each token."""
        return np.concatenate([run.ends + run.shift for run in self.runs])

    def spans(self, places: list[int]) -> tuple[list[int], list[int]]:
        """The first byte of each token at these places, and the byte after its last."""
        if len(self.runs) == 1:
            run = self.runs[0]
            return (run.starts[places] + run.shift).tolist(), (run.ends[places] + run.shift).tolist()
        return self.starts()[places].tolist(), self.ends()[places].tolist()

    def breaks(self) -> Flags:
        """Which tokens begin a sentence or a line."""
        return np.concatenate([run.breaks for run in self.runs])

    def _byte_at(self, token: int) -> int:
        for run in self.runs:
            if token < len(run.starts):
                return int(run.starts[token]) + run.shift
            token -= len(run.starts)
        return len(self.text)


def join_passages(parts: list[Passage]) -> Passage:
    """Passages one after another, as one."""
    if len(parts) == 1:
        return parts[0]
    runs, begin = [], 0
    for part in parts:
        runs += [Run(run.starts, run.ends, run.breaks, run.shift + begin) for run in part.runs]
        begin += len(part.text)
    text = b"".join([part.text for part in parts])
    return Passage(text, np.concatenate([part.hashes for part in parts]), tuple(runs))


def read_passage(text: str) -> Passage:
    """Find and hash the tokens of a text; leading separators go, a line end follows a token at the end."""
    text = text + "\n" if text[-1:].isalnum() else text
    lower = text.lower()
    if len(lower) != len(text):
        raise ValueError("lower case changes the length of this text: use only texts for which is_plain() holds")
    codes = _codes(lower)
    word = _is_word()[codes]
    edges = np.flatnonzero(np.diff(word, prepend=np.uint8(0))).astype(np.int64)
    starts, ends = edges[0::2], edges[1::2]
    hashes = _hash_tokens(codes, starts, ends)
    encoded = text.encode()
    if len(encoded) != len(text):
        places = np.concatenate([[0], np.cumsum(_utf8_lengths(_codes(text)))])
        starts, ends = places[starts], places[ends]
    if not len(starts):
        return Passage(b"", hashes, (Run(starts, ends, np.zeros(0, bool)),))
    stops = np.cumsum(_is_break()[np.frombuffer(encoded, np.uint8)], dtype=np.int64)
    breaks = np.concatenate([[True], stops[starts[1:] - 1] > stops[ends[:-1] - 1]])
    first = int(starts[0])
    return Passage(encoded[first:], hashes, (Run(starts, ends, breaks, -first),))


def resemblance(left: Hashes, right: Hashes) -> float:
    """|A ∩ B| / |A ∪ B| of the shingles of two token sequences; 0 where either is empty.

    Both sets are sorted as one array, with the lowest bit of each hash telling whose it is: neighbours that
    differ in that bit alone are a shared shingle, neighbours that differ in any other begin a new one.
    """
    if not len(left) or not len(right):
        return 0.0
    if len(left) < SHINGLE_SIZE or len(right) < SHINGLE_SIZE:
        mine, theirs = _shingles(left), _shingles(right)
    else:
        both = _shingles(np.concatenate([left, right]))
        mine, theirs = both[: len(left) - SHINGLE_SIZE + 1], both[len(left) :]
    mixed = np.concatenate([mine, theirs])
    mixed &= _EVEN
    mixed[len(mine) :] |= _ONE
    mixed.sort(kind="stable")
    steps = mixed[1:] ^ mixed[:-1]
    shared = int(np.count_nonzero(steps == _ONE))
    return shared / (1 + int(np.count_nonzero(steps > _ONE)))


def _shingles(hashes: Hashes) -> Hashes:
    """The hashes of all shingles in order, repeated ones too; a short sequence is a single shingle."""
    size = min(SHINGLE_SIZE, len(hashes))
    count = len(hashes) - size + 1
    mixed = hashes[:count] ^ np.uint64(size)  # a short document is no one's shingle
    for place in range(1, size):
        mixed *= _SHINGLE_FACTOR
        mixed += hashes[place : place + count]
    return mixed


def _hash_tokens(codes: npt.NDArray[np.uint32], starts: Places, ends: Places) -> Hashes:
    """Σ v(c)·M^i by differences of one running sum; M⁻ˢ takes the place in the text out again."""
    powers, inverses = _powers(_room_for(len(codes)))
    running = np.zeros(len(codes) + 1, np.uint64)
    np.cumsum(_character_values()[codes] * powers[: len(codes)], out=running[1:])
    return _mix((running[ends] - running[starts]) * inverses[starts])


def _mix(values: Hashes) -> Hashes:
    """The finaliser of splitmix64; wraps around at 2⁶⁴ on purpose."""
    values = (values ^ (values >> np.uint64(30))) * _MIX_1
    values = (values ^ (values >> np.uint64(27))) * _MIX_2
    return values ^ (values >> np.uint64(31))


def _codes(text: str) -> npt.NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le"), np.uint32)


def _utf8_lengths(codes: npt.NDArray[np.uint32]) -> Places:
    return 1 + (codes >= 0x80).astype(np.int64) + (codes >= 0x800) + (codes >= 0x10000)


@lru_cache(maxsize=1)
def _is_word() -> npt.NDArray[np.uint8]:
    """1 for each code point that a token is made of: all of them as one text, searched for tokens."""
    table = np.zeros(_CODE_POINTS, np.uint8)
    for found in TOKEN.finditer("".join(map(chr, range(_CODE_POINTS)))):
        table[found.start() : found.end()] = 1
    return table


@lru_cache(maxsize=1)
def _character_values() -> Hashes:
    return _mix(np.arange(1, _CODE_POINTS + 1, dtype=np.uint64) * np.uint64(_FACTOR))


@lru_cache(maxsize=1)
def _is_break() -> Flags:
    """True for the bytes that end a sentence or a line."""
    table = np.zeros(256, bool)
    table[list(_BREAKS)] = True
    return table


@lru_cache(maxsize=2)
def _powers(count: int) -> tuple[Hashes, Hashes]:
    """M^i and M^-i modulo 2⁶⁴ for i < count."""
    inverse = pow(_FACTOR, -1, 1 << 64)
    powers = np.full(count, _FACTOR, np.uint64)
    inverses = np.full(count, inverse, np.uint64)
    powers[0] = inverses[0] = 1
    return np.cumprod(powers, dtype=np.uint64), np.cumprod(inverses, dtype=np.uint64)


def _room_for(count: int) -> int:
    """Few sizes of the table of powers, so that it is made once for nearly all texts."""
    size = 1 << 16
    while size < count + 1:
        size <<= 4
    return size
