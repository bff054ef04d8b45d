"""One file of what is kept: its name, its format and its compression.

    -o kept.jsonl   -o kept.csv.gz   -o kept.parquet   -o kept.txt   -o -

`kept_conversion` writes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from roughly import checks
from roughly.errors import OutputError, SettingsError
from roughly.fast_dataclass import dataclass
from roughly.settings import FILE_FORMATS
from roughly.sources.formats import TAB_SUFFIXES, TABLE, format_of, suffix_of
from roughly.sources.part import Part
from roughly.sources.streams import SUFFIXES, Compression

_WRITTEN = (".jsonl", ".parquet", ".csv", ".tsv", ".txt")
# Endings of files that people name by habit.
_NOT_WRITTEN = frozenset(
    {
        *(".xlsx", ".xls", ".ods", ".arrow", ".feather", ".ipc", ".orc", ".avro", ".db", ".sqlite", ".duckdb", ".xml"),
        *(".zip", ".tar", ".tgz", ".bz2", ".xz", ".7z", ".lz4", ".pkl", ".npy", ".h5", ".doc", ".docx", ".pdf", ".log"),
    }
)


@dataclass(frozen=True)
class KeptFile:
    """The file to write. Without a format it has that of the input, if that is one file, and is JSONL otherwise."""

    path: Path
    format: str | None = None
    compression: Compression | None = None

    @classmethod
    def named(cls, name: str, format: str | None = None) -> KeptFile | None:
        """The file that a name asks for; None if the name is that of a folder."""
        if format is not None and format not in FILE_FORMATS:
            raise SettingsError(*checks.one_of("output_format", format, FILE_FORMATS))
        if name.endswith("/"):
            return None
        found = format or _format_of_ending(name)
        if found is None:
            _refuse_file_name(name)
            return None
        compression = SUFFIXES.get(Path(name).suffix.lower())
        if found == "parquet" and compression is not None:
            raise SettingsError(f"{name}: Parquet is compressed inside; leave out {Path(name).suffix}")
        return cls(Path(name), found, compression)


def check_parts(file: KeptFile, parts: Sequence[Part]) -> None:
    """Refuse a format that the input cannot be converted to, before any work is done."""
    if file.format in (None, *FILE_FORMATS):
        return
    if len(parts) > 1 or parts[0].format != file.format:
        raise OutputError(
            f"{file.path}: {file.format} can be written only if the input is one file of that format; "
            f"name a file of {', '.join(FILE_FORMATS)}, or a folder"
        )


def _refuse_file_name(name: str) -> None:
    """Refuse a name that looks like that of a file, although no format has its ending: nobody wants a folder of it."""
    import difflib

    path = Path(name)
    ending = path.suffix.lower()
    nearest = difflib.get_close_matches(ending, _WRITTEN, 1, 0.75) if ending[1:].isalnum() else []
    if (nearest or ending in _NOT_WRITTEN or ending in SUFFIXES) and not path.is_dir():
        raise SettingsError(
            f"{name}: a file with the ending {ending} cannot be written; endings are {', '.join(_WRITTEN)}, also with "
            f".gz or .zst; {name}/ is a folder" + (f". Did you mean {path.stem}{nearest[0]}?" if nearest else "")
        )


def _format_of_ending(name: str) -> str | None:
    """The format that a name asks for; None if it is that of a folder."""
    suffix = suffix_of(name)
    if suffix in TAB_SUFFIXES:
        return "tsv"
    if suffix in (".txt", ".text"):
        return "txt"
    found = format_of(name)
    return None if found is None or TABLE[found].is_gathered else found
