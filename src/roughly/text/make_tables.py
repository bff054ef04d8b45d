"""Makes the frozen Unicode table: `python -m roughly.text.make_tables` writes `unicode.npz` beside this file.

Run it only to move to another version of Unicode, which changes hashes and so the answers. The table
is frozen because Python's own `unicodedata` differs from one Python to the next. It must be made by the oldest
supported Python: characters that are unknown to it are separators everywhere, permanently.

The canonical sequence f(c) of a character c, applied from left to right until nothing changes:

1. c has a canonical decomposition: f of its parts, so composed and decomposed text agree by construction;
2. c stands for other characters (a compatibility decomposition) and all of them are letters, digits or marks:
   f of these;
3. c has a lower-case form: f of that; final sigma is sigma;
4. otherwise c itself.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from roughly.kernels.classes import DELTA, GROWTH, IGNORED, MARK, SEPARATOR, SEQUENCE, SINGLE, WORD

CODE_POINTS = 0x110000
BLOCK = 256
TARGET = Path(__file__).with_name("unicode.npz")

# Written without spaces between words, so each letter is a token. (first, last) code points.
UNSPACED = (
    (0x0E00, 0x0E7F),  # Thai
    (0x0E80, 0x0EFF),  # Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x3005, 0x3007),  # ideographic iteration mark, closing mark, zero
    (0x3021, 0x3029),  # Hangzhou numerals
    (0x3031, 0x3035),  # kana repeat marks
    (0x3038, 0x303C),  # Hangzhou numerals, masu mark
    (0x3040, 0x312F),  # Hiragana, Katakana, Bopomofo
    (0x31A0, 0x31BF),  # Bopomofo Extended
    (0x31F0, 0x31FF),  # Katakana Phonetic Extensions
    (0x3400, 0x4DBF),  # CJK Extension A
    (0x4E00, 0x9FFF),  # CJK Unified Ideographs
    (0xA9E0, 0xA9FF),  # Myanmar Extended-B
    (0xAA60, 0xAA7F),  # Myanmar Extended-A
    (0xF900, 0xFAFF),  # CJK Compatibility Ideographs
    (0x1AFF0, 0x1B16F),  # Kana Extended and Supplement
    (0x20000, 0x3FFFD),  # CJK Extensions B and up
)

# Invisible though they are letters or marks: grapheme joiner, Hangul fillers, inherent vowels, variation selectors.
INVISIBLE = (
    (0x034F, 0x034F),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFFA0, 0xFFA0),
    (0xE0100, 0xE01EF),
)


def _within(cp: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= cp <= last for first, last in ranges)


def classify(cp: int) -> int:
    """The class of a code point, SEQUENCE aside."""
    category = unicodedata.category(chr(cp))
    if category == "Cf" or _within(cp, INVISIBLE):
        return IGNORED
    if category[0] == "M":
        return MARK
    if (category[0] == "L" or category == "Nl") and _within(cp, UNSPACED):
        return SINGLE
    if category[0] in "LN":
        return WORD
    return SEPARATOR


@cache
def canonical(cp: int) -> tuple[int, ...]:
    """f(c), as code points."""
    c = chr(cp)
    parts = unicodedata.normalize("NFD", c)
    if parts == c:
        meaning = unicodedata.normalize("NFKD", c)
        if meaning != c and all(classify(ord(x)) in (WORD, SINGLE, MARK) for x in meaning):
            parts = meaning
        else:
            parts = "σ" if c == "ς" else c.lower()
    if parts == c:
        return (cp,)
    return tuple(target for x in parts for target in canonical(ord(x)))


def _bytes(cp: int) -> int:
    return len(chr(cp).encode())


def check(cp: int, sequence: tuple[int, ...]) -> None:
    """Check what the kernels rely on: sequences of plain characters, and limited growth of the text.

    A space is put before each single character, and one after the last if a word follows.
    """
    kinds = [classify(target) for target in sequence]
    if not set(kinds) <= {WORD, SINGLE, MARK}:
        raise SystemExit(f"U+{cp:04X} is a letter, digit or mark and decomposes into something that is none")
    needed = sum(map(_bytes, sequence)) + kinds.count(SINGLE) + (kinds[-1] == SINGLE)
    if needed > GROWTH * _bytes(cp):
        raise SystemExit(f"U+{cp:04X} grows from {_bytes(cp)} to {needed} bytes: raise GROWTH above {GROWTH}")


def entries() -> tuple[npt.NDArray[np.uint32], list[int]]:
    """An entry for every code point, and the sequences; indices into these still count from their own start."""
    table = np.zeros(CODE_POINTS, np.uint32)
    sequences: list[int] = []
    known: dict[tuple[int, ...], int] = {}
    for cp in range(CODE_POINTS):
        kind = classify(cp)
        if kind == IGNORED:
            table[cp] = IGNORED << 24
        elif kind in (WORD, SINGLE, MARK):
            sequence = canonical(cp)
            check(cp, sequence)
            if sequence == (cp,) and kind == MARK:
                table[cp] = MARK << 24 | unicodedata.combining(chr(cp))
            elif len(sequence) == 1 and classify(sequence[0]) in (WORD, SINGLE):
                table[cp] = classify(sequence[0]) << 24 | ((sequence[0] - cp) & DELTA)
            else:
                if sequence not in known:
                    known[sequence] = len(sequences)
                    sequences += [len(sequence), *sequence]
                table[cp] = SEQUENCE << 24 | known[sequence]
    return table, sequences


def stages(
    table: npt.NDArray[np.uint32], sequences: list[int]
) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.uint32]]:
    """The two stages: equal blocks stored once, followed by the sequences."""
    numbers: dict[bytes, int] = {}
    stage1 = np.array([numbers.setdefault(b.tobytes(), len(numbers)) for b in _blocks(table)], np.uint16)
    blocks = np.frombuffer(b"".join(numbers), np.uint32)
    moved = np.where(blocks >> 24 == SEQUENCE, blocks + np.uint32(len(blocks)), blocks)
    return stage1, np.concatenate([moved, np.array(sequences, np.uint32)])


def _blocks(table: npt.NDArray[np.uint32]) -> Iterator[npt.NDArray[np.uint32]]:
    return iter(table.reshape(-1, BLOCK))


def main() -> None:
    """Write the table and print a summary."""
    stage1, stage2 = stages(*entries())
    np.savez_compressed(TARGET, stage1=stage1, stage2=stage2, unicode_version=np.array(unicodedata.unidata_version))
    sys.stdout.write(
        f"{TARGET.name}: Unicode {unicodedata.unidata_version}, {len(stage2)} entries, {TARGET.stat().st_size} bytes\n"
    )


if __name__ == "__main__":
    main()
