"""The frozen Unicode table: one 32-bit entry per code point, found in two stages.

    entry = stage2[stage1[cp >> 8] << 8 | cp & 255]
    class = entry >> 24, payload = entry & 0xFFFFFF

`stage1` names the block of 256 entries of each code point; blocks that are equal are stored once. After the last block
`stage2` has the sequences of code points of class SEQUENCE.

| class | what it does | payload |
|---|---|---|
| SEPARATOR | ends a token | – |
| WORD | continues a token | canonical code point minus this one, modulo 2^21 |
| SINGLE | is a token, with the marks after it | the same |
| IGNORED | is skipped | – |
| MARK | belongs to the character before it | canonical combining class |
| SEQUENCE | becomes others, none of this class | index in `stage2` of their count; they follow |

The compiled core has its own copy in `core/classes.hpp`; this one is for the plain-Python side.
"""

from __future__ import annotations

SEPARATOR = 0
WORD = 1
SINGLE = 2
IGNORED = 3
MARK = 4
SEQUENCE = 5

PAYLOAD = 0xFFFFFF
DELTA = 0x1FFFFF

DOT_ABOVE = 0x307
"""Dropped after an i, so that İ, I + dot and i are one letter, whichever way a text was lower-cased."""

LONGEST_RUN = 30
"""Marks that are put into canonical order together; as in the Stream-Safe Text Format (UAX #15, §13)."""

GROWTH = 3
"""Canonical form has at most this many bytes per byte of text; `make_tables` checks it."""
