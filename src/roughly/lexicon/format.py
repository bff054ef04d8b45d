"""The lexicon's file: one file, read by memory map.

    preamble   64 bytes: magic, version, length of the header, digest of the header, digest of the body
    header     JSON in UTF-8, padded with spaces: what the lexicon is, and the offset of each section
    body       the sections, each at a multiple of 64 bytes, zeros between them

| section | type | |
|---|---|---|
| `hashes` | uint64 | token hashes, ascending |
| `counts` | uint32 | document frequency of each |
| `directory` | uint32 | 2^b + 1 positions: of the first hash whose highest b bits are 0, 1, 2, … |
| `offsets` | uint32, or uint64 from 4 GB of text on | where each term begins in `text`, and where the last ends |
| `text` | uint8 | the terms in canonical (decomposed) UTF-8, in the order of their hashes |

Numbers are little-endian. It does not record when, where or in what order it was made, so a collection always gives the
same bytes. Digests are SHA-256. That of the header, which covers the version and the body's digest too, is always
checked; that of the body unless `verify` is false.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from roughly.errors import InputError, InputMissing
from roughly.fast_dataclass import dataclass
from roughly.lexicon.term_table import TermTable
from roughly.lexicon.thresholds import EVERYTHING, Thresholds

MAGIC = b"\x89RLEX\r\n\x1a"  # as in PNG: breaks when someone converts line ends or cuts the eighth bit
VERSION = 1
FORM = "canonical 1, Unicode 14.0.0"
"""Version of canonical form and token hash of a file; a test compares it with the code."""
PREAMBLE = struct.Struct("<8sII16s32s")
ALIGNMENT = 64
SECTIONS = ("hashes", "counts", "directory", "offsets", "text")
Data = bytes | mmap.mmap
_TYPES = {"<u8": np.uint64, "<u4": np.uint32, "|u1": np.uint8}


@dataclass(frozen=True, kw_only=True)
class LexiconFacts:
    """What a lexicon was made from and how. Lexicons are merged only if all but the number of documents agree."""

    documents: int
    filters: str = ""
    origin: str = ""  # of counts that were not made by Roughly
    form: str = FORM
    thresholds: Thresholds = EVERYTHING

    def kind(self) -> LexiconFacts:
        """The same without the number of documents."""
        return replace(self, documents=0)

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "documents": self.documents,
            "filters": self.filters,
            "form": self.form,
            "origin": self.origin,
            "thresholds": self.thresholds.to_dict(),
        }


class LexiconContents(NamedTuple):
    """The content of a file; the arrays are views of it."""

    facts: LexiconFacts
    table: TermTable
    directory: npt.NDArray[np.uint32]
    digest: str


def head_digest(header: bytes, body: bytes) -> bytes:
    """The digest of the header, from the preamble."""
    return hashlib.sha256(struct.pack("<I", VERSION) + header + body).digest()[:16]


def map_file(path: Path) -> tuple[Data, int]:
    """A file's bytes, mapped, and their number."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            return (mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), size) if size else (b"", 0)
    except FileNotFoundError as problem:
        raise InputMissing(f"no such file: {path}; make a lexicon with `roughly lexicon build`") from problem
    except OSError as problem:
        raise InputError(f"cannot read {path}: {problem.strerror or problem}; name a lexicon's file") from problem


def read(data: Data, size: int, name: str, verify: bool = True) -> LexiconContents:
    """Check a lexicon's bytes and make arrays of them, without copying."""
    view = memoryview(data)
    if bytes(view[:8]) != MAGIC[:size] or size == 0:
        raise InputError(f"{name} is not a lexicon; make one with `roughly lexicon build`")
    if size < PREAMBLE.size:
        raise _cut_short(name, f"it has {size:,} bytes and lacks its header")
    _, version, length, head, body = PREAMBLE.unpack_from(view)
    if version > VERSION:
        raise InputError(
            f"{name} has version {version}, made by a newer roughly; this one reads version {VERSION}: update it"
        )
    start = PREAMBLE.size + length
    if size < start:
        raise _cut_short(name, f"it has {size:,} bytes and lacks its header")
    header = bytes(view[PREAMBLE.size : start])
    if version < 1 or head_digest(header, body) != head:
        raise _damaged(name, "its header does not match its checksum")
    try:
        values = json.loads(header)
        facts = _facts(values)
        if size != values["size"]:
            raise _wrong_size(name, size, values["size"])
        if facts.form != FORM:
            raise InputError(
                f"{name} holds terms in the form “{facts.form}”, this version of roughly reads “{FORM}”: build it again"
            )
        if verify and hashlib.sha256(view[start:]).digest() != body:
            raise _damaged(name, "its contents do not match their checksum")
        arrays = {section: _array(data, *values["sections"][section]) for section in SECTIONS}
    except (KeyError, TypeError, ValueError) as problem:
        if isinstance(problem, InputError):
            raise
        raise _damaged(name, "its header makes no sense") from problem
    table = TermTable(arrays["hashes"], arrays["counts"], arrays["offsets"], arrays["text"])
    places = len(arrays["directory"]) - 1
    if not len(table.hashes) == len(table.counts) == len(table.offsets) - 1 or places < 2 or places.bit_count() != 1:
        raise _damaged(name, "its sections do not fit together")
    return LexiconContents(facts, table, arrays["directory"], body.hex())


def _facts(values: dict[str, Any]) -> LexiconFacts:
    plain = {name: values[name] for name in ("documents", "filters", "form", "origin")}
    return LexiconFacts(**plain, thresholds=Thresholds(**values["thresholds"]))


def _array(data: Data, at: int, count: int, kind: str) -> npt.NDArray[Any]:
    if count == 0:
        return np.empty(0, _TYPES[kind])
    return np.frombuffer(data, _TYPES[kind], count, at)


def _wrong_size(name: str, size: int, wanted: int) -> InputError:
    if size < wanted:
        return _cut_short(name, f"it has {size:,} of {wanted:,} bytes")
    return _damaged(name, f"it has {size - wanted:,} bytes too many")


def _cut_short(name: str, why: str) -> InputError:
    return InputError(f"{name} is cut short: {why}; copy it again, or build it again")


def _damaged(name: str, why: str) -> InputError:
    return InputError(f"{name} is damaged: {why}; copy it again, or build it again")
