"""Reading documents a second time: candidates, to be compared, and what is kept, after it was copied.

Every text is held to the digests of the first reading: size and time of a file need not show an edit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.cluster.candidates import Ints
from roughly.errors import InputError
from roughly.fast_dataclass import dataclass
from roughly.model import DIGEST
from roughly.settings import Settings
from roughly.sources.part import Chunk, Part, coarse_chunks, located, pieces_of, reads_in_parse
from roughly.text.canonical import Tokens, buffers
from roughly.threads import map_as_completed, map_in_order

R = TypeVar("R")
_WHILE_READING = "while the run was reading it; run again when nothing writes to it"


@dataclass(frozen=True)
class RowsToFetch:
    """Documents to be read again from one part: their rows, ascending, their numbers among the candidates, and half of
    the digest of their tokens, or of their texts."""

    part: int
    rows: Ints
    docs: Ints
    digests: npt.NDArray[np.uint64]


def rows_by_part(part: Ints, rows: Ints, docs: Ints, digests: npt.NDArray[np.uint64]) -> list[RowsToFetch]:
    """Documents in the order of their parts and rows, one object per part."""
    edges = [0, *(np.flatnonzero(np.diff(part)) + 1).tolist(), len(part)]
    return [
        RowsToFetch(int(part[start]), rows[start:stop], docs[start:stop], digests[start:stop])
        for start, stop in pairwise(edges)
        if stop > start
    ]


def fetch_all(
    parts: Sequence[Part],
    wanted: Sequence[RowsToFetch],
    settings: Settings,
    threads: int,
    use: Callable[[Ints, Tokens], R],
) -> Iterator[R]:
    """Read the wanted documents again, a chunk at a time and in any order.

    The thread that read a chunk calls `use` with the documents' numbers and tokens; what it returns is yielded. A
    document that is no longer what it was ends the run.
    """
    from roughly.kernels.hashing import hash_sequences
    from roughly.text.canonical import tokenise, units_of
    from roughly.text.markup import strip_column

    def tokens_of(want: RowsToFetch, at: Ints, batch: pa.RecordBatch) -> R:
        texts = strip_column(batch.column("text"), batch.column("markup"), settings.page_text)
        tokens = tokenise(texts)
        _refuse_changes(parts, want, at, hash_sequences(tokens.hashes, tokens.offsets))
        return use(want.docs[at], tokens if settings.shingle_unit == "word" else units_of(texts, settings.shingle_unit))

    return _read_again(parts, wanted, threads, tokens_of)


def check_texts(
    parts: Sequence[Part], documents: Iterable[pa.RecordBatch], threads: int, since: str = _WHILE_READING
) -> None:
    """Read documents again (`part` and `row`, in order, and `raw_lo`), and end the run if a text has another digest."""
    from roughly.kernels.hashing import hash_bytes

    def check(want: RowsToFetch, at: Ints, batch: pa.RecordBatch) -> None:
        _refuse_changes(parts, want, at, hash_bytes(*buffers(batch.column("text"))), since)
        want.docs[at] = 1

    for some in documents:
        part, row, digest = (some[name].to_numpy() for name in ("part", "row", "raw_lo"))
        wanted = rows_by_part(part, row, np.zeros(len(row), np.int64), digest.view(np.uint64))
        for _ in _read_again(parts, wanted, threads, check):
            pass
        for want in wanted:
            if not want.docs.all():
                raise changed_input(parts[want.part], int(want.rows[int(want.docs.argmin())]), since)


def _read_again(
    parts: Sequence[Part],
    wanted: Sequence[RowsToFetch],
    threads: int,
    use: Callable[[RowsToFetch, Ints, pa.RecordBatch], R],
) -> Iterator[R]:
    """What `use` makes of the wanted documents, of which it is given the numbers among those of their part."""

    def items() -> Iterator[tuple[RowsToFetch, Chunk]]:
        for want in wanted:
            for chunk in coarse_chunks(parts[want.part], want.rows):
                yield want, chunk

    def read(want: RowsToFetch, chunk: Chunk) -> R:
        with located(parts[want.part], chunk.first_row):
            batch = parts[want.part].parse(chunk).batch
        rows = batch.column("row").to_numpy()
        at = np.minimum(np.searchsorted(want.rows, rows), len(want.rows) - 1)
        is_wanted = want.rows[at] == rows
        at = at[is_wanted]
        if len(at) < batch.num_rows:
            batch = batch.filter(pa.array(is_wanted))
        return use(want, at, batch)

    def read_pieces(item: tuple[RowsToFetch, Chunk]) -> list[R]:
        want, chunk = item
        return [read(want, piece) for piece in pieces_of(parts[want.part], chunk)]

    def whole(want: RowsToFetch) -> Iterator[R]:
        for chunk in parts[want.part].chunks(want.rows):
            yield read(want, chunk)

    if len(wanted) < 2 * threads or all(reads_in_parse(parts[want.part]) for want in wanted):
        for results in map_in_order(read_pieces, items(), threads):
            yield from results
    else:  # some formats decode while they produce chunks: then one thread per part is faster
        yield from map_as_completed(whole, wanted, threads)


def _refuse_changes(
    parts: Sequence[Part], want: RowsToFetch, at: Ints, digests: npt.NDArray[np.uint64], since: str = _WHILE_READING
) -> None:
    is_other = ((digests[:, 1] ^ want.digests[at]) & np.uint64(DIGEST)) != 0
    if is_other.any():
        raise changed_input(parts[want.part], int(want.rows[at[int(is_other.argmax())]]), since)


def changed_input(part: Part, row: int, since: str = _WHILE_READING) -> InputError:
    """The error for a document that differs at the second reading, though size and time of its file do not."""
    return InputError(f"{part.name} {part.locate(row)}: changed {since}")
