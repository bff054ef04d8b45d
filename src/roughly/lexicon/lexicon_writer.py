"""Writes a lexicon's file: complete or not at all, from tables of consecutive ranges of hashes.

The number of terms is known only at the end, so each section is written to a file of its own, in a folder for spilling,
and these are joined at the end.
"""

from __future__ import annotations

import errno
import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from roughly.errors import DiskFull, InputError, OutputError, OutputExists, RoughlyError
from roughly.lexicon.format import ALIGNMENT, MAGIC, PREAMBLE, SECTIONS, VERSION, LexiconFacts, head_digest
from roughly.lexicon.term_table import TermTable, forget
from roughly.sources.streams import replacing

_MOST_TERMS = 2**32 - 1
_BLOCK = 1 << 20
_TYPES = {"hashes": "<u8", "counts": "<u4", "directory": "<u4", "offsets": "<u8", "text": "|u1"}


def check_output(output: Path, overwrite: bool) -> None:
    """Refuse an impossible output before any work is done."""
    if output.is_dir():
        raise OutputExists(f"{output} is a folder; a lexicon is a file, choose another name")
    if output.exists() and not overwrite:
        raise OutputExists(f"{output} already exists; add --overwrite to replace it")
    parent = next(folder for folder in (output.absolute().parent, *output.absolute().parents) if folder.exists())
    if not parent.is_dir():
        raise OutputError(f"cannot write {output}: {parent} is not a folder; choose another output")


def write_lexicon(output: Path, facts: LexiconFacts, tables: Iterable[TermTable], scratch: Path) -> None:
    """Write consecutive tables as one lexicon."""
    with room(output), replacing(output) as target:
        _join(target, facts, _spread(tables, scratch), scratch)


@contextmanager
def room(where: Path) -> Iterator[None]:
    """Turn errors of the disk into ours."""
    try:
        yield
    except RoughlyError:
        raise
    except OSError as problem:
        if problem.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(f"{where}: no space left on the disk; free some and run again") from problem
        raise OutputError(f"cannot write {where}: {problem.strerror or problem}; choose another output") from problem


def _spread(tables: Iterable[TermTable], scratch: Path) -> int:
    """Append every table to the files of the sections; returns the number of terms."""
    terms = end = 0
    names = ("hashes", "counts", "offsets", "text")
    with _files(scratch, names, "wb") as files:
        for table in tables:
            first, last = int(table.offsets[0]), int(table.offsets[-1])
            files["hashes"].write(table.hashes.astype("<u8", copy=False).data)
            files["counts"].write(table.counts.astype("<u4", copy=False).data)
            files["offsets"].write((table.offsets[:-1].astype(np.uint64) + np.uint64(end - first)).data)
            files["text"].write(np.ascontiguousarray(table.text[first:last]).data)
            terms += len(table.hashes)
            end += last - first
        files["offsets"].write(np.array([end], np.uint64).data)
    if terms > _MOST_TERMS:
        raise InputError(f"{terms:,} distinct terms are more than a lexicon can hold, {_MOST_TERMS:,}: use fewer texts")
    return terms


def _join(target: BinaryIO, facts: LexiconFacts, terms: int, scratch: Path) -> None:
    """Write the preamble, the header and the sections."""
    _write_directory(scratch, terms)
    types = dict(_TYPES)
    if (scratch / "text").stat().st_size < 2**32:
        _narrow(scratch / "offsets")
        types["offsets"] = "<u4"
    sizes = {name: (scratch / name).stat().st_size for name in SECTIONS}
    header = _header(facts, terms, sizes, types)
    target.write(bytes(PREAMBLE.size))
    target.write(header)
    digest = hashlib.sha256()
    for name in SECTIONS:
        with (scratch / name).open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
                target.write(block)
        gap = bytes(-sizes[name] % ALIGNMENT)
        digest.update(gap)
        target.write(gap)
        (scratch / name).unlink()
    body = digest.digest()
    target.seek(0)
    target.write(PREAMBLE.pack(MAGIC, VERSION, len(header), head_digest(header, body), body))


def _header(facts: LexiconFacts, terms: int, sizes: dict[str, int], types: dict[str, str]) -> bytes:
    """The header; the offsets of the sections depend on its own length."""
    length = ALIGNMENT
    while True:
        at = PREAMBLE.size + length
        sections: dict[str, list[Any]] = {}
        for name in SECTIONS:
            sections[name] = [at, sizes[name] // np.dtype(types[name]).itemsize, types[name]]
            at += sizes[name] + -sizes[name] % ALIGNMENT
        values = facts.to_dict() | {"terms": terms, "sections": sections, "size": at}
        text = json.dumps(values, sort_keys=True, ensure_ascii=False).encode()
        if len(text) <= length:
            return text.ljust(length)
        length = len(text) + -len(text) % ALIGNMENT


def _write_directory(scratch: Path, terms: int) -> None:
    """Where the hashes begin whose highest b bits are 0, 1, 2, …; about one hash per entry, or fewer."""
    bits = max(1, (max(terms, 1) - 1).bit_length())
    hashes = _mapped(scratch / "hashes", np.uint64)
    with (scratch / "directory").open("wb") as file:
        for first in range(0, 1 << bits, _BLOCK):
            places = np.arange(first, min(first + _BLOCK, 1 << bits), dtype=np.uint64) << np.uint64(64 - bits)
            file.write(np.searchsorted(hashes, places).astype("<u4").data)
            forget(hashes)
        file.write(np.array([terms], "<u4").data)


def _narrow(path: Path) -> None:
    """Rewrite a file of 64-bit numbers with 32 bits each."""
    numbers = _mapped(path, np.uint64)
    narrow = path.with_suffix(".narrow")
    with narrow.open("wb") as file:
        for first in range(0, len(numbers), _BLOCK):
            file.write(numbers[first : first + _BLOCK].astype("<u4").data)
            forget(numbers)
    del numbers
    narrow.replace(path)


def _mapped(path: Path, kind: type[np.uint64]) -> npt.NDArray[np.uint64]:
    if path.stat().st_size == 0:
        return np.empty(0, kind)
    return np.memmap(path, kind, "r")


@contextmanager
def _files(folder: Path, names: Iterable[str], mode: str) -> Iterator[dict[str, Any]]:
    files = {name: (folder / name).open(mode) for name in names}
    try:
        yield files
    finally:
        for file in files.values():
            file.close()
