"""Plain files of lines, read by ranges of bytes: each thread reads, counts and parses ranges of its own.

The lines of a range are those that begin in it. Their row numbers follow from the numbers of lines in all ranges before
it, so whoever reads a range first publishes how many it has, then waits for those before it (`LineRanges.first_row`).
Ranges are taken in order, so the wait is short; a range before it that no thread reads (a resumed run, a task of Spark)
is counted by whoever needs it.

It finds where the lines are on the way (`landmarks`): the second reading goes straight to them.
"""

from __future__ import annotations

import os
import threading
from typing import Any

from roughly.errors import InputError, InputMissing
from roughly.fast_dataclass import dataclass
from roughly.kernels.lines import LineRange, read_chosen_lines, read_line_range
from roughly.sources.files import File
from roughly.sources.landmarks import Landmark, Located, blocks_of


@dataclass(frozen=True, slots=True)
class ByteRange:
    """A range of the file: its number, and where it starts and stops."""

    number: int
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class _Found:
    """What reading a range found: rows are its lines and, if there is one, a line that is too long."""

    rows: int
    lines: int
    begin: int
    nbytes: int


class LineRanges:
    """The ranges of one file, and what is known of each."""

    def __init__(self, file: File, first: int, size: int, step: int, longest: int) -> None:
        """Lines begin at byte `first`; a range has `step` bytes, and a line at most `longest`."""
        self._file, self._first, self.longest = file, first, longest
        self.ranges = [
            ByteRange(number, start, min(start + step, size)) for number, start in enumerate(range(first, size, step))
        ]
        self._forget()

    def _forget(self) -> None:
        self._changed = threading.Condition()
        self._found: dict[int, _Found] = {}
        self._under_way: set[int] = set()  # being read by a thread
        self._first_rows = [0]  # of ranges 0 … n, all of which are known

    def __getstate__(self) -> dict[str, Any]:
        """What another process needs; it counts for itself."""
        return {name: getattr(self, name) for name in ("_file", "_first", "longest", "ranges")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()

    def read(self, number: int) -> LineRange:
        """The lines of a range; how many there are is known to all from now on."""
        with self._changed:
            self._under_way.add(number)
        try:
            wanted = self.ranges[number]
            lines = _read(self._file, self._first, wanted.start, wanted.stop, self.longest)
        except BaseException:
            with self._changed:
                self._under_way.discard(number)
                self._changed.notify_all()
            raise
        count = len(lines.ends)
        with self._changed:
            self._found[number] = _Found(count + lines.too_long, count, lines.begin, len(lines.data))
            self._under_way.discard(number)
            while (known := len(self._first_rows) - 1) in self._found:
                self._first_rows.append(self._first_rows[-1] + self._found[known].rows)
            self._changed.notify_all()
        return lines

    def first_row(self, number: int) -> int:
        """The row of the first line of a range; waits for those who read the ranges before it."""
        while True:
            with self._changed:
                missing = len(self._first_rows) - 1
                if number <= missing:
                    return self._first_rows[number]
                if missing in self._under_way:
                    self._changed.wait()
                    continue
            self.read(missing)

    def landmarks(self) -> list[Landmark] | None:
        """Where the lines are; None unless all ranges were read."""
        with self._changed:
            if len(self._first_rows) <= len(self.ranges):
                return None
            return [
                Landmark(self._first_rows[number], found.lines, found.begin, found.nbytes)
                for number, found in sorted(self._found.items())
                if found.lines
            ]


def _read(file: File, first: int, start: int, stop: int, longest: int) -> LineRange:
    try:
        lines = read_line_range(os.fsencode(file.path), first, start, stop, longest)
    except OSError as error:
        raise _unreadable(file, error) from error
    _check(file, lines.size, lines.changed)
    return lines


def read_located(file: File, located: Located) -> tuple[memoryview, Any]:
    """The wanted lines, one after another, and where each ends."""
    try:
        data, ends, is_other, size, changed = read_chosen_lines(
            os.fsencode(file.path), blocks_of(located.blocks), located.rows
        )
    except OSError as error:
        raise _unreadable(file, error) from error
    _check(file, size, changed)
    if is_other:
        raise _changed(file)
    return data.data, ends


def _check(file: File, size: int, changed: int) -> None:
    """The file must be the one that was found, or rows would not match."""
    if file.changed is not None and (size, changed) != (file.size, file.changed):
        raise _changed(file)


def _changed(file: File) -> InputError:
    return InputError(f"{file.name}: changed while it was being read; run again when it is complete")


def _unreadable(file: File, error: OSError) -> InputError:
    if isinstance(error, FileNotFoundError):
        return InputMissing(f"{file.name}: no such file; it was there when the run began")
    return InputError(f"{file.name}: cannot be read: {error.strerror or error}")
