"""`/passages`: the most repeated passages of a run, one with all its places, and a document with its spans marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

import pyarrow as pa
import pyarrow.compute as pc
from fastapi import APIRouter, Request
from fastapi.responses import Response

from roughly.errors import InputMissing
from roughly.report.visible import label
from roughly.service.collection.passages_collection import naming
from roughly.service.collection.served_collections import collections_of
from roughly.service.explorer.document_page import WINDOW
from roughly.service.explorer.paging import page_number, pages, whole_number
from roughly.service.explorer.rendering import show

router = APIRouter(include_in_schema=False)
PAGE = 50
"""Rows of a table."""
NAMED = 20
"""Places that are named beside a span, at most."""
BEFORE = 200
"""Characters shown before a place that a link leads to."""
Row = dict[str, Any]


def place_url(doc_id: str, character: int = 0, in_tests: bool = False) -> str:
    """The page of a document, from a little before a character on; an id may contain any character."""
    start = max(0, character - BEFORE)
    query = {"id": doc_id} | ({"test": "1"} if in_tests else {}) | ({"start": str(start)} if start else {})
    return f"/passages/document?{urlencode(query)}"


@router.get("/passages")
@router.get("/passages.json")
def passages(request: Request) -> Response:
    """The passages whose removal saves most."""
    found = collections_of(request).require_passages()
    count = pages(len(found.passages), PAGE)
    page = page_number(request, count)
    values = {
        "counts": found.run_json["counts"],
        "asked": found.run_json["request"],
        "has_tests": found.has_tests,
        "page": page,
        "passages": found.passages[(page - 1) * PAGE : page * PAGE],
    }
    return show(request, "passages.html", values, page_only={"pages": count, "place_url": place_url})


@router.get("/passages/items")
@router.get("/passages/items.json")
def items(request: Request) -> Response:
    """The items of the test set, those first of which most occurs in the input."""
    found = collections_of(request).require_passages()
    if not found.has_tests:
        raise InputMissing("the run has no test set: it was made without --against")
    count = pages(found.items.num_rows, PAGE)
    page = page_number(request, count)
    rows = found.items.slice((page - 1) * PAGE, PAGE).to_pylist()
    values = {"counts": found.run_json["counts"], "page": page, "items": rows}
    return show(request, "passages_items.html", values, page_only={"pages": count, "place_url": place_url})


@router.get("/passages/document")
@router.get("/passages/document.json")
def document(request: Request) -> Response:
    """A document with its repeated spans marked, and where else they occur."""
    found = collections_of(request).require_passages()
    doc_id, in_tests = request.query_params.get("id", ""), request.query_params.get("test") == "1"
    spans = found.spans_of(doc_id, in_tests)
    if not spans.num_rows:
        raise InputMissing(f"the run has no document {label(doc_id)} with a repeated passage; see the list of passages")
    text = found.text(spans, in_tests)
    length = 0 if text.text is None else len(text.text)
    start = min(whole_number(request, "start"), max(0, length - 1))
    window = None if text.text is None else text.text[start : start + WINDOW]
    if window is not None:
        spans = spans.filter((pc.field("char_end") > start) & (pc.field("char_start") < start + WINDOW))
    shown, copies = spans.to_pylist(), found.copies_of(doc_id, in_tests)
    values = {
        "doc_id": doc_id,
        "has_tests": found.has_tests,
        "in_tests": in_tests,
        "spans": [span | {"copies": _places(copies, span)} for span in shown[:PAGE]],
        "all_spans": len(shown),
        "text": window,
        "text_missing": text.why,
        "start": start,
        "length": length,
    }
    pieces = [] if window is None else _pieces(window, start, shown)
    page_only = {"pieces": pieces, "window": WINDOW, "place_url": place_url}
    return show(request, "passages_document.html", values, page_only=page_only)


@router.get("/passages/{number:int}")
@router.get("/passages/{number:int}.json")
def passage(request: Request, number: int) -> Response:
    """A passage and all places that hold it, in whole or in part."""
    found = collections_of(request).require_passages()
    if not 1 <= number <= len(found.passages):
        raise InputMissing(f"the run lists {len(found.passages):,} passages, and none with the number {number}")
    row = found.passages[number - 1]
    kept_id, start, end = found.kept_place(row["doc_id"], row["start"], row["end"])
    copies = naming(found.copies_of(kept_id, found.has_tests), start, end)
    is_there = pc.field("kept") & (pc.field("start") < end) & (pc.field("end") > start)
    count = pages(copies.num_rows, PAGE)
    page = page_number(request, count)
    values = {
        "passage": row,
        "kept_id": kept_id,
        "has_tests": found.has_tests,
        "kept": found.spans_of(kept_id, found.has_tests).filter(is_there).slice(0, NAMED).to_pylist(),
        "page": page,
        "copies": copies.slice((page - 1) * PAGE, PAGE).to_pylist(),
        "all_copies": copies.num_rows,
    }
    return show(request, "passage.html", values, page_only={"pages": count, "place_url": place_url})


def _places(copies: pa.Table, span: Row) -> list[Row]:
    """The first places that name a kept span."""
    found = naming(copies, span["start"], span["end"]) if span["kept"] else copies.slice(0, 0)
    places: list[Row] = found.slice(0, NAMED).select(["doc_id", "char_start", "tokens"]).to_pylist()
    return places


def _pieces(window: str, start: int, spans: Sequence[Row]) -> list[Row]:
    """The text in pieces: each with whether it is part of a span, and whether that is kept. Spans may overlap."""
    found, done = [], 0
    for span in spans:
        first = max(done, span["char_start"] - start)
        last = min(len(window), span["char_end"] - start)
        if last > first:
            found.append({"marked": False, "kept": True, "text": window[done:first]})
            found.append({"marked": True, "kept": span["kept"], "text": window[first:last]})
            done = last
    found.append({"marked": False, "kept": True, "text": window[done:]})
    return [piece for piece in found if piece["text"]]
