"""New documents against an archive: duplicates of archived documents are removed, with the archived one as witness.

The result is as if the archive's documents came before all new ones and all of them were kept. So the index is queried
with the new documents first; those with a match are removed and hidden from the run; the others are deduplicated among
themselves. A document that resembles only removed ones is kept, since it would have no witness.

In `documents.parquet` and `pairs.parquet` of such a run a column `in_archive` says whether `kept_id`, or `right_id`,
names a document of the archive.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from roughly.errors import DuplicateIds
from roughly.index import Index, Match
from roughly.index.index_config import check_same
from roughly.job.merging import merge_sorted, write_sorted
from roughly.model import SCORED_PAIRS, WRITTEN
from roughly.settings import Settings
from roughly.sources.parquet_open import open_parquet, parquet_schema, parquet_table
from roughly.sources.part import Chunk, Parsed, Part
from roughly.threads import map_in_order

Ints = npt.NDArray[np.int64]
IN_ARCHIVE = pa.field("in_archive", pa.bool_(), nullable=False)
_FOUND = SCORED_PAIRS
"""A new document, the most similar one of the archive, and the scores."""
_SPOOLED = 100_000  # matches in memory


class UnmatchedRows:
    """A part without the rows that match the archive."""

    def __init__(self, part: Part, hidden: Ints) -> None:
        self._part, self._hidden = part, hidden

    def __getattr__(self, name: str) -> Any:
        return getattr(self._part, name)

    def __reduce__(self) -> tuple[Any, ...]:
        return UnmatchedRows, (self._part, self._hidden)

    def parse(self, chunk: Chunk) -> Parsed:
        """The documents of one piece that do not match the archive."""
        parsed = self._part.parse(chunk)
        if not len(self._hidden):
            return parsed
        rest = ~np.isin(parsed.batch.column("row").to_numpy(), self._hidden)
        return Parsed(parsed.batch.filter(pa.array(rest)), parsed.rejects)


class ArchiveMatches:
    """The matches of new documents in an archive. In memory is one number per matched document; the rest is on disk."""

    def __init__(self, index: Index, parts: Sequence[Part], threads: int, temp: Path | None = None) -> None:
        self.index = index
        self.documents = self.removed = 0
        self._folder = Path(tempfile.mkdtemp(prefix="roughly-against-", dir=temp))
        self._clear = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._files: list[Path] = []
        waiting: list[tuple[Any, ...]] = []
        hidden: list[list[Ints]] = [[np.empty(0, np.int64)] for _ in parts]
        items = ((number, chunk) for number, part in enumerate(parts) for chunk in part.chunks())
        for number, batch, found in map_in_order(lambda item: self._query(parts, *item), items, threads):
            known = np.array([bool(matches) for matches in found], np.bool_)
            self.documents += len(found)
            self.removed += int(known.sum())
            ids = batch.column("doc_id").filter(pa.array(known)).to_pylist()
            first = (matches[0] for matches in found if matches)
            waiting += [
                (doc_id, match.doc_id, match.resemblance, match.containment, match.contained_in)
                for doc_id, match in zip(ids, first, strict=True)
            ]
            hidden[number].append(batch.column("row").to_numpy()[known])
            if len(waiting) >= _SPOOLED:
                self._spool(waiting)
                waiting = []
        self._spool(waiting)
        self.rows = [np.concatenate(some) for some in hidden]
        self.parts: list[Part] = [UnmatchedRows(part, rows) for part, rows in zip(parts, self.rows, strict=True)]

    def _query(self, parts: Sequence[Part], number: int, chunk: Chunk) -> tuple[int, pa.RecordBatch, list[list[Match]]]:
        batch = parts[number].parse(chunk).batch
        return number, batch, self.index.queries(batch, limit=1, match_empty=True) if batch.num_rows else []

    def _spool(self, matches: list[tuple[Any, ...]]) -> None:
        if not matches:
            return
        columns = [
            pa.array(values, field.type) for values, field in zip(zip(*matches, strict=True), _FOUND, strict=True)
        ]
        path = self._folder / f"{len(self._files):06d}.parquet"
        write_sorted(pa.table(columns, schema=_FOUND), _FOUND.names[:2], path)
        self._files.append(path)

    def identity(self) -> list[Any]:
        """What must be the same to resume an unfinished run."""
        return [self.index.fingerprint, [[len(rows), int(rows.sum())] for rows in self.rows]]

    def write(self, folder: Path) -> None:
        """Add the matches to the tables of the run, and their counts to run.json."""
        _merge(folder, "documents", self._files, _as_documents, ["doc_id"])
        _merge(folder, "pairs", self._files, _as_pairs, ["left_id", "right_id"])
        self._clear()
        account = folder / "run.json"
        run = json.loads(account.read_text(encoding="utf-8"))
        run["against"] = {
            "archive": self.index.name, "fingerprint": self.index.fingerprint, "documents": self.documents,
            "removed": self.removed,
        }  # fmt: skip
        account.write_text(json.dumps(run, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def settings_against(index: Index, request: Mapping[str, Any]) -> Settings:
    """The settings of the archive with the given options; an option that would change verdicts is refused."""
    own = index.settings.to_dict()
    own["options"] = dict(index.settings.options)
    settings = Settings.gather(own, {name: value for name, value in request.items() if value is not None})
    check_same(index.config, settings, index.name)
    return settings


class LentIndex(Index):
    """An index that the caller has open, and closes."""

    def close(self) -> None:
        """Leave it open."""


def open_archive(where: Index | str | os.PathLike[str], request: Mapping[str, Any]) -> Index:
    """The archive; its secret key, if any, is among the given options."""
    if isinstance(where, Index):
        return LentIndex.of(where.transactions)
    given: Iterable[Mapping[str, Any]] = (request, request.get("options") or {})
    key_file = next((layer["key_file"] for layer in given if layer.get("key_file")), None)
    return Index.open(where, key_file=key_file)


def _as_documents(found: pa.Table) -> dict[str, Any]:
    """Columns of documents.parquet for documents that match the archive."""
    names = found["right_id"]
    scores = {name: found[name] for name in _FOUND.names[2:]}
    ids = {"doc_id": found["left_id"], "cluster_id": names, "kept_id": names}
    return {**ids, "kept": _every(False, len(found)), **scores}


def _as_pairs(found: pa.Table) -> dict[str, Any]:
    """Columns of pairs.parquet for them and their witnesses."""
    return {**{name: found[name] for name in _FOUND.names}, "witness": _every(True, len(found))}


def _every(value: bool, count: int) -> pa.Array:
    return pa.repeat(pa.scalar(value), count)


def _filled(columns: dict[str, Any], count: int, schema: pa.Schema) -> pa.Table:
    """A table of these columns; the others are null."""
    arrays = [columns[f.name] if f.name in columns else pa.nulls(count, f.type) for f in schema]
    return pa.table(arrays, schema=schema)


def _merge(
    folder: Path, name: str, files: Sequence[Path], shown: Callable[[pa.Table], dict[str, Any]], order: list[str]
) -> None:
    """Merge the matches into a sorted table of the run; if it is sorted by one column, its values must be unique.

    The table is then one file, also where the engine wrote a folder of them.
    """
    path = folder / f"{name}.parquet"
    parts = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    model = WRITTEN[name].schema
    reasons = [field for field in parquet_schema(parts[0]) if field.name not in model.names]  # of a learned verdict
    schema = pa.schema([*model, *reasons])
    whole = schema.append(IN_ARCHIVE)
    with tempfile.TemporaryDirectory(dir=folder) as beside:
        theirs = [Path(beside) / file.name for file in files]
        for file, found in zip(theirs, files, strict=True):
            table = parquet_table(found)
            columns = shown(table) | {IN_ARCHIVE.name: _every(True, len(table))}
            pq.write_table(_filled(columns, len(table), whole), file)
        mine, merged = Path(beside) / "mine.parquet", Path(beside) / "merged.parquet"
        with pq.ParquetWriter(mine, whole) as writer:
            for own in parts:
                for batch in open_parquet(own).iter_batches():
                    table = pa.Table.from_batches([batch]).cast(schema)
                    writer.write_table(table.append_column(IN_ARCHIVE, _every(False, len(table))))
        last = None
        with pq.ParquetWriter(merged, whole, compression="zstd") as writer:
            for table in merge_sorted([mine, *theirs], order):
                if len(order) == 1:
                    _refuse_repeated(table[order[0]], last)
                    last = table[order[0]][len(table) - 1]
                writer.write_table(table)
        if path.is_dir():
            shutil.rmtree(path)
        merged.replace(path)


def _refuse_repeated(ids: pa.ChunkedArray, before: pa.Scalar | None) -> None:
    if ids[0] == before or (len(ids) > 1 and pc.any(pc.equal(ids[1:], ids[:-1])).as_py()):
        raise DuplicateIds("two new documents have one id, and the archive has one of them; name another id column")
