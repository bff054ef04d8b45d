"""A finished run of `passages`: its passages and spans from Parquet files, texts from its input."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from types import NoneType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from roughly.errors import RoughlyError
from roughly.features.metadata import refuse_damage, refuse_nulls
from roughly.job.rereading import Input
from roughly.report.visible import label
from roughly.service.collection.collection_types import CollectionFacts, DocumentText
from roughly.service.collection.parquet_ids import RowsById
from roughly.service.collection.run_collection import CHANGED, refuse_foreign_paths
from roughly.sources.parquet_open import parquet_table
from roughly.tools.passages.span_tables import TABLES

Row = dict[str, Any]
_AGAIN = "run passages again"
_NO_TEST_SET = "the test set was not read from files, or is not named with --input after the input"


def naming(copies: pa.Table, start: int, end: int) -> pa.Table:
    """Those of the copies whose kept place lies within bytes start : end, in part or whole."""
    first = copies["witness_start"].to_numpy()
    length = copies["end"].to_numpy() - copies["start"].to_numpy()
    return copies.filter(pa.array((first < end) & (first + length > start)))


def _checked(table: pa.Table, name: str) -> pa.Table:
    table = table.cast(TABLES[name].schema)
    refuse_nulls(table)
    return table


class PassagesCollection:
    """The folder of a finished run of `passages`."""

    def __init__(self, folder: Path, inputs: Sequence[str] | None = None) -> None:
        self.folder, self.inputs = folder, None if inputs is None else list(inputs)
        with refuse_damage(folder / "run.json", _AGAIN):
            self.run_json: Row = dict(json.loads((folder / "run.json").read_text(encoding="utf-8")))
            self._input_count = len(self.run_json["inputs"])
            self.has_tests = bool(self.run_json["against"])
            if {type(value) for value in self.run_json["counts"].values()} - {int, float, NoneType}:
                raise ValueError("counts that are no numbers")
            if self.run_json["request"]["do"] not in ("report", "mark", "remove"):
                raise ValueError("no work of passages")
        self._by_id = {
            (table, column): RowsById(folder / f"{table}.parquet", column)
            for table, column in (("spans", "doc_id"), ("spans", "witness_id"), ("known", "doc_id"))
        }
        self._input: Input | None = None
        self._opening = threading.Lock()

    def close(self) -> None:
        """Close the input."""
        if self._input is not None:
            self._input.close()

    def facts(self) -> CollectionFacts:
        """The name of the run, its input, what it compared, and the day it was made."""
        with refuse_damage(self.folder / "run.json", _AGAIN):
            return self._facts()

    def _facts(self) -> CollectionFacts:
        names, request = [Path(name).name for name in self.run_json["inputs"]], self.run_json["request"]
        given = ", ".join(label(name, 60) for name in names[:2]) + (
            f" and {len(names) - 2:,} more" if names[2:] else ""
        )
        unit = f"runs of {request['least']} tokens or more" if request["unit"] == "window" else f"{request['unit']}s"
        made = datetime.fromtimestamp((self.folder / "run.json").stat().st_mtime, UTC).date().isoformat()
        return CollectionFacts("passages", self.folder.resolve().name, given, unit, made)

    @cached_property
    def passages(self) -> list[Row]:
        """The passages that are listed, those first whose removal saves most."""
        path = self.folder / "passages.parquet"
        with refuse_damage(path, _AGAIN):
            table = _checked(parquet_table(path), "passages")
            return [{"number": number, **row} for number, row in enumerate(table.to_pylist(), 1)]

    @cached_property
    def items(self) -> pa.Table:
        """The items of the test set, those first of which most was seen."""
        path = self.folder / "items.parquet"
        with refuse_damage(path, _AGAIN):
            table = _checked(parquet_table(path), "items")
            return table.sort_by([("share", "descending"), ("seen_tokens", "descending"), ("test_id", "ascending")])

    def spans_of(self, doc_id: str, in_tests: bool = False) -> pa.Table:
        """The repeated spans of a document, in order; an item of the test set may have the same id."""
        spans = self._rows("spans", "doc_id", doc_id)
        # with a test set, its places are those that are kept
        return spans.filter(pc.field("kept") == in_tests) if self.has_tests else spans

    def copies_of(self, doc_id: str, in_tests: bool = False) -> pa.Table:
        """The spans of all documents that name a place of this one as the place that is kept."""
        copies = self._rows("spans", "witness_id", doc_id)
        return copies if self.has_tests == in_tests else copies.slice(0, 0)

    def kept_place(self, doc_id: str, start: int, end: int) -> tuple[str, int, int]:
        """The place that is kept of the passage at bytes start : end of a document: this one, or its witness.

        With a test set it is a place there.
        """
        is_there = (pc.field("start") <= start) & (pc.field("end") > start) & ~pc.field("kept")
        for row in self.spans_of(doc_id).filter(is_there).to_pylist():
            there = row["witness_start"] + start - row["start"]
            return row["witness_id"], there, there + end - start
        return doc_id, start, end

    def _rows(self, table: str, column: str, doc_id: str) -> pa.Table:
        path = self.folder / f"{table}.parquet"
        with refuse_damage(path, _AGAIN):
            return _checked(self._by_id[table, column].of(doc_id), table)

    def text(self, spans: pa.Table, in_tests: bool = False) -> DocumentText:
        """The text, as it was read, of the document that these spans belong to."""
        try:
            is_there = (pc.field("part") >= self._input_count) == in_tests
            place = self._rows("known", "doc_id", spans["doc_id"][0].as_py()).filter(is_there).to_pylist()[0]
            parts = self._open().parts
            if in_tests and len(parts) <= self._input_count:
                return DocumentText(None, _NO_TEST_SET)
            part = parts[place["part"]]
            for chunk in part.chunks(np.array([place["row"]], np.int64)):
                batch = part.parse(chunk).batch
                batch = batch.filter(pc.equal(batch.column("row"), place["row"]))
                if batch.num_rows and batch.column("doc_id")[0].as_py() == place["doc_id"]:
                    text = batch.column("text")[0].as_py()
                    if len(text) >= pc.max(spans["char_end"]).as_py():
                        return DocumentText(text)
        except IndexError:  # the input has fewer files than it had
            return DocumentText(None, CHANGED)
        except (RoughlyError, OSError) as problem:
            return DocumentText(None, str(problem))
        return DocumentText(None, CHANGED)

    def _open(self) -> Input:
        """The input, opened once."""
        with self._opening:
            if self._input is None:
                if not self.inputs:
                    refuse_foreign_paths(self.folder)
                self._input = Input(self.folder, self.run_json, self.inputs)
            return self._input
