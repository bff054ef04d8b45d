"""A file of JSON for a parser that calls itself for every list within a list: one nested too deep ends the process.

Its bytes are decompressed, as those of other inputs, and read only as far as they are nested moderately.
"""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np

from roughly.errors import InputError
from roughly.sources.streams import Reader

DEEPEST = 100
"""Lists and objects that may be within each other."""
_ESCAPED = re.compile(rb"\\.", re.DOTALL)
_QUOTE = ord('"')
_STEPS = np.zeros(256, np.int8)
_STEPS[list(b"[{")], _STEPS[list(b"]}")] = 1, -1
_AT_ONCE = 1 << 20


class JsonBytes(io.RawIOBase):
    """The decompressed bytes of a file."""

    def __init__(self, path: Path) -> None:
        self._reader = Reader(path.open("rb"), str(path))
        self._rest = b""  # a backslash, whose character comes with the next bytes
        self._is_quoted = self._depth = 0

    def readable(self) -> bool:
        """Always."""
        return True

    def read(self, size: int = -1) -> bytes:
        """So many bytes, or fewer at the end."""
        pieces, wanted = [], size
        while wanted and (piece := self._reader.read(min(wanted, _AT_ONCE) if wanted > 0 else _AT_ONCE)):
            self._check(piece)
            pieces.append(piece)
            wanted -= len(piece) if wanted > 0 else 0
        if self._reader.damage is not None:
            raise InputError(f"{self._reader.name}: {self._reader.damage}")
        return b"".join(pieces)

    def close(self) -> None:
        """Close the file."""
        self._reader.close()
        super().close()

    def _check(self, data: bytes) -> None:
        """Follow quotes and brackets; refuse what is nested too deep."""
        data = self._rest + data
        if b"\\" in data:
            data = _ESCAPED.sub(b"", data)
        self._rest = b"\\" if data.endswith(b"\\") else b""
        letters = np.frombuffer(data, np.uint8)
        quoted = (np.cumsum(letters == _QUOTE, dtype=np.uint8) + self._is_quoted) & 1
        depths = self._depth + np.cumsum(_STEPS[letters] * (quoted == 0), dtype=np.int64)
        if not len(letters):
            return
        if depths.max() > DEEPEST:
            raise InputError(f"{self._reader.name}: has values nested more than {DEEPEST} deep; flatten them")
        self._is_quoted, self._depth = int(quoted[-1]), int(depths[-1])
