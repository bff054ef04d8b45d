"""The plan: the whole road a document takes, on one screen, driven for every engine (`run`).

    sources → text → keys │ rank, collapse equal documents │ group keys → candidates │ read candidates again
            → compare exactly, best rank first → who is kept │ documents, pairs, clusters

An engine (`Engine`) keeps what flows between these steps and does the relational work, in one process or on the
workers of a cluster; the methods and the kernels decide. Below the plan stand the steps that engines share: sign a
chunk, fetch candidates again, decide. Work is spread over threads chunk by chunk and taken back in order, so the answer
never depends on their number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.cluster.candidates import Candidates, Ints, PairConstraints, SetLoader
from roughly.cluster.components import components
from roughly.cluster.scoring import NO_PAIRS, ResolveBudget, ScoredPairs
from roughly.cluster.star import Resolution, resolve
from roughly.dates import moments
from roughly.errors import MemoryTooSmall, TooManyPairs
from roughly.features.shingle_sets import Sets
from roughly.keep_rules import order_by
from roughly.meter import Meter, Stage
from roughly.methods import Judge, Keys, Method
from roughly.model import FACTS, Reject
from roughly.settings import Settings
from roughly.signing.text_batch import TextBatch
from roughly.sources.part import Chunk, Part
from roughly.text.canonical import Tokens
from roughly.threads import map_as_completed, map_in_order

R = TypeVar("R")

DOCUMENT_MEMORY = 12
"""Memory that a document takes while it is worked on, in times of its text."""


@dataclass(frozen=True, slots=True)
class SignedChunk:
    """One chunk, read and signed."""

    part: int
    chunk: int
    nbytes: int
    facts: pa.RecordBatch
    keys: Keys | None
    sketch: Sets | None
    rejects: list[Reject]
    counts: dict[str, int] = field(default_factory=dict)  # documents that were not signed as the rest, by reason


@dataclass(frozen=True)
class RowsToFetch:
    """Documents to be read again from one part: their rows, ascending, and their numbers among the candidates."""

    part: int
    rows: Ints
    docs: Ints


@dataclass(frozen=True)
class Decision:
    """What resolution says of the candidate documents, by their number."""

    resolution: Resolution
    judge: Judge
    cluster: npt.NDArray[np.int32]  # best-ranked document of the component; the document itself with `star`
    links: ScoredPairs  # pairs found beyond the star's own


class Engine(Protocol):
    """What a batch engine does for the plan: each method is a stage, in process or on the workers of a cluster."""

    meter: Meter
    counts: dict[str, int]

    def stage(self, name: str, total: int = 0, unit: str = "") -> AbstractContextManager[Stage]:
        """Time what happens within."""
        ...

    def read_and_sign(self, method: Method, stage: Stage) -> None:
        """Read all parts; keep facts, keys and sketch of every document."""

    def check_ids(self) -> None:
        """Refuse ids that several documents have, or number them."""

    def rank(self, order: str, collapse: str) -> None:
        """Number the documents in order, best first, and collapse those that are equal."""

    def is_resolved(self) -> bool:
        """Whether an interrupted run has stored the outcome of resolution."""

    def group(self, common: int, once: bool) -> None:
        """Find the documents that share a key; keys of more than `common` documents are left out, if that is not 0.

        With `once`, it is enough that documents share one key, and buckets with the same members are kept once.
        """

    def pair_bound(self) -> int:
        """At most so many pairs of documents share a key."""

    def load_contents(self, judge: Judge) -> None:
        """Load what the candidates are judged on: their texts are read again, or sketches or keys are taken."""

    def resolve(self, judge: Judge, settings: Settings, advance: Callable[[int], None]) -> None:
        """Compare candidates, best rank first, and store who is kept and why."""

    def give_verdicts(self) -> None:
        """Give every document its verdict."""


def run(parts: Sequence[Part], method: Method, settings: Settings, engine: Engine) -> None:
    """Take all documents along the road; the engine then holds the verdicts."""
    with engine.stage("read", sum(part.size or 0 for part in parts), "bytes") as stage:
        engine.read_and_sign(method, stage)
        engine.check_ids()
    with engine.stage("rank"):
        engine.rank(order_by(settings.keep, settings.measure), method.collapse)
    if not method.equality and not engine.is_resolved():
        judge = method.judge()
        with engine.stage("group"):
            engine.group(method.common, once=judge.on != "keys" or judge.threshold <= 1)
        if settings.pairs == "all":
            check_pairs(engine.pair_bound(), settings.pairs_limit)
        engine.load_contents(judge)
        with engine.stage("verify", engine.counts["candidate_documents"], "documents") as stage:
            engine.resolve(judge, settings, lambda done: engine.meter.advance(stage, done))
    with engine.stage("cluster"):
        engine.give_verdicts()


def decide(
    candidates: Candidates,
    sets: SetLoader,
    judge: Judge,
    settings: Settings,
    constraints: PairConstraints,
    work: ResolveBudget,
) -> Decision:
    """Who is kept, and which documents stand together."""
    resolution = resolve(
        candidates,
        sets,
        measure=judge.measure,
        threshold=judge.threshold,
        work=work,
        every_pair=settings.pairs == "all",
        constraints=constraints,
    )
    if settings.cluster == "star":
        return Decision(resolution, judge, np.arange(candidates.documents, dtype=np.int32), NO_PAIRS)
    roots, links, compared = components(
        resolution, sets, measure=judge.measure, threshold=judge.threshold, work=work, constraints=constraints
    )
    return Decision(replace(resolution, compared=resolution.compared + compared), judge, roots, links)


def sign_all(
    parts: Sequence[Part],
    method: Method,
    settings: Settings,
    threads: int,
    start: tuple[int, int] = (0, 0),
    memory: int | None = None,
) -> Iterator[SignedChunk]:
    """Read every part and sign its documents, in order; a document that the memory cannot hold is refused."""
    largest = None if memory is None else memory // (DOCUMENT_MEMORY * threads)

    def items() -> Iterator[tuple[int, int, Chunk]]:
        for p in range(start[0], len(parts)):
            for c, chunk in enumerate(parts[p].chunks()):
                if p > start[0] or c >= start[1]:
                    yield p, c, chunk

    yield from map_in_order(
        lambda item: sign(item[0], parts[item[0]], item[1], item[2], method, settings, largest), items(), threads
    )


def sign(
    number: int,
    part: Part,
    index: int,
    chunk: Chunk,
    method: Method,
    settings: Settings,
    largest: int | None = None,
) -> SignedChunk:
    """Facts and signatures of one chunk's documents."""
    parsed = part.parse(chunk)
    batch = parsed.batch
    texts = TextBatch(batch.column("text"), batch.column("markup"), settings.main_text)
    if largest is not None:
        _check_sizes(texts.sizes, part, batch, largest)
    count = batch.num_rows
    facts = pa.RecordBatch.from_arrays(
        [
            pa.array(np.full(count, number, np.uint32)),
            *(batch.column(name) for name in ("row", "doc_id", "url", "date")),
            moments(batch.column("date"), settings.date_format),
            batch.column("source"),
            *(pa.array(sizes) for sizes in (texts.sizes, texts.lengths)),
            *(
                pa.array(np.ascontiguousarray(digests[:, lane]))
                for digests in (texts.raw_digests, texts.lexical_digests)
                for lane in (0, 1)
            ),
            batch.column("title"),
        ],
        schema=FACTS,
    )
    signed = texts.sign(method)
    return SignedChunk(number, index, chunk.nbytes, facts, signed.keys, signed.sketch, parsed.rejects, signed.counts)


def _check_sizes(sizes: Ints, part: Part, batch: pa.RecordBatch, largest: int) -> None:
    if len(sizes) and sizes.max() > largest:
        at = int(sizes.argmax())
        where = part.locate(batch.column("row")[at].as_py())
        raise MemoryTooSmall(
            f"{part.name} {where}: a document of {sizes[at] >> 20} MB; with this memory and so many threads "
            f"{largest >> 20} MB is the most that one may have. Raise --memory, lower --threads, or take it out"
        )


def fetch_all(
    parts: Sequence[Part],
    wanted: Sequence[RowsToFetch],
    settings: Settings,
    threads: int,
    use: Callable[[Ints, Tokens], R],
) -> Iterator[R]:
    """Read the wanted documents again, a chunk at a time and in any order.

    The thread that read a chunk calls `use` with the documents' numbers and tokens; what it returns is yielded.
    """
    from roughly.text.canonical import tokenise
    from roughly.text.markup import strip_column

    def items() -> Iterator[tuple[RowsToFetch, Chunk]]:
        for want in wanted:
            for chunk in parts[want.part].chunks(want.rows):
                yield want, chunk

    def read(item: tuple[RowsToFetch, Chunk]) -> R:
        want, chunk = item
        batch = parts[want.part].parse(chunk).batch
        rows = batch.column("row").to_numpy()
        at = np.minimum(np.searchsorted(want.rows, rows), len(want.rows) - 1)
        is_wanted = want.rows[at] == rows
        docs, batch = want.docs[at[is_wanted]], batch.filter(pa.array(is_wanted))
        return use(docs, tokenise(strip_column(batch.column("text"), batch.column("markup"), settings.main_text)))

    def whole(want: RowsToFetch) -> Iterator[R]:
        for chunk in parts[want.part].chunks(want.rows):
            yield read((want, chunk))

    if len(wanted) < 2 * threads:
        yield from map_in_order(read, items(), threads)
    else:  # some formats decode while they hand out chunks: then a thread a part is faster
        yield from map_as_completed(whole, wanted, threads)


def check_pairs(count: int, limit: int) -> None:
    """Refuse to form more pairs than the user allows."""
    if count > limit:
        raise TooManyPairs(
            f"pairs=all would have to look at up to {count:,} pairs, more than {limit:,}: large clusters have "
            "quadratically many. Use pairs=evidence, or raise --pairs-limit to force it"
        )
