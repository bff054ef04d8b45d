"""A corpus in memory: ids, texts, and titles, labels and dates if it has them."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from roughly.errors import InputError, InputMissing
from roughly.fast_dataclass import dataclass
from roughly.settings import ReadOptions
from roughly.sources import open_parts


@dataclass(frozen=True, eq=False)
class Corpus:
    """Documents in the order of their ids, so that no figure depends on the order of the files.

    Two are equal only if they are one object, so that what is computed from one can be cached.
    """

    name: str
    ids: list[str]
    texts: pa.Array  # large_string, markup removed
    titles: list[str | None]
    dates: list[str | None]
    labels: list[str | None]

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, places: Sequence[int]) -> Corpus:
        """Some of the documents, in this order."""
        return Corpus(
            self.name,
            [self.ids[i] for i in places],
            self.texts.take(pa.array(places, pa.int64())),
            [self.titles[i] for i in places],
            [self.dates[i] for i in places],
            [self.labels[i] for i in places],
        )

    def having(self, label: str) -> Corpus:
        """The documents with a label."""
        found = [i for i, own in enumerate(self.labels) if own == label]
        if not found:
            known = ", ".join(sorted({own for own in self.labels if own is not None})[:10]) or "none"
            raise InputError(f"{self.name} has no document with the label {label!r}; its labels are {known}")
        return self.take(found)

    def joined(self, ids: Sequence[str], texts: Sequence[str]) -> Corpus:
        """The corpus with more documents after its own."""
        more = [None] * len(ids)
        column = pa.concat_arrays([self.texts, pa.array(texts, pa.large_string())])
        return Corpus(
            self.name, [*self.ids, *ids], column, [*self.titles, *more], [*self.dates, *more], [*self.labels, *more]
        )


def read_corpus(paths: Sequence[str], *, label_column: str | None = None, text_column: str | None = None) -> Corpus:
    """All documents of some files; records that cannot be read stop it, since they would change the figures."""
    from roughly.text.markup import strip_column

    options = ReadOptions(text_column=text_column, source_column=label_column)
    columns: dict[str, list[str | None]] = {name: [] for name in ("doc_id", "title", "date", "source")}
    texts: list[pa.Array] = []
    with tempfile.TemporaryDirectory(prefix="roughly-lab-") as spool:
        for part in open_parts(list(paths), options, Path(spool)):
            for chunk in part.chunks():
                parsed = part.parse(chunk)
                if parsed.rejects:
                    first = parsed.rejects[0]
                    raise InputError(f"{first.file}, {first.record}: {first.reason}; an experiment needs every record")
                for name, values in columns.items():
                    values += parsed.batch.column(name).to_pylist()
                texts.append(strip_column(parsed.batch.column("text"), parsed.batch.column("markup")))
    if not columns["doc_id"]:
        raise InputMissing(f"no documents in {', '.join(paths)}")
    ids = [str(own) for own in columns["doc_id"]]
    if len(set(ids)) < len(ids):
        raise InputError(f"two documents of {', '.join(paths)} have one id; an experiment names documents by id")
    labels: list[str | None] = columns["source"] if label_column else [None for _ in ids]
    name = ", ".join(Path(path).name.removesuffix(".parquet") for path in paths)
    order = np.argsort(np.array(ids), kind="stable").tolist()
    return Corpus(name, ids, pa.concat_arrays(texts), columns["title"], columns["date"], labels).take(order)
