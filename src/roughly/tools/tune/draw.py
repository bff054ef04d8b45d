"""Documents drawn from an input of any size, whole sets at a time.

A *set* is a group of documents that the labels say are the same; without labels every document is a set. A set is drawn
when the hash of its name with the seed is among the smallest: the draw depends neither on the order of the input nor on
threads, and a larger sample contains the smaller one. If every document is a set, a sample of the share s has s² of the
pairs: ratios of pairs are the same as in the whole, but based on fewer. Labelled documents are drawn before others, so
that a few labels in a large collection are all used.

Documents without words are left out: they are alike in nothing but that.
"""

from __future__ import annotations

import hashlib
import tempfile
from array import array
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from roughly.errors import InputError, InputMissing
from roughly.fast_dataclass import dataclass
from roughly.meter import Meter
from roughly.model import Reject
from roughly.settings import ReadOptions, Resources
from roughly.sources import open_data
from roughly.sources.collector import joined_texts
from roughly.sources.part import Chunk, Part
from roughly.text.canonical import tokenise
from roughly.threads import map_in_order
from roughly.tools.tune.sample_fields import SampleFields, known_fields

Ints = npt.NDArray[np.int64]
_SLACK = 4096
DrawnRow = tuple[int, str, str, str | None, str | None, tuple[str | None, ...]]
"""Place, id, text, date, set, and beside these DOM, title, url and source."""
_OUTSIDE = 1 << 62
"""Documents without a label have numbers from here on, so they are drawn after all others."""


@dataclass
class DrawnSample:
    """Documents in the order of their ids."""

    ids: list[str]
    texts: pa.Array  # large_string, markup removed; what is compared
    dates: list[str | None]
    sets: list[str | None]  # the name of the set of each; None: it has no label
    share: float  # fraction of all sets
    documents: int  # of the whole input
    rejects: list[Reject] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    outside: float = 1.0  # fraction of all documents without a label
    empty: int = 0  # documents without words that were drawn and left out
    seed: int = 0
    doms: pa.Array | None = None  # the DOM of each page, and other texts; None: no document is HTML, or nobody asked
    tokens: str = "words"  # what the texts are
    titles: pa.Array | None = None  # large_string; None: nobody asked, or they cannot be compared with the texts
    titled: str | None = None  # the columns of title and text, where there are titles, or texts have them already
    known: SampleFields | None = None  # what a verdict may compare beside texts; None: nothing, or nobody asked
    date_format: str | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def read_as(self, tokens: str) -> DrawnSample:
        """The same documents, compared by other tokens."""
        if tokens == self.tokens:
            return self
        if self.tokens == "dom":
            raise InputError("these documents were read as tokens of the DOM: their words are not there to compare")
        if self.doms is None:
            raise InputError("tokens=dom needs HTML, and no document is; --markup html reads every text as HTML")
        return replace(self, texts=self.doms, tokens=tokens)

    def with_titles(self, wanted: bool = True) -> DrawnSample:
        """The same documents, with their titles before their texts, as `--text-column` joins them, if wanted."""
        if not wanted:
            return self
        if self.titles is None:
            raise InputError("these documents were read without titles")
        return replace(self, texts=joined_texts([self.titles, self.texts]), titles=None, doms=None)

    @property
    def sizes(self) -> Ints:
        """Bytes of each text, in UTF-8."""
        found: Ints = pc.binary_length(self.texts).to_numpy(zero_copy_only=False).astype(np.int64)
        return found

    def part(self, size: int) -> DrawnSample:
        """A sample of this sample, drawn by the same rule; itself if it is no larger."""
        if len(self) <= size:
            return self
        drawn, texts = Draw(size, self.seed), self.texts
        for at, own in enumerate(self.sets):
            place = drawn.place(self.ids[at] if own is None else own, own is not None)
            if place is not None:
                drawn.add(place, self.ids[at], str(at), None, own)
        drawn.prune()
        rows = sorted(int(row[2]) for row in drawn.rows)
        chosen = pa.array(rows, pa.int64())
        return replace(
            self, ids=[self.ids[at] for at in rows], texts=texts.take(chosen),
            doms=None if self.doms is None else self.doms.take(chosen),
            titles=None if self.titles is None else self.titles.take(chosen),
            dates=[self.dates[at] for at in rows], sets=[self.sets[at] for at in rows],
            known=None if self.known is None else replace(self.known, fields=self.known.fields.take(np.array(rows))),
            share=self.share * drawn.share, outside=self.outside * drawn.outside,
        )  # fmt: skip

    @property
    def megabytes(self) -> float:
        """Of text, in UTF-8."""
        return float(self.sizes.sum()) / 1e6


def place_of(name: str, seed: int, purpose: str = "sample") -> int:
    """A random number of 63 bits, always the same for one name, seed and purpose."""
    key = f"{purpose}\0{seed}\0{name}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(key, digest_size=8).digest()) >> 1


class Draw:
    """The documents with the smallest numbers so far; at most some multiple of `size` are in memory."""

    def __init__(self, size: int, seed: int) -> None:
        self._size, self._seed = size, seed
        self._limit = 2**63
        self.rows: list[DrawnRow] = []
        self._seen = array("q")

    def place(self, own: str, labelled: bool = True) -> int | None:
        """The number of a document of this set; None if it is not drawn. Must be called once per document."""
        place = place_of(own, self._seed) >> 1 | (0 if labelled else _OUTSIDE)
        self._seen.append(place)
        return place if place <= self._limit else None

    def add(self, place: int, name: str, text: str, date: str | None, own: str | None, *beside: str | None) -> None:
        """Store a document that may be drawn; `beside` are its DOM, title, url and source."""
        self.rows.append((place, name, text, date, own, beside))
        if len(self.rows) > 2 * self._size + _SLACK:
            self.prune()

    @property
    def share(self) -> float:
        """The fraction of the labelled sets that was drawn."""
        return self._share(True)

    @property
    def outside(self) -> float:
        """The fraction of the documents without a label that was drawn; 1 if there are none."""
        return self._share(False)

    def _share(self, labelled: bool) -> float:
        seen = np.frombuffer(self._seen, np.int64) if self._seen else np.empty(0, np.int64)
        seen = np.unique(seen[(seen < _OUTSIDE) == labelled])
        drawn = {row[0] for row in self.rows if (row[0] < _OUTSIDE) == labelled}
        return len(drawn) / len(seen) if len(seen) and drawn else 1.0

    def prune(self) -> None:
        """Keep whole sets only, up to `size` documents."""
        self.rows.sort(key=lambda row: (row[0], row[1]))
        if len(self.rows) > self._size:
            places = [row[0] for row in self.rows]
            self._limit = places[self._size - 1]
            if places[self._size] == self._limit and places[0] < self._limit:
                self._limit = max(p for p in places if p < self._limit)  # a set that would be cut is left out
            self.rows = [row for row in self.rows if row[0] <= self._limit]


@dataclass(frozen=True)
class DrawSize:
    """The number of documents drawn, the seed, and how they are read."""

    size: int
    seed: int = 0
    main_text: bool = False
    outside: bool = False  # whether documents without a set are drawn
    dom: bool = False  # whether the DOM of HTML is read too
    titles: bool = False  # whether titles are read too, if `--text-column` could join them with the texts
    fields: Collection[str] = ()  # columns that a verdict may compare
    date_format: str | None = None


def draw(
    data: Any,
    paths: Sequence[Any] | None,
    *,
    wanted: DrawSize,
    set_of: Callable[[str, str | None], str | None],
    resources: Resources,
    reading: ReadOptions,
    meter: Meter | None = None,
) -> DrawnSample:
    """Read an input once and draw from it.

    `set_of` names the set of a document by its id and by its label, which is what `reading` takes for its url; None: it
    has no set, and is drawn if `wanted.outside`.
    """
    drawn, documents, rejects = Draw(wanted.size, wanted.seed), 0, []
    meter = meter or Meter()
    with tempfile.TemporaryDirectory(prefix="roughly-tune-", dir=resources.temp) as name:
        parts = open_data(data, paths, reading, Path(name))
        titled = _titled(parts, reading) if wanted.titles else None
        for batch, refused in _read(parts, wanted, resources.threads, meter):
            rejects += refused
            documents += len(batch["doc_id"])
            titled = None if batch["markup"].true_count else titled  # titles are no HTML
            named = zip(batch["doc_id"].to_pylist(), batch["url"].to_pylist(), strict=True)
            for n, (doc_id, label) in enumerate(named):
                own = set_of(doc_id, label)
                if own is None and not wanted.outside:
                    continue
                place = drawn.place(doc_id if own is None else own, own is not None)
                if place is not None:
                    dom = batch["dom"][n].as_py() if "dom" in batch else None
                    text, date, title, source = (batch[name][n].as_py() for name in ("text", "date", "title", "source"))
                    drawn.add(place, doc_id, text, date, own, dom, title, label, source)
    if not documents:
        raise InputMissing(f"no documents in {', '.join(part.name for part in parts[:3])}: there is nothing to tune on")
    drawn.prune()
    rows = sorted(drawn.rows, key=lambda row: row[1])
    ids = [row[1] for row in rows]
    if len(set(ids)) < len(ids):
        twice = next(a for a, b in pairwise(ids) if a == b)
        raise InputError(f"two documents have the id {twice!r}; name another column with --id-column")
    texts = pa.array([row[2] for row in rows], pa.large_string())
    use = np.flatnonzero(np.diff(tokenise(texts).offsets) > 0).tolist()
    rows = [rows[n] for n in use]
    pages, titles, urls, sources = zip(*(row[5] for row in rows), strict=True) if rows else ((), (), (), ())
    dates, sets = [row[3] for row in rows], [row[4] for row in rows]
    known = {"title": titles, "url": urls, "source": sources, "date": dates}
    titled = titled if any(titles) else None
    doms = [row[2] if dom is None else dom for dom, row in zip(pages, rows, strict=True)] if any(pages) else None
    return DrawnSample(
        [row[1] for row in rows], texts.take(pa.array(use, pa.int64())), dates, sets, drawn.share, documents, rejects,
        sorted({note for part in parts for note in part.notes}), drawn.outside, len(texts) - len(use), wanted.seed,
        None if doms is None else pa.array(doms, pa.large_string()),
        titles=None if titled is None else pa.array(titles, pa.large_string()), titled=titled,
        known=known_fields(known, sets, wanted.fields, wanted.date_format) if wanted.fields else None,
        date_format=wanted.date_format,
    )  # fmt: skip


def _titled(parts: Sequence[Part], reading: ReadOptions) -> str | None:
    """The columns of the title and the text, if all parts have the same and no title is a label."""
    found = {getattr(part, "titled", None) for part in parts}
    titled = found.pop() if len(found) == 1 else None
    return titled if titled is not None and reading.url_column not in titled.split(",") else None


def _read(
    parts: Sequence[Part], wanted: DrawSize, threads: int, meter: Meter
) -> Iterator[tuple[dict[str, pa.Array], list[Reject]]]:
    from roughly.text.markup import page_text, strip_column

    def make(item: tuple[Part, Chunk]) -> tuple[dict[str, pa.Array], list[Reject], int]:
        part, chunk = item
        parsed = part.parse(chunk)
        columns = {name: parsed.batch.column(name) for name in ("doc_id", "date", "url", "title", "source", "markup")}
        texts, markup = parsed.batch.column("text"), columns["markup"]
        columns["text"] = strip_column(texts, markup, page_text(wanted.main_text))
        if wanted.dom and markup.true_count:
            columns["dom"] = strip_column(texts, markup, "dom")
        return columns, parsed.rejects, chunk.nbytes

    items = ((part, chunk) for part in parts for chunk in part.chunks())
    with meter.stage("read", sum(part.size or 0 for part in parts), "bytes") as stage:
        for columns, rejects, nbytes in map_in_order(make, items, threads):
            stage.bytes += nbytes
            meter.advance(stage, stage.bytes)
            yield columns, rejects
