"""How much one record may take, and how far a file may unpack: no honest input comes near, and a bomb ends early.

`record` bytes are the most that any decoder makes for one record: it follows from `--memory` where a run knows it, or
from `--largest-record`. A file that has made a gigabyte and more than `ratio` times its compressed size is not read
further. Where records are read one by one, a compressed file may have 65,536, and beyond that each counts as 4 KB.
"""

from __future__ import annotations

from roughly.fast_dataclass import dataclass
from roughly.settings import ReadOptions

LARGEST_RECORD = 1 << 30
_SMALLEST_WINDOW = 1 << 27  # what zstd accepts without being asked
_LONGEST_WINDOW = 1 << 31  # what `zstd --long=31` needs
_REMEDY = "If it is not made to do harm, raise --memory or --largest-record"
_WINDOW = 8  # records that a window may hold


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """The limits of one reading."""

    record: int = LARGEST_RECORD
    ratio: int = 250

    @staticmethod
    def of(options: ReadOptions) -> ReadLimits:
        """The limits that the options set."""
        record = min(options.largest_record or LARGEST_RECORD, options.record_memory or LARGEST_RECORD)
        return ReadLimits(record, options.largest_ratio)

    @property
    def window(self) -> int:
        """The longest window of zstd, which it keeps in memory."""
        return min(max(_WINDOW * self.record, _SMALLEST_WINDOW), _LONGEST_WINDOW)

    def too_long(self, unpacked: bool = False) -> str:
        """Why a record is rejected."""
        return f"{'unpacks to more' if unpacked else 'longer'} than {_shown(self.record)}; it was not read. {_REMEDY}"


NO_LIMITS = ReadLimits()


def _shown(count: int) -> str:
    for power, unit in ((30, "GB"), (20, "MB"), (10, "KB")):
        if count >= 1 << power:
            return f"{count >> power} {unit}"
    return f"{count} bytes"
