"""The tokeniser: canonical tokens as 64-bit hashes, straight from the bytes of an Arrow column.

Two passes over each document, which was measured to be 2.5 times as fast as one:

1. the edges of tokens, by `edges`;
2. the bytes between two edges, hashed eight at a time, in lower case: setting bit 5 of a byte below 128 lowers a
   letter and leaves a digit alone. The last word is filled with zeros, which no token contains, so tokens of up to
   eight bytes certainly have distinct hashes.

Text with a byte above 127 is first rewritten by `canonicalise`, and passes 1 and 2 then read the rewritten form.
The hash of a token is thus a function of its canonical UTF-8 bytes alone.

Documents are processed in pieces that end after an ASCII separator, which no token and no rule crosses. So scratch
memory is that of one piece, and a page with a few accents uses the slow path only around them. Positions are uint32
within a piece; a text without any separator is one piece, which bounds a document to `LONGEST_DOCUMENT`.
"""

from __future__ import annotations

import numpy as np

from roughly import _core
from roughly.errors import InputError
from roughly.kernels.arrays import Blocks, Bytes, Hashes, Offsets, Words, frozen, frozen_offsets
from roughly.kernels.classes import GROWTH

LONGEST_DOCUMENT = (2**32 - 16) // GROWTH
PIECE = 1 << 14
"""Bytes after which a piece ends at the next ASCII separator."""


def tokenise(data: Bytes, offsets: Offsets, stage1: Blocks, stage2: Words) -> tuple[Hashes, Offsets]:
    """Hashes of the tokens of each document data[offsets[i]:offsets[i + 1]], and the offsets of the documents."""
    data = frozen(data, np.uint8, "data")
    offsets = frozen_offsets(offsets, len(data))
    refuse_longer(int(np.diff(offsets).max(initial=0)))
    return _core.tokenise(data, offsets, frozen(stage1, np.uint16, "stage1"), frozen(stage2, np.uint32, "stage2"))


def characters(data: Bytes, offsets: Offsets, stage1: Blocks, stage2: Words) -> tuple[Hashes, Offsets]:
    """Hashes of the characters of each document's tokens, run together, and the offsets of the documents.

    A character is a code point of the canonical form, and has the hash of a token that consists of it.
    """
    data = frozen(data, np.uint8, "data")
    offsets = frozen_offsets(offsets, len(data))
    refuse_longer(int(np.diff(offsets).max(initial=0)))
    return _core.characters(data, offsets, frozen(stage1, np.uint16, "stage1"), frozen(stage2, np.uint32, "stage2"))


def spans(data: Bytes, stage1: Blocks, stage2: Words) -> Offsets:
    """Start and end, in bytes of the original text, of each token of one document: (n, 2) int64.

    The tokens of `tokenise`, in its order. A span reaches from the first byte of a token's first character to the last
    of its last; a character that becomes parts of two tokens (Thai sara am) is in the spans of both.
    """
    data = frozen(data, np.uint8, "data")
    refuse_longer(len(data))
    return _core.token_spans(data, frozen(stage1, np.uint16, "stage1"), frozen(stage2, np.uint32, "stage2"))


def refuse_longer(length: int) -> None:
    """Refuse a document whose positions may not fit into 32 bits."""
    if length > LONGEST_DOCUMENT:
        raise InputError(
            f"a document has {length} bytes of text; the longest that can be tokenised has {LONGEST_DOCUMENT}: split it"
        )
