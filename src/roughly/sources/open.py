"""From what the user typed to parts.

The order of the parts is the order of the inputs; within a folder or a glob, the order of the paths. Text
and mail files of one folder, or all that are given one by one, form one part. A file that is given twice is read once.
"""

from __future__ import annotations

import importlib
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from pathlib import Path

from roughly.errors import InputError, InputMissing
from roughly.fast_dataclass import dataclass
from roughly.settings import ReadOptions
from roughly.sources.files import File, MatchedFiles, find, local_file
from roughly.sources.first_bytes import STANDARD_INPUT, find_format
from roughly.sources.formats import FORMATS, TABLE, check_format, format_of, suffix_of, unknown_kind
from roughly.sources.names import common_folder, split_last, unique_names
from roughly.sources.part import Part
from roughly.sources.spool import spool_stream, spooled

WITH_LISTS = ("jsonl", "parquet")
"""Formats that have lists of features."""


@dataclass(slots=True)
class _Planned:
    """A part before it has a name: `path` below `root` is its preferred name."""

    format: str
    name: str
    root: str
    path: str
    files: list[File]
    maildir: Path | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def is_folder(self) -> bool:
        return TABLE[self.format].is_gathered or self.maildir is not None


def open_parts(inputs: Sequence[str | Path], options: ReadOptions, spool: Path) -> list[Part]:
    """Open files, folders, globs, URLs and `-`; standard input is stored in `spool`."""
    if not inputs:
        raise InputMissing("no input; give a file, a folder, a glob, a URL, or - for standard input")
    planned = _Planner(options, spool).plan(inputs)
    names = unique_names([(part.root, part.path) for part in planned])
    folders = sum(part.is_folder for part in planned)
    parts = []
    for part, name in zip(planned, names, strict=True):
        opened = _open(part, name, options, id_prefix=f"{name}/" if folders > 1 else "")
        opened.notes.extend(part.notes)
        parts.append(opened)
    return parts


def file_keys(inputs: Sequence[str | Path]) -> set[str]:
    """The identities of all files that are given, however they are given."""
    found = [find(given) for given in inputs if str(given) != "-"]
    return {key for some in found for key in [*(file.key for file in some.files), *map(str, some.maildirs)]}


def _open(planned: _Planned, kept_name: str, options: ReadOptions, id_prefix: str) -> Part:
    reader = _reader(planned.format)
    if options.features is not None and planned.format not in WITH_LISTS:
        raise InputError(
            f"{planned.name}: is {planned.format}; lists of features ({options.features}) are read from "
            f"{' or '.join(WITH_LISTS)}"
        )
    if planned.maildir is not None:
        return reader(planned.maildir, options, kept_name, id_prefix)
    if TABLE[planned.format].is_gathered:
        return reader(planned.name, planned.files, options, kept_name, id_prefix)
    return reader(planned.files[0], options, kept_name)


def _reader(kind: str) -> Callable[..., Part]:
    found = TABLE[kind]
    reader: Callable[..., Part] = getattr(importlib.import_module(found.module), found.reader)
    return reader


class _Planner:
    """Sorts files by format, input by input."""

    def __init__(self, options: ReadOptions, spool: Path) -> None:
        self._forced = check_format(options.format) if options.format is not None else None
        self._options = options
        self._spool = spool
        self._seen: set[str] = set()
        self._planned: list[_Planned] = []
        self._given_one_by_one: dict[str, _Planned] = {}

    def plan(self, inputs: Sequence[str | Path]) -> list[_Planned]:
        """The parts that the inputs will become."""
        for given in inputs:
            self._add(self._standard_input() if str(given) == "-" else find(given))
        for part in self._given_one_by_one.values():
            _find_root(part)
        return self._planned

    def _add(self, found: MatchedFiles) -> None:
        if self._forced == "maildir" and not found.maildirs:
            raise InputError(f"{found.given}: is not a Maildir: it has no folders cur and new")
        first = len(self._planned)
        notes: list[str] = []
        gathered, ignored = self._sort(found, notes)
        for kind, files in sorted(gathered.items()):
            self._gather(kind, files, found, f"-{kind}" if len(gathered) > 1 else "")
        for folder in found.maildirs:
            root, path = split_last(str(folder.resolve()))
            self._planned.append(_Planned("maildir", str(folder), root, path, [], folder))
        if ignored:
            listed = ", ".join(f"{suffix} ({count})" for suffix, count in sorted(ignored.items()))
            unknown = f"{found.given}: ignored files of unknown kinds: {listed}; --format reads them all"
            if len(self._planned) == first and not notes:
                known = ", ".join(sorted(FORMATS))
                missing = f"{unknown}. Nothing else is there; known endings are {known}"
                raise InputMissing("; ".join([missing, *found.notes]))
            notes.append(unknown)
        notes += found.notes
        if notes:
            self._planned[min(first, len(self._planned) - 1)].notes.extend(notes)

    def _sort(self, found: MatchedFiles, notes: list[str]) -> tuple[dict[str, list[File]], Counter[str]]:
        """Plan the files that are parts of their own; returns the files to be combined, and the ignored ones."""
        gathered: dict[str, list[File]] = {}
        ignored: Counter[str] = Counter()
        for file in found.files:
            kind = self._forced or format_of(file.relative)
            if self._forced is None and file.key not in self._seen and (kind is not None or found.named):
                kind, note = find_format(file, kind)
                notes += [] if note is None else [note]
            if file.key in self._seen:
                notes.append(f"{file.name} is given twice; it is read once")
            elif kind is None and found.named:
                raise unknown_kind(file.name)
            elif kind is None:
                ignored[suffix_of(file.relative) or "no ending"] += 1
            elif TABLE[kind].is_gathered:
                gathered.setdefault(kind, []).append(file)
            else:
                self._planned.append(_Planned(kind, file.name, found.root, file.relative, [file]))
            self._seen.add(file.key)
        return gathered, ignored

    def _gather(self, kind: str, files: list[File], found: MatchedFiles, ending: str) -> None:
        if not found.named:
            root, name = split_last(found.root)
            self._planned.append(_Planned(kind, found.given, root, name + ending, files))
        elif kind in self._given_one_by_one:
            self._given_one_by_one[kind].files.extend(files)
        else:
            part = _Planned(kind, found.given, "", "", files)
            self._given_one_by_one[kind] = part
            self._planned.append(part)

    def _standard_input(self) -> MatchedFiles:
        kind = self._forced or "jsonl"  # the first bytes may say otherwise
        if kind == "maildir":
            raise InputError("a Maildir is a folder; it cannot come from standard input")
        suffix = next(suffix for suffix, known in FORMATS.items() if known == kind)
        self._spool.mkdir(parents=True, exist_ok=True)
        if STANDARD_INPUT in self._seen:
            return MatchedFiles("-", str(self._spool), [], named=True)
        self._seen.add(STANDARD_INPUT)
        path = spooled(self._spool, f"stdin{suffix}") or spool_stream(
            sys.stdin.buffer, self._spool, f"stdin{suffix}", self._options.spool_limit
        )  # a resumed run has its input already; standard input is not read again
        file = replace(local_file(path, path.name), name=STANDARD_INPUT)
        return MatchedFiles("-", str(self._spool.resolve()), [file], named=True)


def _find_root(part: _Planned) -> None:
    """Name files that were given one by one by their paths below their common folder."""
    paths = [str(Path(file.path).absolute()) if file.fs is None else file.name for file in part.files]
    root = common_folder(paths)
    part.files = [
        replace(file, relative=path[len(root) :].lstrip("/")) for file, path in zip(part.files, paths, strict=True)
    ]
    part.root, part.path = split_last(root)
    if len(part.files) > 1:
        part.name = f"{part.name} and {len(part.files) - 1} more"
