"""Reading documents: one reader per file, all with the interface in `part`.

`open_parts` turns paths, globs, folders, URLs and standard input into parts; `parts_from_objects` does so for
tables, data frames and iterables of Python callers. Then all are read in the same way::

    for part in open_parts(["crawl/*.jsonl.gz"], ReadOptions(), spool):
        for chunk in part.chunks():          # in order, little more than I/O
            parsed = part.parse(chunk)       # heavy, on any thread
            parsed.batch                     # schema `model.DOCUMENTS`
            parsed.rejects                   # file, record, reason

To add a format: write its reader, either a `RecordFile` (records in one file), a `FolderPart` (one file, one
record) or a class of its own, and add it to the table in `formats`.
"""

from roughly.settings import ReadOptions
from roughly.sources.objects import data_or_paths, open_data, parts_from_objects
from roughly.sources.open import open_parts
from roughly.sources.part import Chunk, Mask, Parsed, Part, Rows

__all__ = [
    "Chunk",
    "Mask",
    "Parsed",
    "Part",
    "ReadOptions",
    "Rows",
    "data_or_paths",
    "open_data",
    "open_parts",
    "parts_from_objects",
]
