"""Which records of a web archive are documents, and which other records are removed with them.

A document is a response, a resource or a conversion (WET) whose media type is HTML, XHTML or plain text. A
request or metadata record that is concurrent to a document (`WARC-Concurrent-To`, in either direction) is removed with
the document. Everything else is kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import BinaryIO

from roughly.fast_dataclass import dataclass
from roughly.sources.archive import Archive, ArchiveRecord
from roughly.sources.http import is_http, media_type
from roughly.sources.part import Mask

HTML = ("text/html", "application/xhtml+xml")
DOCUMENTS = (*HTML, "text/plain")
_DOCUMENT_RECORDS = ("response", "resource", "conversion", "arc")
_ATTACHED_RECORDS = ("request", "metadata")


def document_type(record: ArchiveRecord) -> str | None:
    """The media type if the record is a document, otherwise None."""
    kind = record.fields.get("warc-type", "").lower()
    if record.problem is not None or kind not in _DOCUMENT_RECORDS:
        return None
    if is_http(record.peek()):
        media = media_type(record.peek()) or record.fields.get("warc-identified-payload-type", "").lower()
    elif kind == "response" or record.fields.get("warc-target-uri", "").startswith(("dns:", "filedesc:")):
        return None  # records of other protocols, and the preamble of an ARC file
    else:
        media = record.fields.get("content-type", "").partition(";")[0].strip().lower()
    return media if media in DOCUMENTS else None


@dataclass(frozen=True, slots=True)
class _Entry:
    place: int | None
    is_document: bool
    is_attached: bool
    is_broken: bool
    record_id: str
    concurrent: frozenset[str]


@dataclass(frozen=True, slots=True)
class Plan:
    """What to copy: the numbers of the records, and their byte ranges if all offsets are known."""

    numbers: frozenset[int]
    documents: int
    ranges: list[tuple[int, int]] | None

    @staticmethod
    def make(archive: Archive, keep: Mask) -> Plan:
        """Go through the archive once and decide about every record."""
        entries = [_entry(record) for record in archive]
        places = [entry.place for entry in entries] + [archive.end]
        del entries[archive.count :]  # the last one may be cut short
        kept = [number < len(keep) and bool(keep[number]) for number in range(len(entries))]
        removed = [entry for number, entry in enumerate(entries) if entry.is_document and not kept[number]]
        removed_ids = {entry.record_id for entry in removed} | set().union(*(entry.concurrent for entry in removed))

        def is_kept(number: int, entry: _Entry) -> bool:
            if entry.is_document or entry.is_broken:
                return kept[number]
            return not (entry.is_attached and removed_ids & {entry.record_id, *entry.concurrent})

        numbers = [number for number, entry in enumerate(entries) if is_kept(number, entry)]
        documents = sum(entries[number].is_document for number in numbers)
        return Plan(frozenset(numbers), documents, _ranges(numbers, places))

    def rewrite(self, archive: Archive, out: BinaryIO) -> None:
        """Write the planned records one after another; for files that are compressed as a whole."""
        for record in archive:
            if record.number in self.numbers:
                out.write(record.header)
                for piece in record.pieces():
                    out.write(piece)
                out.write(archive.separator)


def _entry(record: ArchiveRecord) -> _Entry:
    return _Entry(
        place=record.place,
        is_document=document_type(record) is not None,
        is_attached=record.fields.get("warc-type", "").lower() in _ATTACHED_RECORDS,
        is_broken=record.problem is not None,
        record_id=record.fields.get("warc-record-id", ""),
        concurrent=frozenset(record.fields.get("warc-concurrent-to", "").split()),
    )


def _ranges(numbers: Iterable[int], places: list[int | None]) -> list[tuple[int, int]] | None:
    ranges: list[tuple[int, int]] = []
    for number in numbers:
        start, stop = places[number], places[number + 1]
        if start is None or stop is None:
            return None
        if ranges and ranges[-1][1] == start:
            ranges[-1] = (ranges[-1][0], stop)
        else:
            ranges.append((start, stop))
    return ranges


def copy_bytes(source: BinaryIO, out: BinaryIO, count: int) -> None:
    """Copy this number of bytes from one open file to another."""
    while count and (piece := source.read(min(count, 1 << 20))):
        out.write(piece)
        count -= len(piece)
