"""The phases of clustering a collection by shingles, counted (Broder 1997, §4.1, §5.1, §7).

The paper's table says how many processor days each phase took for 30 million pages. Reproducible are the input and
output of each phase, and their bytes in the paper's own formats: 5 bytes per shingle, 4 bytes per document number, 12
bytes per triple. The phases are done here as the paper describes them, one after the other; seconds are measured once,
and kept separate. (`roughly dedupe --preset broder-1997` finds pairs without forming triples.)

A shingle in more than `common` documents is ignored (§5.1): it makes no triples, and counts in no size.
(In `methods.shingles` it counts in the estimate.)
"""

from __future__ import annotations

import time

import numpy as np
import numpy.typing as npt

from roughly.cluster.connected import connected_components
from roughly.cluster.in_memory import first_of, longest_first
from roughly.errors import TooManyPairs
from roughly.features.sampling import Sampling
from roughly.features.sketch import Sketch
from roughly.papers.paper_table import Cell, PaperTable, TableColumn
from roughly.papers.protocols.protocol import Protocol
from roughly.papers.setup import ExperimentCase, ExperimentOutcome
from roughly.signing.text_batch import TextBatch

SHINGLE, NUMBER, TRIPLE = 5, 4, 12
_AT_ONCE = 20_000_000
MOST = 400_000_000
"""More triples than this are refused."""

Ints = npt.NDArray[np.int64]


def run(case: ExperimentCase) -> ExperimentOutcome:
    """The input and output of each phase; the clusters."""
    seconds: dict[str, float] = {}
    rows: list[list[Cell]] = []
    corpus = case.corpus

    start = time.process_time()
    texts = TextBatch(corpus.texts)  # tokenising is measured, in every draw
    tokens = texts.tokens
    sketch = Sampling.parse(case.number("sketch"), seed=case.number("seed")).apply(tokens, case.number("shingle_size"))
    kept = len(sketch.values)
    rows.append(["Sketching", "tokens", len(tokens.hashes), "shingles kept", kept, SHINGLE * kept])
    start = _note(seconds, "Sketching", start)

    lengths = texts.lengths
    equal = first_of(texts.lexical_digests, longest_first(lengths))
    first = np.where(lengths == 0, np.arange(len(corpus)), equal)
    leaders = np.flatnonzero(first == np.arange(len(corpus)))
    rows.append(
        ["Duplicate elimination", "documents", len(corpus), "documents left", len(leaders), NUMBER * len(leaders)]
    )
    start = _note(seconds, "Duplicate elimination", start)

    shingles, owners = _rows(sketch, leaders)
    pairs_in = len(shingles)
    rows.append(["Shingle merging", "⟨shingle, ID⟩", pairs_in, "sorted rows", pairs_in, (SHINGLE + NUMBER) * pairs_in])
    start = _note(seconds, "Shingle merging", start)

    bounds = (
        np.flatnonzero(np.r_[True, shingles[1:] != shingles[:-1], True]) if len(shingles) else np.zeros(1, np.int64)
    )
    sizes = np.diff(bounds)
    common = sizes > case.number("common")
    usable = (sizes > 1) & ~common
    formed = int((sizes[usable] * (sizes[usable] - 1) // 2).sum())
    if formed > MOST:
        raise TooManyPairs(f"{formed:,} triples would be formed, more than {MOST:,}; say less with --set common=…")
    pairs, counts, merging = _pairs(owners, bounds[:-1][usable], sizes[usable])
    forming = time.process_time() - start - merging
    rows.append(
        ["ID-ID pair formation", "shingles in two or more", int(usable.sum()), "⟨ID, ID, 1⟩", formed, TRIPLE * formed]
    )
    rows.append(["ID-ID merging", "⟨ID, ID, 1⟩", formed, "⟨ID, ID, count⟩", len(pairs), TRIPLE * len(pairs)])
    seconds["ID-ID pair formation"], seconds["ID-ID merging"] = max(forming, 0.0), merging
    start = time.process_time()

    ignored = np.bincount(np.repeat(common, sizes) * (owners + 1), minlength=len(corpus) + 1)[1:]
    counted = np.diff(sketch.offsets) - ignored
    left, right = pairs >> 32, pairs & 0xFFFFFFFF
    near = counts >= case.number("threshold") * (counted[left] + counted[right] - counts)
    root = _components(left[near], right[near], first)
    rows.append(["Cluster formation", "⟨ID, ID, count⟩", len(pairs), "links", int(near.sum()), NUMBER * len(corpus)])
    _note(seconds, "Cluster formation", start)
    columns = [
        TableColumn("Phase"),
        TableColumn("Given"),
        TableColumn("In", "count"),
        TableColumn("Handed on"),
        TableColumn("Out", "count"),
        TableColumn("Bytes", "count"),
    ]
    notes = [
        f"{corpus.name}: {len(corpus):,} documents; shingles of {case.number('shingle_size')}, "
        f"{case.number('sketch')}; {int(common.sum()):,} of them are in more than {case.number('common'):,} documents "
        "and make no pairs."
    ]
    return ExperimentOutcome(
        {"phases": PaperTable("Phases", columns, rows, notes), "clusters": _clusters(root, first, notes)}, seconds
    )  # fmt: skip


def _rows(sketch: Sketch, leaders: Ints) -> tuple[npt.NDArray[np.uint64], Ints]:
    owners = np.repeat(np.arange(len(sketch)), np.diff(sketch.offsets))
    chosen = np.isin(owners, leaders)
    values, owners = sketch.values[chosen], owners[chosen]
    order = np.lexsort((owners, values))
    return values[order], owners[order]


def _pairs(owners: Ints, starts: Ints, sizes: Ints) -> tuple[Ints, Ints, float]:
    """Every two documents of every shingle, merged: (pairs as one number, counts, seconds of merging)."""
    found, counted, merging = np.empty(0, np.int64), np.empty(0, np.int64), 0.0
    batch: list[Ints] = []
    waiting = 0
    for size in np.unique(sizes).tolist():
        places = starts[sizes == size]
        a, b = np.triu_indices(size, 1)
        step = max(1, _AT_ONCE // max(len(a), 1))
        for at in range(0, len(places), step):
            block = places[at : at + step, None]
            batch.append(((owners[block + a] << 32) | owners[block + b]).ravel())
            waiting += len(batch[-1])
            if waiting >= _AT_ONCE:
                start = time.process_time()
                found, counted = _merged(found, counted, batch)
                merging += time.process_time() - start
                batch, waiting = [], 0
    start = time.process_time()
    found, counted = _merged(found, counted, batch)
    return found, counted, merging + time.process_time() - start


def _merged(found: Ints, counted: Ints, batch: list[Ints]) -> tuple[Ints, Ints]:
    if not batch:
        return found, counted
    new, counts = np.unique(np.concatenate(batch), return_counts=True)
    values = np.concatenate((found, new))
    merged, place = np.unique(values, return_inverse=True)
    total = np.bincount(place, weights=np.concatenate((counted, counts)), minlength=len(merged))
    return merged, total.astype(np.int64)


def _components(left: Ints, right: Ints, first: Ints) -> Ints:
    """The component of each document; equivalent documents are in one component."""
    count = len(first)
    return connected_components(count, np.concatenate((left, np.arange(count))), np.concatenate((right, first)))


def _clusters(root: Ints, first: Ints, notes: list[str]) -> PaperTable:
    """§7: clusters of two or more, and those of identical documents only."""
    sizes = np.bincount(root)
    leaders = np.bincount(root[first == np.arange(len(first))], minlength=len(sizes))
    some, identical = sizes > 1, (sizes > 1) & (leaders == 1)
    documents = len(root)
    rows: list[list[Cell]] = [
        ["Clusters", int(some.sum()), int(sizes[some].sum()), float(sizes[some].sum()) / documents],
        ["… of identical documents only", int(identical.sum()), int(sizes[identical].sum()),
         float(sizes[identical].sum()) / documents],
        ["… of others too", int((some & ~identical).sum()), int(sizes[some & ~identical].sum()),
         float(sizes[some & ~identical].sum()) / documents],
    ]  # fmt: skip
    columns = [
        TableColumn("Clusters of two or more"), TableColumn("Clusters", "count"), TableColumn("Documents", "count"),
        TableColumn("Share of all documents", "percent"),
    ]  # fmt: skip
    return PaperTable("Clusters", columns, rows, notes)


def _note(seconds: dict[str, float], name: str, start: float) -> float:
    now = time.process_time()
    seconds[name] = now - start
    return now


PROTOCOL = Protocol(
    "phases", "clustering by sampled shingles, phase by phase: the input and output of each", run,
    ("phases", "clusters"), {"seed": 0, "shingle_size": 10, "sketch": "mod:25", "common": 1000, "threshold": 0.5},
)  # fmt: skip
