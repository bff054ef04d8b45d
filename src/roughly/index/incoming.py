"""Documents in any form that callers give, as batches of the schema `model.DOCUMENTS`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import pyarrow as pa

from roughly.errors import InputError
from roughly.model import DOCUMENTS
from roughly.settings import ReadOptions
from roughly.sources.collector import identify, joined
from roughly.sources.columns import GUESSES, text_names
from roughly.sources.feature_lists import feature_texts, is_of_features
from roughly.sources.memory_table import MemoryTable
from roughly.sources.part import INDEX, POSITION, Part, id_origin

AT_ONCE = 2_000
"""Documents that are signed and added in one transaction: enough to make the cost of a transaction small."""
PLAIN = ReadOptions()
_BYTES = 32 << 20
_FACTS = ("title", "url", "date", "source")


class CompleteDocument(dict[str, Any]):
    """A document whose `text` is all that is compared: nothing of its other columns is joined to it any more."""


def with_ids(documents: Any, reading: ReadOptions) -> Any:
    """Documents in any form that callers add, as batches or mappings that all have an id.

    A text without an id gets one made from its content, so that adding it again changes nothing, and adding another
    never replaces it. The index of a pandas frame is an id if it is more than a number of rows.
    """
    if isinstance(documents, str | Mapping):
        return [_with_id(documents, reading)]
    if isinstance(documents, pa.RecordBatch | pa.Table) and documents.schema.equals(DOCUMENTS):
        return documents
    from roughly.sources.frames import read_frame

    frames = read_frame(documents, reading)
    if frames is not None:
        counted = type(getattr(documents, "index", None)).__name__ == "RangeIndex"
        return [batch for part in frames for batch in read_part(part, by_content=counted)]
    if isinstance(documents, bytes) or not isinstance(documents, Iterable):
        return documents  # refused by `batches`
    listed = (_with_id(document, reading) for document in documents)
    return list(listed) if isinstance(documents, list | tuple) else listed


def _with_id(document: Any, reading: ReadOptions) -> Any:
    document = _with_text(document, reading)
    if isinstance(document, str):
        return {"doc_id": identify(document), "text": document}
    if isinstance(document, Mapping) and document.get("doc_id", document.get("id")) is None:
        text = document.get("text")
        return with_default_id(document, identify(text) if isinstance(text, str) else "without an id")
    return document


def with_default_id(document: Mapping[str, Any], doc_id: str) -> Mapping[str, Any]:
    """The document with this id, unless it has one."""
    if document.get("doc_id", document.get("id")) is not None:
        return document
    named = {**document, "doc_id": doc_id}
    return CompleteDocument(named) if isinstance(document, CompleteDocument) else named


def _with_text(document: Any, reading: ReadOptions) -> Any:
    """The document with the text that is compared: of several columns, or of the words of features."""
    if isinstance(document, CompleteDocument) or not isinstance(document, Mapping):
        return document
    if reading.text_column is not None:
        return CompleteDocument(document, text=_joined_columns(document, reading.text_column))
    name = reading.features
    if name is None or name not in document:
        return document
    doc_id, given = document.get("doc_id", document.get("id")), document[name]
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise _not_features(name, doc_id)
    others = {key: value for key, value in document.items() if key != name}
    try:
        return CompleteDocument(others, text=feature_texts([given])[0].as_py())
    except InputError as problem:
        raise InputError(f"document {doc_id!r}, {name!r}: {problem}") from None


def _joined_columns(document: Mapping[str, Any], wanted: str) -> str:
    """The text of the columns of an index.

    Documents of services and of callers have `title` and `text`, whatever the columns of the files are called: a
    column that a document does not have is the field that it would be taken for. Where none of the columns is the
    text, the document's `text` is complete.
    """
    keys = [_key_of(column, document) for column in text_names(wanted, document)]
    if "text" in document and "text" not in keys and None in keys:
        keys = ["text"]
    values = {key: document[key] for key in keys if key is not None and document[key] is not None}
    doc_id = document.get("doc_id", document.get("id"))
    if not values:
        raise InputError(f"document {doc_id!r} has neither the columns of this index, {wanted!r}, nor a text")
    for key, value in values.items():
        if not isinstance(value, str):
            raise InputError(f"document {doc_id!r}: its {key!r} must be a string, not {_kind(value)}")
    return joined([*values.values()])


def _key_of(column: str, document: Mapping[str, Any]) -> str | None:
    """Under which name the document has a column."""
    if column in document:
        return column
    field = next((field for field, names in GUESSES.items() if column.lower() in names), None)
    return field if field in document else None


def batches(documents: Any, reading: ReadOptions, at_once: int = AT_ONCE) -> Iterator[pa.RecordBatch]:
    """Batches of documents from an Arrow batch or table, a mapping, or any number of mappings.

    A mapping has `doc_id` (or `id`) and `text`, or the columns or the features that `reading` names. It may have
    `title`, `url`, `date`, `source`, and `markup` where the text is HTML.
    """
    if isinstance(documents, pa.RecordBatch | pa.Table):
        yield from _rebatched([documents], reading, at_once)
        return
    if isinstance(documents, Mapping):
        documents = [documents]
    if isinstance(documents, str | bytes) or not isinstance(documents, Iterable):
        raise InputError(
            f"documents cannot be read from an object of type {type(documents).__name__}; "
            "give mappings with doc_id and text, or an Arrow table"
        )
    documents = iter(documents)
    pending: list[Any] = []
    for document in documents:
        if isinstance(document, pa.RecordBatch):
            yield from _rebatched(chain([document], documents), reading, at_once)
            return
        pending.append(document)
        if len(pending) == at_once:
            yield from_mappings(pending, reading)
            pending = []
    if pending:
        yield from_mappings(pending, reading)


def _rebatched(
    given: Iterable[pa.RecordBatch | pa.Table], reading: ReadOptions, at_once: int
) -> Iterator[pa.RecordBatch]:
    """Batches of `at_once` documents, or of fewer where these reach `_BYTES`."""
    pending: list[pa.RecordBatch] = []
    for piece in (one for some in given for one in _from_arrow(some, reading, at_once)):
        left = piece
        while left.num_rows:
            space = at_once - sum(one.num_rows for one in pending)
            pending.append(left.slice(0, space))
            left = left.slice(space)
            if pending[-1].num_rows == space or sum(one.nbytes for one in pending) >= _BYTES:
                yield pa.concat_batches(pending)
                pending = []
    if pending:
        yield pa.concat_batches(pending)


def one(document: Any, reading: ReadOptions) -> pa.RecordBatch:
    """The text or document of a query as a batch of one."""
    if isinstance(document, str):
        return from_mappings([{"doc_id": "", "text": document}], reading, named=False)
    if isinstance(document, Mapping):
        return from_mappings([document], reading, named=False)
    found = list(batches(document, reading))
    if len(found) != 1 or found[0].num_rows != 1:
        raise InputError("a query has one document; give many to `queries`")
    return found[0]


def from_mappings(documents: list[Any], reading: ReadOptions = PLAIN, *, named: bool = True) -> pa.RecordBatch:
    """A batch of mappings; without `named` they need no id."""
    columns: dict[str, list[Any]] = {name: [] for name in DOCUMENTS.names}
    for number, document in enumerate(documents):
        if not isinstance(document, Mapping):
            raise InputError(f"document {number}: a mapping with doc_id and text is wanted, not {_kind(document)}")
        document = _with_text(document, reading)
        doc_id, text = document.get("doc_id", document.get("id")), document.get("text")
        if doc_id is None or isinstance(doc_id, bool) or (named and doc_id == ""):
            if named:
                raise InputError(f"document {number} has no doc_id; documents of an index need an id of their own")
            doc_id = ""
        if reading.features is not None and not (isinstance(text, str) and is_of_features(text)):
            raise _not_features(reading.features, doc_id)
        if not isinstance(text, str):
            raise InputError(f"document {doc_id!r}: its text must be a string, not {_kind(text)}")
        is_html = {"html": True, "none": False}.get(reading.markup, bool(document.get("markup", False)))
        columns["row"].append(number)
        columns["doc_id"].append(str(doc_id))
        columns["text"].append(text)
        columns["markup"].append(is_html)
        for name in _FACTS:
            value = document.get(name)
            columns[name].append(None if value is None else str(value))
    try:
        return pa.RecordBatch.from_arrays([pa.array(columns[f.name], f.type) for f in DOCUMENTS], schema=DOCUMENTS)
    except UnicodeEncodeError as problem:
        raise InputError(f"a document is not valid Unicode: {problem.reason}; repair it first") from problem


def _from_arrow(data: pa.RecordBatch | pa.Table, reading: ReadOptions, at_once: int) -> Iterator[pa.RecordBatch]:
    table = pa.Table.from_batches([data]) if isinstance(data, pa.RecordBatch) else data
    if table.schema.equals(DOCUMENTS):
        for batch in table.to_batches(max_chunksize=at_once):
            if reading.features is not None and not all(map(is_of_features, batch.column("text").to_pylist())):
                raise _not_features(reading.features, batch.column("doc_id")[0].as_py())
            if batch.num_rows:
                yield batch
        return
    yield from read_part(MemoryTable(table, replace(reading, batch_size=at_once)))


def read_part(part: Part, *, by_content: bool = False) -> Iterator[pa.RecordBatch]:
    """The documents of a table; where it has no ids, or with `by_content` only numbers of rows, ids by content."""
    origin = id_origin([part]).kind
    numbered = origin == POSITION or (by_content and origin == INDEX)
    for chunk in part.chunks():
        parsed = part.parse(chunk)
        for reject in parsed.rejects:
            raise InputError(f"{reject.file}, {reject.record}: {reject.reason}; leave it out, or repair it")
        batch = parsed.batch
        if numbered:
            at = DOCUMENTS.get_field_index("doc_id")
            ids = pa.array(map(identify, batch.column("text").to_pylist()), pa.string())
            batch = batch.set_column(at, DOCUMENTS.field(at), ids)
        if batch.num_rows:
            yield batch


def unrepeated(ids: Sequence[str]) -> Iterator[slice]:
    """Consecutive ranges in which no id occurs twice: a later document with the same id replaces the earlier one."""
    seen: set[str] = set()
    first = 0
    for place, doc_id in enumerate(ids):
        if doc_id in seen:
            yield slice(first, place)
            first, seen = place, set()
        seen.add(doc_id)
    if first < len(ids):
        yield slice(first, len(ids))


def _not_features(column: str, doc_id: Any) -> InputError:
    return InputError(
        f"document {doc_id!r}: this index compares features, so a list of strings or whole numbers is wanted under "
        f"{column!r}"
    )


def _kind(value: Any) -> str:
    return "nothing" if value is None else f"an object of type {type(value).__name__}"
