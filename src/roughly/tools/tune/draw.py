"""Documents drawn from an input of any size, whole sets at a time.

A *set* is what the labels say is the same; without labels every document is one by itself. A set is drawn when the
hash of its name with the seed is among the smallest: the draw depends neither on the order of the input nor on threads,
and a larger sample holds the smaller one. Of n documents with one set each a sample of the share s has s² of the pairs:
shares of pairs are the same as in the whole, but rest on fewer.
"""

from __future__ import annotations

import hashlib
import tempfile
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from roughly.errors import InputError, InputMissing
from roughly.meter import Meter
from roughly.model import Reject
from roughly.settings import ReadOptions, Resources
from roughly.sources import open_data
from roughly.sources.part import Chunk, Part
from roughly.threads import map_in_order

Ints = npt.NDArray[np.int64]
_SLACK = 4096


@dataclass
class DrawnSample:
    """Documents in the order of their ids."""

    ids: list[str]
    texts: pa.Array  # large_string, markup removed
    dates: list[str | None]
    sets: list[str]  # the name of the set of each
    share: float  # of all sets that there are
    documents: int  # of the whole input
    rejects: list[Reject] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def sizes(self) -> Ints:
        """Bytes of each text, in UTF-8."""
        found: Ints = pc.binary_length(self.texts).to_numpy(zero_copy_only=False).astype(np.int64)
        return found

    @property
    def megabytes(self) -> float:
        """Of text, in UTF-8."""
        return float(self.sizes.sum()) / 1e6


def place_of(name: str, seed: int, purpose: str = "sample") -> int:
    """A number of 63 bits by chance, always the same for one name, seed and purpose."""
    key = f"{purpose}\0{seed}\0{name}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(key, digest_size=8).digest()) >> 1


class Draw:
    """The documents with the smallest places so far; no more than some multiple of `size` are held."""

    def __init__(self, size: int, seed: int) -> None:
        self._size, self._seed = size, seed
        self._limit = 2**63
        self.rows: list[tuple[int, str, str, str | None, str]] = []  # place, id, text, date, set
        self._seen = array("q")

    def place(self, own: str) -> int | None:
        """The place of a document of this set; None where it is not drawn. To be asked once for every document."""
        place = place_of(own, self._seed)
        self._seen.append(place)
        return place if place <= self._limit else None

    def add(self, place: int, name: str, text: str, date: str | None, own: str) -> None:
        """Hold a document that may be drawn."""
        self.rows.append((place, name, text, date, own))
        if len(self.rows) > 2 * self._size + _SLACK:
            self.prune()

    @property
    def sets(self) -> int:
        """How many sets there are, drawn or not."""
        return len(np.unique(np.frombuffer(self._seen, np.int64))) if self._seen else 0

    def prune(self) -> None:
        """Keep whole sets only, as many as make `size` documents."""
        self.rows.sort(key=lambda row: (row[0], row[1]))
        if len(self.rows) > self._size:
            places = [row[0] for row in self.rows]
            self._limit = places[self._size - 1]
            if places[self._size] == self._limit and places[0] < self._limit:
                self._limit = max(p for p in places if p < self._limit)  # a set that would be cut stays out
            self.rows = [row for row in self.rows if row[0] <= self._limit]


@dataclass(frozen=True)
class DrawSize:
    """How many documents are drawn, by which seed, and what is read of them."""

    size: int
    seed: int = 0
    main_text: bool = False


def draw(
    data: Any,
    paths: Sequence[Any] | None,
    *,
    wanted: DrawSize,
    set_of: Callable[[str], str | None],
    resources: Resources,
    reading: ReadOptions,
    meter: Meter | None = None,
) -> DrawnSample:
    """Read an input once and draw from it. `set_of` names the set of a document; None leaves it out."""
    drawn, documents, rejects = Draw(wanted.size, wanted.seed), 0, []
    meter = meter or Meter()
    with tempfile.TemporaryDirectory(prefix="roughly-tune-", dir=resources.temp) as name:
        parts = open_data(data, paths, reading, Path(name))
        for batch, refused in _read(parts, wanted.main_text, resources.threads, meter):
            rejects += refused
            documents += len(batch["doc_id"])
            for n, doc_id in enumerate(batch["doc_id"].to_pylist()):
                own = set_of(doc_id)
                place = None if own is None else drawn.place(own)
                if own is not None and place is not None:
                    drawn.add(place, doc_id, batch["text"][n].as_py(), batch["date"][n].as_py(), own)
    if not documents:
        raise InputMissing(f"no documents in {', '.join(part.name for part in parts[:3])}: there is nothing to learn")
    drawn.prune()
    rows = sorted(drawn.rows, key=lambda row: row[1])
    ids = [row[1] for row in rows]
    if len(set(ids)) < len(ids):
        twice = next(a for a, b in pairwise(ids) if a == b)
        raise InputError(f"two documents have the id {twice!r}; name another column with --id-column")
    chosen = len({row[0] for row in rows})
    return DrawnSample(
        ids, pa.array([row[2] for row in rows], pa.large_string()), [row[3] for row in rows], [row[4] for row in rows],
        chosen / max(drawn.sets, 1), documents, rejects,
        sorted({note for part in parts for note in part.notes}),
    )  # fmt: skip


def _read(
    parts: Sequence[Part], main_text: bool, threads: int, meter: Meter
) -> Iterator[tuple[dict[str, pa.Array], list[Reject]]]:
    from roughly.text.markup import strip_column

    def make(item: tuple[Part, Chunk]) -> tuple[dict[str, pa.Array], list[Reject], int]:
        part, chunk = item
        parsed = part.parse(chunk)
        columns = {name: parsed.batch.column(name) for name in ("doc_id", "date")}
        columns["text"] = strip_column(parsed.batch.column("text"), parsed.batch.column("markup"), main_text)
        return columns, parsed.rejects, chunk.nbytes

    items = ((part, chunk) for part in parts for chunk in part.chunks())
    with meter.stage("read", sum(part.size or 0 for part in parts), "bytes") as stage:
        for columns, rejects, nbytes in map_in_order(make, items, threads):
            stage.bytes += nbytes
            meter.advance(stage, stage.bytes)
            yield columns, rejects
