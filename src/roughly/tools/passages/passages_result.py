"""What `roughly.passages` returns: the tables of a run, and the texts without their repeated passages."""

from __future__ import annotations

import json
import shutil
import weakref
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from roughly.amounts import counted
from roughly.errors import InputError
from roughly.sources.parquet_open import parquet_table
from roughly.sources.part import Part
from roughly.tools.passages.span_edits import SpanRemoval


def is_passages_run(folder: Path) -> bool:
    """Whether a folder with a run.json was written by `passages`."""
    try:
        return "unit" in json.loads((folder / "run.json").read_text(encoding="utf-8")).get("request", {})
    except (OSError, ValueError, AttributeError, TypeError, RecursionError) as problem:
        raise InputError(f"{folder / 'run.json'} cannot be read ({problem}); run the command again") from problem


class PassagesResult:
    """The result of a run, in its folder. Without an output, the folder is deleted with this object."""

    def __init__(self, folder: Path, parts: list[Part], scratch: Path | None) -> None:
        self.folder, self._parts = folder, parts
        if scratch is not None:
            weakref.finalize(self, shutil.rmtree, scratch, ignore_errors=True)

    def __repr__(self) -> str:
        counts = self.summary["counts"]
        spans = f"{counted(counts['spans'], 'span')} in {counted(counts['documents_with_copies'], 'document')}"
        items = f", {counts['seen_items']:,} of {counted(counts['test_items'], 'test item')} seen"
        return f"<PassagesResult: {counted(counts['documents'], 'document')}, {spans}{items if self.leaked else ''}>"

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The content of run.json."""
        summary: dict[str, Any] = json.loads((self.folder / "run.json").read_text(encoding="utf-8"))
        return summary

    @property
    def spans(self) -> pa.Table:
        """Every span: document, start, end, whether it is kept, and the place that is kept."""
        return parquet_table(self.folder / "spans.parquet")

    @property
    def passages(self) -> pa.Table:
        """The passages whose removal saves most, with the number of their places and an excerpt."""
        return parquet_table(self.folder / "passages.parquet")

    @property
    def documents(self) -> pa.Table:
        """The documents with a span that is not kept."""
        return parquet_table(self.folder / "documents.parquet")

    @property
    def items(self) -> pa.Table | None:
        """The share of each test item that occurs in the input; None without `against`."""
        path = self.folder / "items.parquet"
        return parquet_table(path) if path.exists() else None

    @property
    def leaked(self) -> bool:
        """Whether some test item occurs in the input, in part or whole."""
        return bool(self.summary["counts"].get("seen_items"))

    def texts(self) -> pa.Table:
        """`doc_id` and `text` of every document, without the spans that are not kept.

        Documents that `do="remove"` removes whole are left out.
        """
        spans = self.spans.filter(pc.invert(pc.field("kept")))
        removed = set(self.documents.filter(pc.invert(pc.field("kept")))["doc_id"].to_pylist())
        names = spans["doc_id"].combine_chunks().dictionary_encode()
        names = names.combine_chunks() if isinstance(names, pa.ChunkedArray) else names
        number = {name: at for at, name in enumerate(names.dictionary.to_pylist())}
        edits = SpanRemoval(
            names.indices.to_numpy().astype(np.int64), spans["start"].to_numpy(), spans["end"].to_numpy()
        )
        ids: list[str] = []
        texts: list[str] = []
        for part in self._parts:
            for chunk in part.chunks():
                batch = part.parse(chunk).batch
                for doc_id, text in zip(batch["doc_id"].to_pylist(), batch["text"].to_pylist(), strict=True):
                    if doc_id not in removed:
                        ids.append(doc_id)
                        texts.append(edits.text(number[doc_id], text) if doc_id in number else text)
        return pa.table({"doc_id": pa.array(ids, pa.string()), "text": pa.array(texts, pa.large_string())})
