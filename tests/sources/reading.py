"""Reads inputs the way a run does, and checks on the way what every part promises."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from roughly.model import DOCUMENTS, Reject
from roughly.sources import Part, ReadOptions, open_parts, parts_from_objects


@dataclass
class Read:
    """All that came out of some inputs."""

    parts: list[Part]
    documents: list[dict[str, Any]]  # with the number of their part under "part"
    rejects: list[Reject]

    @property
    def part(self) -> Part:
        (part,) = self.parts
        return part

    @property
    def ids(self) -> list[str]:
        return [document["doc_id"] for document in self.documents]

    @property
    def texts(self) -> list[str]:
        return [document["text"] for document in self.documents]

    @property
    def notes(self) -> list[str]:
        return [note for part in self.parts for note in part.notes]

    @property
    def reasons(self) -> list[tuple[str, str]]:
        return [(reject.record, reject.reason) for reject in self.rejects]


def read(*inputs: str | Path, **options: Any) -> Read:
    """Open and read everything."""
    with tempfile.TemporaryDirectory() as spool:
        return read_parts(open_parts(inputs, ReadOptions(**options), Path(spool)))


def read_objects(data: Any, spool: Path, **options: Any) -> Read:
    """Read what a Python caller would hand over."""
    return read_parts(parts_from_objects(data, ReadOptions(**options), spool))


def read_parts(parts: list[Part]) -> Read:
    """Read every part and check its promises: schema, order of rows, second reading, bytes for progress."""
    result = Read(parts, [], [])
    assert len({part.kept_name for part in parts}) == len(parts)
    for number, part in enumerate(parts):
        documents, rejects = _read_part(part)
        result.documents += [{"part": number, **document} for document in documents]
        result.rejects += rejects
        _check_second_reading(part, documents)
    return result


def _read_part(part: Part) -> tuple[list[dict[str, Any]], list[Reject]]:
    documents: list[dict[str, Any]] = []
    rejects: list[Reject] = []
    for chunk in part.chunks():
        parsed = part.parse(chunk)
        again = part.parse(chunk)
        assert parsed.batch.equals(again.batch) and parsed.rejects == again.rejects, "parse is not pure"
        assert parsed.batch.schema.equals(DOCUMENTS)
        parsed.batch.validate(full=True)
        assert all(parsed.batch.column(field.name).null_count == 0 for field in DOCUMENTS if not field.nullable)
        documents += parsed.batch.to_pylist()
        rejects += parsed.rejects
    rows = [document["row"] for document in documents]
    assert rows == sorted(set(rows)), "rows are not in order"
    return documents, rejects


def _check_second_reading(part: Part, documents: list[dict[str, Any]]) -> None:
    """Every third document, asked for by row, comes out the same."""
    chosen = documents[::3]
    rows = np.array([document["row"] for document in chosen], np.int64)
    assert documents_at(part, rows) == chosen


def documents_at(part: Part, rows: np.ndarray) -> list[dict[str, Any]]:
    """The documents of the given rows, read a second time."""
    found = [part.parse(chunk).batch for chunk in part.chunks(rows)]
    return pa.Table.from_batches(found, DOCUMENTS).to_pylist() if found else []


def mask(documents: list[dict[str, Any]], keep: set[str]) -> np.ndarray:
    """The mask for `copy` that keeps the documents of these ids."""
    chosen = np.zeros(max((document["row"] for document in documents), default=-1) + 1, np.bool_)
    for document in documents:
        chosen[document["row"]] = document["doc_id"] in keep
    return chosen
