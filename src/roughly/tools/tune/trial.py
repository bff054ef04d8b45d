"""One setting run on the sample, with the code of `roughly dedupe`, and its cost.

Cost is of two kinds. *CPU seconds per megabyte* are measured, so they differ from run to run and machine to machine.
*Bytes per document* follow from the settings and the documents: 8 for each key and for each value of a sketch; if pairs
are judged on the text, 8 more for each token of the documents that share a key with another.

Tokens and shingle sets are made once for all trials that need the same; the time is charged to each trial.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal, TypeVar

import numpy as np
import pyarrow as pa

from roughly import methods
from roughly.cluster.in_memory import (
    ClusterRules,
    ClusterVerdict,
    DocumentFacts,
    candidates_of,
    first_of,
    resolve_in_memory,
    work_of,
)
from roughly.cluster.leader_pairs import expanded
from roughly.dates import days_of
from roughly.fast_dataclass import dataclass
from roughly.features.shingle_sets import Sets, shingle_sets
from roughly.lexicon import Lexicon, build
from roughly.methods.method import Keys, Method
from roughly.settings import Resources, Settings
from roughly.signing.text_batch import TextBatch
from roughly.text.canonical import Tokens
from roughly.text.filters import Filters
from roughly.tools.tune.draw import DrawnSample, Ints

T = TypeVar("T")


@dataclass(frozen=True)
class TrialOutcome:
    """What one setting found."""

    group: Ints  # of each document, the number of the best document of its cluster
    pairs: Ints | None  # every pair judged the same (n, 2), with `every_pair`
    cpu: float  # seconds
    bytes: float  # per document


class TrialBench:
    """The sample, with data that several trials share."""

    def __init__(self, sample: DrawnSample, resources: Resources) -> None:
        self._sample, self._resources, self.texts = sample, resources, sample.texts
        self._batch = TextBatch(sample.texts)
        self._sizes = sample.sizes
        self._days = days_of(sample.dates, sample.date_format)
        self._work = work_of(resources)
        self._made: dict[object, tuple[object, float]] = {}

    def run(self, settings: Settings, *, every_pair: bool = False) -> TrialOutcome:
        """Find duplicates; with `every_pair`, all pairs that are judged the same and not only clusters."""
        sample = self._sample.read_as(settings.tokens)
        if sample is not self._sample:
            bench, _ = self._once(("bench", settings.tokens), lambda: TrialBench(sample, self._resources))
            return bench.run(settings, every_pair=every_pair)
        method, cpu = self._method(settings)
        plain, spent = self._tokens(Filters())
        lengths = np.diff(plain.offsets)
        rank = np.lexsort((np.arange(len(lengths)), -self._sizes, -lengths))  # as `--keep longest` has it
        equal, more = self._equal(method.collapse, rank)
        cpu += spent + more
        if method.equality:
            return TrialOutcome(equal, expanded(np.empty((0, 2), np.int64), equal) if every_pair else None, cpu, 16.0)
        tokens, more = self._tokens(method.filters or Filters())
        cpu += more if method.filters else 0.0
        start = time.process_time()
        signature, judge = self._batch.sign(method), method.judge()
        keys, sets = signature.keys, signature.sketch
        if keys is None:
            raise TypeError(f"{method.name} has no keys; it finds only equal documents")
        cpu += time.process_time() - start
        if judge.on == "text":
            sets, more = self._sets(settings.shingle_size, settings.shingle_unit)
            cpu += more
        start = time.process_time()
        verdict = resolve_in_memory(
            keys,
            judge,
            DocumentFacts(sets, np.diff(tokens.offsets), self._days, self._batch.units(settings.shingle_unit)),
            rank=rank,
            work=self._work,
            first=equal,
            rules=ClusterRules(method.common, settings.cluster == "components", every_pair, settings.verdict),
        )
        cpu += time.process_time() - start
        units = np.diff(self._batch.units(settings.shingle_unit).offsets)
        stored = self._bytes(keys, sets, units, rank, equal, on_text=judge.on == "text")
        return TrialOutcome(verdict.root, _pairs(verdict, equal) if every_pair else None, cpu, stored)

    def _method(self, settings: Settings) -> tuple[Method, float]:
        if not methods.needs_count(settings):
            return methods.make(settings), 0.0
        filters = methods.counted_with(settings)
        lexicon, cpu = self._once(("lexicon", str(filters)), lambda: self._count(filters))
        return methods.make(settings, lexicon), cpu

    def _count(self, filters: Filters) -> Lexicon:
        ids = pa.array([str(i) for i in range(len(self.texts))])
        return build(pa.table({"id": ids, "text": self.texts}), filters=filters, threads=1)

    def _tokens(self, filters: Filters) -> tuple[Tokens, float]:
        return self._once(("tokens", str(filters)), lambda: self._batch.terms(filters))

    def _sets(self, size: int, unit: str) -> tuple[Sets, float]:
        return self._once(("sets", size, unit), lambda: shingle_sets(self._batch.units(unit), size))

    def _equal(self, level: Literal["identical", "lexical"], rank: Ints) -> tuple[Ints, float]:
        """The best document that is equal to each."""
        return self._once(("equal", level), lambda: first_of(self._batch.digests(level), rank))

    def _once(self, key: object, make: Callable[[], T]) -> tuple[T, float]:
        if key not in self._made:
            start = time.process_time()
            made = make()
            self._made[key] = made, time.process_time() - start
        return self._made[key]  # type: ignore[return-value]

    def _bytes(self, keys: Keys, sets: Sets | None, lengths: Ints, rank: Ints, equal: Ints, *, on_text: bool) -> float:
        """Bytes per document that the method stores."""
        total = 8 * int(keys.values.size)
        if on_text:
            leaders = rank[equal[rank] == rank]
            candidates = candidates_of(keys, leaders, work=self._work)[0]
            total += 8 * int(lengths[candidates].sum())
        elif sets is not None:
            total += 8 * len(sets.values)
        return 16.0 + total / max(len(lengths), 1)


def _pairs(verdict: ClusterVerdict, equal: Ints) -> Ints:
    return expanded(np.ascontiguousarray(verdict.pairs[:, :2]), equal)
