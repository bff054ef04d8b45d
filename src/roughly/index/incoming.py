"""Documents as callers hand them over, as batches of the schema `model.DOCUMENTS`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

import pyarrow as pa

from roughly.errors import InputError
from roughly.model import DOCUMENTS
from roughly.settings import ReadOptions

AT_ONCE = 2_000
"""Documents that are signed and added in one transaction; as many as make its own cost small."""
_BYTES = 32 << 20
_OTHERS = ("title", "url", "date", "source")


def batches(documents: Any, markup: str = "auto", at_once: int = AT_ONCE) -> Iterator[pa.RecordBatch]:
    """Batches of documents: of an Arrow batch or table, a mapping, or any number of mappings.

    A mapping has `doc_id` (or `id`) and `text`, and may have `title`, `url`, `date`, `source`, and `markup` where the
    text is HTML.
    """
    if isinstance(documents, pa.RecordBatch | pa.Table):
        yield from _gathered([documents], markup, at_once)
        return
    if isinstance(documents, Mapping):
        documents = [documents]
    if isinstance(documents, str | bytes) or not isinstance(documents, Iterable):
        raise InputError(
            f"documents cannot be read from an object of type {type(documents).__name__}; "
            "give mappings with doc_id and text, or an Arrow table"
        )
    documents = iter(documents)
    held: list[Any] = []
    for document in documents:
        if isinstance(document, pa.RecordBatch):
            yield from _gathered(chain([document], documents), markup, at_once)
            return
        held.append(document)
        if len(held) == at_once:
            yield from_mappings(held, markup)
            held = []
    if held:
        yield from_mappings(held, markup)


def _gathered(given: Iterable[pa.RecordBatch | pa.Table], markup: str, at_once: int) -> Iterator[pa.RecordBatch]:
    """Batches of just so many documents, or of as many as `_BYTES` hold."""
    held: list[pa.RecordBatch] = []
    for piece in (one for some in given for one in _from_arrow(some, markup, at_once)):
        left = piece
        while left.num_rows:
            room = at_once - sum(one.num_rows for one in held)
            held.append(left.slice(0, room))
            left = left.slice(room)
            if held[-1].num_rows == room or sum(one.nbytes for one in held) >= _BYTES:
                yield pa.concat_batches(held)
                held = []
    if held:
        yield pa.concat_batches(held)


def one(asked: Any, markup: str = "auto") -> pa.RecordBatch:
    """What a query asks about, a text or a document, as a batch of one."""
    if isinstance(asked, str):
        return from_mappings([{"doc_id": "", "text": asked}], markup, named=False)
    if isinstance(asked, Mapping):
        return from_mappings([asked], markup, named=False)
    found = list(batches(asked, markup))
    if len(found) != 1 or found[0].num_rows != 1:
        raise InputError("a query asks about one document; give many to `queries`")
    return found[0]


def from_mappings(documents: list[Any], markup: str = "auto", *, named: bool = True) -> pa.RecordBatch:
    """A batch of mappings; without `named` they need no id."""
    columns: dict[str, list[Any]] = {name: [] for name in DOCUMENTS.names}
    for number, document in enumerate(documents):
        if not isinstance(document, Mapping):
            raise InputError(f"document {number}: a mapping with doc_id and text is wanted, not {_kind(document)}")
        doc_id, text = document.get("doc_id", document.get("id")), document.get("text")
        if doc_id is None or isinstance(doc_id, bool) or (named and doc_id == ""):
            if named:
                raise InputError(f"document {number} has no doc_id; documents of an index need an id of their own")
            doc_id = ""
        if not isinstance(text, str):
            raise InputError(f"document {doc_id!r}: its text must be a string, not {_kind(text)}")
        is_html = {"html": True, "none": False}.get(markup, bool(document.get("markup", False)))
        columns["row"].append(number)
        columns["doc_id"].append(str(doc_id))
        columns["text"].append(text)
        columns["markup"].append(is_html)
        for name in _OTHERS:
            value = document.get(name)
            columns[name].append(None if value is None else str(value))
    try:
        return pa.RecordBatch.from_arrays([pa.array(columns[f.name], f.type) for f in DOCUMENTS], schema=DOCUMENTS)
    except UnicodeEncodeError as problem:
        raise InputError(f"a document is not valid Unicode: {problem.reason}; repair it first") from problem


def _from_arrow(data: pa.RecordBatch | pa.Table, markup: str, at_once: int) -> Iterator[pa.RecordBatch]:
    table = pa.Table.from_batches([data]) if isinstance(data, pa.RecordBatch) else data
    if table.schema.equals(DOCUMENTS):
        for batch in table.to_batches(max_chunksize=at_once):
            if batch.num_rows:
                yield batch
        return
    from roughly.sources.memory_table import MemoryTable

    options = ReadOptions(markup=markup, batch_size=at_once)
    part = MemoryTable(table, options)
    for chunk in part.chunks():
        parsed = part.parse(chunk)
        for reject in parsed.rejects:
            raise InputError(f"{reject.file}, {reject.record}: {reject.reason}; leave it out, or repair it")
        if parsed.batch.num_rows:
            yield parsed.batch


def unrepeated(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """The batch in pieces in which no id stands twice: a later document of one id replaces an earlier one."""
    ids = batch.column("doc_id").to_pylist()
    seen: set[str] = set()
    first = 0
    for place, doc_id in enumerate(ids):
        if doc_id in seen:
            yield batch.slice(first, place - first)
            first, seen = place, set()
        seen.add(doc_id)
    yield batch.slice(first)


def _kind(value: Any) -> str:
    return "nothing" if value is None else f"an object of type {type(value).__name__}"
