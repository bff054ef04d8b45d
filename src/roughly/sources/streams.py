"""Reading and writing files of any compression.

`Reader` returns the decompressed bytes of a file in order. The first bytes show the compression, not the name. Gzip and
zstd files may have many members (frames), and the reader knows where each begins in the file, so a WARC record can be
copied without being compressed again. A truncated or damaged file is not an exception: all bytes before the damage are
returned, then the end, and `damage` says what and where. So does a file that unpacks to a multiple of its size that no
honest file reaches (`read_limits`).

`replacing` writes a file under a temporary name and renames it when all went well, so that nobody ever sees half a
file. The same input always gives the same bytes: a gzip header has no time stamp.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Literal, cast

import zstandard
from isal import igzip, isal_zlib

from roughly.errors import DiskFull, InputError, OutputError
from roughly.sources.read_limits import NO_LIMITS, ReadLimits
from roughly.sources.zstd_frame import ZstdFrame

Compression = Literal["gzip", "zstd"]

SUFFIXES: dict[str, Compression] = {".gz": "gzip", ".zst": "zstd"}
_MAGIC: dict[bytes, Compression] = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_SKIPPABLE_FRAME = range(0x184D2A50, 0x184D2A60)  # zstd frames that hold no data
_GZIP_ERROR = cast(type[Exception], isal_zlib.error)
_RAW_BLOCK = 1 << 17
UNSUSPICIOUS = 1 << 30  # bytes that a file may unpack to, however small it is
_FEW = 1 << 16  # records that it may have
_LEAST_COUNTED = 1 << 12  # bytes that a record counts as: a tiny one takes time too
_SALVAGED = 1 << 12  # bytes of damaged gzip at a time
_LONG_NAME = 240
_GZIP_LEVEL = 2  # isal has 0 to 3; 3 is three times slower for 8 % less
_ZSTD_LEVEL = 3


def compression_of(head: bytes) -> Compression | None:
    """The compression a file's first bytes show, or None."""
    for magic, compression in _MAGIC.items():
        if head.startswith(magic):
            return compression
    if len(head) >= 4 and int.from_bytes(head[:4], "little") in _SKIPPABLE_FRAME:
        return "zstd"
    return None


class Reader:
    """The decompressed bytes of one file, once, in order."""

    def __init__(self, raw: BinaryIO, name: str, limits: ReadLimits = NO_LIMITS) -> None:
        self.name = name
        self._limits = limits
        self.damage: str | None = None  # why the data ended early
        self._raw = raw
        self._input = b""  # read from the file, not yet decompressed
        self._read = 0  # bytes read from the file
        self._at_end = False
        self._ready = b""  # decompressed, not yet handed out
        self._is_fresh = True  # whether nothing of the member was decompressed yet
        self._start = 0  # of the member in the file
        self._made = 0  # bytes decompressed from the member
        self._made_before = 0  # and from those before it
        try:
            self._refill()
            self.compression = compression_of(self._input)
            _check_name(name, self._input, self.compression)
        except BaseException:
            raw.close()
            raise
        self._member: Any = self._new_member() if self.compression and self._input else None

    @property
    def position(self) -> int:
        """Bytes of the file used so far."""
        return self._read - len(self._input)

    def read(self, size: int) -> bytes:
        """At most `size` bytes, and none only at the end. One call never spans two members."""
        if self.compression is None:
            return self._read_plain(size)
        while not self._ready and not self._ended():
            self._decompress(size)
        piece, self._ready = self._ready[:size], self._ready[size:]
        return piece

    def read_block(self, size: int) -> bytes:
        """`size` bytes, or fewer at the end."""
        pieces, wanted = [], size
        while wanted and (piece := self.read(wanted)):
            pieces.append(piece)
            wanted -= len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def member_start(self) -> int | None:
        """The offset of the next byte if a member begins there; None inside a member."""
        if self.compression is None:
            return self.position
        while not (self._ready or self._is_fresh or self._ended() or self._member.eof):
            self._decompress(_RAW_BLOCK)
        is_inside = self._member is not None and not (self._is_fresh or self._member.eof)  # where it is damaged
        return None if self._ready or is_inside else self.position

    def close(self) -> None:
        """Close the underlying file."""
        self._raw.close()

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _refill(self) -> None:
        block = self._fetch(_RAW_BLOCK)
        self._at_end = not block
        self._read += len(block)
        self._input += block

    def _read_plain(self, size: int) -> bytes:
        head, self._input = self._input[:size], self._input[size:]
        if len(head) == size or self._at_end:
            return head
        rest = self._fetch(size - len(head))
        self._read += len(rest)
        self._at_end = not rest
        return head + rest if head else rest

    def _fetch(self, size: int) -> bytes:
        try:
            return self._raw.read(size)
        except OSError as error:
            raise InputError(f"{self.name}: cannot be read at byte {self._read}: {error}") from error

    def _new_member(self) -> Any:
        if self.compression == "gzip":
            return isal_zlib.decompressobj(wbits=31)
        return ZstdFrame(self._limits.window)

    def _ended(self) -> bool:
        return self.damage is not None or self._member is None

    def _decompress(self, size: int) -> None:
        """One step: begin the next member, or turn some input into output, or find the end."""
        if not self._input:
            self._refill()
        if self._at_end and not self._input:
            if not self._member.eof:
                self.damage = f"truncated {self.compression} at byte {self._read}"
            self._member = None
            return
        if self._member.eof:
            self._begin_member()
            return
        self._is_fresh = False
        try:
            self._ready = self._member.decompress(self._input, size)
            self._input = self._member.unused_data if self._member.eof else self._member.unconsumed_tail
        except (_GZIP_ERROR, zstandard.ZstdError) as error:
            self.damage = f"damaged {self.compression} near byte {self.position}: {error}"
            if self.compression == "gzip":
                self._ready = self._salvage()
        self._made += len(self._ready)
        made = self._made_before + self._made
        if made > UNSUSPICIOUS and made > self._limits.ratio * self.position:
            self._stop()

    def is_crowded(self, records: int) -> bool:
        """Whether the file has too many records for its size, of which this number was read; if so, it ends here."""
        counted = _LEAST_COUNTED * records
        if self.compression is None or records <= _FEW or counted <= self._limits.ratio * self.position:
            return False
        self._stop(f" (a record counts as {_LEAST_COUNTED >> 10} KB at least)")
        self._raw.seek(0, os.SEEK_END)
        self._read, self._input = self._raw.tell(), b""  # what is left counts as used: nothing more comes
        return True

    def _stop(self, note: str = "") -> None:
        self.damage = (
            f"unpacks to more than {self._limits.ratio} times its size{note}, at byte {self.position}; the rest was "
            "not read. If the file is not made to do harm, raise --largest-ratio"
        )

    def _salvage(self) -> bytes:
        """What a damaged gzip member holds beyond what was returned: the step that failed has lost its output.

        The member is decompressed again, in steps that become smaller near the damage.
        """
        member, pieces, made, step = zlib.decompressobj(wbits=31), [], 0, _SALVAGED
        self._raw.seek(self._start)
        data = b""
        while data := data or self._fetch(_RAW_BLOCK):
            before = member.copy()
            try:
                piece = member.decompress(data[:step])
            except zlib.error:
                if step == 1:
                    break
                member, step = before, step // 2
                continue
            data = data[step:]
            if made + len(piece) > self._made:
                pieces.append(piece[max(0, self._made - made) :])
            made += len(piece)
            if member.eof:
                break
        return b"".join(pieces)

    def _begin_member(self) -> None:
        while len(self._input) < 4 and not self._at_end:
            self._refill()
        if compression_of(self._input) == self.compression:
            self._member, self._is_fresh = self._new_member(), True
            self._start, self._made_before, self._made = self.position, self._made_before + self._made, 0
        elif self._input.strip(b"\0"):
            self.damage = f"bytes after the end of the {self.compression} data, at byte {self.position}"
        else:
            self._input = b""  # padding with zeros, as on tapes and block devices


def _check_name(name: str, head: bytes, found: Compression | None) -> None:
    named = SUFFIXES.get(Path(name).suffix.lower())
    if named is not None and head and found != named:
        raise InputError(
            f"{name}: the name says {named}, but the content is not {named}; "
            f"rename the file, or fetch it again if it is damaged"
        )


@contextmanager
def replacing(path: Path, compression: Compression | None = None) -> Iterator[BinaryIO]:
    """Write `path` under another name and rename it at the end; nothing is left of it after an error."""
    unfinished = path.with_name(unfinished_name(path.name))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.unlink(missing_ok=True)  # what a killed run left, or a link that someone else made
        raw = unfinished.open("xb")
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from error
    try:
        with raw, _compressed(raw, compression) as file:
            yield file
        unfinished.replace(path)
    except BaseException as error:
        unfinished.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(f"{path}: no space left on the disk; free some and run again") from error
        raise


def unfinished_name(name: str) -> str:
    """A name beside the file's own; of a long one only a digest fits into the system's 255 bytes."""
    encoded = os.fsencode(name)
    return f".{name if len(encoded) < _LONG_NAME else hashlib.sha256(encoded).hexdigest()}.part"


@contextmanager
def _compressed(raw: BinaryIO, compression: Compression | None) -> Iterator[BinaryIO]:
    if compression == "gzip":
        packed = igzip.IGzipFile(  # type: ignore[no-untyped-call]
            filename="", mode="wb", compresslevel=_GZIP_LEVEL, fileobj=raw, mtime=0
        )
        with io.BufferedWriter(packed, 1 << 20) as file:
            yield file
    elif compression == "zstd":
        with zstandard.ZstdCompressor(level=_ZSTD_LEVEL).stream_writer(raw, closefd=False) as file:
            yield cast(BinaryIO, file)
    else:
        yield raw
