"""The plan: all steps from input to verdicts, on one screen, for every engine (`run`).

    sources → text → keys │ rank, collapse equal documents │ group keys → candidates │ read candidates again
            → compare exactly, best rank first → who is kept │ documents, pairs, clusters

An engine (`Engine`) stores the tables between these steps and does the relational work, in one process or on the
workers of a cluster; the methods and the kernels decide. Below the plan are the steps that engines share: sign a chunk,
decide. Threads work chunk by chunk and results are used in order, so the answer never depends on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import field, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.cluster.candidates import Candidates, Ints, PairConstraints, SetLoader
from roughly.cluster.common_keys import CommonLimit, limit_of
from roughly.cluster.components import components
from roughly.cluster.ranked_walk import Resolution
from roughly.cluster.scoring import NO_PAIRS, ResolveBudget, ScoredPairs
from roughly.cluster.star import resolve
from roughly.dates import days, timestamps
from roughly.errors import MemoryTooSmall, TooManyPairs
from roughly.fast_dataclass import dataclass
from roughly.features.shingle_sets import Sets
from roughly.keep_rules import order_by
from roughly.meter import Meter, Stage
from roughly.methods import METHODS, Judge, Keys, Method
from roughly.model import FACTS, Reject
from roughly.settings import Settings
from roughly.signing.text_batch import TextBatch
from roughly.sources.part import Chunk, Part, coarse_chunks, largest_coarse_chunk, located, pieces_of
from roughly.threads import map_in_order

if TYPE_CHECKING:
    from roughly.cluster.learned import AcceptedPairs

DOCUMENT_MEMORY = 12
"""Memory per document while it is processed, as a multiple of its text."""
SIGNED_SHARE = {True: 0.5, False: 3.0}
"""Bytes of signatures and facts per byte of text, at most: with a fixed number of keys per document, and otherwise."""


@dataclass(frozen=True, slots=True)
class SignedChunk:
    """One chunk, read and signed."""

    part: int
    chunk: int
    nbytes: int
    facts: pa.RecordBatch
    facts_bytes: int
    keys: Keys | None
    sketch: Sets | None
    rejects: list[Reject]
    counts: dict[str, int] = field(default_factory=dict)  # documents that were not signed like the others, by reason
    ends_chunk: bool = True  # false: more pieces of the chunk follow


@dataclass(frozen=True)
class Decision:
    """The decisions of resolution on the candidate documents, by their number."""

    resolution: Resolution
    judge: Judge
    cluster: npt.NDArray[np.int32]  # best-ranked document of the component; the document itself with `star`
    links: ScoredPairs  # pairs found beyond the star's own
    accepted: AcceptedPairs | None = None  # of a learned verdict, with the reasons


class Engine(Protocol):
    """The interface of a batch engine: each method is a stage, in process or on the workers of a cluster."""

    meter: Meter
    counts: dict[str, int]

    def stage(self, name: str, total: int = 0, unit: str = "") -> AbstractContextManager[Stage]:
        """Time the block."""
        ...

    def read_and_sign(self, method: Method, stage: Stage) -> None:
        """Read all parts; store facts, keys and sketch of every document."""

    def check_ids(self) -> None:
        """Refuse duplicate ids, or number them."""

    def check_fields(self) -> None:
        """Refuse a verdict that compares what no document has."""

    def rank(self, order: str, collapse: str) -> None:
        """Number the documents in order, best first, and collapse those that are equal."""

    def is_resolved(self) -> bool:
        """Whether an interrupted run has stored the outcome of resolution."""

    def group(self, common: CommonLimit, once: bool) -> None:
        """Find the documents that share a key; common keys are left out.

        With `once`, it is enough that documents share one key, and buckets with the same members are kept once.
        """

    def pair_bound(self) -> int:
        """Upper bound of the number of pairs that share a key."""

    def load_contents(self, judge: Judge) -> None:
        """Load what the candidates are judged on: their texts, read again, their sketches, or their keys."""

    def resolve(self, judge: Judge, settings: Settings, advance: Callable[[int], None]) -> None:
        """Compare candidates, best rank first, and store who is kept and why."""

    def give_verdicts(self) -> None:
        """Give every document its verdict."""


def run(parts: Sequence[Part], method: Method, settings: Settings, engine: Engine, *, within: bool = True) -> None:
    """Run all steps; the engine then has the verdicts. If `within` is false, nothing is compared and all are kept."""
    with engine.stage("read", sum(part.size or 0 for part in parts), "bytes") as stage:
        engine.read_and_sign(method, stage)
        engine.check_ids()
        engine.check_fields()
    with engine.stage("rank"):
        engine.rank(order_by(settings.keep, settings.measure), method.collapse if within else "none")
    if within and not method.equality and not engine.is_resolved():
        judge = method.judge()
        with engine.stage("group"):
            engine.group(limit_of(method), once=judge.on != "keys" or judge.threshold <= 1)
        if settings.pairs == "all" or settings.verdict is not None:
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
    """Decide which documents are kept, and which form a cluster."""
    if settings.verdict is not None:
        return _decide_learned(candidates, sets, judge, settings, constraints, work)
    resolution = resolve(
        candidates,
        sets,
        measure=judge.measure,
        threshold=judge.threshold,
        work=work,
        every_pair=settings.pairs == "all",
        constraints=constraints,
    )
    if judge.on != "text" and (judge.measure == "common" or METHODS[settings.method].method_class.units != "shingles"):
        resolution = replace(resolution, equivalent=0)  # what is equal are keys, terms or words
    if settings.cluster == "star":
        return Decision(resolution, judge, np.arange(candidates.documents, dtype=np.int32), NO_PAIRS)
    roots, links, compared = components(
        resolution, sets, measure=judge.measure, threshold=judge.threshold, work=work, constraints=constraints
    )
    return Decision(replace(resolution, compared=resolution.compared + compared), judge, roots, links)


def _decide_learned(
    candidates: Candidates,
    sets: SetLoader,
    judge: Judge,
    settings: Settings,
    constraints: PairConstraints,
    work: ResolveBudget,
) -> Decision:
    """The same where a learned verdict decides about every pair that reaches the threshold."""
    from roughly.cluster.comparisons import Words
    from roughly.cluster.learned import accept

    found = resolve(
        candidates,
        sets,
        measure=judge.measure,
        threshold=judge.threshold,
        work=work,
        every_pair=True,
        constraints=constraints,
    )
    if not isinstance(sets, Words) or settings.verdict is None:
        raise TypeError("a learned verdict needs the words of documents")
    if settings.compared_fields:
        found = replace(found, equivalent=0)  # equal texts with other fields have the same shingles too
    linked, every_pair = settings.cluster != "star", settings.pairs == "all"
    resolution, roots, links, accepted = accept(
        found, settings.verdict, sets, judge.measure, linked=linked, every_pair=every_pair, work=work
    )
    return Decision(resolution, judge, roots, links, accepted)


def sign_all(
    parts: Sequence[Part],
    method: Method,
    settings: Settings,
    threads: int,
    start: tuple[int, int] = (0, 0),
    memory: int | None = None,
) -> Iterator[SignedChunk]:
    """Read every part and sign its documents, in order; refuse a document that is too large for the memory."""
    largest = None if memory is None else memory // (DOCUMENT_MEMORY * threads)
    ahead = 3 * threads
    if memory is not None:
        size = SIGNED_SHARE[method.band_sampling is not None] * max(map(largest_coarse_chunk, parts), default=0)
        ahead = max(1, min(ahead, int(memory / 2 // max(1, size))))

    def items() -> Iterator[tuple[int, int, Chunk]]:
        for p in range(start[0], len(parts)):
            with located(parts[p], 0):
                for c, chunk in enumerate(coarse_chunks(parts[p])):
                    if p > start[0] or c >= start[1]:
                        yield p, c, chunk

    def work(item: tuple[int, int, Chunk]) -> list[SignedChunk]:
        p, c, chunk = item
        signed: list[SignedChunk] = []
        for piece in pieces_of(parts[p], chunk):
            signed.append(sign(p, parts[p], c, piece, method, settings, largest))
        return [replace(one, ends_chunk=False) for one in signed[:-1]] + signed[-1:]

    for pieces in map_in_order(work, items(), threads, ahead):
        yield from pieces


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
    with located(part, chunk.first_row):
        return _sign(number, part, index, chunk, method, settings, largest)


def _sign(
    number: int, part: Part, index: int, chunk: Chunk, method: Method, settings: Settings, largest: int | None
) -> SignedChunk:
    parsed = part.parse(chunk)
    batch = parsed.batch
    texts = TextBatch(batch.column("text"), batch.column("markup"), settings.page_text)
    if largest is not None:
        check_sizes(texts.sizes, part, batch, largest)
    signed = texts.sign_in_one_pass(method)
    count, published = batch.num_rows, timestamps(batch.column("date"), settings.date_format)
    lexical = texts.lexical_digests
    if settings.compared_fields:
        from roughly.cluster.fields import Fields

        lexical = Fields.of(settings.compared_fields, batch, days(published)).mixed(lexical)
    facts = pa.RecordBatch.from_arrays(
        [
            pa.array(np.full(count, number, np.uint32)),
            *(batch.column(name) for name in ("row", "doc_id", "url", "date")),
            published,
            batch.column("source"),
            *(pa.array(sizes) for sizes in (texts.sizes, texts.lengths)),
            *(
                pa.array(np.ascontiguousarray(digests[:, lane]))
                for digests in (texts.raw_digests, lexical)
                for lane in (0, 1)
            ),
            batch.column("title"),
        ],
        schema=FACTS,
    )
    return SignedChunk(
        number, index, chunk.nbytes, facts, facts.nbytes, signed.keys, signed.sketch, parsed.rejects, signed.counts
    )  # fmt: skip


def check_sizes(sizes: Ints, part: Part, batch: pa.RecordBatch, largest: int) -> None:
    """Refuse a document of more bytes than the memory is enough for."""
    if len(sizes) and sizes.max() > largest:
        at = int(sizes.argmax())
        where = part.locate(batch.column("row")[at].as_py())
        raise MemoryTooSmall(
            f"{part.name} {where}: a document of {sizes[at] >> 20} MB; with this memory and number of threads "
            f"{largest >> 20} MB is the maximum. Raise --memory, lower --threads, or remove the document"
        )


def check_pairs(count: int, limit: int) -> None:
    """Refuse to form more pairs than the user allows."""
    if count > limit:
        raise TooManyPairs(
            f"pairs=all would have to look at up to {count:,} pairs, more than {limit:,}: large clusters have "
            "quadratically many. Use pairs=evidence, or raise --pairs-limit to force it"
        )
