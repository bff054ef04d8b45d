"""A zstd frame, decompressed a few blocks at a time, so that little input never makes much output at once.

zstandard has no limit of output, and four bytes may be a block of 128 kB. The headers of blocks (RFC 8878, section
3.1.1) say where they end and how much they can make at most; the decompressor gets whole blocks for about a megabyte.
The interface is that of zlib's decompression objects.
"""

from __future__ import annotations

import zstandard

_AT_ONCE = 1 << 20
_LARGEST_BLOCK = 1 << 17  # bytes that a block can make at most
_SKIPPABLE = b"\x2a\x4d\x18"  # a frame without data begins with 0x50 … 0x5F and these
_RAW, _RUN = 0, 1  # types of blocks; others are compressed


class ZstdFrame:
    """One frame. `decompress` makes at most about a megabyte and leaves the rest in `unconsumed_tail`."""

    def __init__(self, longest_window: int) -> None:
        self._inner = zstandard.ZstdDecompressor(max_window_size=longest_window).decompressobj()
        self._held = b""  # the beginning of a header whose rest is still to come
        self._left = 0  # bytes of the current header, block or checksum that are still to come
        self._began = False
        self._is_last = False  # whether this is the last block
        self._has_checksum = False
        self.unconsumed_tail = b""

    @property
    def eof(self) -> bool:
        """Whether the frame has ended."""
        return bool(self._inner.eof)

    @property
    def unused_data(self) -> bytes:
        """What follows the frame."""
        return self._inner.unused_data + self.unconsumed_tail

    def decompress(self, data: bytes, size: int) -> bytes:
        """The output of the first blocks of `data`; `size` is not needed."""
        data, self._held = self._held + data, b""
        at = made = 0
        while at < len(data) and made < _AT_ONCE:
            if not self._left:
                if self._began and self._is_last:
                    break
                header = self._read_header(data[at : at + 8])
                if header is None:
                    break
                self._left, most = header
                made += most
            step = min(self._left, len(data) - at)
            at, self._left = at + step, self._left - step
        if not at:
            self._held, self.unconsumed_tail = data, b""
            return b""
        self.unconsumed_tail = data[at:]
        return bytes(self._inner.decompress(data[:at]))

    def _read_header(self, head: bytes) -> tuple[int, int] | None:
        """Bytes to the end of what begins here, and bytes that it can make at most; None if `head` is too short."""
        if self._began:
            return self._read_block_header(head)
        if len(head) < 8:
            return None
        self._began = True
        if head[1:4] == _SKIPPABLE:
            self._is_last = True
            return 8 + int.from_bytes(head[4:8], "little"), 0
        flags = head[4]
        one_segment = flags >> 5 & 1
        self._has_checksum = bool(flags >> 2 & 1)
        return 6 - one_segment + (0, 1, 2, 4)[flags & 3] + (one_segment, 2, 4, 8)[flags >> 6], 0

    def _read_block_header(self, head: bytes) -> tuple[int, int] | None:
        if len(head) < 3:
            return None
        header = int.from_bytes(head[:3], "little")
        kind, size = header >> 1 & 3, header >> 3
        self._is_last = bool(header & 1)
        length = 3 + (1 if kind == _RUN else size) + (4 if self._is_last and self._has_checksum else 0)
        return length, size if kind in (_RAW, _RUN) else _LARGEST_BLOCK
