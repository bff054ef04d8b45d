"""Web archives: WARC and ARC files, plain or compressed, and the text archives (WET) made of them.

A row is a record of any kind, so it finds the record again. Documents are responses and resources that are
HTML, XHTML or plain text, and the plain text that was converted from such; all other records are neither
documents nor rejects. `copy` keeps the records of kept documents and everything that was never a document, except the
requests and metadata of removed pages.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from roughly.errors import InputError
from roughly.fast_dataclass import dataclass
from roughly.model import Reject
from roughly.settings import ReadOptions
from roughly.sources.archive import Archive, ArchiveRecord
from roughly.sources.collector import Collector, excerpt, reason_of
from roughly.sources.encoding import charset_in_html, decode_text
from roughly.sources.files import File
from roughly.sources.http import is_http, media_type, read_payload
from roughly.sources.pages import DOCUMENTS, HTML, Plan, copy_bytes, document_type
from roughly.sources.part import ALONE, Chunk, CopyBudget, Mask, Parsed, Rows
from roughly.sources.read_limits import ReadLimits
from roughly.sources.streams import Reader, replacing

_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class ArchivedPage:
    """A record that is a document, as it is in the archive."""

    row: int
    fields: dict[str, str]
    media: str
    block: bytes


@dataclass(frozen=True, slots=True)
class Pages:
    """The input of `parse`: pages, and broken records found on the way."""

    pages: list[ArchivedPage]
    rejects: list[Reject]


class WebArchive:
    """A WARC or ARC file."""

    format = "warc"

    def __init__(self, file: File, options: ReadOptions, kept_name: str) -> None:
        self.name = file.name
        self.kept_name = kept_name
        self.size: int | None = file.size
        self.notes: list[str] = []
        self._file = file
        self._options = options
        self._limits = ReadLimits.of(options)
        with self._reader() as reader:
            first = next(iter(Archive(reader)), None)
        if first is None:
            self.notes.append("empty: no documents")
        elif first.problem is not None:
            raise InputError(
                f"{self.name}: does not begin like a WARC or ARC file ({first.problem}); name the format: --format"
            )

    def chunks(self, rows: Rows | None = None) -> Iterator[Chunk]:
        """Pages, about 4 MB together; with `rows`, only those."""
        wanted = None if rows is None else set(rows.tolist())
        group = Pages([], [])
        total = used = 0
        with self._reader() as reader:
            archive = Archive(reader)
            for record in archive:
                if wanted is not None and record.number not in wanted:
                    continue
                total += self._collect(record, group)
                if total >= _BYTES or len(group.pages) >= (self._options.batch_size or _BYTES):
                    yield Chunk(group.pages[0].row, group, reader.position - used)
                    group, total, used = Pages([], []), 0, reader.position
            if archive.damage is not None and wanted is None:
                group.rejects.append(Reject(self.name, self.locate(archive.count), archive.damage))
            if group.pages or group.rejects:
                first = group.pages[0].row if group.pages else archive.count
                yield Chunk(first, group, reader.position - used)

    def parse(self, chunk: Chunk) -> Parsed:
        """Decode the pages."""
        collector = Collector(self.kept_name)
        collector.rejects.extend(chunk.data.rejects)
        for page in chunk.data.pages:
            try:
                self._add(page, collector)
            except MemoryError:
                raise
            except Exception as error:
                collector.rejects.append(
                    Reject(self.name, self.locate(page.row), reason_of(error), page.fields.get("warc-target-uri", ""))
                )
        return collector.parsed()

    def revisits(self) -> Iterator[tuple[str, str | None]]:
        """Pages that the crawler found unchanged and did not store again: (url, the url that it refers to).

        If the record names its media type, only those that could be documents.
        """
        with self._reader() as reader:
            for record in Archive(reader):
                url = record.fields.get("warc-target-uri", "").strip("<>")
                media = media_type(record.peek()) if is_http(record.peek()) else None
                is_page = media is None or media in DOCUMENTS
                if record.fields.get("warc-type", "").lower() == "revisit" and url and is_page:
                    yield url, record.fields.get("warc-refers-to-target-uri", "").strip("<>") or None

    def copy(self, keep: Mask, folder: Path, budget: CopyBudget = ALONE) -> int:
        """Copy the kept records as they are in the file, compressed as they are."""
        with self._reader() as reader:
            plan = Plan.make(Archive(reader), keep)
        with self._reader() as reader:
            if plan.ranges is None:
                with replacing(folder / self.kept_name, reader.compression) as out:
                    plan.rewrite(Archive(reader), out)
                return plan.documents
        with self._file.open() as source, replacing(folder / self.kept_name) as out:
            for start, stop in plan.ranges:
                budget.check(stop - start)
                source.seek(start)
                copy_bytes(source, out, stop - start)
        return plan.documents

    def stamp(self) -> int:
        """When the input was last changed."""
        return self._file.changed or 0

    def is_untouched(self) -> bool:
        """Whether the input is as it was when it was opened."""
        return self._file.is_untouched()

    def locate(self, row: int) -> str:
        """The record's number, from 1."""
        return f"record {row + 1}"

    def _reader(self) -> Reader:
        return Reader(self._file.open(), self.name, self._limits)

    def _collect(self, record: ArchiveRecord, group: Pages) -> int:
        """Add the record if it is a page; returns its bytes. If the file ends inside it, `damage` says so."""
        problem = record.problem
        media = document_type(record)
        if media is not None and record.length > self._limits.record:
            problem = self._limits.too_long()
        if problem is not None:
            group.rejects.append(Reject(self.name, self.locate(record.number), problem, excerpt(record.header)))
        elif media is not None:
            block = b"".join(record.pieces())
            if len(block) == record.length:
                group.pages.append(ArchivedPage(record.number, record.fields, media, block))
                return len(block)
        return 0

    def _add(self, page: ArchivedPage, collector: Collector) -> None:
        url = page.fields.get("warc-target-uri", "").strip("<>") or None
        record_id = page.fields.get("warc-record-id", "").strip("<>")
        data, charset = page.block, None
        if is_http(page.block):
            payload = read_payload(page.block, self._limits)
            data, charset = payload.data, payload.charset
        is_html = page.media in HTML
        collector.add(
            page.row,
            record_id or f"{self.kept_name}:{page.row + 1}",
            decode_text(data, charset, charset_in_html(data) if is_html else None),
            markup={"html": True, "none": False}.get(self._options.markup, is_html),
            url=url,
            date=page.fields.get("warc-date"),
            source=_host(url) or self.kept_name,
        )


def _host(url: str | None) -> str | None:
    try:
        return urlsplit(url or "").hostname
    except ValueError:  # a bracket without its pair
        return None
