"""New documents against an archive: what the archive has is removed, and names the archive's document.

It is as if the archive's documents came before all new ones and all of them stayed. So new documents are asked for in
the index first; those that have a match go, and are hidden from the run; the rest is deduplicated among itself. A
document that resembles only one that went stays: its witness would not be there.

In `documents.parquet` and `pairs.parquet` of such a run a column `in_archive` says whether `kept_id`, or `right_id`,
names a document of the archive.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from roughly.errors import DuplicateIds
from roughly.index import Index, Match
from roughly.index.bound import check_same
from roughly.model import PAIRS, VERDICTS
from roughly.settings import Settings
from roughly.sources.part import Chunk, Parsed, Part
from roughly.threads import in_order

Ints = npt.NDArray[np.int64]
IN_ARCHIVE = pa.field("in_archive", pa.bool_(), nullable=False)


class Rest:
    """A part without the rows that the archive has."""

    def __init__(self, part: Part, hidden: Ints) -> None:
        self._part, self._hidden = part, hidden

    def __getattr__(self, name: str) -> Any:
        return getattr(self._part, name)

    def parse(self, chunk: Chunk) -> Parsed:
        """The documents of one piece that the archive does not have."""
        parsed = self._part.parse(chunk)
        if not len(self._hidden):
            return parsed
        rest = ~np.isin(parsed.batch.column("row").to_numpy(), self._hidden)
        return Parsed(parsed.batch.filter(pa.array(rest)), parsed.rejects)


class Against:
    """What an archive says of new documents."""

    def __init__(self, index: Index, parts: Sequence[Part], threads: int) -> None:
        self.index = index
        self.documents = 0
        self._ids: list[str] = []
        self._matches: list[Match] = []
        hidden: list[list[Ints]] = [[np.empty(0, np.int64)] for _ in parts]
        items = ((number, chunk) for number, part in enumerate(parts) for chunk in part.chunks())
        for number, batch, found in in_order(lambda item: self._ask(parts, *item), items, threads):
            gone = np.array([bool(matches) for matches in found], np.bool_)
            self.documents += len(found)
            self._ids += batch.column("doc_id").filter(pa.array(gone)).to_pylist()
            self._matches += [matches[0] for matches in found if matches]
            hidden[number].append(batch.column("row").to_numpy()[gone])
        self.rows = [np.concatenate(some) for some in hidden]
        self.parts: list[Part] = [Rest(part, rows) for part, rows in zip(parts, self.rows, strict=True)]

    def _ask(self, parts: Sequence[Part], number: int, chunk: Chunk) -> tuple[int, pa.RecordBatch, list[list[Match]]]:
        batch = parts[number].parse(chunk).batch
        return number, batch, self.index.queries(batch, limit=1) if batch.num_rows else []

    @property
    def removed(self) -> int:
        """How many documents the archive has."""
        return len(self._ids)

    def identity(self) -> list[Any]:
        """What must be the same for an unfinished run to go on."""
        return [self.index.fingerprint, [[len(rows), int(rows.sum())] for rows in self.rows]]

    def write(self, folder: Path) -> None:
        """Put what the archive has into the tables of the run, and into its account."""
        scores = {
            name: pa.array([getattr(match, name) for match in self._matches], pa.float64())
            for name in ("resemblance", "containment", "contained_in")
        }
        ids, names = pa.array(self._ids, pa.string()), pa.array([m.doc_id for m in self._matches], pa.string())
        count = len(self._ids)
        kind = pa.nulls(count, pa.string())
        documents = [ids, names, _every(False, count), names, *scores.values(), kind]
        pairs = [ids, names, *scores.values(), kind, _every(True, count)]
        found = _merge(folder / "documents.parquet", VERDICTS, documents, [("doc_id", "ascending")])
        _merge(folder / "pairs.parquet", PAIRS, pairs, [("left_id", "ascending"), ("right_id", "ascending")])
        if len(found) > 1 and pc.any(pc.equal(found["doc_id"][1:], found["doc_id"][:-1])).as_py():
            raise DuplicateIds("two new documents have one id, and the archive has one of them; name another id column")
        account = folder / "run.json"
        run = json.loads(account.read_text(encoding="utf-8"))
        run["against"] = {
            "archive": self.index.name, "fingerprint": self.index.fingerprint, "documents": self.documents,
            "removed": self.removed,
        }  # fmt: skip
        account.write_text(json.dumps(run, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def settings_against(index: Index, asked: Mapping[str, Any]) -> Settings:
    """The settings of the archive, and what was asked for beside them; whatever would change verdicts is refused."""
    own = index.settings.to_dict()
    own["options"] = dict(index.settings.options)
    settings = Settings.gather(own, {name: value for name, value in asked.items() if value is not None})
    check_same(index.bound, settings, index.name)
    return settings


def open_archive(where: str | os.PathLike[str], asked: Mapping[str, Any]) -> Index:
    """The archive; a secret key is among what was asked for."""
    given: Iterable[Mapping[str, Any]] = (asked, asked.get("options") or {})
    key_file = next((layer["key_file"] for layer in given if layer.get("key_file")), None)
    return Index.open(where, key_file=key_file)


def _every(value: bool, count: int) -> pa.Array:
    return pa.repeat(pa.scalar(value), count)


def _merge(path: Path, schema: pa.Schema, more: Sequence[pa.Array], order: list[tuple[str, str]]) -> pa.Table:
    mine = pq.read_table(path).cast(schema).append_column(IN_ARCHIVE, _every(False, pq.read_metadata(path).num_rows))
    theirs = pa.table(list(more), schema=schema).append_column(IN_ARCHIVE, _every(True, len(more[0])))
    both = pa.concat_tables([mine, theirs]).sort_by(order)
    pq.write_table(both, path, compression="zstd")
    return both
