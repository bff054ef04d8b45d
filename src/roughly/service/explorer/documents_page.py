"""`/documents`: a table of documents: filtered, sorted, with any columns, exported as CSV or JSON lines."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response, StreamingResponse

from roughly.errors import SettingsError
from roughly.service.collection.collection_types import Collection, DocumentRow
from roughly.service.collection.document_query import COLUMNS, VERDICTS, parse_query
from roughly.service.collection.input_columns import MOST_COLUMNS
from roughly.service.collection.page_limits import DEEPEST
from roughly.service.collection.served_collections import collection_of
from roughly.service.explorer.decided_marks import decisions_by_id, may_decide
from roughly.service.explorer.document_page import document_page, documents_at_url
from roughly.service.explorer.paging import page_number, pages
from roughly.service.explorer.rendering import show
from roughly.verify import KINDS

router = APIRouter(include_in_schema=False)
PER_PAGE = 50
SHOWN_COLUMNS = 8
EXPORTED = 10_000_000  # rows
EXPORTED_WITH_INPUT = 100_000
_AT_ONCE = 500
_INPUT = "input."
_SORTS = {
    "doc_id": "id", "title": "title", "kept": "kept", "resemblance": "resemblance", "containment": "containment",
    "kind": "kind", "cluster_id": "cluster", "date": "date", "source": "source", "tokens": "words", "bytes": "bytes",
}  # fmt: skip
_ASKED = ("q", "kept", "kind", "source", "cluster", "low", "high", "least", "most", "since", "until", "decided", "sort")


@router.get("/documents")
@router.get("/documents.json")
def documents(request: Request) -> Response:
    """The table; `?id=` and `?url=` are the page of one document."""
    twin = request.scope["path"].endswith(".json")
    if (doc_id := request.query_params.get("id")) is not None:
        return document_page(request, doc_id, twin)
    if url := request.query_params.get("url"):
        return documents_at_url(request, url, twin)
    collection = collection_of(request)
    page = page_number(request, DEEPEST // PER_PAGE)
    query = parse_query(request.query_params, offset=(page - 1) * PER_PAGE, limit=PER_PAGE)
    columns = _columns(request, collection)
    found = collection.documents(query)
    rows = list(_cells(request, collection, found.rows, columns))
    values: dict[str, Any] = {
        "in": collection.kind,
        "total": found.total,
        "page": page,
        "pages": None if found.total is None else pages(min(found.total, DEEPEST), PER_PAGE),
        "more": found.more,
        "columns": columns,
        "documents": [dict(zip(columns, row, strict=True)) for row in rows],
        "asked": {name: request.query_params.get(name, "") for name in _ASKED},
    }
    page_only = {
        "rows": list(zip(found.rows, rows, strict=True)),
        "headings": [(name, _heading(name), _next_sort(collection, name, query.sort)) for name in columns],
        "choices": [(name, COLUMNS[name], name in columns) for name in collection.document_columns],
        "input_choices": [(_INPUT + name, name, _INPUT + name in columns) for name in collection.input_columns()[:100]],
        "sorts": [(sort, f"by {sort}") for sort in collection.document_sorts],
        "is_run": collection.kind == "run",
        "by_beginning": collection.by_beginning,
        "kinds": KINDS,
        "verdicts": VERDICTS,
        "most_input": MOST_COLUMNS,
        "exports": [
            f"/documents.{kind}?{request.scope['query_string'].decode('ascii', 'replace')}" for kind in _WRITERS
        ],
        "filtered": query.filters,
        "may_decide": may_decide(request),
    }
    return show(request, "documents.html", values, page_only=page_only)


@router.get("/documents.csv")
@router.get("/documents.jsonl")
def export(request: Request) -> Response:
    """The view of the address, all pages of it, as a file."""
    kind = request.scope["path"].rpartition(".")[2]
    collection = collection_of(request)
    columns = _columns(request, collection)
    from_input = any(name.startswith(_INPUT) for name in columns)
    query = parse_query(request.query_params)
    limit = EXPORTED_WITH_INPUT if from_input else EXPORTED
    found = collection.all_documents(query, limit)
    cells = _cells(request, collection, found, columns, _AT_ONCE)
    name = f'attachment; filename="documents.{kind}"'
    write, media_type = _WRITERS[kind]
    return StreamingResponse(write(columns, cells), headers={"Content-Disposition": name}, media_type=media_type)


def _columns(request: Request, collection: Collection) -> list[str]:
    """`?c=`, several times: the columns to show; by default the first ones of the collection."""
    given = list(dict.fromkeys(request.query_params.getlist("c")))
    if not given:
        return list(collection.document_columns[:SHOWN_COLUMNS])
    from_input = [name for name in given if name.startswith(_INPUT)]
    known = set(collection.document_columns) | (
        {_INPUT + name for name in collection.input_columns()} if from_input else set()
    )
    unknown = [name for name in given if name not in known]
    if unknown:
        raise SettingsError(
            f"there is no column {unknown[0][:60]!r}; the columns are {', '.join(collection.document_columns)}, and "
            f"{_INPUT}NAME for those of the input"
        )
    if len(from_input) > MOST_COLUMNS:
        raise SettingsError(f"at most {MOST_COLUMNS} columns of the input are shown at once, not {len(from_input)}")
    return given if "doc_id" in given else ["doc_id", *given]


def _cells(
    request: Request,
    collection: Collection,
    rows: Iterable[DocumentRow],
    columns: Sequence[str],
    at_once: int = PER_PAGE,
) -> Iterator[list[Any]]:
    """The values of each row, in the order of the columns."""
    wanted = [name.removeprefix(_INPUT) for name in columns if name.startswith(_INPUT)]
    decided = decisions_by_id(request) if "decided" in columns and collection.kind == "run" else {}
    remaining = iter(rows)
    while some := list(islice(remaining, at_once)):
        extra = collection.input_values([row.doc_id for row in some], wanted) if wanted else {}
        for row in some:
            values = row.to_dict() | {"decided": "; ".join(one.words for one in decided.get(row.doc_id, ())) or None}
            own = extra.get(row.doc_id, {})
            yield [own.get(c.removeprefix(_INPUT)) if c.startswith(_INPUT) else values[c] for c in columns]


def _heading(name: str) -> str:
    return name.removeprefix(_INPUT) if name.startswith(_INPUT) else COLUMNS[name]


def _next_sort(collection: Collection, column: str, sort: str) -> tuple[str, str] | None:
    """(the order that a click on the heading asks for, aria-sort of the heading); None if one cannot sort by it."""
    name = _SORTS.get(column)
    if name not in collection.document_sorts:
        return None
    if sort.removeprefix("-") != name:
        return name, "none"
    return (name, "descending") if sort.startswith("-") else (f"-{name}", "ascending")


def _as_csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(columns)
    for number, row in enumerate(rows, 1):
        writer.writerow("" if value is None else value for value in row)
        if number % _AT_ONCE == 0:
            yield _taken(buffer)
    yield _taken(buffer)


def _as_lines(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    for row in rows:
        yield json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=True) + "\n"


def _taken(buffer: io.StringIO) -> str:
    text = buffer.getvalue().encode("utf-8", "replace").decode("utf-8")
    buffer.seek(0)
    buffer.truncate()
    return text


_WRITERS = {"csv": (_as_csv, "text/csv; charset=utf-8"), "jsonl": (_as_lines, "application/x-ndjson")}
