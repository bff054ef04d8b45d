"""`roughly.perturb`: edited copies of documents, with labels, in a folder.

| file | what |
|---|---|
| `documents.parquet` or `.jsonl` | the originals, unless left out, and the copies: id, text, source, kind, parameters |
| `pairs.csv` | each copy with its source: whether they are the same, and their exact scores |
| `run.json` | the request, and counts |
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, field
from itertools import islice
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from roughly.declarations import gather
from roughly.fast_dataclass import dataclass
from roughly.job.output_folder import OutputFolder
from roughly.option_types import PerturbedFolderOptions
from roughly.python_words import for_python
from roughly.tools.corpus import Corpus, read_corpus
from roughly.tools.perturb.make import LabelledCopy
from roughly.tools.perturb.make import perturb as copies_of
from roughly.tools.perturb.request import PerturbedFolder, PerturbRequest

COLUMNS = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("text", pa.large_string(), nullable=False),
        pa.field("source_id", pa.string(), nullable=False),  # itself for an original
        pa.field("cluster", pa.string(), nullable=False),  # the same for documents that are duplicates
        pa.field("kind", pa.string(), nullable=False),
        pa.field("parameters", pa.string(), nullable=False),  # JSON
    ]
)
_AT_ONCE = 2000


@dataclass
class Perturbed:
    """What was written."""

    folder: Path
    request: PerturbRequest
    originals: int = 0
    copies: int = 0
    kinds: dict[str, dict[str, float]] = field(default_factory=dict)

    def summary(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "asked": {**asdict(self.request), "kinds": list(self.request.kinds)}, "originals": self.originals,
            "copies": self.copies, "kinds": self.kinds,
        }  # fmt: skip


@for_python
def perturb(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    output: str | os.PathLike[str],
    overwrite: bool = False,
    **options: Unpack[PerturbedFolderOptions],
) -> Perturbed:
    """Write edited copies of documents with their labels to a folder.

    `options` are those of `PerturbRequest` (`kinds`, `alpha`, `copies`, `seed`, …), `originals`, `shingle_size`,
    `format` and `text_column`.
    """
    return write_copies(paths, gather(PerturbedFolder, options), Path(output), overwrite)


def write_copies(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    wanted: PerturbedFolder,
    output: Path,
    overwrite: bool,
) -> Perturbed:
    """The same with the request as an object."""
    question, originals = wanted.request, wanted.originals
    with OutputFolder(Path(output), overwrite=overwrite) as place:
        listed = [paths] if isinstance(paths, str | os.PathLike) else paths
        corpus = read_corpus([os.fspath(path) for path in listed], text_column=wanted.text_column)
        done = Perturbed(Path(output), question, len(corpus) if originals else 0)
        with (
            _Documents(place.result / f"documents.{wanted.format}") as out,
            _Labels(place.result / "pairs.csv") as labels,
        ):
            if originals:
                for first in range(0, len(corpus), _AT_ONCE):
                    out.write(_originals(corpus, first, min(len(corpus), first + _AT_ONCE)))
            made = copies_of(corpus, question)
            while some := list(islice(made, _AT_ONCE)):
                out.write(_copies(corpus, some))
                labels.write(corpus, some, wanted.shingle_size)
                done.copies += len(some)
        done.kinds = labels.means()
        text = json.dumps(done.summary(), indent=1, ensure_ascii=False)
        (place.result / "run.json").write_text(text + "\n", encoding="utf-8")
        place.finish()
    return done


def _originals(corpus: Corpus, first: int, last: int) -> pa.Table:
    ids = pa.array(corpus.ids[first:last], pa.string())
    count = last - first
    columns = [
        ids,
        corpus.texts.slice(first, count),
        ids,
        ids,
        pa.array(["original"] * count),
        pa.array(["{}"] * count),
    ]
    return pa.Table.from_arrays(columns, schema=COLUMNS)


def _copies(corpus: Corpus, some: list[LabelledCopy]) -> pa.Table:
    rows: dict[str, list[str]] = {name: [] for name in COLUMNS.names}
    for copy in some:
        source = corpus.ids[copy.source]
        values = (copy.doc_id, copy.text, source, source if copy.same else copy.doc_id, copy.kind, copy.parameters_json)
        for name, value in zip(rows, values, strict=True):
            rows[name].append(value)
    return pa.table(rows, schema=COLUMNS)


class _Documents:
    """Documents as Parquet or JSON lines, by the name's ending."""

    def __init__(self, path: Path) -> None:
        self._parquet = pq.ParquetWriter(path, COLUMNS, compression="zstd") if path.suffix == ".parquet" else None
        self._lines = None if self._parquet else path.open("wb")

    def __enter__(self) -> _Documents:
        return self

    def __exit__(self, *problem: object) -> None:
        for stream in (self._parquet, self._lines):
            if stream is not None:
                stream.close()

    def write(self, table: pa.Table) -> None:
        """Append."""
        if self._parquet is not None:
            self._parquet.write_table(table)
        elif self._lines is not None:
            self._lines.write(b"".join(orjson.dumps(row) + b"\n" for row in table.to_pylist()))


class _Labels:
    """pairs.csv, and the mean resemblance of each kind."""

    def __init__(self, path: Path) -> None:
        self._stream = path.open("w", encoding="utf-8", newline="")
        self._rows = csv.writer(self._stream, lineterminator="\n")
        self._rows.writerow(
            ["left_id", "right_id", "kind", "same", "resemblance", "containment", "contained_in"]
        )  # left is the copy
        self._sums: dict[str, list[float]] = {}

    def __enter__(self) -> _Labels:
        return self

    def __exit__(self, *problem: object) -> None:
        self._stream.close()

    def write(self, corpus: Corpus, some: list[LabelledCopy], shingle_size: int) -> None:
        """Append the labels of copies."""
        for copy, scores in zip(some, _scores(corpus, some, shingle_size), strict=True):
            same = "same" if copy.same else "different"
            self._rows.writerow([copy.doc_id, corpus.ids[copy.source], copy.kind, same, *scores])
            sums = self._sums.setdefault(copy.kind, [0.0, 0.0])
            sums[0] += 1
            sums[1] += scores[0]

    def means(self) -> dict[str, dict[str, float]]:
        """The number of copies of each kind, and their mean resemblance to the source."""
        return {kind: {"copies": int(n), "resemblance": total / n} for kind, (n, total) in self._sums.items()}


def _scores(corpus: Corpus, some: list[LabelledCopy], shingle_size: int) -> Iterator[tuple[float, float, float]]:
    """Resemblance and both containments of each copy with its source."""
    from roughly.features.shingle_sets import shingle_sets
    from roughly.kernels.sets import intersections
    from roughly.text.canonical import tokenise

    sources = corpus.texts.take(pa.array([copy.source for copy in some]))
    texts = pa.concat_arrays([pa.array([copy.text for copy in some], pa.large_string()), sources])
    sets = shingle_sets(tokenise(texts), shingle_size)
    own, other = np.arange(len(some)), np.arange(len(some)) + len(some)
    sizes = np.diff(sets.offsets)
    shared = intersections(sets.values, sets.offsets, own, other)
    for c, m, n in zip(shared.tolist(), sizes[own].tolist(), sizes[other].tolist(), strict=True):
        union = m + n - c
        yield (c / union if union else 1.0, c / m if m else float(not n), c / n if n else float(not m))
